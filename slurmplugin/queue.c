/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The queue: pending jobs as rows of the snapshot, in Slurm's order and with worth by it.
 * See queue.h.
 *
 * Under the locks. The list of records and queue_state_t are freed at the end.
 */
#include <string.h>

#include "alternative_note.h"
#include "asleep.h"
#include "assoc_limits.h"
#include "aucsched.h"
#include "claims.h"
#include "clock.h"
#include "compat.h"
#include "files.h"
#include "grow.h"
#include "job_memory.h"
#include "ledger.h"
#include "left_to_slurm.h"
#include "masks.h"
#include "memo.h"
#include "model.h"
#include "offer.h"
#include "overdue.h"
#include "queue.h"
#include "reason.h"
#include "request_swap.h"
#include "resources.h"
#include "shape.h"

/*
 * The queue is gone through for so long: Slurm's locks are held. It takes a queue of very many
 * jobs that are all kept out of the window, by limits of many kinds.
 */
#define MOST_US 100000

/* What is kept while the queue is gone through. */
typedef struct {
	uint16_t tiers[256];
	int tiers_len;
	const part_record_t *heads[AUC_CLAIMS_MAX];
	int heads_len;
	auc_select_hooks_t *hooks;
	int limit, most_offers;
	bool may_wake;		/* the record's job: see asleep.c */
	uint32_t cycle;
	auc_claims_t claims;
	auc_masks_t masks;
	auc_offers_t offers;
	auc_verdicts_t verdicts;
	auc_ledger_t *ledger;
} queue_state_t;

/* How many tasks of an array may start now; 1 for any other job. */
static uint32_t _copies(const job_record_t *job_ptr, bool *array)
{
	const job_array_struct_t *tasks = job_ptr->array_recs;
	uint32_t copies;

	*array = tasks && tasks->task_id_bitmap &&
		(job_ptr->array_task_id == NO_VAL);
	if (!*array)
		return 1;
	copies = tasks->task_cnt;
	if (tasks->max_run_tasks)
		copies = MIN(copies, (tasks->max_run_tasks >
				      tasks->tot_run_tasks) ?
			     tasks->max_run_tasks - tasks->tot_run_tasks : 0);
	return copies;
}

/*
 * The checks that Slurm's main loop makes before it looks for nodes, and those on limits that it
 * makes after that. As auc_within_limits().
 */
static auc_verdict_t *_may_run(const auc_snapshot_t *s, queue_state_t *state,
			       job_record_t *job_ptr,
			       const auc_request_t *request, uint32_t *limit)
{
	auc_verdict_t *verdict;

	if (((job_ptr->array_task_id != NO_VAL) || job_ptr->array_recs) &&
	    !job_array_start_test(job_ptr))
		return NULL;
	if (!(verdict = auc_within_limits(&state->verdicts, s, job_ptr, request,
					  limit)))
		return NULL;
	if (!auc_set_licence_reason(job_ptr, license_job_test(
		    job_ptr, time(NULL), true) == SLURM_SUCCESS))
		return NULL;
	return verdict;
}

/*
 * A job that gets fewer rows than it wants, by its limits and the rows before. What it is told
 * is said when those have started, or not.
 * IN limit - of _may_run()
 */
static void _hold(auc_snapshot_t *s, job_record_t *job_ptr, uint32_t limit)
{
	if (limit != WAIT_NO_REASON)
		job_ptr->state_reason = limit;
	AUC_GROW(s->held, s->held_cap, s->held_len + 1);
	s->held[s->held_len++] = job_ptr->job_id;
}

/* One that gets none: it waits, or is left to Slurm. */
static void _hold_back(auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_memo_t *memo, queue_state_t *state, bool left,
		       uint32_t limit)
{
	_hold(s, job_ptr, limit);
	if (!left)
		return;
	auc_delegate(s, job_ptr, memo, "limits");
	auc_claims_add(&state->claims, job_ptr);
}

