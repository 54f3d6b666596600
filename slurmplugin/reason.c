/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What users are told of why their jobs wait, and until when: see reason.h.
 *
 * Under the locks. A reason that Slurm has found stays: only "none", Priority and Resources are
 * replaced here.
 */
#include "assoc_limits.h"
#include "aucsched.h"
#include "memo.h"
#include "model.h"
#include "reason.h"
#include "shape.h"
#include "verdict.h"

/* Slurm has no reason of its own for it. */
#define BEHIND "Priority, behind auc_window"

/* Unless somebody knows better. */
static bool _may_tell(const job_record_t *job_ptr)
{
	return (job_ptr->state_reason == WAIT_NO_REASON) ||
		(job_ptr->state_reason == WAIT_PRIORITY) ||
		(job_ptr->state_reason == WAIT_RESOURCES);
}

/* IN text - instead of the reason's own; NULL: none */
static void _set_reason(job_record_t *job_ptr, uint32_t reason,
			const char *text)
{
	job_ptr->state_reason = reason;
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = xstrdup(text);
	last_job_update = time(NULL);
}

static void _tell(job_record_t *job_ptr, uint32_t reason, time_t expected)
{
	auc_clear_behind_reason(job_ptr);
	if (!_may_tell(job_ptr))
		return;
	if (job_ptr->state_reason != reason)
		_set_reason(job_ptr, reason, NULL);
	if (expected && (job_ptr->start_time < time(NULL)))
		job_ptr->start_time = expected;
}

extern void auc_set_behind_reason(job_record_t *job_ptr)
{
	if (_may_tell(job_ptr) && ((job_ptr->state_reason != WAIT_PRIORITY) ||
				   xstrcmp(job_ptr->state_desc, BEHIND)))
		_set_reason(job_ptr, WAIT_PRIORITY, BEHIND);
	auc_verdict_tell(job_ptr, "behind", NULL);
}

extern void auc_clear_behind_reason(job_record_t *job_ptr)
{
	if (!xstrcmp(job_ptr->state_desc, BEHIND))
		_set_reason(job_ptr, job_ptr->state_reason, NULL);
}

extern void auc_say_left(job_record_t *job_ptr, auc_memo_t *memo,
			 const char *why)
{
	if (xstrcmp(memo->why, why))
		info("aucsched: %pJ left to Slurm: %s", job_ptr, why);
	memo->why = why;
	auc_verdict_tell(job_ptr, "left", why);
}

extern void auc_clear_reasons(void)
{
	job_record_t *job_ptr;
	list_itr_t *iter = list_iterator_create(job_list);

	while ((job_ptr = list_next(iter)))
		if (IS_JOB_PENDING(job_ptr)) {
			auc_clear_behind_reason(job_ptr);
			auc_verdict_drop(job_ptr);
		}
	list_iterator_destroy(iter);
}

extern bool auc_set_licence_reason(job_record_t *job_ptr, bool available)
{
	if (!available && (job_ptr->state_reason != WAIT_LICENSES))
		_set_reason(job_ptr, WAIT_LICENSES, NULL);
	/* They are no reason any more, and it is its turn among others now. */
	if (available && (job_ptr->state_reason == WAIT_LICENSES))
		_set_reason(job_ptr, WAIT_PRIORITY, NULL);
	return available;
}

/*
 * Jobs that got fewer rows than they want for what the rows before would use: if these have
 * started, that is a limit now; else it is the order of the queue.
 */
static void _explain_held(const auc_snapshot_t *s, auc_verdicts_t *verdicts,
			  job_record_t *job_ptr)
{
	auc_request_t request;
	uint32_t limit;

	if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority ||
	    auc_model(job_ptr, job_ptr->part_ptr, &request) ||
	    !auc_within_limits(verdicts, s, job_ptr, &request, &limit) ||
	    !auc_set_licence_reason(job_ptr, license_job_test(
		    job_ptr, time(NULL), true) == SLURM_SUCCESS))
		return;
	if (job_ptr->state_reason == WAIT_NO_REASON)
		_tell(job_ptr, WAIT_PRIORITY, 0);
	auc_verdict_tell(job_ptr, "quota", NULL);
}

/* Whether a job had a row, and there was no place for it. */
static void _note_stuck(uint32_t job_id, uint8_t why)
{
	auc_memo_t *memo = auc_memo_find(job_id);

	if (memo)
		memo->stuck = (why == AUCSCHED_WAITS_FIT) ||
			(why == AUCSCHED_WAITS_RESERVED);
}

