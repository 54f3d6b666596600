/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Alternatives: lines of scripts, notes, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "../request.h"
#include "../common.h"
#include "units.h"

static const struct {
	const char *line;	/* what follows --alternative */
	auc_alternative_t want;
} alternatives[] = {
	{ "-n64", { .tasks = 64, .min_nodes = 1 } },
	{ "\t-n 64\r", { .tasks = 64, .min_nodes = 1 } },
	{ "--ntasks=64 # more", { .tasks = 64, .min_nodes = 1 } },
	{ "-N4", { .tasks = 4, .min_nodes = 4, .max_nodes = 4 } },
	{ "-n 9 --nodes 2-5", { .tasks = 9, .min_nodes = 2, .max_nodes = 5 } },
	{ "-n 3 -N2-5", { .tasks = 3, .min_nodes = 2, .max_nodes = 3 } },
	{ "--nodes=4 --ntasks-per-node=8 --gres=gpu:2",
	  { .tasks = 32, .min_nodes = 4, .max_nodes = 4, .per_node = 8, .low = 2, .high = 2 } },
	{ "-n32 --ntasks-per-node 8",
	  { .tasks = 32, .min_nodes = 4, .max_nodes = 4, .per_node = 8 } },
	{ "-N1 --gres gpu", { .tasks = 1, .min_nodes = 1, .max_nodes = 1, .low = 1, .high = 1 } },
	{ "-n1 --gres=gpu:1-15", { .tasks = 1, .min_nodes = 1, .low = 1, .high = 15 } },
	{ "-n1 --gres=gpu:v100-pcie", { .tasks = 1, .min_nodes = 1, .low = 1, .high = 1, .type = "v100-pcie" } },
	{ "-n1 --gpus-per-node=v100-pcie:2-3", { .tasks = 1, .min_nodes = 1, .low = 2, .high = 3, .type = "v100-pcie" } },
	{ "-n1 --gpus-per-node=2", { .tasks = 1, .min_nodes = 1, .low = 2, .high = 2 } },
	{ "-n5 --contiguous", { .tasks = 5, .min_nodes = 1, .contiguous = true } },
};

static bool _same(const auc_alternative_t *a, const auc_alternative_t *b)
{
	return (a->tasks == b->tasks) && (a->min_nodes == b->min_nodes) &&
		(a->max_nodes == b->max_nodes) &&
		(a->per_node == b->per_node) && (a->low == b->low) &&
		(a->high == b->high) && (a->contiguous == b->contiguous) &&
		!strcmp(a->type, b->type);
}

static void _test_alternatives(void)
{
	for (int i = 0; i < ARRAY_SIZE(alternatives); i++) {
		auc_alternative_t got[AUC_ALTERNATIVES];
		char *error = NULL, *comment = xstrdup("x");
		char *script = xstrdup_printf("#!/bin/sh\n#SBATCH -n1\n\n#AUCSCHED --alternative %s",
					      alternatives[i].line);
		int len = auc_alternatives_parse(script, 1, units_is_type, got,
						 &error);

		CHECK((len == 1) && !error && _same(got, &alternatives[i].want),
		      "%s: %d %s", alternatives[i].line, len, error);
		auc_alternatives_set_note(&comment, got, 1);
		CHECK((auc_alternatives_find_note(comment, got) == 1) &&
		      _same(got, &alternatives[i].want), "%s: %s",
		      alternatives[i].line, comment);
		auc_alternatives_set_note(&comment, got, 0);
		CHECK(!strcmp(comment, "x"), "%s", comment);
		xfree(comment);
		xfree(error);
		xfree(script);
	}
}

