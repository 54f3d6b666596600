/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Alternatives, and first requests, as they are noted on jobs. */
#include <stdlib.h>
#include <string.h>

#include "../library.h"
#include "../request.h"
#include "../common.h"
#include "units.h"

static bool _same(const auc_alternative_t *a, const auc_alternative_t *b)
{
	return (a->tasks == b->tasks) && (a->min_nodes == b->min_nodes) &&
		(a->max_nodes == b->max_nodes) &&
		(a->per_node == b->per_node) && (a->gpus.low == b->gpus.low) &&
		(a->gpus.high == b->gpus.high) && (a->contiguous == b->contiguous) &&
		!strcmp(a->gpus.type, b->gpus.type);
}

/* What the library notes is read here. */
static void _test_alternatives(void)
{
	static const struct {
		const char *line;	/* what follows --alternative */
		auc_alternative_t want;
	} cases[] = {
		{ "-n64", { .tasks = 64, .min_nodes = 1 } },
		{ "-n 9 --nodes 2-5 --contiguous", { .tasks = 9, .min_nodes = 2, .max_nodes = 5, .contiguous = true } },
		{ "--nodes=4 --ntasks-per-node=8 --gres=gpu:2",
		  { .tasks = 32, .min_nodes = 4, .max_nodes = 4, .per_node = 8, .gpus = { .low = 2, .high = 2 } } },
		{ "-n1 --gpus-per-node=v100-pcie:2-3", { .tasks = 1, .min_nodes = 1, .gpus = { .low = 2, .high = 3, .type = "v100-pcie" } } },
		{ "-n1 --gres=gpu:" NAME_63 ":15", { .tasks = 1, .min_nodes = 1, .gpus = { .low = 15, .high = 15, .type = NAME_63 } } },
		{ "-n999999999 -N1048576", { .tasks = 999999999, .min_nodes = 1048576, .max_nodes = 1048576 } },
	};
	auc_library_t *library = units_loaded();
	struct aucsched_submission_answer answer;
	char buf[2048];

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		auc_alternative_t got[AUC_ALTERNATIVES];
		char *script = xstrdup_printf("#AUCSCHED --alternative %s\n#AUCSCHED --alternative -n7",
					      cases[i].line);
		int rc = auc_library_submission(library, &(struct aucsched_submission) {
				.script = script, .nodes = "15 v100-pcie 15 " NAME_63 " 15\n" },
				&answer, buf, sizeof(buf));
		size_t len = 0;
		const char *found = auc_note_find(answer.admin_comment, AUC_ALTERNATIVES_NOTE, &len);
		char *note = xstrndup(found, len);

		(void) auc_library_read(library, AUC_CALL_NOTED, 1, note, len + 1, got, sizeof(got));
		CHECK(!rc && !auc_library_answer(library) &&
		      (auc_library_read(library, AUC_CALL_NOTED, 1, note, len + 1, got, sizeof(got)) == 2) &&
		      _same(got, &cases[i].want) && (got[1].tasks == 7),
		      "%s: %s", cases[i].line, note);
		xfree(note);
		xfree(script);
	}
	CHECK(auc_library_submission(library, &(struct aucsched_submission) { .script = "#AUCSCHED" }, &answer, buf, sizeof(buf)) &&
	      strstr(buf, "in script line 1: ") && !answer.wrong_gres, "%s", buf);
	CHECK(!auc_library_submission(library, &(struct aucsched_submission) { 0 }, &answer, buf, sizeof(buf)) &&
	      !answer.admin_comment && !answer.gpus.high, "%s", buf);
	/* What a range leaves of texts is "" where nothing is left. */
	CHECK(!auc_library_submission(library, &(struct aucsched_submission) {
			.gres_prefix = AUC_GRES_PREFIX, .comment = "auc:gpu=1-3", .nodes = "4\n" }, &answer, buf, sizeof(buf)) &&
	      !xstrcmp(answer.comment, "") && !xstrcmp(answer.gres, AUC_GRES_PREFIX "gpu:1") &&
	      !xstrcmp(answer.admin_comment, "auc:gpu=1-3") && (answer.gpus.high == 3) && !answer.job_comment, "%s", buf);
	CHECK(auc_library_submission(library, &(struct aucsched_submission) { .gres = "gpu:1-9", .nodes = "4\n" }, &answer, buf, sizeof(buf)) &&
	      strstr(buf, "the most is 4") && answer.wrong_gres, "%s", buf);
}

