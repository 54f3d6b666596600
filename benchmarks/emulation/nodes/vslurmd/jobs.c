/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs: see vslurmd.h. A table by job id, and a heap by the time of the end. A job that
 * has ended leaves the heap, and stays in the table until slurmctld knows.
 */
#include <pthread.h>
#include <stdlib.h>

#include "vslurmd.h"

#define BUCKETS 16384
#define NS 1000000000LL

typedef struct job {
	uint32_t job_id, run, status, tries;
	char *node;
	int64_t end;		/* nanoseconds of CLOCK_REALTIME */
	int place;		/* in the heap; -1: taken out of it */
	struct job *next;	/* in its bucket */
} job_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static job_t *buckets[BUCKETS];
static job_t **heap;
static int heap_len, heap_size;
static uint32_t runs;

/* Of those who wait for ends one has an eye on the clock. */
static bool watched;
static pthread_cond_t sooner = PTHREAD_COND_INITIALIZER;	/* wakes that one */
static pthread_cond_t unwatched = PTHREAD_COND_INITIALIZER;	/* wakes another */

static int64_t _now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

/* ---- the heap ---- */

static void _put(job_t *job, int place)
{
	heap[place] = job;
	job->place = place;
}

static void _up(job_t *job, int place)
{
	for (; place; place = (place - 1) / 2) {
		job_t *parent = heap[(place - 1) / 2];

		if (parent->end <= job->end)
			break;
		_put(parent, place);
	}
	_put(job, place);
}

static void _down(job_t *job, int place)
{
	for (int child; (child = 2 * place + 1) < heap_len; place = child) {
		if ((child + 1 < heap_len) &&
		    (heap[child + 1]->end < heap[child]->end))
			child++;
		if (job->end <= heap[child]->end)
			break;
		_put(heap[child], place);
	}
	_put(job, place);
}

static void _take_out(job_t *job)
{
	job_t *last = heap[--heap_len];
	int place = job->place;

	job->place = -1;
	if (last == job)
		return;
	_up(last, place);
	_down(last, last->place);
}

/* Whoever watches the clock is told of an end that comes before the others. */
static void _put_in(job_t *job, int64_t end)
{
	job->end = end;
	if (heap_len == heap_size) {
		heap_size = heap_size ? 2 * heap_size : 64;
		xrecalloc(heap, heap_size, sizeof(*heap));
	}
	heap_len++;
	_up(job, heap_len - 1);
	if (!job->place)
		slurm_cond_signal(watched ? &sooner : &unwatched);
}

/* ---- the table ---- */

static job_t **_find(uint32_t job_id)
{
	job_t **at = &buckets[job_id % BUCKETS];

	while (*at && ((*at)->job_id != job_id))
		at = &(*at)->next;
	return at;
}

static void _drop(job_t **at)
{
	job_t *job = *at;

	*at = job->next;
	if (job->place >= 0)
		_take_out(job);
	xfree(job->node);
	xfree(job);
}

extern int jobs_add(uint32_t job_id, const char *node, double seconds,
		    uint32_t status)
{
	int rc = SLURM_SUCCESS;
	job_t **at, *job;

	slurm_mutex_lock(&lock);
	at = _find(job_id);
	if (*at) {
		rc = ESLURM_DUPLICATE_JOB_ID;
	} else {
		*at = job = xmalloc(sizeof(*job));
		job->job_id = job_id;
		job->run = ++runs;
		job->status = status;
		job->node = xstrdup(node);
		_put_in(job, _now() + (int64_t) (seconds * NS));
	}
	slurm_mutex_unlock(&lock);
	return rc;
}

extern bool jobs_remove(uint32_t job_id)
{
	bool found;
	job_t **at;

	slurm_mutex_lock(&lock);
	at = _find(job_id);
	if ((found = *at))
		_drop(at);
	slurm_mutex_unlock(&lock);
	return found;
}

extern bool jobs_kill(uint32_t job_id, int signal)
{
	job_t *job;

	slurm_mutex_lock(&lock);
	job = *_find(job_id);
	if (job && (job->place >= 0) && !job->tries) {
		_take_out(job);
		job->status = signal;
		_put_in(job, _now());
	}
	slurm_mutex_unlock(&lock);
	return job;
}

extern char *jobs_node(uint32_t job_id)
{
	char *node = NULL;
	job_t *job;

	slurm_mutex_lock(&lock);
	if ((job = *_find(job_id)))
		node = xstrdup(job->node);
	slurm_mutex_unlock(&lock);
	return node;
}

extern uint32_t jobs_on(const char *node, slurm_step_id_t **steps)
{
	uint32_t len = 0;

	*steps = NULL;
	slurm_mutex_lock(&lock);
	for (int i = 0; i < BUCKETS; i++) {
		for (job_t *job = buckets[i]; job; job = job->next) {
			if (xstrcmp(job->node, node))
				continue;
			xrecalloc(*steps, len + 1, sizeof(**steps));
			(*steps)[len++] = (slurm_step_id_t) {
				.job_id = job->job_id,
				.step_id = SLURM_BATCH_SCRIPT,
				.step_het_comp = NO_VAL,
			};
		}
	}
	slurm_mutex_unlock(&lock);
	return len;
}

/* ---- ends ---- */

/* The job at the top, if it has ended. Lock. */
static job_t *_ended(void)
{
	job_t *job = heap_len ? heap[0] : NULL;

	if (!job || (job->end > _now()))
		return NULL;
	_take_out(job);
	return job;
}

/* Waits for the clock, or for others to do so. Lock. */
static void _wait(void)
{
	struct timespec ts;

	if (watched || !heap_len) {
		slurm_cond_wait(&unwatched, &lock);
		return;
	}
	ts.tv_sec = heap[0]->end / NS;
	ts.tv_nsec = heap[0]->end % NS;
	watched = true;
	pthread_cond_timedwait(&sooner, &lock, &ts);
	watched = false;
}

extern ended_t jobs_wait(void)
{
	ended_t ended;
	job_t *job;

	slurm_mutex_lock(&lock);
	while (!(job = _ended()))
		_wait();
	if (heap_len && !watched)
		slurm_cond_signal(&unwatched);
	ended = (ended_t) {
		.job_id = job->job_id,
		.run = job->run,
		.status = job->status,
		.tries = job->tries,
		.node = xstrdup(job->node),
	};
	slurm_mutex_unlock(&lock);
	return ended;
}

extern void jobs_reported(const ended_t *ended)
{
	job_t **at;

	slurm_mutex_lock(&lock);
	at = _find(ended->job_id);
	if (*at && ((*at)->run == ended->run))
		_drop(at);
	slurm_mutex_unlock(&lock);
}

extern void jobs_again(const ended_t *ended, double seconds)
{
	job_t *job;

	slurm_mutex_lock(&lock);
	job = *_find(ended->job_id);
	if (job && (job->run == ended->run)) {
		job->tries++;
		_put_in(job, _now() + (int64_t) (seconds * NS));
	}
	slurm_mutex_unlock(&lock);
}
