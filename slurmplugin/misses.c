/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Starts that failed: as counts; in the log, once a job and reason; and with the job's memo, which
 * makes it Slurm's after a few. See misses.h.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "memo.h"
#include "misses.h"

/* After so many starts in a row that failed, a job is Slurm's for a while. */
#define MISSES 3
#define LEFT_SECONDS 300

extern void auc_miss(auc_misses_t *misses, const char *why, uint64_t count)
{
	int i = 0;

	if (!count)
		return;
	while ((i < misses->len) &&
	       strncmp(misses->of[i].why, why, AUC_MISS_SIZE - 1))
		i++;
	/* The last one is for all that have no place of their own. */
	if (i >= AUC_MISSES - 1) {
		i = AUC_MISSES - 1;
		why = "other";
	}
	if (i >= misses->len) {
		snprintf(misses->of[i].why, AUC_MISS_SIZE, "%s", why);
		misses->len = i + 1;
	}
	misses->of[i].count += count;
}

extern void auc_misses_add(auc_misses_t *misses, const auc_misses_t *more)
{
	for (int i = 0; i < more->len; i++)
		auc_miss(misses, more->of[i].why, more->of[i].count);
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
