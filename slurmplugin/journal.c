/*
 * What slurmctld may not have saved when it is killed: see scheduler.h.
 *
 * A file in StateSaveLocation, a line for each event:
 *
 *	S JOB START		the job got its nodes at START
 *	E JOB START STATE CODE	the run of that start ended so
 *
 * A line is written before anybody outside hears of the event, by one write(), which a
 * killed process has not to finish: it is the kernel's then. Only a machine that goes
 * down loses lines; slurmd's jobs are gone then too, or Slurm finds them when it asks the nodes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler.h"

/* A start is remembered so long even if it is saved: it may not be launched yet. */
#define KEEP_SECONDS 120

/* So long after a start its node has made a step of it. */
#define LAUNCH_US 1000000

/* More than this is no journal. */
#define MOST_RUNS (1 << 20)

/* Lines of what is forgotten that the file may have, beside those in use. */
#define SPARE_LINES 1024

static struct {
	pthread_mutex_t lock;	/* taken last of all locks */
	int fd;			/* -1: no journal is kept */
	char *path;
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

/* Gives up: a journal with a gap is worse than none. */
static void _break(const char *what)
{
	error("aucsched: %s %s: %m; starts and ends are no longer recorded",
	      what, journal.path);
	(void) unlink(journal.path);
	close(journal.fd);
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

static void _append(const auc_run_t *run)
{
	char line[AUC_RUN_LINE];
	int len = auc_run_format(line, sizeof(line), run);

	slurm_mutex_lock(&journal.lock);
	if (journal.fd < 0) {
		;
	} else if (!_remember(run)) {
		errno = EFBIG;
		_break("can't add to");
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

static void _read(void)
{
	FILE *file = fopen(journal.path, "r");
	char line[AUC_RUN_LINE];
	uint32_t bad = 0;
	auc_run_t run;

	journal.len = journal.lines = 0;
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
		      journal.path, bad);
}

/* The file anew, with what is not forgotten. A reader sees the old one or the new one. */
static void _rewrite(void)
{
	char *path = xstrdup_printf("%s.new", journal.path);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC,
		      0600);
	char *text = NULL, *end = NULL, line[AUC_RUN_LINE];
	size_t len;

	for (size_t i = 0; i < journal.len; i++) {
		(void) auc_run_format(line, sizeof(line), &journal.runs[i]);
		xstrcatat(text, &end, line);
	}
	len = text ? strlen(text) : 0;
	if ((fd >= 0) && (!len || (write(fd, text, len) == len)) &&
	    !rename(path, journal.path)) {
		close(journal.fd);
		journal.fd = fd;
		journal.lines = journal.len;
	} else {	/* the old one is as good, only longer */
		error("aucsched: can't write %s: %m", path);
		if (fd >= 0)
			close(fd);
		(void) unlink(path);
		journal.lines = 0;	/* tried again after as many lines */
	}
	xfree(text);
	xfree(path);
}

extern auc_run_t *auc_journal_open(const char *dir, size_t *len)
{
	auc_run_t *runs = NULL;

	slurm_mutex_lock(&journal.lock);
	if (journal.fd >= 0)
		close(journal.fd);
	xfree(journal.path);
	journal.path = xstrdup_printf("%s/aucsched_journal", dir);
	_read();
	if ((*len = journal.len)) {
		runs = xcalloc(journal.len, sizeof(*runs));
		memcpy(runs, journal.runs, journal.len * sizeof(*runs));
	}
	journal.fd = open(journal.path,
			  O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	if (journal.fd < 0)
		error("aucsched: can't open %s: %m; starts and ends are not recorded",
		      journal.path);
	else if (journal.lines)
		_rewrite();	/* also ends half a line */
	slurm_mutex_unlock(&journal.lock);
	return runs;
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

	slurm_mutex_lock(&journal.lock);
	for (size_t i = 0; i < journal.len; i++) {
		const auc_run_t *run = &journal.runs[i];

		if ((journal.forgotten + i >= mark) ||
		    (!run->ended && (run->start + KEEP_SECONDS > now)))
			journal.runs[kept++] = *run;
	}
	journal.forgotten += journal.len - kept;
	journal.len = kept;
	if ((journal.fd >= 0) && (journal.lines > 2 * kept + SPARE_LINES))
		_rewrite();
	slurm_mutex_unlock(&journal.lock);
}

extern void auc_journal_close(bool discard)
{
	slurm_mutex_lock(&journal.lock);
	if (journal.fd >= 0)
		close(journal.fd);
	if (journal.path && discard)
		(void) unlink(journal.path);
	journal.fd = -1;
	xfree(journal.path);
	xfree(journal.runs);
	journal.len = journal.cap = journal.lines = 0;
	slurm_mutex_unlock(&journal.lock);
}