static void _test_wrong_alternatives(void)
{
	static const struct {
		const char *line, *words;
		uint32_t cpus_per_task;
	} cases[] = {
		{ "", "needs --ntasks or --nodes" },
		{ "-x", "-x: is no option" },
		{ "extra", "extra: is no option" },
		{ "--ntasks-per-core=1", "is no option" },
		{ "--nodesx=1", "is no option" },
		{ "--ntask=1", "is no option" },
		{ "-n", "needs a value" },
		{ "--nodes", "needs a value" },
		{ "--nodes # 4", "needs a value" },
		{ "-n1 --contiguous=yes", "takes no value" },
		{ "-n1 -n2", "given twice" },
		{ "-n1 --gres=gpu:1 --gpus-per-node=1", "given twice" },
		{ "-n0", "tasks must be" },
		{ "-n-1", "tasks must be" },
		{ "-n1k", "tasks must be" },
		{ "-n", "needs a value" },
		{ "--ntasks=", "tasks must be" },
		{ "-n9999999999", "tasks must be" },
		{ "-N0", "nodes are" },
		{ "-N4-2", "nodes are" },
		{ "-N4-", "nodes are" },
		{ "-N-4", "nodes are" },
		{ "-N1-2-3", "nodes are" },
		{ "-N1048577", "nodes are" },
		{ "-n8 --ntasks-per-node=0", "on each node must be" },
		{ "-n8 --ntasks-per-node=65001", "on each node must be" },
		{ "--ntasks-per-node=4", "needs --ntasks or --nodes" },
		{ "-n9 --ntasks-per-node=4", "fill some nodes" },
		{ "-N2-4 --ntasks-per-node=4", "not a range" },
		{ "-N2 -n9 --ntasks-per-node=4", "is not --nodes times" },
		{ "-N1048576 --ntasks-per-node=65000", "too many tasks" },
		{ "-N2-4", "a range of nodes needs --ntasks" },
		{ "-N4 -n3", "fewer tasks than nodes" },
		{ "-n999999999", "too many CPUs", 3 },
		{ "--nodes=2 --ntasks-per-node=40000", "too many CPUs", 2 },
		{ "-N1 -n40000", "too many CPUs", 2 },
		{ "-N65536 --ntasks-per-node=65000", "too many tasks" },
		{ "-n4", "with --cpus-per-task", 2 },
		{ "-n4 -N3", "with --cpus-per-task", 2 },
		{ "-n1 --gres=license:1", "gpu:... only" },
		{ "-n1 --gres=gpux", "gpu:... only" },
		{ "-n1 --gres=gpu:0", "from 1 to 15" },
		{ "-n1 --gres=gpu:16", "from 1 to 15" },
		{ "-n1 --gres=gpu:3-1", "from 1 to 15" },
		{ "-n1 --gres=gpu:1-", "from 1 to 15" },
		{ "-n1 --gres=gpu:-1", "from 1 to 15" },
		{ "-n1 --gres=gpu:1,gpu:2", "type of this cluster" },
		{ "-n1 --gres=gpu:a100:1", "type of this cluster" },
		{ "-n1 --gres=gpu:a;b:1", "type of this cluster" },
		{ "-n1 --gres=gpu::1", "type of this cluster" },
		{ "-n1 --gres=gpu:v100-pcie:", "from 1 to 15" },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		auc_alternative_t got[AUC_ALTERNATIVES];
		char *error = NULL;
		char *script = xstrdup_printf("#!/bin/sh\n#AUCSCHED --alternative -n1\n#AUCSCHED --alternative %s\n",
					      cases[i].line);
		int len = auc_alternatives_parse(script,
						 MAX(cases[i].cpus_per_task, 1),
						 units_is_type, got, &error);

		if (cases[i].cpus_per_task) {	/* the line before is wrong too */
			xfree(error);
			xfree(script);
			script = xstrdup_printf("#\n\n#AUCSCHED --alternative %s",
						cases[i].line);
			len = auc_alternatives_parse(script,
						     cases[i].cpus_per_task,
						     units_is_type, got, &error);
		}
		CHECK((len == -1) && error && strstr(error, "line 3: ") &&
		      strstr(error, cases[i].words), "%s: %d %s",
		      cases[i].line, len, error);
		xfree(error);
		xfree(script);
	}
}

