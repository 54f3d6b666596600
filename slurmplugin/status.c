/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "src/common/xhash.h"
#include "status.h"

/* ---- The figures for `aucsched status` ---- */

/* More than any status has. */
#define MOST_TEXT (1 << 16)

extern void auc_figure_add(auc_figure_t *figure, int64_t value)
{
	figure->last = value;
	figure->max = MAX(figure->max, value);
	figure->sum += value;
	figure->count++;
}

/* Where there is no library to tell the figures: that, and why. xfree() */
static char *_bare(const auc_status_t *status)
{
	char *text = xstrdup(status->state_text), *json;

	for (char *at = text; at && *at; at++)
		if ((*at == '"') || (*at == '\\') || ((unsigned char) *at < ' '))
			*at = '\'';
	json = xstrdup_printf("{\"slurm\":\"%s\",\"pid\":%d,\"began\":%lld,\"time\":%lld,\"interval_s\":%u,\"state\":\"%s\",\"state_text\":\"%s\"}\n",
			      SLURM_VERSION_STRING, getpid(),
			      (long long) status->began, (long long) time(NULL),
			      status->interval, status->state,
			      text ? text : "");
	xfree(text);
	return json;
}

/* xfree() */
static char *_json(auc_status_t *status, const auc_settings_t *settings,
		   auc_library_t *library, const auc_snapshot_t *snapshot)
{
	char *text;

	status->interval = settings->interval;
	status->slurm = SLURM_VERSION_STRING;
	status->pid = getpid();
	status->library = library->path;
	status->settings = settings->engine;
	status->locality = settings->locality;
	status->nodes = snapshot->in.nodes_len;
	status->queue = snapshot->queue;
	status->running = snapshot->in.running_len;
	status->left = snapshot->left;
	status->left_len = snapshot->left_len;
	status->left_jobs = snapshot->left_jobs;
	status->left_longest_s = snapshot->left_longest_s;
	text = xmalloc(MOST_TEXT);
	if (!auc_library_status(library, status, text, MOST_TEXT))
		return text;
	xfree(text);
	return _bare(status);
}

/* ---- the file ---- */

/* A device, or a directory, is none of ours to replace. */
static bool _may_replace(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		return true;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	return false;
}

static bool _fill(const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t wrote;
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return false;
	wrote = write(fd, text, len);
	ok = (wrote == len) && !fchmod(fd, 0644);
	if ((wrote >= 0) && (wrote != len))
		errno = ENOSPC;
	return !close(fd) && ok;
}

extern bool auc_status_replace(const char *path, const char *text)
{
	char *new = xstrdup_printf("%s.new", path);
	/* What a killed slurmctld has left, or a link, is not written to. */
	bool ok = _may_replace(path) && (!unlink(new) || (errno == ENOENT)) &&
		_fill(new, text) && !rename(new, path);
	int error = errno;

	if (!ok)
		(void) unlink(new);
	errno = error;
	xfree(new);
	return ok;
}

extern void auc_status_write(auc_status_t *status,
			     const auc_settings_t *settings,
			     auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir)
{
	static char *said;
	char *path = settings->status ? xstrdup(settings->status) :
		xstrdup_printf("%s/aucsched.status", state_dir);
	char *json = _json(status, settings, library, snapshot);

	auc_say_file(&said, path,
		     auc_status_replace(path, json) ? NULL : strerror(errno),
		     "there is no status for `aucsched status`");
	xfree(json);
	xfree(path);
}

/* ---- What is remembered of pending jobs from cycle to cycle ---- */

static xhash_t *memos;		/* by job id; NULL: there are none */

static void _memo_key(void *item, const char **key, uint32_t *len)
{
	auc_memo_t *memo = item;

	*key = (const char *) &memo->job_id;
	*len = sizeof(memo->job_id);
}

extern auc_memo_t *auc_memo_find(uint32_t job_id)
{
	return xhash_get(memos, (const char *) &job_id, sizeof(job_id));
}

extern auc_memo_t *auc_memo_of(uint32_t job_id)
{
	auc_memo_t *memo = auc_memo_find(job_id);

	if (memo)
		return memo;
	if (!memos)
		memos = xhash_init(_memo_key, auc_free);
	memo = xmalloc(sizeof(*memo));
	memo->job_id = job_id;
	return xhash_add(memos, memo);
}

typedef struct {
	uint32_t cycle;
	void (*gone)(uint32_t job_id);
} sweep_t;

/* The walk goes on when the memo that it is at is deleted. */
static void _sweep_memo(void *item, void *arg)
{
	const sweep_t *sweep = arg;
	uint32_t job_id = ((auc_memo_t *) item)->job_id;

	if (((auc_memo_t *) item)->cycle == sweep->cycle)
		return;
	if (sweep->gone)
		sweep->gone(job_id);
	xhash_delete(memos, (const char *) &job_id, sizeof(job_id));
}

extern void auc_memo_sweep(uint32_t cycle, void (*gone)(uint32_t job_id))
{
	sweep_t sweep = { cycle, gone };

	xhash_walk(memos, _sweep_memo, &sweep);
}

extern void auc_memo_free(void)
{
	xhash_free(memos);
}

/*
 * Starts that failed: as counts; in the log, once a job and reason; and with the job's memo, which
 * makes it Slurm's after a few.
 */

/* After so many starts in a row that failed, a job is Slurm's for a while. */
#define MISSES 3
#define LEFT_SECONDS 300

extern void auc_miss(auc_misses_t *misses, const char *why)
{
	int i = 0;

	while ((i < misses->len) &&
	       strncmp(misses->of[i].why, why, AUCSCHED_MISS_SIZE - 1))
		i++;
	/* The last one is for all that have no place of their own. */
	if (i >= AUCSCHED_MISSES - 1) {
		i = AUCSCHED_MISSES - 1;
		why = "other";
	}
	if (i >= misses->len) {
		snprintf(misses->of[i].why, AUCSCHED_MISS_SIZE, "%s", why);
		misses->len = i + 1;
	}
	misses->of[i].count++;
}

extern void auc_missed(job_record_t *job_ptr, int rc)
{
	auc_memo_t *memo = auc_memo_of(job_ptr->job_id);

	if (memo->missed_rc != rc)
		info("aucsched: %pJ could not be started as decided: %s",
		     job_ptr, slurm_strerror(rc));
	else
		verbose("aucsched: %pJ could not be started as decided: %s",
			job_ptr, slurm_strerror(rc));
	memo->missed_rc = rc;
	if (++memo->misses < MISSES)
		return;
	memo->misses = 0;
	memo->until = auc_now_s() + LEFT_SECONDS;
	memo->until_why = NULL;
}
