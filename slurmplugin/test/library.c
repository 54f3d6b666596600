/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The engine: that it decides as the library does, and that slurmctld outlasts whatever it does. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common.h"
#include "../library.h"
#include "../status.h"
#include "units.h"

#define NODES 1408
#define JOBS 400

static struct aucsched_node nodes[NODES];
static struct aucsched_preference preferences[NODES];
static struct aucsched_job jobs[JOBS];
static struct aucsched_segment held = { .first = 0, .last = 0, .cores = 8 };
static struct aucsched_running runs = { .end = 2000, .segments = 1 };

/* A machine with one job that runs, and jobs of which each could start. */
static struct aucsched_input _machine(uint32_t nodes_len, uint32_t jobs_len)
{
	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct aucsched_node) { .cores = 8,
			.free_cores = i ? 8 : 0, .up = 1 };
	for (int i = 0; i < JOBS; i++)
		jobs[i] = (struct aucsched_job) { .priority = 1000 - i,
			.cores = 8, .time_limit = 60, .mask = -1 };
	return (struct aucsched_input) { .abi = AUCSCHED_ABI,
		.size = sizeof(struct aucsched_input), .now = 1000,
		.nodes = nodes, .nodes_len = nodes_len, .jobs = jobs,
		.jobs_len = jobs_len, .running = &runs, .running_len = 1,
		.running_segments = &held, .running_segments_len = 1 };
}

static int _decide(auc_library_t *library, uint32_t nodes_len,
		   uint32_t jobs_len, struct aucsched_output *out)
{
	struct aucsched_input in = _machine(nodes_len, jobs_len);

	in.preferences = preferences;
	in.preferences_len = nodes_len;
	return auc_library_decide(library, &in, out);
}

static void _load(auc_library_t *library, const char *path)
{
	char *params = xstrdup_printf("auc_library=%s", path);

	CHECK(!auc_library_load(library, params), "%s: %s", path,
	      library->error);
	xfree(params);
}

static void _open(auc_library_t *library, const char *words)
{
	auc_settings_t settings = { .engine = words, .deadline_ms = 100 };

	CHECK(!auc_library_open(library, &settings), "%s: %s", words,
	      library->error);
}

/* What is none of ours is refused, and the words say which and why. */
static void _test_refused(const char *liar)
{
	static const char *const cases[][2] = {
		{ "/dev/null", "/dev/null" },
		{ "/nonexistent.so", "/nonexistent.so" },
		{ "stranger.so", "is not libaucsched: it has no aucsched_abi" },
		{ "older.so", "has ABI 1, the plug-in was built for" },
	};
	auc_settings_t refused = { .engine = "refuse" };
	auc_library_t library = { 0 };

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = cases[i][0];
		char *params = xstrdup_printf("auc_library=%s/%s",
					      name[0] == '/' ? "" : units_dir,
					      name);

		CHECK(auc_library_load(&library, params) && !library.pid &&
		      strstr(library.error, cases[i][1]), "%d: %s", library.pid,
		      library.error);
		xfree(params);
	}
	_load(&library, liar);
	CHECK(!xstrcmp(library.version, "liar"), "%s", library.version);
	CHECK(auc_library_open(&library, &refused) &&
	      !xstrcmp(library.error, "refused"), "%s", library.error);
	_open(&library, "well");
	CHECK(auc_library_open(&library, &refused) &&
	      !xstrcmp(library.error, "no luck") &&
	      !xstrcmp(library.settings, "well"), "%s", library.error);
	auc_library_close(&library);
}

