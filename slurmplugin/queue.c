/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The queue: pending jobs as rows of the snapshot, in Slurm's order and with worth by it.
 * See queue.h.
 *
 * Under the locks. The list of records and queue_state_t are freed at the end.
 */
#include <string.h>

#include "asleep.h"
#include "assoc_limits.h"
#include "aucsched.h"
#include "claims.h"
#include "clock.h"
#include "compat.h"
#include "files.h"
#include "grow.h"
#include "holds.h"
#include "job_memory.h"
#include "ledger.h"
#include "licences.h"
#include "left_to_slurm.h"
#include "limit_charges.h"
#include "limit_quotas.h"
#include "masks.h"
#include "memo.h"
#include "model.h"
#include "offer.h"
#include "overdue.h"
#include "preempt_rights.h"
#include "queue.h"
#include "reason.h"
#include "resources.h"
#include "shape.h"
#include "verdict.h"
#include "ways.h"

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
	bool shadow;		/* nothing is to come of it */
	bool may_wake;		/* the record's job: see asleep.c */
	uint32_t cycle;
	auc_masks_t masks;
	auc_offers_t offers;
	auc_verdicts_t verdicts;
	/* Of limits and licences: either the library counts them, or the ledger does. */
	auc_licences_t *licences;
	auc_limit_quotas_t *limits;
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
 * Slurm's function ends jobs that can't meet theirs any more. In shadow mode that is Slurm's to
 * do.
 */
static bool _meets_deadline(const queue_state_t *state, job_record_t *job_ptr)
{
	uint32_t minutes = (job_ptr->time_min && (job_ptr->time_min != NO_VAL)) ?
		job_ptr->time_min : job_ptr->time_limit;

	if (!auc_has_deadline(job_ptr))
		return true;
	if (!state->shadow)
		return deadline_ok(job_ptr, "aucsched");
	return (minutes == NO_VAL) || (minutes == INFINITE) ||
		(job_ptr->deadline >= time(NULL) + (time_t) minutes * 60);
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
	if (!_meets_deadline(state, job_ptr))
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
	auc_claims_add(&s->claims, job_ptr);
}

/* Rows that compete for what limits and licences leave. */
static uint32_t _compete(auc_snapshot_t *s, job_record_t *job_ptr,
			 auc_request_t *request, auc_memo_t *memo,
			 queue_state_t *state, bitstr_t *nodes, uint32_t most,
			 auc_counted_t *counted)
{
	*counted = auc_count_limits(state->limits, s, job_ptr, request, nodes,
				    true);
	most = auc_limit_quotas_admit(state->limits, s, request, *counted, most,
				      memo->stuck);
	if (most)
		most = auc_licences_admit(state->licences, s, job_ptr, most);
	if (!most)	/* whether it is still, the next cycle may see */
		memo->stuck = false;
	return most;
}

/*
 * How many rows the job gets: the copies that there is room for, and that its limits allow besides
 * the rows before.
 * OUT counted - against limits
 */
