/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What slurmctld may not have saved when it is killed: see journal.h.
 *
 * A file in StateSaveLocation, a line for each event:
 *
 *	S JOB START		the job got its nodes at START
 *	E JOB START STATE CODE	the run of that start ended so
 *
 * A line is written before anybody outside hears of the event, by one write(), which a
 * killed process has not to finish: it is the kernel's then. Only a machine that goes
 * down loses lines; slurmd's jobs are gone then too, or Slurm finds them when it asks the nodes.
 *
 * What is in the file is in memory too, also while the file can't be written: when Slurm has
 * saved its state next, the file is written anew, and has no gap.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "grow.h"
#include "journal.h"

/* A start is remembered so long even if it is saved: it may not be launched yet. */
#define KEEP_SECONDS 120

/* So long after a start its node has made a step of it. */
#define LAUNCH_US 1000000

/* More than this is no journal. */
#define MOST_RUNS (1 << 20)

/* Lines of what is forgotten that the file may have, beside those in use. */
#define SPARE_LINES 1024

static struct {
	pthread_mutex_t lock;	/* taken last of all locks; nobody waits for a disk under it, save for a
				 * line's write(), and where the file is opened or given up */
	bool open;		/* events are remembered */
	int fd;			/* -1: there is no file, or one with a gap */
	char *path;
	const char *why;	/* fd is -1: static text */
	size_t gap;		/* a mark: of what came before it something is not known */
	auc_run_t *runs;	/* in the order of the lines */
	size_t len, cap;
	size_t forgotten;	/* runs forgotten since the journal was opened */
	size_t lines;		/* of the file */
	int64_t started_us;	/* when the last start was, or 0 */
} journal = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.fd = -1,
};

extern int auc_run_format(char *line, size_t size, const auc_run_t *run)
{
	if (!run->ended)
		return snprintf(line, size, "S %u %" PRId64 "\n", run->job_id,
				(int64_t) run->start);
	return snprintf(line, size, "E %u %" PRId64 " %u %u\n", run->job_id,
			(int64_t) run->start, run->state, run->exit_code);
}

extern bool auc_run_parse(const char *line, auc_run_t *run)
{
	char again[AUC_RUN_LINE];
	int64_t start = 0;

	memset(run, 0, sizeof(*run));
	if (*line == 'E') {
		run->ended = true;
		if (sscanf(line, "E %u %" SCNd64 " %u %u", &run->job_id, &start,
			   &run->state, &run->exit_code) != 4)
			return false;
	} else if (sscanf(line, "S %u %" SCNd64, &run->job_id, &start) != 2)
		return false;
	run->start = start;
	/* Half a line, or anything that sscanf() is too kind to. */
	(void) auc_run_format(again, sizeof(again), run);
	return !strcmp(line, again);
}

/* Without a file for now: one with a gap is worse than none. */
static void _break(const char *what)
{
	error("aucsched: %s %s: %m; starts and ends are not recorded until Slurm's state is saved again",
	      what, journal.path);
	journal.why = what;
	if (journal.fd >= 0) {
		(void) unlink(journal.path);
		close(journal.fd);
	}
	journal.fd = -1;
}

static bool _remember(const auc_run_t *run)
{
	if (journal.len >= MOST_RUNS)
		return false;
	AUC_GROW(journal.runs, journal.cap, journal.len + 1);
	journal.runs[journal.len++] = *run;
	return true;
}

/* So many that nobody can have saved for long: they are forgotten, all of them. */
static void _overflow(void)
{
	errno = EFBIG;
	if (journal.fd >= 0)
		_break("can't add to");
	journal.forgotten += journal.len;
	journal.len = 0;
	journal.gap = journal.forgotten + 1;
}

static void _append(const auc_run_t *run)
{
	char line[AUC_RUN_LINE];
	int len = auc_run_format(line, sizeof(line), run);

	slurm_mutex_lock(&journal.lock);
	if (!journal.open) {
		;
	} else if (!_remember(run)) {
		_overflow();
	} else if (journal.fd < 0) {
		;
	} else if (write(journal.fd, line, len) != len) {
		_break("can't write");
	} else
		journal.lines++;
	slurm_mutex_unlock(&journal.lock);
}

extern void auc_journal_start(uint32_t job_id, time_t start)
{
	auc_run_t run = { .job_id = job_id, .start = start };

	_append(&run);
	slurm_mutex_lock(&journal.lock);
	journal.started_us = auc_now_us();
	slurm_mutex_unlock(&journal.lock);
}

extern int64_t auc_journal_rest_us(void)
{
	int64_t rest = 0;

	slurm_mutex_lock(&journal.lock);
	if (journal.started_us)
		rest = journal.started_us + LAUNCH_US - auc_now_us();
	slurm_mutex_unlock(&journal.lock);
	return MAX(rest, 0);
}

extern void auc_journal_end(const job_record_t *job_ptr)
{
	auc_run_t run = {
		.job_id = job_ptr->job_id,
		.start = job_ptr->start_time,
		.ended = true,
		.state = job_ptr->job_state,
		.exit_code = job_ptr->exit_code,
	};

	_append(&run);
}

static void _read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[AUC_RUN_LINE];
	uint32_t bad = 0;
	auc_run_t run;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		journal.lines++;
		if (!auc_run_parse(line, &run))
			bad++;
		else if (!_remember(&run))
			break;
	}
	fclose(file);
	if (bad)
		error("aucsched: %s: %u lines are no starts or ends; left out",
		      path, bad);
}

