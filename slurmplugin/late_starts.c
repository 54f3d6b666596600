/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Starts that waited until others had ended: see late_starts.h.
 *
 * The agent's thread, under the locks: read lock on the configuration, write locks on jobs and nodes.
 */
#include "cores.h"
#include "ends.h"
#include "holds.h"
#include "late_starts.h"
#include "misses.h"
#include "start.h"

/* Ends those whose grace is over. RET whether some hold their nodes still */
static bool _still_run(auc_hold_t *hold, job_record_t *job_ptr)
{
	bool any = false;

	for (uint32_t i = 0; i < hold->victims_len; i++) {
		job_record_t *victim = find_job_record(hold->victims[i]);

		/* One that runs anew has not been preempted again. */
		if (!victim || !victim->preempt_time || !auc_holds_nodes(victim))
			continue;
		/* That of its grace. */
		hold->until = MAX(hold->until, auc_ends_until(victim->end_time));
		if (time(NULL) >= victim->end_time)
			(void) auc_end(hold->victims[i], job_ptr);
		any |= auc_holds_nodes(victim);
	}
	return any;
}

static bool _may_wait(const auc_hold_t *hold, const job_record_t *job_ptr)
{
	return job_ptr && IS_JOB_PENDING(job_ptr) && job_ptr->priority &&
		(hold->s.config == slurm_conf.last_update) &&
		(hold->s.in.nodes_len == node_record_count);
}

/* RET what the place is kept for; AUC_NOBODY: it is not */
static auc_waits_t _tend(auc_hold_t *hold, auc_select_hooks_t *hooks,
			 auc_starts_t *starts)
{
	job_record_t *job_ptr = find_job_record(hold->job_id);
	bitstr_t **idle;
	bool started, run;

	if (!_may_wait(hold, job_ptr))
		return AUC_NOBODY;
	run = _still_run(hold, job_ptr);
	if ((run || bit_overlap_any(hold->nodes, cg_node_bitmap)) &&
	    (time(NULL) < hold->until))
		return run ? AUC_FOR_GRACE : AUC_FOR_NODES;
	idle = auc_idle_cores(hold->nodes);
	started = auc_start_row(&hold->s, &hold->out, 0, idle, hooks, starts);
	auc_cores_free(idle);
	if (!started) {
		auc_missed(job_ptr, ESLURM_NODES_BUSY);
		info("aucsched: the place of %pJ is given up, it bids anew",
		     job_ptr);
	}
	return AUC_NOBODY;
}

extern auc_waits_t auc_holds_tend(auc_select_hooks_t *hooks,
				  auc_starts_t *starts)
{
	auc_waits_t waits = AUC_NOBODY;
	uint32_t len, i = 0;
	auc_hold_t *holds = auc_holds(&len);

	while (i < len) {
		auc_waits_t here = _tend(&holds[i], hooks, starts);

		waits = MAX(waits, here);
		if (here != AUC_NOBODY)
			i++;
		else
			auc_hold_drop(i);
		holds = auc_holds(&len);
	}
	return waits;
}
