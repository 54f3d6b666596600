/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Nodes that are powered down to save power, or not yet bought from a cloud: they are woken last,
 * as by stock Slurm. A job is first decided on without them, and if it finds no place so, the
 * next cycle, which comes at once, lets it have them. See asleep.h.
 *
 * Under the locks. The bitmap is the snapshot's.
 */
#include "asleep.h"
#include "aucsched.h"
#include "memo.h"

extern void auc_add_asleep(auc_snapshot_t *s)
{
	node_record_t *node_ptr;

	FREE_NULL_BITMAP(s->asleep);
	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]) ||
		    (!IS_NODE_POWERED_DOWN(node_ptr) &&
		     !IS_NODE_POWERING_DOWN(node_ptr)))
			continue;
		if (!s->asleep)
			s->asleep = bit_alloc(node_record_count);
		bit_set(s->asleep, n);
	}
}

/* Whether the nodes would do if they were idle. */
static bool _would_do(const auc_snapshot_t *s, const struct aucsched_job *job,
		      const bitstr_t *nodes)
{
	uint64_t cores = 0;
	uint32_t count = 0;

	for (int n = 0; n < node_record_count; n++) {
		if (!bit_test((bitstr_t *) nodes, n) || !s->nodes[n].up)
			continue;
		cores += s->nodes[n].cores;
		count++;
	}
	return (cores >= job->cores) && (count >= MAX(job->min_nodes, 1));
}

extern bool auc_let_sleep(const auc_snapshot_t *s,
			  const struct aucsched_job *job, bitstr_t *nodes)
{
	bitstr_t *awake;
	bool enough;

	if (!s->asleep || !bit_overlap_any(nodes, s->asleep))
		return false;
	awake = bit_copy(nodes);
	bit_and_not(awake, s->asleep);
	if ((enough = _would_do(s, job, awake)))
		bit_and_not(nodes, s->asleep);
	FREE_NULL_BITMAP(awake);
	return enough;
}

extern bool auc_may_wake(const auc_snapshot_t *s,
			 const struct aucsched_output *out, bool woke)
{
	bool any = false;

	if (!s->asleep)
		return false;
	for (uint32_t i = 0; i < s->in.jobs_len; i++) {
		uint8_t why = out->decisions[i].why;
		auc_memo_t *memo;

		if ((why == AUCSCHED_STARTS) || (why == AUCSCHED_NOT_LOOKED_AT) ||
		    !(memo = auc_memo_find(s->rows[i].job_id)))
			continue;
		memo->may_wake = s->rows[i].lets_sleep && !woke;
		any |= s->rows[i].lets_sleep;
	}
	return any;
}