/* Whatever became of the job's CPUs a task since its submission. */
static void _test_counts(void)
{
	static const struct {
		uint32_t tasks, nodes, per_node, cpus_per_task;
		bool want;
	} cases[] = {
		{ 1, 1, 0, 1, true }, { 1, 1, 0, 0, true },
		{ 2147483647, 1048576, 0, 1, true },
		{ 999999999, 1, 0, 1, true },
		{ 999999999, 1000000, 0, 3, false },	/* 2999999997 */
		{ 800000000, 1048576, 0, 6, false },	/* wraps to 505032704 */
		{ 65536, 1, 0, 65535, false },
		{ 65535, 2, 0, 2, false }, { 65534, 2, 0, 2, true },
		{ 131070, 2, 65535, 1, true }, { 131072, 2, 65536, 1, false },
		{ 80000, 2, 40000, 2, false }, { 60000, 2, 30000, 2, true },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		auc_alternative_t a = { .tasks = cases[i].tasks,
			.min_nodes = cases[i].nodes,
			.per_node = cases[i].per_node };

		CHECK(auc_alternative_counts(&a, cases[i].cpus_per_task) ==
		      cases[i].want, "%u tasks on %u nodes with %u CPUs each",
		      a.tasks, a.min_nodes, cases[i].cpus_per_task);
	}
}

/* The notes of 8 alternatives fit into what a job's texts may have. */
static void _test_longest_note(void)
{
	auc_alternative_t all[AUC_ALTERNATIVES];
	char *comment = NULL;

	for (int i = 0; i < AUC_ALTERNATIVES; i++)
		all[i] = (auc_alternative_t) { .tasks = 999999999,
			.min_nodes = 1048576, .max_nodes = 1048576,
			.per_node = 65000, .low = 10, .high = 15,
			.contiguous = true, .type = NAME_63 };
	auc_alternatives_set_note(&comment, all, AUC_ALTERNATIVES);
	CHECK(strlen(comment) <= 1024, "%zu", strlen(comment));
	xfree(comment);
}