/* Whether Slurm may have a place for it: no_place.c, which then says what came of it. */
extern bool auc_found_no_place(const auc_row_t *row, uint8_t why)
{
	return (row->approximate || row->may_preempt) &&
		((why == AUCSCHED_WAITS_FIT) ||
		 (why == AUCSCHED_WAITS_RESERVED) ||
		 (row->narrowed && (why == AUCSCHED_WAITS_NEVER)));
}

extern void auc_say_no_place(job_record_t *job_ptr, uint8_t why)
{
	auc_verdict_tell(job_ptr, (why == AUCSCHED_WAITS_RESERVED) ?
			 "kept" : "fit", NULL);
}

static void _say_no_place(job_record_t *job_ptr, const auc_row_t *row,
			  uint8_t why)
{
	if (!auc_found_no_place(row, why))
		auc_say_no_place(job_ptr, why);
}

/* A job that is not looked at is behind the window, or not known to the model of ipsched. */
static bool _is_behind(const auc_snapshot_t *s, uint32_t row)
{
	return s->beyond_waits && !(s->jobs[row].flags & AUCSCHED_CONTIGUOUS);
}

static int _is_same(void *x, void *key)
{
	return x == key;
}

/*
 * A job waits for Resources if it is the first of its partition that does, and has Priority behind
 * that one: so says Slurm's own scheduler, whose word would stay or not as its turn comes.
 * IN/OUT waited_for - the partitions of the jobs before
 */
static uint32_t _reason_of(list_t *waited_for, job_record_t *job_ptr)
{
	if (list_find_first(waited_for, _is_same, job_ptr->part_ptr))
		return WAIT_PRIORITY;
	list_append(waited_for, job_ptr->part_ptr);
	return WAIT_RESOURCES;
}

extern void auc_explain(const auc_snapshot_t *s,
			const struct aucsched_output *out)
{
	auc_verdicts_t verdicts = { 0 };
	auc_winners_t winners = { 0 };
	list_t *waited_for;

	/* New indices: what was decided is about other nodes. */
	if ((s->config != slurm_conf.last_update) ||
	    (s->in.nodes_len != node_record_count))
		return;
	waited_for = list_create(NULL);
	for (uint32_t i = 0; i < s->held_len; i++)
		_explain_held(s, &verdicts, find_job_record(s->held[i]));
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const struct aucsched_decision *decision =
			&out->decisions[row];
		job_record_t *job_ptr;
		auc_memo_t *memo;

		_note_stuck(s->rows[row].job_id, decision->why);
		if (decision->why == AUCSCHED_STARTS)
			continue;
		/* An array's tasks share a record: the first that waits speaks. */
		if (row && (s->rows[row].job_id == s->rows[row - 1].job_id) &&
		    (out->decisions[row - 1].why != AUCSCHED_STARTS))
			continue;
		job_ptr = find_job_record(s->rows[row].job_id);
		if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority)
			continue;
		memo = auc_memo_of(job_ptr->job_id);
		switch (decision->why) {
		case AUCSCHED_WAITS_QUOTA:
			_explain_held(s, &verdicts, job_ptr);
			break;
		case AUCSCHED_WAITS_LOST:
			_tell(job_ptr, WAIT_PRIORITY, decision->expected);
			auc_verdict_lost(job_ptr, s, out, row, &winners);
			break;
		case AUCSCHED_TIMED_OUT:
			_tell(job_ptr, WAIT_PRIORITY, decision->expected);
			auc_verdict_tell(job_ptr, "late", NULL);
			break;
		case AUCSCHED_WAITS_FIT:
		case AUCSCHED_WAITS_RESERVED:
			_tell(job_ptr, _reason_of(waited_for, job_ptr),
			      decision->expected);
			_say_no_place(job_ptr, &s->rows[row], decision->why);
			break;
		case AUCSCHED_WAITS_NEVER:
			/* On the nodes that it is shown now. */
			if (s->rows[row].narrowed) {
				_tell(job_ptr, _reason_of(waited_for, job_ptr),
				      0);
				_say_no_place(job_ptr, &s->rows[row],
					      decision->why);
				break;
			}
			memo->left = true;
			auc_verdict_tell(job_ptr, "left", "never");
			break;
		case AUCSCHED_NOT_LOOKED_AT:
			if (_is_behind(s, row)) {
				auc_set_behind_reason(job_ptr);
				break;
			}
			/* fall through */
		default:	/* Slurm has the words for it */
			memo->left = true;
			auc_verdict_tell(job_ptr, "left", "unmodelled");
		}
	}
	FREE_NULL_LIST(waited_for);
}