/*
 * How many rows the job gets: the copies that there is room for, and that its limits allow besides
 * the rows before.
 */
static uint32_t _admit(auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_request_t *request, auc_memo_t *memo,
		       queue_state_t *state, bitstr_t *nodes, uint32_t copies,
		       auc_verdict_t *verdict, uint32_t limit)
{
	uint32_t most = MIN(copies, state->limit - s->in.jobs_len), rows;
	bool left;

	rows = auc_ledger_admit(state->ledger, s, job_ptr, request, nodes, most,
				&left);
	if (rows && (rows < most))
		_hold(s, job_ptr, limit);
	if (rows)
		return rows;
	verdict->held = verdict != &state->verdicts.unlimited;
	verdict->left = left;
	_hold_back(s, job_ptr, memo, state, left, limit);
	return 0;
}

/* Worth falls along the queue: a partition's tier comes before any priority. */
static uint64_t _priority(const job_queue_rec_t *record,
			  const uint16_t *tiers, int tiers_len)
{
	int rank = 0;

	while ((rank < tiers_len) &&
	       (tiers[rank] != record->part_ptr->priority_tier))
		rank++;
	/* Tiers come highest first: the last has rank 0. */
	rank = MIN(tiers_len - 1 - rank, 255);
	return MAX(record->priority, 1) + ((uint64_t) MAX(rank, 0) << 32);
}

static int _tiers(list_t *queue, uint16_t *tiers, int most)
{
	job_queue_rec_t *record;
	list_itr_t *iter = list_iterator_create(queue);
	int len = 0;

	while ((len < most) && (record = list_next(iter)))
		if (!len || (tiers[len - 1] != record->part_ptr->priority_tier))
			tiers[len++] = record->part_ptr->priority_tier;
	list_iterator_destroy(iter);
	return len;
}

/* A job's alternatives as the library is to see them. */
typedef struct {
	struct aucsched_alternative given[AUC_ALTERNATIVES];
	auc_request_t requests[AUC_ALTERNATIVES];
	uint8_t numbers[AUC_ALTERNATIVES];
	uint8_t len;
} alternatives_t;

/*
 * What the library is told of the job's record as it is now, while it asks for an
 * alternative.
 * RET NULL, or why this alternative is left out
 */
static const char *_look(auc_snapshot_t *s, const job_queue_rec_t *record,
			 queue_state_t *state, auc_request_t *request,
			 struct aucsched_alternative *out)
{
	job_record_t *job_ptr = record->job_ptr;
	bitstr_t *nodes = NULL;
	const char *why = auc_model(job_ptr, record->part_ptr, request);

	if (why)
		return why;
	if (job_limits_check(&job_ptr, false) != WAIT_NO_REASON)
		return "limits";
	if (!auc_limits_allow(s, job_ptr, request))
		return "limits";
	if (!auc_eligible_nodes(s, record, request, &state->claims, &nodes,
				&why))
		return why ? why : "nodes";
	if (!state->may_wake)
		(void) auc_let_sleep(s, &request->job, nodes);
	*out = auc_as_alternative(&request->job);
	out->mask = auc_add_mask(s, &state->masks, nodes);
	return NULL;
}

static void _left_out(job_record_t *job_ptr, auc_memo_t *memo, int number,
		      const char *why)
{
	if (!(memo->unmodelled & (1 << (number - 1))))
		info("aucsched: %pJ: alternative %d is left out: %s", job_ptr,
		     number, why);
	memo->unmodelled |= 1 << (number - 1);
}