/* Which lines of a script are looked at, and how many there may be. */
static void _test_scripts(void)
{
	static const struct {
		const char *script;
		int want;
	} cases[] = {
		{ NULL, 0 },
		{ "", 0 },
		{ "#!/bin/sh\nhostname\n#AUCSCHED --alternative -n1\n", 0 },
		{ "#AUCSCHED --alternative -n1", 1 },
		{ "#AUCSCHED\t--alternative -n1\r\n \t\r\n# x\n#AUCSCHED  --alternative -N1\n", 2 },
		{ " #AUCSCHED --alternative -x\n#AUCSCHEDX -x\n##AUCSCHED -x\n", 0 },
		{ "#AUCSCHED --alternatives", -1 },
		{ "#AUCSCHED", -1 },
	};
	auc_alternative_t got[AUC_ALTERNATIVES];
	char *error = NULL, *many = NULL;

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		int len = auc_alternatives_parse(cases[i].script, 1, units_is_type,
						 got, &error);

		CHECK(len == cases[i].want, "%s: %d %s", cases[i].script, len,
		      error);
		xfree(error);
	}
	for (int i = 0; i < AUC_ALTERNATIVES; i++)
		xstrcat(many, "#AUCSCHED --alternative -n1\n");
	CHECK(auc_alternatives_parse(many, 1, units_is_type, got, &error) ==
	      AUC_ALTERNATIVES, "%s", error);
	xstrcat(many, "#AUCSCHED --alternative -n1\n");
	CHECK(auc_alternatives_parse(many, 1, units_is_type, got, &error) == -1,
	      "nine alternatives");
	CHECK(error && strstr(error, "line 9"), "%s", error);
	xfree(error);
	xfree(many);
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
	auc_first_t first = { .tasks = 64, .min_nodes = 1, .min_cpus = 64,
		.max_cpus = NO_VAL, .cpus_per_node = 1, .flags = AUC_FIRST_TASKS,
		.low = 1, .high = 3, .tres_per_node = "gres:gpu:a:1" }, got;
	char *comment = xstrdup("auc:alt=n1,N1-0");

	for (int i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!auc_first_find_note(bad[i], &got), "%s", bad[i]);
	CHECK(auc_first_set_note(&comment, &first), "%s", comment);
	CHECK(auc_first_find_note(comment, &got), "%s", comment);
	CHECK((got.tasks == 64) && (got.max_cpus == NO_VAL) && (got.high == 3) &&
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

static bool _sound(const auc_alternative_t *a)
{
	return a->tasks && a->min_nodes && (a->min_nodes <= a->tasks) &&
		(!a->max_nodes || ((a->min_nodes <= a->max_nodes))) &&
		(!a->per_node || ((uint64_t) a->per_node * a->min_nodes == a->tasks)) &&
		(a->low <= a->high) && (a->high <= 15) && (!a->low == !a->high);
}

extern void units_fuzz_script(const char *script)
{
	auc_alternative_t got[AUC_ALTERNATIVES], again[AUC_ALTERNATIVES];
	char *error = NULL, *comment = NULL;
	int len = auc_alternatives_parse(script, 1 + rand() % 2, units_is_type, got,
					 &error);
	auc_first_t first;

	CHECK((len < 0) == (error != NULL), "%s: %d", script, len);
	CHECK(!error || (strlen(error) < 300), "%s", error);
	xfree(error);
	for (int i = 0; i < len; i++)
		CHECK(_sound(&got[i]), "%s", script);
	if (len > 0) {
		auc_alternatives_set_note(&comment, got, len);
		CHECK(auc_alternatives_find_note(comment, again) == len, "%s: %s",
		      script, comment);
		for (int i = 0; i < len; i++)
			CHECK(_same(&got[i], &again[i]), "%s: %s", script,
			      comment);
		comment[rand() % strlen(comment)] = "0-,/:;nNtg"[rand() % 10];
	} else
		comment = xstrdup_printf("auc:alt=%s", script);
	len = auc_alternatives_find_note(comment, again);
	for (int i = 0; i < len; i++)
		CHECK(_sound(&again[i]), "%s", comment);
	xfree(comment);
	comment = xstrdup_printf("auc:first=%s", script);
	if (auc_first_find_note(comment, &first))
		xfree(first.tres_per_node);
	auc_note_drop(&comment, AUC_FIRST_NOTE);
	CHECK(!auc_first_find_note(comment, &first), "%s", comment);
	xfree(comment);
}

/* Random scripts of what directives are made of: nothing crashes, and what is read is sound. */
static void _fuzz_alternatives(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"#AUCSCHED --alternative ", "#AUCSCHED", "\n", "\n", " ", " ", "\t",
		"\r", "-n", "-N", "--nodes=", "--ntasks=", "--ntasks-per-node=",
		"--gres=gpu:", "--gres=", "--gpus-per-node=", "--contiguous", "1",
		"2", "8", "0", "-", ":", ",", "/", ";", "#", "v100-pcie", "n64",
		"N1-0", "99999999999", "\xff", "x", "n1,N1-0,c1-1,t0,p1,k0,s1,g0-0:",
		"auc:alt=", "auc:first=",
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char script[1200] = "#AUCSCHED --alternative -n8 ";

		for (int k = rand() % 24; k > 0; k--)
			strcat(script, parts[rand() % ARRAY_SIZE(parts)]);
		units_fuzz_script(script + (rand() % 3 ? 0 : rand() % strlen(script)));
	}
}

extern void test_alternatives(unsigned seed)
{
	_test_alternatives();
	_test_wrong_alternatives();
	_test_scripts();
	_test_counts();
	_test_longest_note();
	_test_first();
	_fuzz_alternatives(seed, 200000);
}
