/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Notes on a job: see note.h. */
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "note.h"

/* The note in a comment, up to *end; NULL if there is none. */
static const char *_find(const char *comment, const char *key,
			 const char **end)
{
	const char *at = comment;

	for (; at && *at; at = **end ? *end + 1 : *end) {
		*end = at + strcspn(at, ";");
		if (!strncmp(at, key, strlen(key)))
			return at;
	}
	return NULL;
}

extern const char *auc_note_find(const char *comment, const char *key,
				 size_t *len)
{
	const char *end, *note = _find(comment, key, &end);

	if (!note)
		return NULL;
	note += strlen(key);
	*len = end - note;
	return note;
}

static void _drop(char **comment, const char *note, const char *end)
{
	char *rest = NULL;

	xstrncat(rest, *comment, note - *comment);
	xstrcat(rest, *end ? end + 1 : "");
	if (rest && rest[0] && !*end && (rest[strlen(rest) - 1] == ';'))
		rest[strlen(rest) - 1] = '\0';
	if (rest && !rest[0])
		xfree(rest);
	xfree(*comment);
	*comment = rest;
}

extern void auc_note_drop(char **comment, const char *key)
{
	const char *end, *note;

	while ((note = _find(*comment, key, &end)))
		_drop(comment, note, end);
}

extern void auc_note_set(char **comment, const char *key, const char *value)
{
	auc_note_drop(comment, key);
	xstrfmtcat(*comment, "%s%s%s", (*comment && (*comment)[0]) ? ";" : "",
		   key, value);
}