/* Whatever is answered, or not, is said, and over with the next call. */
static void _test_lies(const char *liar)
{
	static const char *const cases[][2] = {
		{ "abort", "ended by signal 6: fatal error: all is lost" },
		{ "exit", ") ended with status 5" },
		{ "hang", "did not answer in time" },
		{ "fail", "no luck" },
		{ "shift", "beyond what it was asked" },
		{ "decisions", "beyond what it was asked" },
		{ "node", "beyond what it was asked" },
		{ "backwards", "beyond what it was asked" },
		{ "bin", "beyond what it was asked" },
		{ "running", "beyond what it was asked" },
		{ "why", "beyond what it was asked" },
		{ "quota", "beyond what it was asked" },
		{ "segments", "beyond what it was asked" },
		{ "victims", "beyond what it was asked" },
		{ "alternative", "beyond what it was asked" },
		{ "many", "the decisions have no room" },
	};
	auc_settings_t settings;
	auc_library_t library = { 0 };
	struct aucsched_output out;
	auc_status_t status = { 0 };
	char text[64];

	_load(&library, liar);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		_open(&library, cases[i][0]);
		CHECK(_decide(&library, 2, 3, &out) &&
		      strstr(library.error, cases[i][1]), "%s: %s", cases[i][0],
		      library.error);
		_open(&library, "well");
		CHECK(!_decide(&library, 2, 3, &out) &&
		      (out.decisions_len == 3) &&
		      (out.decisions[2].why == AUCSCHED_WAITS_FIT),
		      "after %s: %s", cases[i][0], library.error);
	}
	CHECK(auc_library_settings(&library, NULL, &settings, text,
				   sizeof(text)) &&
	      !settings.engine && !settings.said && !settings.status,
	      "texts are in the buffer, or none");
	CHECK(!auc_library_status(&library, &status, text, sizeof(text)) &&
	      (strlen(text) == sizeof(text) - 1), "%s", "a text has an end");
	CHECK(auc_library_keep_files(&library, "/x", false) &&
	      !xstrcmp(library.error, "no luck"), "%s", library.error);
	auc_library_close(&library);
}

/* The first failure costs no time, those in a row more and more. */
static void _test_pauses(const char *liar)
{
	auc_library_t library = { 0 };
	struct aucsched_output out;
	char path[64];
	FILE *file;
	int adj = 0;

	_load(&library, liar);
	_open(&library, "exit");
	for (int i = 0; i < 3; i++)
		CHECK(_decide(&library, 2, 3, &out), "it ends each time");
	CHECK(!library.pid && (library.resume_us > auc_now_us()) &&
	      strstr(library.error, "status 5"), "%s", library.error);
	_load(&library, units_library);	/* another has no part in that */
	_open(&library, "deadline_ms=100");
	CHECK(!_decide(&library, 2, 3, &out) && (out.starts == 1), "%s",
	      library.error);
	CHECK(!library.pause_us, "all is well");
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", library.pid);
	file = fopen(path, "r");
	CHECK(file && (fscanf(file, "%d", &adj) == 1) && (adj == 500),
	      "%s: %d", path, adj);
	if (file)
		fclose(file);
	auc_library_close(&library);
}

static int _open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

typedef struct {
	volatile pid_t pid;
	volatile bool stop;
	int killed;
} killer_t;

static void *_kill(void *arg)
{
	killer_t *killer = arg;

	while (!killer->stop) {
		usleep(1000 + rand() % 20000);
		if (killer->pid && !kill(killer->pid, SIGKILL))
			killer->killed++;
	}
	return NULL;
}

/* At whatever moment it is killed: one cycle fails, the next does not, and nothing of it is left. */
static void _test_killed(unsigned seed)
{
	auc_library_t library = { 0 };
	struct aucsched_output out;
	killer_t killer = { 0 };
	int files = _open_files(), failed = 0, in_a_row = 0;
	pthread_t thread;

	srand(seed);
	_load(&library, units_library);
	_open(&library, "deadline_ms=100");
	CHECK(!pthread_create(&thread, NULL, _kill, &killer), "%m");
	for (int64_t end = auc_now_us() + 3000000; auc_now_us() < end; ) {
		killer.pid = library.pid;
		library.resume_us = library.pause_us = 0;
		if (_decide(&library, NODES, JOBS, &out)) {
			failed++;
			in_a_row++;
			CHECK(strstr(library.error, "ended by signal 9"), "%s",
			      library.error);
		} else {
			in_a_row = 0;
			CHECK(out.starts && (out.decisions_len == JOBS), "%u", out.starts);
		}
	}
	killer.stop = true;
	pthread_join(thread, NULL);
	CHECK(failed && (killer.killed >= failed), "%d failed, %d killed", failed,
	      killer.killed);
	library.resume_us = library.pause_us = 0;
	(void) _decide(&library, NODES, JOBS, &out);
	CHECK(!_decide(&library, NODES, JOBS, &out), "%s", library.error);
	auc_library_close(&library);
	CHECK(_open_files() == files, "%d, were %d", _open_files(), files);
	CHECK(waitpid(-1, NULL, WNOHANG) <= 0,
	      "nobody has heard of a child that ended");
}

