/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that Slurm is to preempt: see ends.h.
 *
 * By slurm_job_preempt(), as Slurm's _preempt_jobs() does it: modes, grace times and signals are
 * Slurm's. Called again when the grace is over it kills; otherwise job_time_limit() would, up to half
 * a minute later.
 */
#include "cores.h"
#include "ends.h"
#include "grow.h"

/* Beyond Slurm's own times for an end. */
#define SPARE_SECONDS 60

/* _preempt_jobs() reads it when it is called first. */
static void _read_signal(void)
{
	preempt_send_user_signal =
		xstrcasestr(slurm_conf.slurmctld_params,
			    "preempt_send_user_signal") != NULL;
}

extern bool auc_end(uint32_t victim, job_record_t *preemptor)
{
	job_record_t *job_ptr = find_job_record(victim);

	if (!job_ptr || !auc_holds_nodes(job_ptr))
		return false;
	(void) slurm_job_preempt(job_ptr, preemptor,
				 slurm_job_preempt_mode(job_ptr), true);
	return true;
}

extern void auc_ends_add(auc_ends_t *ends, uint32_t victim, uint32_t preemptor)
{
	for (uint32_t i = 0; i < ends->len; i++)
		if (ends->of[i].victim == victim)
			return;
	AUC_GROW(ends->of, ends->cap, ends->len + 1);
	ends->of[ends->len++] = (auc_end_t) { victim, preemptor };
}

extern uint32_t auc_ends_all(const auc_ends_t *ends)
{
	uint32_t ended = 0;

	_read_signal();
	for (uint32_t i = 0; i < ends->len; i++) {
		job_record_t *preemptor =
			find_job_record(ends->of[i].preemptor);

		if (preemptor && auc_end(ends->of[i].victim, preemptor))
			ended++;
	}
	return ended;
}

extern time_t auc_ends_until(time_t end)
{
	return end + slurm_conf.kill_wait + slurm_conf.msg_timeout +
		SPARE_SECONDS;
}
