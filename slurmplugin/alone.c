/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which jobs have nobody in their way: see alone.h.
 *
 * A job that comes when nobody waits has nobody to compete with. Slurm starts it at its
 * submission, as it would without the auction. The second of several jobs that come
 * together has the first in its way, and waits with the others for a cycle.
 *
 * All under the job write lock. The bitmap is by node index; with another number of nodes it
 * is void, and then all nodes are wanted until the next cycle.
 */
#include <string.h>

#include "alone.h"
#include "clock.h"

/* After so many seconds a job is not new. */
#define NEW_SECONDS 2

/* More jobs that come together than this are not alone anyway. */
#define RECENT 16

typedef struct {
	uint32_t job_id;	/* 0: none */
	int64_t when_us;
} recent_t;

static struct {
	bitstr_t *wanted;	/* nodes that jobs wait for; NULL: no cycle has ended */
	bitstr_t *since;	/* those of jobs that came after the last snapshot */
	bool all;		/* all are wanted, */
	bool all_since;		/* and so they are by the jobs that came */
	recent_t recent[RECENT]; /* jobs that were started so, a ring */
	uint32_t next;
} alone;

static bool _is_recent(const recent_t *recent, int64_t since_us)
{
	job_record_t *job_ptr;

	if (!recent->job_id || (recent->when_us < since_us))
		return false;
	job_ptr = find_job_record(recent->job_id);
	return job_ptr && !IS_JOB_FINISHED(job_ptr) &&
		!IS_JOB_COMPLETING(job_ptr);
}

static bool _is_wanted(const part_record_t *part_ptr)
{
	return alone.all || !alone.wanted ||
		(bit_size(alone.wanted) != bit_size(part_ptr->node_bitmap)) ||
		bit_overlap_any(alone.wanted, part_ptr->node_bitmap);
}

extern bool auc_alone_is(job_record_t *job_ptr, int together_ms)
{
	int64_t since_us = auc_now_us() - together_ms * 1000LL;
	const part_record_t *part_ptr = job_ptr->part_ptr;
	time_t age = time(NULL) - job_ptr->details->submit_time;

	if (!part_ptr || !part_ptr->node_bitmap || (age < 0) ||
	    (age > NEW_SECONDS) || job_ptr->array_recs ||
	    (job_ptr->array_task_id != NO_VAL) || _is_wanted(part_ptr))
		return false;
	for (int i = 0; i < RECENT; i++)
		if ((alone.recent[i].job_id != job_ptr->job_id) &&
		    _is_recent(&alone.recent[i], since_us))
			return false;
	return true;
}

extern void auc_alone_started(job_record_t *job_ptr)
{
	alone.recent[alone.next++ % RECENT] = (recent_t) {
		.job_id = job_ptr->job_id, .when_us = auc_now_us() };
}

/* RET whether the nodes of the partition are in the bitmap now */
static bool _want(bitstr_t *wanted, const part_record_t *part_ptr)
{
	if (!wanted || !part_ptr || !part_ptr->node_bitmap ||
	    (bit_size(wanted) != bit_size(part_ptr->node_bitmap)))
		return false;
	bit_or(wanted, part_ptr->node_bitmap);
	return true;
}

extern void auc_alone_waits(job_record_t *job_ptr)
{
	if (!_want(alone.wanted, job_ptr->part_ptr))
		alone.all = true;
	if (!_want(alone.since, job_ptr->part_ptr))
		alone.all_since = true;
}

extern void auc_alone_begin(void)
{
	FREE_NULL_BITMAP(alone.since);
	alone.since = bit_alloc(node_record_count);
	alone.all_since = false;
}

/* What backfill has planned for jobs that the auction has started since is nobody's. */
static void _clear_planned(void)
{
	node_record_t *node_ptr;

	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]) ||
		    !(node_ptr->node_state & NODE_STATE_PLANNED))
			continue;
		node_ptr->node_state &= ~NODE_STATE_PLANNED;
		last_node_update = time(NULL);
	}
}

extern void auc_alone_end(const auc_snapshot_t *s)
{
	const part_record_t *last = NULL;

	FREE_NULL_BITMAP(alone.wanted);
	alone.wanted = bit_copy(alone.since);
	/* Or somebody is behind those that were looked at. */
	alone.all = alone.all_since || s->beyond;
	for (uint32_t row = 0; !alone.all && (row < s->in.jobs_len); row++) {
		const job_record_t *job_ptr =
			find_job_record(s->rows[row].job_id);

		if (!job_ptr || !IS_JOB_PENDING(job_ptr) ||
		    (job_ptr->part_ptr == last))
			continue;
		last = job_ptr->part_ptr;
		alone.all = !_want(alone.wanted, last);
	}
	if (!alone.all && !s->left_jobs && (bit_ffs(alone.wanted) < 0))
		_clear_planned();
}

extern void auc_alone_free(void)
{
	FREE_NULL_BITMAP(alone.wanted);
	FREE_NULL_BITMAP(alone.since);
	memset(&alone, 0, sizeof(alone));
}