/* What a process of its own costs: the way there and back, of a machine with as many nodes as Tsubame. */
static void _test_cost(const char *liar)
{
	auc_library_t library = { 0 };
	struct aucsched_output out;
	int64_t least = INT64_MAX, begin;

	_load(&library, liar);
	_open(&library, "well");
	for (int i = 0; i < 50; i++) {
		begin = auc_now_us();
		CHECK(!_decide(&library, NODES, JOBS, &out), "%s",
		      library.error);
		least = MIN(least, auc_now_us() - begin);
	}
	printf("%d nodes, %d jobs, to the engine and back: %lld us\n", NODES,
	       JOBS, (long long) least);
	CHECK(least < 5000, "%lld us", (long long) least);
	auc_library_close(&library);
}

/*
 * What slurmctld waits for under its locks: once a configuration for where the nodes stand, with its
 * write locks; for a script with alternatives, with its read locks.
 */
static void _test_cost_under_locks(void)
{
	enum { MANY = 10000 };
	char *places = NULL, *end = NULL, buf[2048];
	struct aucsched_submission_answer answer;
	auc_library_t library = { 0 };
	int64_t begin, start_us, tree_us, script_us;

	for (int n = 0; n < MANY; n++)
		xstrfmtcatat(places, &end, "n%05d top.row%d.leaf%d.n%05d switch.switch.switch.node\n",
			     n, n / 500, n / 20, n);
	begin = auc_now_us();
	_load(&library, units_library);
	start_us = auc_now_us() - begin;
	_open(&library, "deadline_ms=100");
	begin = auc_now_us();
	CHECK(!auc_library_topology(&library, places, MANY, NULL), "%s", library.error);
	tree_us = auc_now_us() - begin;
	begin = auc_now_us();
	CHECK(!auc_library_submission(&library, &(struct aucsched_submission) {
		.script = "#!/bin/sh\n#AUCSCHED --alternative -n4\ntrue\n" }, &answer, buf, sizeof(buf)) &&
	      !strncmp(answer.admin_comment, "auc:alt=n4", 10), "%s", buf);
	script_us = auc_now_us() - begin;
	printf("an engine starts in %lld us, places %d nodes in %lld us, reads a script in %lld us\n",
	       (long long) start_us, MANY, (long long) tree_us, (long long) script_us);
	xfree(places);
	auc_library_close(&library);
}

/* Where nodes stand each engine is told that comes, and what others have answered is forgotten. */
static void _test_topology(const char *liar)
{
	struct aucsched_numbers numbers = { 0 };
	struct aucsched_shape shape;
	auc_library_t library = { 0 };

	_load(&library, liar);
	_open(&library, "well");
	CHECK(auc_library_topology(&library, "b\n", 1, NULL) == 1, "%s", library.error);
	for (int i = 0; i < 3; i++) {
		int rc = auc_library_read(&library, AUC_CALL_SHAPE, i, &numbers,
					  sizeof(numbers), &shape, sizeof(shape));

		CHECK(rc == AUC_UNREAD, "%d", rc);
		CHECK(!auc_library_answer(&library) &&
		      !auc_library_read(&library, AUC_CALL_SHAPE, i, &numbers,
					sizeof(numbers), &shape, sizeof(shape)) &&
		      (shape.switches == (i ? 2 : 1)), "%d: %u: %s", i, shape.switches, library.error);
		if (i)		/* the third time by the engine that comes next */
			kill(library.pid, SIGKILL);
		CHECK(auc_library_topology(&library, "a\nb\n", 2, NULL) == (i ? -1 : 0), "%s", library.error);
		library.resume_us = library.pause_us = 0;
	}
	auc_library_close(&library);
}

/* Scripts: what is beyond the engine's answer is not read. */
static void _test_texts(const char *liar)
{
	struct aucsched_submission job = { 0 };
	struct aucsched_submission_answer answer;
	auc_library_t library = { 0 };
	char buf[8];

	_load(&library, liar);
	_open(&library, "well");
	CHECK(!auc_library_submission(&library, &job, &answer, buf, sizeof(buf)) &&
	      !xstrcmp(answer.comment, "xxxxxx") && !answer.socket && !answer.gres &&
	      !answer.job_comment && !answer.admin_comment, "%s", buf);
	job.change = 1;
	CHECK(auc_library_submission(&library, &job, &answer, buf, sizeof(buf)) &&
	      !xstrcmp(buf, "xxxxxxx"), "%s", buf);
	job.gres = "bad";
	CHECK(auc_library_submission(&library, &job, &answer, buf, sizeof(buf)) && library.pid, "%s", buf);
	job.change = 0;
	CHECK(auc_library_submission(&library, &job, &answer, buf, sizeof(buf)) && !library.pid, "%s", buf);
	library.resume_us = library.pause_us = 0;
	_open(&library, "exit");
	CHECK(auc_library_submission(&library, &job, &answer, buf, sizeof(buf)) &&
	      strstr(library.error, "status 5") && !xstrcmp(buf, "aucsche"),
	      "%s: %s", buf, library.error);
	auc_library_close(&library);
}

