/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GPU ranges, as they are noted. */
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../request.h"
#include "units.h"

static void _test_spelling(void)
{
	static const struct {
		const char *text, *other;
	} cases[] = {
		{ "gres:gpu:1", "gres:gpu:01" },
		{ "gpu:a100:12,license:1", "gpu:a100:012,license:1" },
		{ "license:1,gres/gpu:3", "license:1,gres/gpu:03" },
		{ "gpu", NULL }, { "gpu:a100", NULL }, { "license:1", NULL },
		{ "", NULL }, { NULL, NULL },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		char *other = auc_range_respelled(cases[i].text);
		char *back = auc_range_plain(other), *none;

		CHECK(!xstrcmp(other, cases[i].other), "%s: %s", cases[i].text,
		      other);
		CHECK(!other || !xstrcmp(back, cases[i].text), "%s: %s",
		      other, back);
		CHECK(!(none = auc_range_respelled(other)), "%s", none);
		CHECK(!(none = auc_range_plain(cases[i].text)), "%s", none);
		xfree(other);
		xfree(back);
	}
}

static void _test_count(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "gres:gpu:1-3", "gres:gpu:2" },
		{ "gres/gpu:7", "gres/gpu:2" },
		{ "gpu:a100:1-3,license:1-3", "gpu:a100:2,license:1-3" },
		{ "x,gpu:a:3,gpu:b:4", "x,gpu:a:2,gpu:b:4" },
		{ "gpu,gpux:3,gpu:b:4", "gpu,gpux:3,gpu:b:2" },
		{ "gpu", NULL }, { "gpu:a100", NULL }, { "gpu:,x:1", NULL },
		{ "license:1", NULL },
		{ NULL, NULL },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		char *got = auc_range_with_count(cases[i].text, 2);

		CHECK(!xstrcmp(got, cases[i].want), "%s: %s", cases[i].text,
		      got);
		xfree(got);
	}
}

static void _test_notes(void)
{
	static const char *comments[] = { NULL, "x", "a;b", "a=1;;b", ";" };
	static const auc_gpus_t first = { .low = 1, .high = 3 };
	static const auc_gpus_t ranges[] = {
		{ .low = 2, .high = 4 }, { .low = 2, .high = 4, .type = "v100-pcie" },
		{ .low = 1, .high = 1024, .type = NAME_63 },
	};

	for (int i = 0; i < ARRAY_SIZE(comments) * ARRAY_SIZE(ranges); i++) {
		const char *before = comments[i / ARRAY_SIZE(ranges)];
		const auc_gpus_t *range = &ranges[i % ARRAY_SIZE(ranges)];
		char *comment = xstrdup(before);
		auc_gpus_t got;

		CHECK(!auc_range_read_note(comment, &got), "%s",
		      comment);
		auc_range_add_note(&comment, &first);
		auc_range_add_note(&comment, range);	/* in place of the first */
		CHECK(auc_range_read_note(comment, &got) &&
		      (got.low == range->low) && (got.high == range->high), "%s", comment);
		CHECK(auc_range_read_note(comment, &got) &&
		      !memcmp(&got, range, sizeof(got)), "%s", comment);
		auc_note_drop(&comment, AUC_RANGE_NOTE);
		CHECK(!auc_range_read_note(comment, &got), "%s",
		      comment);
		if (before && strcmp(before, ";"))
			CHECK(!xstrcmp(comment, before), "%s became %s",
			      before, comment);
		xfree(comment);
	}
}

static void _test_note_of(void)
{
	static const struct {
		const char *list, *want;
	} cases[] = {
		{ NULL, "auc:gpu=1-3" },
		{ "gres:gpu:1", "auc:gpu=1-3" },
		{ "gres:gpu:a100:1", "auc:gpu=a100:1-3" },
		{ "license:2,gres/gpu:v100-pcie:01", "auc:gpu=v100-pcie:1-3" },
		{ "license:a:1", "auc:gpu=1-3" },
		{ "gpu", "auc:gpu=1-3" },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		char *comment = NULL;

		auc_range_add_note_of(&comment, cases[i].list, 1, 3);
		CHECK(!xstrcmp(comment, cases[i].want), "%s: %s",
		      cases[i].list, comment);
		xfree(comment);
	}
}

extern bool units_sound_range(const auc_gpus_t *range)
{
	return range->low && (range->low <= range->high) &&
		(range->high <= 1024) &&
		(strnlen(range->type, AUC_TYPE_SIZE) < AUC_TYPE_SIZE) &&
		!strpbrk(range->type, ":=;,/ ");
}

/* Of any text: nothing crashes, and what is read is sound, and read back from a note. */
extern void units_fuzz_range(const char *text)
{
	auc_gpus_t range, again;
	char *single = auc_range_with_count(text, 2), *comment = NULL;

	auc_range_add_note_of(&comment, single, 1, 3);
	CHECK(!auc_range_read_note(comment, &again) || units_sound_range(&again), "%s: %s", single, comment);
	xfree(comment);
	xfree(single);
	if (auc_range_read_note(text, &range))
		CHECK(units_sound_range(&range), "%s", text);
	comment = auc_range_respelled(text);
	single = auc_range_plain(comment);
	CHECK(!comment || !strcmp(single, text), "%s: %s: %s", text, comment,
	      single);
	xfree(comment);
	xfree(single);
	comment = xstrdup(text);
	auc_note_drop(&comment, AUC_RANGE_NOTE);
	auc_range_add_note(&comment, &(auc_gpus_t) { .low = 5, .high = 6 });
	CHECK(auc_range_read_note(comment, &range) && (range.low == 5), "%s",
	      text);
	xfree(comment);
}

static void _fuzz_ranges(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"gpu", "gpu:", "gres:", "gres/", ":", "-", ",", "1", "3", "0", "a100",
		"=", ";", "auc:gpu=", "99999999999", " ", "\"", "\xff", NAME_63,
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char text[1024] = "";

		for (int k = rand() % 12; k > 0; k--)
			strcat(text, parts[rand() % ARRAY_SIZE(parts)]);
		units_fuzz_range(text);
	}
}

extern void test_ranges(unsigned seed)
{
	_test_spelling();
	_test_note_of();
	_test_count();
	_test_notes();
	_fuzz_ranges(seed, 200000);
}