/* A new file with these runs. RET its descriptor, or -1 */
static int _write_new(const char *path, const auc_run_t *runs, size_t len)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC |
		      O_NOFOLLOW, 0600);
	char *text = NULL, *end = NULL, line[AUC_RUN_LINE];
	size_t size;

	for (size_t i = 0; i < len; i++) {
		(void) auc_run_format(line, sizeof(line), &runs[i]);
		xstrcatat(text, &end, line);
	}
	size = text ? strlen(text) : 0;
	if ((fd >= 0) && size && (write(fd, text, size) != size)) {
		close(fd);
		fd = -1;
	}
	xfree(text);
	return fd;
}

/* Adds the runs from mark on, of which there are few. RET whether all are in the file */
static bool _catch_up(int fd, size_t mark)
{
	char line[AUC_RUN_LINE];

	for (size_t i = mark - journal.forgotten; i < journal.len; i++) {
		int len = auc_run_format(line, sizeof(line), &journal.runs[i]);

		if (write(fd, line, len) != len)
			return false;
	}
	return true;
}

/*
 * The file anew, with what is not forgotten. The work is done on a copy, without the
 * lock; what happens meanwhile is added under it. Until the new file has the old one's
 * name a reader takes both. One thread at a time.
 */
static void _rewrite(void)
{
	char *path, *new;
	auc_run_t *runs;
	size_t len, mark;
	int fd, old = -1;
	bool taken;

	slurm_mutex_lock(&journal.lock);
	len = journal.len;
	mark = journal.forgotten + len;
	runs = xcalloc(len + 1, sizeof(*runs));
	if (len)
		memcpy(runs, journal.runs, len * sizeof(*runs));
	path = xstrdup(journal.path);
	slurm_mutex_unlock(&journal.lock);

	new = xstrdup_printf("%s.new", path);
	fd = _write_new(new, runs, len);

	slurm_mutex_lock(&journal.lock);
	taken = (fd >= 0) && _catch_up(fd, mark);
	if (taken) {
		old = journal.fd;
		journal.fd = fd;
		journal.lines = journal.len;
		journal.why = NULL;
	} else {	/* the old one is as good, only longer */
		error("aucsched: can't write %s: %m", new);
		journal.lines = 0;	/* tried again after as many lines */
	}
	slurm_mutex_unlock(&journal.lock);

	if (!taken) {
		if (fd >= 0)
			close(fd);
		(void) unlink(new);
	} else if (rename(new, path)) {
		slurm_mutex_lock(&journal.lock);
		_break("can't rename to");
		slurm_mutex_unlock(&journal.lock);
		(void) unlink(new);
	}
	if (old >= 0)
		close(old);
	xfree(runs);
	xfree(path);
	xfree(new);
}

extern auc_run_t *auc_journal_open(const char *dir, size_t *len)
{
	auc_run_t *runs = NULL;
	char *new;

	slurm_mutex_lock(&journal.lock);
	xfree(journal.path);
	journal.path = xstrdup_printf("%s/aucsched_journal", dir);
	new = xstrdup_printf("%s.new", journal.path);
	journal.len = journal.lines = journal.gap = 0;
	_read(journal.path);
	_read(new);	/* left by a process that was killed in _rewrite() */
	if ((*len = journal.len)) {
		runs = xcalloc(journal.len, sizeof(*runs));
		memcpy(runs, journal.runs, journal.len * sizeof(*runs));
	}
	journal.open = true;
	journal.why = "can't write";
	slurm_mutex_unlock(&journal.lock);
	_rewrite();
	xfree(new);
	return runs;
}

extern const char *auc_journal_why_off(void)
{
	const char *why;

	slurm_mutex_lock(&journal.lock);
	why = (journal.fd >= 0) ? NULL : journal.open ? journal.why : "off";
	slurm_mutex_unlock(&journal.lock);
	return why;
}

extern size_t auc_journal_mark(void)
{
	size_t mark;

	slurm_mutex_lock(&journal.lock);
	mark = journal.forgotten + journal.len;
	slurm_mutex_unlock(&journal.lock);
	return mark;
}

extern void auc_journal_forget(size_t mark, time_t now)
{
	size_t kept = 0;
	bool rewrite, again;

	slurm_mutex_lock(&journal.lock);
	for (size_t i = 0; i < journal.len; i++) {
		const auc_run_t *run = &journal.runs[i];

		if ((journal.forgotten + i >= mark) ||
		    (!run->ended && (run->start + KEEP_SECONDS > now)))
			journal.runs[kept++] = *run;
	}
	journal.forgotten += journal.len - kept;
	journal.len = kept;
	again = journal.open && (journal.fd < 0) && (mark >= journal.gap);
	rewrite = (journal.fd >= 0) &&
		(journal.lines > 2 * kept + SPARE_LINES);
	slurm_mutex_unlock(&journal.lock);
	if (rewrite || again)
		_rewrite();
	if (again && !auc_journal_why_off())
		info("aucsched: starts and ends are recorded again");
}

extern void auc_journal_close(bool discard)
{
	slurm_mutex_lock(&journal.lock);
	if (journal.fd >= 0)
		close(journal.fd);
	if (journal.path && discard)
		(void) unlink(journal.path);
	journal.open = false;
	journal.fd = -1;
	xfree(journal.path);
	xfree(journal.runs);
	journal.len = journal.cap = journal.lines = 0;
	slurm_mutex_unlock(&journal.lock);
}