static uint32_t _admit(auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_request_t *request, auc_memo_t *memo,
		       queue_state_t *state, bitstr_t *nodes, uint32_t copies,
		       auc_verdict_t *verdict, uint32_t limit,
		       auc_counted_t *counted)
{
	uint32_t most = MIN(copies, state->limit - s->in.jobs_len), rows;
	bool left = false;

	rows = state->licences ?
		_compete(s, job_ptr, request, memo, state, nodes, most,
			 counted) :
		auc_ledger_admit(state->ledger, s, job_ptr, request, nodes,
				 most, &left);
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

/* The alternatives of the job that comes next into the snapshot. */
static void _add_alternatives(auc_snapshot_t *s, const auc_ways_t *found,
			      const queue_state_t *state,
			      const job_record_t *job_ptr)
{
	AUC_GROW(s->alternatives, s->alternatives_cap,
		 s->in.alternatives_len + found->len);
	for (int i = 0; i < found->len; i++) {
		auc_add_alternative_uses(s, &found->requests[i],
					 found->ways[i].part_ptr);
		auc_add_alternative_licences(state->licences, s, job_ptr);
		auc_add_alternative_limits(state->limits, s, found->counted[i]);
		s->alternatives[s->in.alternatives_len] = found->given[i];
		s->alternatives[s->in.alternatives_len++].job = s->in.jobs_len;
	}
}

static void _add_rows(auc_snapshot_t *s, const job_queue_rec_t *record,
		      const auc_request_t *request,
		      auc_counted_t counted, const auc_ways_t *found,
		      const queue_state_t *state, uint32_t copies, bool array)
{
	auc_row_t row = {
		.job_id = record->job_ptr->job_id,
		.array = array,
		.approximate = request->approximate,
		.lets_sleep = request->lets_sleep,
		.loose = request->loose,
		.narrowed = request->narrowed,
		.binds_gpus = request->binds_gpus,
		.names_type = auc_names_type(request),
		.may_preempt = request->may_preempt,
		.preempt_keys = request->preempt_keys,
		.part_ptr = record->part_ptr,
		.alternatives = found->len,
		.threads = request->threads,
	};
	struct aucsched_job job = request->job;

	memcpy(row.ways, found->ways, sizeof(row.ways));
	if (auc_consumes_memory(record->part_ptr)) {
		row.memory = request->memory;
		row.gpu_memory = request->gpu_memory;
		row.all_memory = request->all_memory;
	}

	/* Preemption and the like can put a job before one of higher priority. */
	if (s->in.jobs_len)
		job.priority = MIN(job.priority,
				   s->jobs[s->in.jobs_len - 1].priority);
	copies = MIN(copies, state->limit - s->in.jobs_len);
	AUC_GROW(s->jobs, s->jobs_cap, s->in.jobs_len + copies);
	AUC_GROW(s->rows, s->rows_cap, s->in.jobs_len + copies);
	for (uint32_t i = 0; i < copies; i++) {
		row.first_alternative = s->in.alternatives_len;
		if (found->len)
			_add_alternatives(s, found, state, record->job_ptr);
		auc_add_job_uses(s, request, record->part_ptr);
		auc_add_job_licences(state->licences, s, record->job_ptr);
		auc_add_job_limits(state->limits, s, counted);
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

/* Whom a job may preempt holds for all of its partitions. */
static void _narrow_rights(auc_snapshot_t *s, const job_queue_rec_t *record,
			   const auc_ways_t *found, auc_request_t *request)
{
	job_record_t *job_ptr = record->job_ptr;

	for (int i = 0; request->preempt_keys && (i < found->len); i++) {
		if (found->ways[i].part_ptr == record->part_ptr)
			continue;
		job_ptr->part_ptr = (part_record_t *) found->ways[i].part_ptr;
		(void) auc_rights_of(s, job_ptr, &request->preempt_keys);
	}
	job_ptr->part_ptr = record->part_ptr;
}

static void _add_record(auc_snapshot_t *s, const job_queue_rec_t *record,
			auc_memo_t *memo, queue_state_t *state, list_t *queue)
{
	job_record_t *job_ptr = record->job_ptr;
	auc_request_t request;
	auc_counted_t counted = { 0 };
	bitstr_t *nodes = NULL;
	auc_ways_t ways;
	auc_verdict_t *verdict;
	const char *why;
	uint32_t copies, limit;
	bool array, was_left = memo->left, had_none = memo->no_place;

	memo->left = memo->no_place = false;
	if (auc_holds_any(job_ptr->job_id)) {
		memo->settled = state->cycle;
		auc_verdict_tell(job_ptr, "preempts", NULL);
		return;
	}
	/* As Slurm's main loop does when it comes to a record. */
	job_ptr->part_ptr = record->part_ptr;
	if (!(copies = _copies(job_ptr, &array))) {
		auc_verdict_drop(job_ptr);
		return;
	}
	if ((why = auc_why_delegated(s, record, memo, &request))) {
		memo->settled = state->cycle;
		auc_delegate(s, job_ptr, memo, why);
		if (!state->shadow)
			auc_turns_add(s, record, why);
		auc_claims_add(&s->claims, job_ptr);
		return;
	}
	if (!(verdict = _may_run(s, state, job_ptr, &request, &limit))) {
		auc_verdict_drop(job_ptr);
		return;
	}
	if (verdict->held) {
		_hold_back(s, job_ptr, memo, state, verdict->left, limit);
		return;
	}
	if (!auc_eligible_nodes(s, record, &request, 0, &s->claims, &nodes,
				&why)) {
		if (why)
			auc_delegate(s, job_ptr, memo, why);
		else
			auc_verdict_tell(job_ptr, "nodes", NULL);
		return;
	}
	state->may_wake = memo->may_wake;
	request.lets_sleep = !memo->may_wake &&
		auc_let_sleep(s, &request.job, nodes);
	if (!(copies = _admit(s, job_ptr, &request, memo, state, nodes, copies,
			      verdict, limit, &counted))) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	if (s->in.jobs_len < state->most_offers)
		auc_offer(s, &state->offers, state->hooks, job_ptr, nodes,
			  s->in.jobs_len);
	request.job.mask = auc_add_mask(s, &state->masks, nodes);
	request.job.priority = _priority(record, state->tiers,
					 state->tiers_len);
	request.job.waited = auc_waited(job_ptr, s->in.now);
	memo->settled = state->cycle;
	auc_look_at_ways(s, record, &request, queue, memo, state->may_wake,
			 &s->claims, &state->masks, state->limits, &ways);
	_narrow_rights(s, record, &ways, &request);
	request.approximate |= ways.more;
	request.loose |= ways.loose;
	/* Jobs that can never run must not have those behind the window wait for ever. */
	if ((was_left || had_none) && s->beyond_waits)
		state->limit += copies;
	_add_rows(s, record, &request, counted, &ways, state, copies, array);
	/*
	 * The library keeps a place for the first of the queue. For the first of each
	 * other partition, and for a job that found no place last time, there is the one that
	 * the backfill scheduler has planned.
	 */
	if (s->in.jobs_len == copies)
		auc_claims_add(&s->first, job_ptr);
	if (was_left || had_none || (_is_head(state, record->part_ptr) &&
			 (s->in.jobs_len > copies)))
		auc_claims_add(&s->claims, job_ptr);
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

/* A job of several partitions has a record for each: one of them speaks for all. */
static bool _is_settled(const job_queue_rec_t *record, const auc_memo_t *memo,
			const queue_state_t *state)
{
	list_t *parts = record->job_ptr->part_ptr_list;

	return parts && (list_count(parts) > 1) &&
		(memo->settled == state->cycle);
}

static void _go_through(auc_snapshot_t *s, queue_state_t *state)
{
	list_t *queue = build_job_queue(false, false);
	job_queue_rec_t *record;
	int64_t end_us;

	sort_job_queue(queue);
	state->tiers_len = _tiers(queue, state->tiers,
				  ARRAY_SIZE(state->tiers));
	/* Slurm's own sorting takes longer with very many jobs: it does not count. */
	end_us = auc_now_us() + MOST_US;
	while ((record = list_pop(queue))) {
		auc_memo_t *memo = auc_memo_of(record->job_ptr->job_id);

		memo->cycle = state->cycle;
		memo->verdict = 0;
		if (_is_settled(record, memo, state)) {
			xfree(record);
			continue;
		}
		s->queue++;
		auc_overdue_add(s, record->job_ptr,
				auc_waited(record->job_ptr, s->in.now));
		if ((s->in.jobs_len >= state->limit) ||
		    (auc_now_us() > end_us))
			_pass_beyond(s, record, memo);
		else
			_add_record(s, record, memo, state, queue);
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
	state->shadow = settings->shadow;
	state->most_offers = settings->offers;
	state->cycle = cycle;
	state->licences = auc_licences_new(s, settings);
	state->limits = auc_limit_quotas_new(settings);
	state->ledger = auc_ledger_new();
	auc_claims_free(&s->claims);
	auc_claims_free(&s->first);
	auc_overdue_begin(settings->net_s);
	_go_through(s, state);
	auc_masks_free(&state->masks);
	auc_offers_free(&state->offers);
	auc_ledger_free(state->ledger);
	auc_limit_quotas_free(state->limits);
	auc_licences_free(state->licences);
	xfree(state);
}