static void _test_first(void)
{
	static const char *bad[] = {
		NULL, "", "auc:first=", "auc:first=n1", "auc:first=n1,N1-1,c1-1,t1,p1,k0,s1,g0-0",
		"auc:first=n1,N0-1,c1-1,t1,p1,k0,s1,g0-0:",
		"auc:first=n 1,N1-1,c1-1,t1,p1,k0,s1,g0-0:",
		"auc:first=n-1,N1-1,c1-1,t1,p1,k0,s1,g0-0:",
		"auc:first=n01,N1-1,c1-1,t1,p1,k0,s1,g0-0:",
		"auc:first=n4294967297,N1-1,c1-1,t1,p1,k0,s1,g0-0:",
		"auc:first=n1,N1-1,c1-1,t65536,p1,k0,s1,g0-0:",
		"auc:first=n1,N1-1,c1-1,t1,p1,k0,s1,g0-1:",
		"auc:first=n1,N1-1,c1-1,t1,p1,k0,s1,g3-1:",
	};
	auc_first_t first = { .num_tasks = 64, .min_nodes = 1, .orig_min_cpus = 64,
		.orig_max_cpus = NO_VAL, .orig_pn_min_cpus = 1, .flags = AUC_FIRST_TASKS,
		.low = 1, .high = 3, .tres_per_node = "gres:gpu:a:1" }, got;
	char *comment = xstrdup("auc:alt=n1,N1-0");

	for (int i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!auc_first_find_note(bad[i], &got), "%s", bad[i]);
	CHECK(auc_first_set_note(&comment, &first) && !xstrcmp(comment,
	      "auc:alt=n1,N1-0;auc:first=n64,N1-0,c64-4294967294,t0,p1,k0,s1,g1-3:gres:gpu:a:1"), "%s", comment);
	CHECK(auc_first_find_note(comment, &got), "%s", comment);
	CHECK((got.num_tasks == 64) && (got.orig_max_cpus == NO_VAL) && (got.high == 3) &&
	      !strcmp(got.tres_per_node, first.tres_per_node), "%s", comment);
	xfree(got.tres_per_node);
	first.tres_per_node = NULL;
	CHECK(auc_first_set_note(&comment, &first) &&
	      auc_first_find_note(comment, &got) && !got.tres_per_node, "%s",
	      comment);
	first.tres_per_node = "gres:gpu:1;x";
	CHECK(!auc_first_set_note(&comment, &first), "%s", comment);
	xfree(comment);
}

extern void units_fuzz_note(const char *text)
{
	char *comment = xstrdup_printf("auc:first=%s", text);
	auc_first_t first;

	if (auc_first_find_note(comment, &first))
		xfree(first.tres_per_node);
	auc_note_drop(&comment, AUC_FIRST_NOTE);
	CHECK(!auc_first_find_note(comment, &first), "%s", comment);
	xfree(comment);
}

/* Random notes: nothing crashes, and what is read is sound. */
static void _fuzz_notes(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"n64", "n8", "N1-0", "N2-8", "N4-4", "t8", "t2", "gpu:1-3",
		"gpu:v100-pcie:2-2", "contiguous", ",", ",", ",", "/", "/", "0",
		"1", "9", "-", ":", ";", "99999999999", "\xff", "x",
		"n1,N1-0,c1-1,t0,p1,k0,s1,g0-0:", "auc:alt=", "auc:first=",
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char note[1200] = "n8,N1-0,";

		for (int k = rand() % 24; k > 0; k--)
			strcat(note, parts[rand() % ARRAY_SIZE(parts)]);
		units_fuzz_note(note + (rand() % 3 ? 0 : rand() % strlen(note)));
	}
}

extern void test_alternatives(unsigned seed)
{
	_test_alternatives();
	_test_first();
	_fuzz_notes(seed, 200000);
}
