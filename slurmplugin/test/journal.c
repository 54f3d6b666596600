/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The journal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../save.h"
#include "units.h"

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

extern void test_journal(unsigned seed)
{
	_test_lines();
	_fuzz_lines(seed, 100000);
	_test_journal();
}