/* Only batch scripts have them: the environment of srun and salloc is not ours to set. */
static void _look_at_alternatives(auc_snapshot_t *s,
				  const job_queue_rec_t *record,
				  auc_memo_t *memo, queue_state_t *state,
				  alternatives_t *found)
{
	job_record_t *job_ptr = record->job_ptr;
	auc_alternative_t noted[AUC_ALTERNATIVES];
	int len = job_ptr->batch_flag ?
		auc_alternatives_find_note(job_ptr->admin_comment, noted) : 0;

	found->len = 0;
	for (int i = 0; i < len; i++) {
		auc_kept_t kept;
		int rc = auc_swap(job_ptr, &noted[i], &kept);
		const char *why = (rc == ESLURM_TOO_MANY_REQUESTED_CPUS) ?
			"limits" : "gres";

		if (!rc) {
			why = _look(s, record, state,
				    &found->requests[found->len],
				    &found->given[found->len]);
			auc_swap_back(job_ptr, &kept);
		}
		if (why)
			_left_out(job_ptr, memo, i + 1, why);
		else
			found->numbers[found->len++] = i + 1;
	}
}

/* The alternatives of the job that comes next into the snapshot. */
static void _add_alternatives(auc_snapshot_t *s, const alternatives_t *found,
			      const part_record_t *part_ptr)
{
	AUC_GROW(s->alternatives, s->alternatives_cap,
		 s->in.alternatives_len + found->len);
	for (int i = 0; i < found->len; i++) {
		auc_add_alternative_uses(s, &found->requests[i], part_ptr);
		s->alternatives[s->in.alternatives_len] = found->given[i];
		s->alternatives[s->in.alternatives_len++].job = s->in.jobs_len;
	}
}

static void _add_rows(auc_snapshot_t *s, const job_queue_rec_t *record,
		      const auc_request_t *request,
		      const alternatives_t *found, uint32_t copies, bool array,
		      int limit)
{
	auc_row_t row = {
		.job_id = record->job_ptr->job_id,
		.array = array,
		.approximate = request->approximate,
		.lets_sleep = request->lets_sleep,
		.alternatives = found->len,
		.memory = (!s->counts_memory &&
			   auc_consumes_memory(record->part_ptr)) ?
			request->memory : 0,
		.threads = request->threads,
	};
	struct aucsched_job job = request->job;

	memcpy(row.numbers, found->numbers, sizeof(row.numbers));

	/* Preemption and the like can put a job before one of higher priority. */
	if (s->in.jobs_len)
		job.priority = MIN(job.priority,
				   s->jobs[s->in.jobs_len - 1].priority);
	copies = MIN(copies, limit - s->in.jobs_len);
	AUC_GROW(s->jobs, s->jobs_cap, s->in.jobs_len + copies);
	AUC_GROW(s->rows, s->rows_cap, s->in.jobs_len + copies);
	for (uint32_t i = 0; i < copies; i++) {
		row.first_alternative = s->in.alternatives_len;
		if (found->len)
			_add_alternatives(s, found, record->part_ptr);
		auc_add_job_uses(s, request, record->part_ptr);
		row.reads = auc_add_job_read(s, record->job_ptr);
		s->jobs[s->in.jobs_len] = job;
		s->rows[s->in.jobs_len++] = row;
	}
}

/* Whether no record of the partition came before. */
static bool _is_head(queue_state_t *state, const part_record_t *part_ptr)
{
	for (int i = 0; i < state->heads_len; i++)
		if (state->heads[i] == part_ptr)
			return false;
	if (state->heads_len == AUC_CLAIMS_MAX)
		return false;
	state->heads[state->heads_len++] = part_ptr;
	return true;
}

/* Since it was submitted, or could begin if that was later: seconds. */
static uint32_t _waited(const job_record_t *job_ptr, time_t now)
{
	time_t since = MAX(job_ptr->details->submit_time,
			   job_ptr->details->begin_time);

	return (since < now) ? MIN(now - since, UINT32_MAX) : 0;
}

