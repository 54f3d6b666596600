/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Pending jobs that are left to Slurm: which, why, and how many. See left_to_slurm.h;
 * docs/slurm.md has the table of the reasons.
 *
 * Under the locks. Reasons are static text; memos are memo.c's.
 */
#include <errno.h>

#include "clock.h"
#include "left_to_slurm.h"
#include "model.h"
#include "preempt_rights.h"
#include "reason.h"
#include "verdict.h"

static struct {
	pthread_mutex_t lock;
	auc_figure_t waits_s;	/* of those that have started */
} left = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Whether others have licences that the job wants, whom it may preempt for them. */
static bool _reclaims_licences(job_record_t *job_ptr)
{
	return job_ptr->license_list && auc_preempts_for_licences() &&
		(license_job_test(job_ptr, time(NULL), true) == EAGAIN);
}

extern const char *auc_why_delegated(auc_snapshot_t *s,
				     const job_queue_rec_t *record,
				     const auc_memo_t *memo, auc_request_t *request)
{
	const char *why = auc_model(record->job_ptr, record->part_ptr, request);

	if (why)
		return why;
	if (memo->until > auc_now_s())
		return memo->until_why ? memo->until_why : "failed";
	if (record->resv_ptr)
		return "reservation";
	if (!auc_rights_of(s, record->job_ptr, &request->preempt_keys))
		return NULL;
	/* Whom gang scheduling suspends keeps his cores, which are then given twice. */
	if (slurm_conf.preempt_mode & PREEMPT_MODE_GANG)
		return "preemption";
	if (_reclaims_licences(record->job_ptr))
		return "preemption";
	request->may_preempt = true;
	return NULL;
}

extern uint32_t auc_waited(const job_record_t *job_ptr, time_t now)
{
	time_t since = MAX(job_ptr->details->submit_time,
			   job_ptr->details->begin_time);

	return (since < now) ? MIN(now - since, UINT32_MAX) : 0;
}

static void _count_left(auc_snapshot_t *s, const job_record_t *job_ptr,
			const char *why)
{
	s->left_jobs++;
	s->left_longest_s = MAX(s->left_longest_s,
				auc_waited(job_ptr, s->in.now));
	for (int i = 0; i < s->left_len; i++) {
		if (!xstrcmp(s->left[i].why, why)) {
			s->left[i].jobs++;
			return;
		}
	}
	if (s->left_len < AUC_LEFT_MAX)
		s->left[s->left_len++] = (auc_delegation_t) { why, 1 };
}

extern void auc_delegate(auc_snapshot_t *s, job_record_t *job_ptr,
			 auc_memo_t *memo, const char *why)
{
	memo->left = true;
	auc_clear_behind_reason(job_ptr);
	auc_say_left(job_ptr, memo, why);
	_count_left(s, job_ptr, why);
}

extern void auc_delegate_beyond(auc_snapshot_t *s, job_record_t *job_ptr,
				auc_memo_t *memo)
{
	memo->left = true;
	auc_clear_behind_reason(job_ptr);
	auc_verdict_tell(job_ptr, "left", "beyond");
	_count_left(s, job_ptr, "beyond");
}

extern void auc_keep_beyond(auc_snapshot_t *s, const job_queue_rec_t *record,
			    auc_memo_t *memo)
{
	auc_request_t request;
	const char *why = auc_why_delegated(s, record, memo, &request);

	memo->left = false;
	if (why)
		auc_delegate(s, record->job_ptr, memo, why);
	else
		auc_set_behind_reason(record->job_ptr);
}

extern void auc_left_started(const job_record_t *job_ptr)
{
	slurm_mutex_lock(&left.lock);
	auc_figure_add(&left.waits_s, auc_waited(job_ptr, time(NULL)));
	slurm_mutex_unlock(&left.lock);
}

extern auc_figure_t auc_left_waits(void)
{
	auc_figure_t waits_s;

	slurm_mutex_lock(&left.lock);
	waits_s = left.waits_s;
	slurm_mutex_unlock(&left.lock);
	return waits_s;
}
