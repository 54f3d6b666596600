/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that have their nodes, until the nodes hear of them: see launch.h.
 *
 * All under the locks.
 */
#include "grow.h"
#include "journal.h"
#include "launch.h"

static slurm_step_id_t _batch_step_of(const job_record_t *job_ptr)
{
	return (slurm_step_id_t) {
		.job_id = job_ptr->job_id,
		.step_id = SLURM_BATCH_SCRIPT,
		.step_het_comp = NO_VAL,
	};
}

/*
 * launch_job() notes the batch step. It is noted here before, so that no state is ever saved of a
 * job that runs without one: of such a job slurmctld does not believe slurmstepd, where there is
 * a slurmdbd, that the script has ended.
 */
static void _note_step(job_record_t *job_ptr)
{
	if (job_ptr->batch_flag && !pick_batch_host(job_ptr))
		(void) build_batch_step(job_ptr);
}

/* Makes room for that of launch_job(), which would be a second one. */
static void _forget_step(job_record_t *job_ptr)
{
	slurm_step_id_t batch = _batch_step_of(job_ptr);
	step_record_t *step_ptr = find_step_record(job_ptr, &batch);

	if (step_ptr)
		delete_step_record(job_ptr, step_ptr);
}

/*
 * What the user is told, and the node, has to wait until the start is saved. A job that is
 * configured first (a PrologSlurmctld, a PrEp plug-in, nodes that boot) Slurm
 * launches when it is ready, perhaps before that.
 */
extern void auc_will_launch(auc_starts_t *starts, job_record_t *job_ptr)
{
	bool by_slurm = IS_JOB_CONFIGURING(job_ptr) ||
		job_ptr->details->prolog_running;

	if (!by_slurm)
		_note_step(job_ptr);
	last_job_update = time(NULL);
	rebuild_job_part_list(job_ptr);
	AUC_GROW(starts->launches, starts->launches_cap,
		 starts->launches_len + 1);
	starts->launches[starts->launches_len++] = (auc_launch_t) {
		.job_id = job_ptr->job_id, .start = job_ptr->start_time,
		.by_slurm = by_slurm };
	auc_journal_start(job_ptr->job_id, job_ptr->start_time);
}

/* RET whether it has to be tried again */
static bool _launch(const auc_launch_t *launch)
{
	job_record_t *job_ptr = find_job_record(launch->job_id);

	/* It may have been cancelled since, or even started again. */
	if (!job_ptr || (job_ptr->start_time != launch->start))
		return false;
	if (IS_JOB_COMPLETING(job_ptr) || IS_JOB_FINISHED(job_ptr)) {
		if (!job_ptr->batch_flag) /* who has not heard of a start waits for it */
			srun_allocate_abort(job_ptr);
		return false;
	}
	if (IS_JOB_SUSPENDED(job_ptr))
		return true;
	if (!IS_JOB_RUNNING(job_ptr))
		return false;
	if (!job_ptr->batch_flag)
		srun_allocate(job_ptr);
	else if (!launch->by_slurm) {
		_forget_step(job_ptr);
		launch_job(job_ptr);
	}
	return false;
}

extern void auc_launch(auc_starts_t *starts)
{
	size_t kept = 0;

	for (size_t i = 0; i < starts->launches_len; i++)
		if (_launch(&starts->launches[i]))
			starts->launches[kept++] = starts->launches[i];
	starts->launches_len = kept;
}

extern void auc_starts_free(auc_starts_t *starts)
{
	xfree(starts->launches);
	starts->launches_len = starts->launches_cap = 0;
}
