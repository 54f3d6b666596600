/*
 * Tests of the plug-ins' parts that need no slurmctld: GPU ranges, settings, memos, the journal. Linked
 * with Slurm's own library, to be run under AddressSanitizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../gpu_range.h"
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

/* ---- settings ---- */

static auc_settings_t _settings(const char *params)
{
	auc_settings_t settings = { 0 };

	slurm_conf.sched_params = xstrdup(params);
	auc_settings_read(&settings);
	xfree(slurm_conf.sched_params);
	return settings;
}

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
	s = _settings("auc_solver=auto");
	CHECK(strstr(s.engine, "worker=/"), "%s", s.engine);
	auc_settings_free(&s);
	/* What is wrong is left out, each by itself. */
	s = _settings("auc_interval=0,auc_window=x,auc_bids=,auc_deadline_ms=1e3,auc_enabled=maybe,auc_objective=fun,auc_library=lib.so,auc_nonsense=1,auc_,auc_depth");
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
	_test_settings();
	_test_memos();
	_test_lines();
	_fuzz_lines(argc > 1 ? atoi(argv[1]) : 1, 100000);
	_test_journal();
	printf("%d checks, %d failed\n", checked, failed);
	return failed != 0;
}
