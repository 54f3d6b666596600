/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Invasive jobs: see request.h. */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "request.h"
#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Longer notes are cut in a message. */
#define SHOWN 200

static const char *const kinds[] = {
	"rigid", "moldable", "evolving", "malleable"
};

/* RET NULL, or what is wrong with a word between commas */
static const char *_take(word_t word, bool made, auc_invasic_t *want)
{
	static const char points[] = "points=";

	for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!auc_is(word, kinds[i]))
			continue;
		if (want->kind)
			return "has two kinds";
		want->kind = kinds[i];
		return NULL;
	}
	if (auc_is(word, "urgent")) {
		want->urgent = true;
		return NULL;
	}
	if (made && auc_is(word, "held")) {
		want->held = true;
		return NULL;
	}
	if (made && auc_begins(word, points)) {
		word = auc_after(word, strlen(points));
		if (!auc_is(word, "0") &&
		    !auc_number(word, MOST_CPUS, &want->points))
			return "points must be a number";
		return NULL;
	}
	if (word.len && isdigit((unsigned char) word.at[0])) {
		if (want->high)
			return "has two numbers of cores";
		if (!auc_range_of(word, MOST_PER_NODE, &want->low, &want->high))
			return "its cores must be a number from 1, or MIN-MAX";
		return NULL;
	}
	return "must be CORES or MIN-MAX, rigid, moldable, evolving or malleable, and urgent, with commas between";
}

/* RET NULL, or what is wrong */
static const char *_read(word_t text, bool made, auc_invasic_t *want)
{
	const char *why = NULL;

	while (!why) {
		const char *comma = memchr(text.at, ',', text.len);
		size_t len = comma ? comma - text.at : text.len;

		why = _take((word_t) { text.at, len }, made, want);
		if (!comma)
			break;
		text = auc_after(text, len + 1);
	}
	return why;
}

static const char *_complete(uint32_t cores, auc_invasic_t *want)
{
	if (!want->high)
		want->low = want->high = cores ? cores : 1;
	if (cores && ((cores < want->low) || (cores > want->high)))
		return "its cores must have --ntasks times --cpus-per-task among them";
	if (!want->kind)
		want->kind = (want->low < want->high) ? "moldable" : "rigid";
	if ((want->low < want->high) && !strcmp(want->kind, "rigid"))
		return "a rigid job has one number of cores";
	return NULL;
}

extern bool auc_invasic_parse(const char *comment, uint32_t cores, bool made,
			      auc_invasic_t *want, char **error)
{
	word_t text = { "", 0 };
	const char *why = NULL;
	size_t len = 0;

	memset(want, 0, sizeof(*want));
	if ((text.at = auc_note_find(comment, AUC_INVASIC_NOTE, &text.len))) {
		why = _read(text, made, want);
		if (!why && text.at[text.len] &&
		    auc_note_find(text.at + text.len + 1, AUC_INVASIC_NOTE,
				  &len))
			why = "is there twice";
	}
	if (!why)
		why = _complete(cores, want);
	if (why && error)
		*error = xstrdup_printf("aucsched: --comment: " AUC_INVASIC_NOTE
					"%.*s: %s",
					(int) MIN(text.len, SHOWN),
					text.at ? text.at : "", why);
	return !why;
}

extern void auc_invasic_note(char **comment, const auc_invasic_t *want)
{
	char *note = xstrdup_printf("%u-%u,%s%s%s,points=%u", want->low,
				    want->high, want->kind,
				    want->urgent ? ",urgent" : "",
				    want->held ? ",held" : "", want->points);

	auc_note_set(comment, AUC_INVASIC_NOTE, note);
	xfree(note);
}

extern bool auc_names_partition(const char *list, word_t name, bool *alone)
{
	bool found = false;
	int count = 0;

	for (const char *at = list; at && *at;
	     at += strcspn(at, ","), at += strspn(at, ",")) {
		word_t word = { at, strcspn(at, ",") };

		count++;
		found |= (word.len == name.len) &&
			!strncmp(word.at, name.at, name.len);
	}
	*alone = found && (count == 1);
	return found;
}
