/*
 * Starts that failed: in the log, once a job and reason, and with the job's memo, which makes
 * it Slurm's after a few. See scheduler.h.
 */
#include "scheduler.h"

/* After so many starts in a row that failed, a job is Slurm's for a while. */
#define MISSES 3
#define LEFT_SECONDS 300

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