static void _add_record(auc_snapshot_t *s, const job_queue_rec_t *record,
			auc_memo_t *memo, queue_state_t *state)
{
	job_record_t *job_ptr = record->job_ptr;
	auc_request_t request;
	bitstr_t *nodes = NULL;
	alternatives_t alternatives;
	auc_verdict_t *verdict;
	const char *why;
	uint32_t copies, limit;
	bool array, was_left = memo->left;

	memo->left = false;
	if (!(copies = _copies(job_ptr, &array)))
		return;
	if ((why = auc_why_delegated(s, record, memo, &request))) {
		auc_delegate(s, job_ptr, memo, why);
		auc_claims_add(&state->claims, job_ptr);
		return;
	}
	if (!(verdict = _may_run(s, state, job_ptr, &request, &limit)))
		return;
	if (verdict->held) {
		_hold_back(s, job_ptr, memo, state, verdict->left, limit);
		return;
	}
	if (!auc_eligible_nodes(s, record, &request, &state->claims, &nodes,
				&why)) {
		if (why)
			auc_delegate(s, job_ptr, memo, why);
		return;
	}
	state->may_wake = memo->may_wake;
	request.lets_sleep = !memo->may_wake &&
		auc_let_sleep(s, &request.job, nodes);
	if (!(copies = _admit(s, job_ptr, &request, memo, state, nodes, copies,
			      verdict, limit))) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	if (s->in.jobs_len < state->most_offers)
		auc_offer(s, &state->offers, state->hooks, job_ptr, nodes,
			  s->in.jobs_len);
	request.job.mask = auc_add_mask(s, &state->masks, nodes);
	request.job.priority = _priority(record, state->tiers,
					 state->tiers_len);
	request.job.waited = _waited(job_ptr, s->in.now);
	_look_at_alternatives(s, record, memo, state, &alternatives);
	/* Jobs that can never run must not have those behind the window wait for ever. */
	if (was_left && s->beyond_waits)
		state->limit += copies;
	_add_rows(s, record, &request, &alternatives, copies, array,
		  state->limit);
	/*
	 * The library keeps a place for the first of the queue. For the first of each
	 * other partition, and for a job that found no place last time, there is the one that
	 * the backfill scheduler has planned.
	 */
	if (was_left || (_is_head(state, record->part_ptr) &&
			 (s->in.jobs_len > copies)))
		auc_claims_add(&state->claims, job_ptr);
}

static void _pass_beyond(auc_snapshot_t *s, const job_queue_rec_t *record,
			 auc_memo_t *memo)
{
	s->beyond++;
	if (s->beyond_waits)
		auc_keep_beyond(s, record, memo);
	else
		auc_delegate_beyond(s, record->job_ptr, memo);
}

static void _go_through(auc_snapshot_t *s, queue_state_t *state)
{
	list_t *queue = build_job_queue(false, false);
	job_queue_rec_t *record;
	int64_t end_us = auc_now_us() + MOST_US;

	sort_job_queue(queue);
	state->tiers_len = _tiers(queue, state->tiers,
				  ARRAY_SIZE(state->tiers));
	while ((record = list_pop(queue))) {
		auc_memo_t *memo = auc_memo_of(record->job_ptr->job_id);

		memo->cycle = state->cycle;
		s->queue++;
		auc_overdue_add(record->job_ptr,
				_waited(record->job_ptr, s->in.now));
		if ((s->in.jobs_len >= state->limit) ||
		    (auc_now_us() > end_us))
			_pass_beyond(s, record, memo);
		else
			_add_record(s, record, memo, state);
		xfree(record);
	}
	FREE_NULL_LIST(queue);
}

extern void auc_add_queue(auc_snapshot_t *s, const auc_settings_t *settings,
			  auc_select_hooks_t *hooks, uint32_t cycle)
{
	queue_state_t *state = xmalloc(sizeof(*state));

	state->hooks = hooks;
	s->beyond_waits = settings->beyond_waits;
	state->limit = settings->limit;
	state->most_offers = settings->offers;
	state->cycle = cycle;
	state->ledger = auc_ledger_new();
	auc_overdue_begin(settings->net_s);
	_go_through(s, state);
	auc_claims_free(&state->claims);
	auc_masks_free(&state->masks);
	auc_offers_free(&state->offers);
	auc_ledger_free(state->ledger);
	xfree(state);
}