static int _read_shape(auc_library_t *library)
{
	struct aucsched_numbers numbers = { .threads = 1 };
	struct aucsched_shape shape;

	if (auc_library_read(library, AUC_CALL_SHAPE, 0, &numbers, sizeof(numbers), &shape, sizeof(shape)) == AUC_UNREAD)
		(void) auc_library_answer(library);
	return auc_library_read(library, AUC_CALL_SHAPE, 0, &numbers, sizeof(numbers), &shape, sizeof(shape));
}

static int _read_file(auc_library_t *library, const char *comment, struct aucsched_read *read)
{
	if (auc_library_read(library, AUC_CALL_INPUT_FILE, 0, comment, strlen(comment) + 1, read, sizeof(*read)) == AUC_UNREAD)
		CHECK(!auc_library_answer(library), "%s", library->error);
	return auc_library_read(library, AUC_CALL_INPUT_FILE, 0, comment, strlen(comment) + 1, read, sizeof(*read));
}

static int _read_note(auc_library_t *library, const char *note, struct aucsched_noted *noted)
{
	size_t size = AUCSCHED_MAX_ALTERNATIVES * sizeof(*noted);

	if (auc_library_read(library, AUC_CALL_NOTED, 1, note, strlen(note) + 1, noted, size) == AUC_UNREAD)
		(void) auc_library_answer(library);
	return auc_library_read(library, AUC_CALL_NOTED, 1, note, strlen(note) + 1, noted, size);
}

/* What was answered once is not asked again; what makes no sense is no answer. */
static void _test_reads(const char *liar)
{
	static const char *const lies[] = { "layouts", "word", "noted" };
	struct aucsched_noted noted[AUCSCHED_MAX_ALTERNATIVES];
	auc_library_t library = { 0 };
	struct aucsched_read read;

	_load(&library, liar);
	_open(&library, "well");
	for (int i = 0; i < 2; i++) {
		CHECK(!_read_file(&library, "a", &read) && (read.file == 1), "%llu", (unsigned long long) read.file);
		CHECK(!_read_file(&library, "b", &read) && (read.file == 2), "%llu", (unsigned long long) read.file);
		CHECK(!_read_shape(&library), "%s", library.error);
	}
	CHECK((_read_file(&library, "bad", &read) < 0) && library.pid && !xstrcmp(library.error, "words"), "%s", library.error);
	for (int i = 0; i < ARRAY_SIZE(lies); i++) {
		auc_library_close(&library);
		_load(&library, liar);
		_open(&library, lies[i]);
		CHECK(((i == 2) ? _read_note(&library, "", noted) :
		       _read_shape(&library)) < 0 && !library.pid, "%s: %s", lies[i], library.error);
	}
	auc_library_close(&library);
}

/* Who starts it by hand, or has upgraded it under a slurmctld, is told. */
static void _test_arguments(void)
{
	static const char *const cases[][2] = {
		{ "", "is started by slurmctld" },
		{ "/x 200000000000 1", "of another version than the plug-in: restart slurmctld" },
	};
	char *dir = auc_object_dir((const void *) auc_library_load);
	char words[256];

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		char *command = xstrdup_printf("%s/aucsched-engine %s 2>&1",
					       dir, cases[i][0]);
		FILE *pipe = popen(command, "r");

		CHECK(pipe && fgets(words, sizeof(words), pipe) &&
		      strstr(words, cases[i][1]), "%s", words);
		CHECK(pipe && pclose(pipe), "it fails");
		xfree(command);
	}
	xfree(dir);
}

extern void test_library(unsigned seed)
{
	char *liar = xstrdup_printf("%s/liar.so", units_dir);

	_test_arguments();
	_test_refused(liar);
	_test_lies(liar);
	_test_pauses(liar);
	_test_killed(seed);
	_test_cost(liar);
	_test_cost_under_locks();
	_test_topology(liar);
	_test_texts(liar);
	_test_reads(liar);
	xfree(liar);
}
