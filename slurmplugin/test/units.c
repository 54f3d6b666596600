/*
 * Tests of the plug-ins' parts that need no slurmctld: GPU ranges,
 * alternatives, input files, settings, memos, the journal. Linked with Slurm's own library, to be run under AddressSanitizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../alternative.h"
#include "../gpu_range.h"
#include "../input_file.h"
#include "../invasic.h"
#include "../note.h"
#include "../scheduler.h"

static int failed, checked;

#define CHECK(what, ...)						\
	do {								\
		checked++;						\
		if (!(what)) {						\
			failed++;					\
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #what); \
			fprintf(stderr, __VA_ARGS__);			\
			fputc('\n', stderr);				\
		}							\
	} while (0)

/* ---- GPU ranges ---- */

static bool _is_type(const char *name)
{
	return !strcmp(name, "v100-pcie") || !strcmp(name, "1-2");
}

static const struct {
	const char *text;
	auc_range_t want;
	uint32_t low, high;
} ranges[] = {
	{ NULL, AUC_RANGE_NONE, 0, 0 },
	{ "", AUC_RANGE_NONE, 0, 0 },
	{ ",,", AUC_RANGE_NONE, 0, 0 },
	{ "gpu", AUC_RANGE_NONE, 0, 0 },
	{ "gpu:2", AUC_RANGE_NONE, 0, 0 },
	{ "gres:gpu:2", AUC_RANGE_NONE, 0, 0 },
	{ "gres/gpu=2", AUC_RANGE_NONE, 0, 0 },
	{ "gres:gpu:1-3", AUC_RANGE_OK, 1, 3 },
	{ "gres/gpu:1-3", AUC_RANGE_OK, 1, 3 },
	{ "gpu:a100:2-4", AUC_RANGE_OK, 2, 4 },
	{ "gres:license:1,gres:gpu:1-1", AUC_RANGE_OK, 1, 1 },
	{ "craynetwork:1-3", AUC_RANGE_NONE, 0, 0 },
	{ "gpux:1-3", AUC_RANGE_NONE, 0, 0 },
	{ "gpu:v100-pcie", AUC_RANGE_NONE, 0, 0 },
	{ "gpu:v100-pcie:1-2", AUC_RANGE_NONE, 0, 0 },
	{ "gpu:v100-pcie:1-3", AUC_RANGE_OK, 1, 3 },
	{ "gpu:3-1", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:0-0", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:0-2", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:a-b", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:-3", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:-", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-2-3", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-3 ", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-99999", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-4294967297", AUC_RANGE_BAD, 0, 0 },
	{ "gpu:1-3,gpu:2-4", AUC_RANGE_BAD, 0, 0 },
};

static void _test_ranges(void)
{
	for (int i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint32_t low = 0, high = 0;
		char *error = NULL;
		auc_range_t got = auc_range_parse(ranges[i].text, _is_type,
						  &low, &high, &error);

		CHECK(got == ranges[i].want, "%s: %d", ranges[i].text, got);
		CHECK((got == AUC_RANGE_BAD) == (error && error[0]), "%s: %s",
		      ranges[i].text, error);
		if (got == AUC_RANGE_OK)
			CHECK((low == ranges[i].low) && (high == ranges[i].high),
			      "%s: %u-%u", ranges[i].text, low, high);
		xfree(error);
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
		{ "gpu", "gpu:2" },
		{ "gpu:a100", "gpu:a100:2" },
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

	for (int i = 0; i < ARRAY_SIZE(comments); i++) {
		char *comment = xstrdup(comments[i]);
		uint32_t low = 0, high = 0;

		CHECK(!auc_range_find_note(comment, &low, &high), "%s",
		      comment);
		auc_range_add_note(&comment, 1, 3);
		auc_range_add_note(&comment, 2, 4);	/* in place of the first */
		CHECK(auc_range_find_note(comment, &low, &high) &&
		      (low == 2) && (high == 4), "%s", comment);
		auc_range_drop_note(&comment);
		CHECK(!auc_range_find_note(comment, &low, &high), "%s",
		      comment);
		if (comments[i] && strcmp(comments[i], ";"))
			CHECK(!xstrcmp(comment, comments[i]), "%s became %s",
			      comments[i], comment);
		xfree(comment);
	}
}

/* Random text of what ranges are made of: nothing crashes, and what is read is sound. */
static void _fuzz_ranges(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"gpu", "gres:", "gres/", ":", "-", ",", "1", "3", "0", "a100",
		"=", ";", "auc:gpu=", "99999999999", " ", "\"", "\xff",
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char text[256] = "";
		uint32_t low = 0, high = 0;
		char *error = NULL, *single, *comment;

		for (int k = rand() % 12; k > 0; k--)
			strcat(text, parts[rand() % ARRAY_SIZE(parts)]);
		if (auc_range_parse(text, _is_type, &low, &high, &error) ==
		    AUC_RANGE_OK) {
			char *again = NULL;

			CHECK(low && (low <= high) && (high <= 1024), "%s",
			      text);
			single = auc_range_with_count(text, low);
			CHECK(single && (auc_range_parse(single, NULL, &low,
							 &high, &again) ==
					 AUC_RANGE_NONE), "%s became %s", text,
			      single);
			xfree(again);
			xfree(single);
		}
		xfree(error);
		comment = xstrdup(text);
		auc_range_drop_note(&comment);
		auc_range_add_note(&comment, 5, 6);
		CHECK(auc_range_find_note(comment, &low, &high) || comment,
		      "%s", text);
		xfree(comment);
	}
}

/* ---- alternatives ---- */

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
		int len = auc_alternatives_parse(script, 1, _is_type, got,
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
						 _is_type, got, &error);

		if (cases[i].cpus_per_task) {	/* the line before is wrong too */
			xfree(error);
			xfree(script);
			script = xstrdup_printf("#\n\n#AUCSCHED --alternative %s",
						cases[i].line);
			len = auc_alternatives_parse(script,
						     cases[i].cpus_per_task,
						     _is_type, got, &error);
		}
		CHECK((len == -1) && error && strstr(error, "line 3: ") &&
		      strstr(error, cases[i].words), "%s: %d %s",
		      cases[i].line, len, error);
		xfree(error);
		xfree(script);
	}
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
		int len = auc_alternatives_parse(cases[i].script, 1, _is_type,
						 got, &error);

		CHECK(len == cases[i].want, "%s: %d %s", cases[i].script, len,
		      error);
		xfree(error);
	}
	for (int i = 0; i < AUC_ALTERNATIVES; i++)
		xstrcat(many, "#AUCSCHED --alternative -n1\n");
	CHECK(auc_alternatives_parse(many, 1, _is_type, got, &error) ==
	      AUC_ALTERNATIVES, "%s", error);
	xstrcat(many, "#AUCSCHED --alternative -n1\n");
	CHECK(auc_alternatives_parse(many, 1, _is_type, got, &error) == -1,
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
		.max_cpus = NO_VAL, .cpus_per_node = 1, .tasks_set = 1,
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

static void _fuzz_one(const char *script)
{
	auc_alternative_t got[AUC_ALTERNATIVES], again[AUC_ALTERNATIVES];
	char *error = NULL, *comment = NULL;
	int len = auc_alternatives_parse(script, 1 + rand() % 2, _is_type, got,
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
		_fuzz_one(script + (rand() % 3 ? 0 : rand() % strlen(script)));
	}
}

/* ---- invasive jobs ---- */

static const struct {
	const char *comment;
	uint32_t cores;		/* that the request says */
	bool made;
	const char *note;	/* what becomes of the comment; NULL: it is wrong */
	const char *words;	/* of the error */
} invasics[] = {
	{ NULL, 0, false, "invasic=1-1,rigid,points=0", NULL },
	{ "for the review", 4, false,
	  "for the review;invasic=4-4,rigid,points=0", NULL },
	{ "invasic=2-8", 0, false, "invasic=2-8,moldable,points=0", NULL },
	{ "invasic=malleable,1-64;x", 2, false,
	  "x;invasic=1-64,malleable,points=0", NULL },
	{ "a;invasic=urgent;b", 3, false,
	  "a;b;invasic=3-3,rigid,urgent,points=0", NULL },
	{ "invasic=evolving,urgent", 3, false,
	  "invasic=3-3,evolving,urgent,points=0", NULL },
	{ "invasic=65000", 0, false, "invasic=65000-65000,rigid,points=0", NULL },
	{ "my invasic=nonsense", 1, false,
	  "my invasic=nonsense;invasic=1-1,rigid,points=0", NULL },
	{ "invasic=2-8,malleable,urgent,held,points=7", 0, true,
	  "invasic=2-8,malleable,urgent,held,points=7", NULL },
	{ "invasic=1-1,rigid,points=0", 0, true,
	  "invasic=1-1,rigid,points=0", NULL },
	{ "invasic=2-8,malleable,points=7", 0, false, NULL,
	  "invasic=2-8,malleable,points=7: must be CORES or MIN-MAX" },
	{ "invasic=held", 0, false, NULL, "must be CORES" },
	{ "invasic=", 0, false, NULL, "--comment: invasic=: must be CORES" },
	{ "invasic=;x", 0, false, NULL, "invasic=: must be" },
	{ "invasic=2-8,", 0, false, NULL, "must be CORES" },
	{ "invasic=8-2", 0, false, NULL, "its cores must be a number from 1, or MIN-MAX" },
	{ "invasic=0", 0, false, NULL, "its cores must" },
	{ "invasic=1-65001", 0, false, NULL, "its cores must" },
	{ "invasic=1-99999999999999999999", 0, false, NULL, "its cores must" },
	{ "invasic=1,2", 0, false, NULL, "two numbers of cores" },
	{ "invasic=1-2,malleable,rigid", 0, false, NULL, "two kinds" },
	{ "invasic=1-2,rigid", 0, false, NULL, "a rigid job has one number" },
	{ "invasic=2-8", 9, false, NULL, "--ntasks times --cpus-per-task" },
	{ "invasic=2-8", 1, false, NULL, "--ntasks times --cpus-per-task" },
	{ "invasic=1;invasic=2", 0, false, NULL, "is there twice" },
	{ "invasic=1-2,points=x", 0, true, NULL, "points must be a number" },
};

static void _test_invasics(void)
{
	static const char params[] =
		"auc_invasic=a,auc_invasic_socket=/x, auc_invasic=bc,auc_invasi=d,auc_invasic_urgent=";
	word_t value = { NULL, 0 };
	bool alone;

	for (int i = 0; i < ARRAY_SIZE(invasics); i++) {
		char *comment = xstrdup(invasics[i].comment), *error = NULL;
		auc_invasic_t want;
		bool ok = auc_invasic_parse(comment, invasics[i].cores,
					    invasics[i].made, &want, &error);

		CHECK((ok == !!invasics[i].note) && (ok == !error), "%s: %s",
		      invasics[i].comment, error);
		CHECK(ok || strstr(error, invasics[i].words), "%s", error);
		if (ok) {
			auc_invasic_note(&comment, &want);
			CHECK(!xstrcmp(comment, invasics[i].note), "%s",
			      comment);
		}
		xfree(comment);
		xfree(error);
	}
	CHECK(auc_param(params, "auc_invasic=", &value) && auc_is(value, "bc"),
	      "%.*s", (int) value.len, value.at);
	CHECK(!auc_param(params, "auc_invasic_urgent=", &value), "empty");
	CHECK(!auc_param(NULL, "auc_invasic=", &value), "none");
	value = (word_t) { "bc", 2 };
	CHECK(auc_names_partition("bc", value, &alone) && alone, "alone");
	CHECK(auc_names_partition("a,bc", value, &alone) && !alone, "not alone");
	CHECK(!auc_names_partition("b,bcd,abc", value, &alone) && !alone, "others");
	CHECK(!auc_names_partition(NULL, value, &alone), "none");
}

/* ---- input files ---- */

static const struct {
	const char *comment;
	auc_input_found_t want;
	uint64_t bytes;
	const char *words;	/* of the error */
} inputs[] = {
	{ NULL, AUC_INPUT_NONE, 0, NULL },
	{ "", AUC_INPUT_NONE, 0, NULL },
	{ "for the review; my input=/a:1", AUC_INPUT_NONE, 0, NULL },
	{ "INPUT=/a:1", AUC_INPUT_NONE, 0, NULL },
	{ "input", AUC_INPUT_NONE, 0, NULL },
	{ "input=/a:1", AUC_INPUT_OK, 1, NULL },
	{ "input=/data/genome.fa:4G", AUC_INPUT_OK, (uint64_t) 4 << 30, NULL },
	{ "note;input=/a b,c:12k;auc:gpu=1-3", AUC_INPUT_OK, 12 << 10, NULL },
	{ "input=s3://bucket/key:3:1T", AUC_INPUT_OK, (uint64_t) 1 << 40, NULL },
	{ "input=/a:1048576T", AUC_INPUT_OK, (uint64_t) 1 << 60, NULL },
	{ "input=/a:1152921504606846976", AUC_INPUT_OK, (uint64_t) 1 << 60, NULL },
	{ "input=", AUC_INPUT_BAD, 0, "input=: must be PATH:SIZE" },
	{ "input=;x", AUC_INPUT_BAD, 0, "input=: must be PATH:SIZE" },
	{ "input=/a", AUC_INPUT_BAD, 0, "input=/a: must be PATH:SIZE" },
	{ "input=:5G", AUC_INPUT_BAD, 0, "input=:5G: its path must" },
	{ "input=a:5G", AUC_INPUT_BAD, 0, "input=a:5G: its path must begin with / or be a URL" },
	{ "input=://x:5", AUC_INPUT_BAD, 0, "its path must" },
	{ "input=/a:", AUC_INPUT_BAD, 0, "input=/a:: its size must" },
	{ "input=/a:0", AUC_INPUT_BAD, 0, "input=/a:0: its size must" },
	{ "input=/a:G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:-1", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1.5G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:5 G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:5GB", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1048577T", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1152921504606846977", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:99999999999999999999999", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1;input=/b:2", AUC_INPUT_BAD, 0, "input=/b:2: is a second input" },
};

static uint64_t _file_of(const char *comment)
{
	auc_input_t input = { 0 };

	(void) auc_input_parse(comment, &input, NULL);
	return input.file;
}

static void _test_inputs(void)
{
	char long_name[2000];

	for (int i = 0; i < ARRAY_SIZE(inputs); i++) {
		auc_input_t input = { 0 };
		char *error = NULL;
		auc_input_found_t found =
			auc_input_parse(inputs[i].comment, &input, &error);

		CHECK((found == inputs[i].want) && (!error == !inputs[i].words),
		      "%s: %d, %s", inputs[i].comment, found, error);
		CHECK((found != AUC_INPUT_OK) ||
		      (input.file && (input.bytes == inputs[i].bytes)), "%s: %llu",
		      inputs[i].comment, (unsigned long long) input.bytes);
		CHECK(!inputs[i].words || strstr(error, inputs[i].words), "%s",
		      error);
		xfree(error);
	}
	CHECK(_file_of("input=/a:1") == _file_of("x;input=/a:2G"), "the path alone");
	CHECK(_file_of("input=/a:1") != _file_of("input=/b:1"), "another path");
	/* As it is in saved files. */
	CHECK(auc_id_of("", 0) == 0xcbf29ce484222325, "%llx", (unsigned long long) auc_id_of("", 0));
	CHECK(auc_id_of("foobar", 6) == 0x85944171f73967e8, "%llx", (unsigned long long) auc_id_of("foobar", 6));
	memset(long_name, 'a', sizeof(long_name));
	memcpy(long_name, "input=", 6);
	long_name[sizeof(long_name) - 1] = '\0';
	{
		auc_input_t input;
		char *error = NULL;

		CHECK((auc_input_parse(long_name, &input, &error) ==
		       AUC_INPUT_BAD) && (strlen(error) < 300), "%zu", strlen(error));
		xfree(error);
	}
}

static void _fuzz_inputs(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"input=", "/", ":", ";", "9", "0", "G", "t", "://", "a", " ",
		"99999999999999999999", "\xff", "=",
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char text[256] = "";
		auc_input_t input = { 0 };
		char *error = NULL;
		auc_input_found_t found;

		for (int k = rand() % 10; k > 0; k--)
			strcat(text, parts[rand() % ARRAY_SIZE(parts)]);
		found = auc_input_parse(text, &input, &error);
		CHECK((found == AUC_INPUT_BAD) == !!error, "%s", text);
		CHECK((found != AUC_INPUT_OK) || (input.file && input.bytes &&
		      (input.bytes <= AUCSCHED_MAX_FILE)), "%s", text);
		xfree(error);
	}
}

static const struct {
	const char *params;
	bool on;
} localities[] = {
	{ NULL, false }, { "", false }, { "bf_interval=5", false },
	{ "auc_locality=yes", true }, { "auc_locality=yes,auc_interval=3", true },
	{ "bf_interval=5, auc_locality=yes", true },
	{ "auc_locality=no", false }, { "auc_locality=yes,auc_locality=no", false },
	{ "auc_locality=no,auc_locality=yes", true },
	{ "xauc_locality=yes", false }, { "auc_locality=yess", false },
	{ "auc_worker=/auc_locality=yes", false }, { "auc_locality=yes,auc_locality=maybe", true },
};

/* Whoever looks says the same. */
static void _test_locality(void)
{
	for (int i = 0; i < ARRAY_SIZE(localities); i++) {
		auc_settings_t s = { 0 };
		char *params = xstrdup(localities[i].params);

		slurm_conf.sched_params = params;
		auc_settings_read(&s);
		CHECK(s.locality == localities[i].on, "%s", params);
		CHECK(auc_locality_is_on(params) == localities[i].on, "%s", params);
		slurm_conf.sched_params = NULL;
		auc_settings_free(&s);
		xfree(params);
	}
}

/* ---- settings ---- */

static auc_settings_t _settings(const char *params)
{
	auc_settings_t settings = { 0 };

	slurm_conf.sched_params = xstrdup(params);
	auc_settings_read(&settings);
	xfree(slurm_conf.sched_params);
	return settings;
}

static const struct {
	const char *params;	/* SchedulerParameters */
	bool waits;		/* who stands behind the window */
} beyond[] = {
	{ NULL, false },
	{ "auc_paper=no,auc_policy=auction1", false },
	{ "auc_paper=yes", true },
	{ "auc_policy=ipsched,auc_interval=7", true },
	{ "auc_policy=ipsched,auc_policy=auction2", false },
	{ "auc_worker=/x/policy=ipsched", false },
	{ "auc_beyond=wait", true },
	{ "auc_beyond=wait,auc_beyond=slurm", false },
	{ "auc_beyond=slurm,auc_paper=yes,auc_policy=ipsched", false },
	{ "auc_beyond=,auc_beyond=yes,auc_beyond=wai,auc_paper=yes", true },
};

static void _test_settings(void)
{
	auc_settings_t defaults = _settings(NULL), s;

	CHECK(defaults.enabled && (defaults.interval == 3) &&
	      (defaults.limit == 700), "%d %d", defaults.interval,
	      defaults.limit);
	s = _settings("bf_interval=5,auc_interval=7,auc_window=10,auc_depth=5,auc_bids=4,auc_enabled=no,auc_worker=/x/y,auc_status=/a");
	CHECK(!s.enabled && (s.interval == 7) && (s.limit == 15) &&
	      !xstrcmp(s.status, "/a"), "%s", s.engine);
	CHECK(strstr(s.engine, "bids=4") && strstr(s.engine, "drafts=4") &&
	      strstr(s.engine, "worker=/x/y"), "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_file_memory=5,auc_file_age=60");
	CHECK((s.file_memory == 5) && strstr(s.engine, "file_age_s=60") &&
	      !strstr(defaults.engine, "file_age_s"), "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_solver=auto");
	CHECK(strstr(s.engine, "worker=/"), "%s", s.engine);
	auc_settings_free(&s);
	/* It implies others, which must not be named then. */
	s = _settings("auc_throughput=yes");
	CHECK(strstr(s.engine, "throughput=yes") &&
	      !strstr(s.engine, "patience_s=") &&
	      !strstr(s.engine, "objective=") &&
	      !strstr(s.engine, "compact="), "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_patience=60,auc_compact=yes,auc_throughput=no,auc_objective=rate");
	CHECK(strstr(s.engine, "patience_s=60") &&
	      strstr(s.engine, "compact=yes") &&
	      strstr(s.engine, "objective=rate"), "%s", s.engine);
	auc_settings_free(&s);
	/* So do the papers' settings, of which the depth counts here too. */
	CHECK(strstr(defaults.engine, "window=200") &&
	      strstr(defaults.engine, "depth=500") &&
	      strstr(defaults.engine, "bids=15") &&
	      strstr(defaults.engine, "drafts=7") &&
	      strstr(defaults.engine, "reservations=1"), "%s",
	      defaults.engine);
	s = _settings("auc_paper=yes");
	CHECK((s.limit == 200) && strstr(s.engine, "paper=yes") &&
	      strstr(s.engine, "window=200") && strstr(s.engine, "work=") &&
	      strstr(s.engine, "deadline_ms=500") &&
	      !strstr(s.engine, "depth=") && !strstr(s.engine, "bids=") &&
	      !strstr(s.engine, "drafts=") &&
	      !strstr(s.engine, "reservations="), "%d %s", s.limit, s.engine);
	auc_settings_free(&s);
	s = _settings("auc_depth=7,auc_drafts=3,auc_paper=yes,auc_window=20");
	CHECK((s.limit == 27) && strstr(s.engine, "depth=7") &&
	      strstr(s.engine, "drafts=3") && !strstr(s.engine, "bids="),
	      "%d %s", s.limit, s.engine);
	auc_settings_free(&s);
	s = _settings("auc_paper=yes,auc_bids=2,auc_drafts=3");
	CHECK(strstr(s.engine, "bids=2") && strstr(s.engine, "drafts=2"),
	      "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_paper=yes,auc_worker=/x/paper=no,auc_paper=no,auc_library=/l,auc_status=/paper=yes");
	CHECK((s.limit == defaults.limit) && strstr(s.engine, "paper=no") &&
	      strstr(s.engine, "bids=15"), "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_worker=/x/paper=yes");
	CHECK(s.limit == defaults.limit, "%s", s.engine);
	auc_settings_free(&s);
	s = _settings("auc_policy=auction2,auc_policy=ipsched,auc_node_limits=no,auc_on_timeout=halve,auc_contiguous_bids=yes");
	CHECK(strstr(s.engine, "policy=ipsched") &&
	      !strstr(s.engine, "policy=auction2") &&
	      strstr(s.engine, "node_limits=no") &&
	      strstr(s.engine, "on_timeout=halve") &&
	      strstr(s.engine, "contiguous_bids=yes"), "%s", s.engine);
	auc_settings_free(&s);
	for (int i = 0; i < ARRAY_SIZE(beyond); i++) {
		s = _settings(beyond[i].params);
		CHECK(s.beyond_waits == beyond[i].waits, "%s: %d",
		      beyond[i].params, s.beyond_waits);
		auc_settings_free(&s);
	}
	/* What is wrong is left out, each by itself. */
	s = _settings("auc_interval=0,auc_window=x,auc_bids=,auc_deadline_ms=1e3,auc_enabled=maybe,auc_objective=fun,auc_patience=-1,auc_compact=1,auc_throughput=,auc_policy=auction,auc_paper=on,auc_contiguous_bids=,auc_node_limits=0,auc_on_timeout=half,auc_library=lib.so,auc_nonsense=1,auc_,auc_depth,auc_file_age=-1,auc_file_memory=4G");
	CHECK(s.enabled && (s.interval == defaults.interval) && !s.library &&
	      !xstrcmp(s.engine, defaults.engine), "%s", s.engine);
	auc_settings_free(&s);
	auc_settings_free(&defaults);
}

/* ---- memos ---- */

static void _test_memos(void)
{
	for (uint32_t id = 1; id <= 5000; id++) {
		auc_memo_of(id * 7919)->misses = id % 200;
		auc_memo_of(id * 7919)->cycle = id % 2;
	}
	for (uint32_t id = 1; id <= 5000; id++) {
		auc_memo_t *memo = auc_memo_find(id * 7919);

		CHECK(memo && (memo->misses == id % 200), "%u", id);
	}
	CHECK(!auc_memo_find(1), "a job that nobody added");
	auc_memo_sweep(1);
	for (uint32_t id = 1; id <= 5000; id++)
		CHECK(!auc_memo_find(id * 7919) == !(id % 2), "%u", id);
	auc_memo_free();
	CHECK(!auc_memo_find(7919), "after all were freed");
}

/* ---- the journal ---- */

static void _test_lines(void)
{
	static const char *bad[] = {
		"", "\n", "S", "S 1\n", "S 1 2", "S 1 2 3\n", "S -1 2\n",
		"S 01 2\n", "S 1 2x\n", "s 1 2\n", "S 1  2\n", "S 4294967296 2\n",
		"E 1 2\n", "E 1 2 3\n", "E 1 2 3 4", "E 1 2 3 4 5\n", "E 1 2 3 -4\n",
		"X 1 2\n", "S 1 99999999999999999999\n",
	};
	auc_run_t run;

	for (int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!auc_run_parse(bad[i], &run), "\"%s\"", bad[i]);
	CHECK(auc_run_parse("S 4294967295 1764000000\n", &run) &&
	      (run.job_id == UINT32_MAX) && (run.start == 1764000000) &&
	      !run.ended, "a start");
	CHECK(auc_run_parse("E 7 5 32771 256\n", &run) && (run.job_id == 7) &&
	      (run.start == 5) && run.ended && (run.state == 32771) &&
	      (run.exit_code == 256), "an end");
}

static void _fuzz_lines(unsigned seed, int count)
{
	srand(seed);
	for (int i = 0; i < count; i++) {
		char line[AUC_RUN_LINE], again[AUC_RUN_LINE];
		auc_run_t run = { 0 };
		int len = auc_run_format(line, sizeof(line), &(auc_run_t) {
			.job_id = rand(), .start = (time_t) rand() << 8 * (rand() % 4),
			.ended = rand() & 1, .state = rand() * 2u,
			.exit_code = rand() * 2u });

		CHECK(len < sizeof(line), "%s", line);
		CHECK(auc_run_parse(line, &run), "%s", line);
		for (int n = rand() % 4; n; n--)
			line[rand() % len] = rand();
		if (!auc_run_parse(line, &run))
			continue;
		(void) auc_run_format(again, sizeof(again), &run);
		CHECK(!strcmp(line, again), "%s and %s", line, again);
	}
}

static size_t _reopen(const char *dir, auc_run_t **runs)
{
	size_t len = 0;

	xfree(*runs);
	*runs = auc_journal_open(dir, &len);
	return len;
}

/* What is forgotten, what is kept, and what a new process finds. */
static void _test_journal(void)
{
	char dir[] = "/tmp/aucunitsXXXXXX", *path;
	auc_run_t *runs = NULL;
	job_record_t job = { 0 };
	time_t now = 1000000;
	size_t mark;
	FILE *file;

	if (!mkdtemp(dir)) {
		CHECK(false, "mkdtemp: %m");
		return;
	}
	path = xstrdup_printf("%s/aucsched_journal", dir);
	CHECK(!auc_journal_rest_us(), "nothing was started");
	auc_journal_start(1, now);	/* no journal yet: nothing happens */
	CHECK(_reopen(dir, &runs) == 0, "a new one is empty");
	auc_journal_start(1, now - 500);
	auc_journal_start(2, now);
	job.job_id = 1;
	job.start_time = now - 500;
	job.job_state = JOB_COMPLETE | JOB_COMPLETING;
	job.exit_code = 256;
	auc_journal_end(&job);
	mark = auc_journal_mark();
	auc_journal_start(3, now);
	job.job_id = 3;
	job.start_time = now;
	auc_journal_end(&job);
	CHECK(_reopen(dir, &runs) == 5, "a process that is killed loses nothing");
	CHECK((auc_journal_rest_us() > 0) && (auc_journal_rest_us() <= 1000000),
	      "just started");
	CHECK((runs[2].job_id == 1) && runs[2].ended && (runs[2].exit_code == 256) &&
	      (runs[2].state == (JOB_COMPLETE | JOB_COMPLETING)), "the end of 1");
	auc_journal_close(false);
	CHECK(_reopen(dir, &runs) == 5, "nor one that stops");
	mark = auc_journal_mark() - 2;
	auc_journal_forget(mark, now);
	auc_journal_forget(mark, now);
	for (int i = 0; i < 2000; i++) {	/* until the file is written anew */
		auc_journal_start(9, now - 500);
		auc_journal_forget(mark, now);
		if (i == 1000)
			auc_journal_forget(auc_journal_mark() - 1, now);
	}
	auc_journal_forget(auc_journal_mark() - 1, now);
	CHECK(_reopen(dir, &runs) < 2000, "the file is bounded");
	CHECK((runs[0].job_id == 2) && !runs[0].ended, "2 may not be launched yet");
	auc_journal_close(true);
	CHECK(access(path, F_OK), "removed");

	file = fopen(path, "w");
	fputs("S 1 2\ngarbage\nE 1 2 3 4\nS 5 6", file);
	fclose(file);
	CHECK(_reopen(dir, &runs) == 2, "half a line and garbage are left out");
	auc_journal_start(7, 8);
	CHECK(_reopen(dir, &runs) == 3, "and do not spoil what follows");
	auc_journal_close(true);
	xfree(runs);
	xfree(path);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	log_options_t options = LOG_OPTS_STDERR_ONLY;

	options.stderr_level = LOG_LEVEL_QUIET;
	log_init(argv[0], options, SYSLOG_FACILITY_USER, NULL);
	_test_ranges();
	_test_count();
	_test_notes();
	_fuzz_ranges(argc > 1 ? atoi(argv[1]) : 1, 200000);
	_test_alternatives();
	_test_wrong_alternatives();
	_test_scripts();
	_test_first();
	_fuzz_alternatives(argc > 1 ? atoi(argv[1]) : 1, 200000);
	_test_inputs();
	_test_invasics();
	_fuzz_inputs(argc > 1 ? atoi(argv[1]) : 1, 100000);
	_test_locality();
	_test_settings();
	_test_memos();
	_test_lines();
	_fuzz_lines(argc > 1 ? atoi(argv[1]) : 1, 100000);
	_test_journal();
	printf("%d checks, %d failed\n", checked, failed);
	return failed != 0;
}
