/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The safety net by time. Whatever the auction is blind to, now or in a version to come: a job
 * that it doesn't start for auc_net_s seconds, although Slurm's own selection says that it
 * could start now, is Slurm's. See overdue.h; docs/slurm.md tells what users see of it.
 *
 * When the cycle's starts are done some of those who have waited long are asked about, in turn:
 * what would Slurm allocate of what is left? On nodes that the backfill scheduler has planned for
 * jobs before it in the queue a job must be done by then, as is backfill's own rule. One that
 * could start for half of the time, whenever it was asked about, and has waited for all of it, is
 * handed over: it is taken off the auction, and started right here by Slurm's selection, as its
 * main loop may be held up by jobs that the auction keeps. It is launched as all the auction's
 * starts are: saved first, and not while slurm.conf is read (launch.h).
 *
 * The agent's thread alone; under the locks, but for auc_overdue_free().
 */
#include <string.h>

#include "alike.h"
#include "assoc_limits.h"
#include "aucsched.h"
#include "claims.h"
#include "clock.h"
#include "cores.h"
#include "grow.h"
#include "memo.h"
#include "model.h"
#include "offer.h"
#include "overdue.h"
#include "shape.h"
#include "start.h"

/* Questions of a cycle, and their time. */
#define MOST_QUESTIONS 16
#define MOST_US 50000

/* For so long a plan outlasts the start of backfill's next pass, which drops them all. */
#define PLAN_SECONDS 60

/* For how long it is Slurm's, should this start fail. */
#define HANDED_SECONDS 300

/* What the backfill scheduler has planned for a job. */
typedef struct {
	uint32_t job_id;
	time_t start;
	char *names;		/* of the nodes; owned, as is what follows */
	bitstr_t *nodes;	/* NULL until somebody asks */
	int64_t seen_us;
} plan_t;

typedef struct {
	plan_t plans[AUC_CLAIMS_MAX]; /* in the order of the queue */
	int len;
} plans_t;

/* A job that has waited long enough to be asked about. */
typedef struct {
	uint32_t job_id;
	uint32_t waited;	/* s */
	int plans;		/* so many plans are of jobs before it */
} row_t;

/* The answer to a question was no; it is for all that ask for as much or more. */
typedef struct {
	job_record_t *job_ptr;
	int64_t end;
	int plans;
} refused_t;

static struct {
	int net_s;		/* 0: off */
	int64_t now_us;
	plans_t plans, before;	/* of this cycle, and of the one before */
	row_t *rows;
	size_t len, cap;
	uint32_t last;		/* the job that was asked about last */
	bool could;		/* some job could have started */
} watch;

/* What one cycle's questions share. */
typedef struct {
	auc_select_hooks_t *hooks;
	auc_starts_t *starts;
	bitstr_t **idle;	/* cores, by node */
	const auc_snapshot_t *snapshot;
	const struct aucsched_output *out; /* NULL: there was no decision */
	refused_t refused[MOST_QUESTIONS];
	int refused_len, asked, started;
	int64_t until_us;
} round_t;

/* ---- plans ---- */

static void _free_plan(plan_t *plan)
{
	xfree(plan->names);
	FREE_NULL_BITMAP(plan->nodes);
}

static void _free_plans(plans_t *plans)
{
	for (int i = 0; i < plans->len; i++)
		_free_plan(&plans->plans[i]);
	plans->len = 0;
}

/* A job that has lost its plan only as backfill began anew still has it. */
static void _keep_plan(const job_record_t *job_ptr)
{
	for (int i = 0; i < watch.before.len; i++) {
		plan_t *plan = &watch.before.plans[i];

		if ((plan->job_id != job_ptr->job_id) || !plan->names ||
		    (plan->seen_us + PLAN_SECONDS * 1000000LL < watch.now_us))
			continue;
		FREE_NULL_BITMAP(plan->nodes);	/* perhaps by other indices */
		watch.plans.plans[watch.plans.len++] = *plan;
		memset(plan, 0, sizeof(*plan));
		return;
	}
}

static void _add_plan(const job_record_t *job_ptr)
{
	if (watch.plans.len == AUC_CLAIMS_MAX)
		return;
	if (!auc_is_planned(job_ptr)) {
		_keep_plan(job_ptr);
		return;
	}
	watch.plans.plans[watch.plans.len++] = (plan_t) {
		.job_id = job_ptr->job_id, .start = job_ptr->start_time,
		.names = xstrdup(job_ptr->sched_nodes), .seen_us = watch.now_us };
}

/* The partition's nodes, less those that jobs before this one will have before it ends. */
static bitstr_t *_unplanned(const job_record_t *job_ptr, int plans, int64_t end)
{
	bitstr_t *nodes = bit_copy(job_ptr->part_ptr->node_bitmap);

	for (int i = 0; i < plans; i++) {
		plan_t *plan = &watch.plans.plans[i];

		if (plan->start >= end)
			continue;
		if (!plan->nodes &&
		    (auc_names_to_nodes(plan->names, &plan->nodes) ||
		     !plan->nodes)) {
			FREE_NULL_BITMAP(plan->nodes);
			plan->nodes = bit_alloc(node_record_count);
		}
		bit_and_not(nodes, plan->nodes);
	}
	return nodes;
}

/* ---- who is asked about ---- */

extern void auc_overdue_begin(int net_s)
{
	_free_plans(&watch.before);
	watch.before = watch.plans;
	watch.plans.len = 0;
	watch.len = 0;
	watch.net_s = net_s;
	watch.now_us = auc_now_us();
}

extern void auc_overdue_add(const job_record_t *job_ptr, uint32_t waited)
{
	if (!watch.net_s)
		return;
	/* A quarter to be seen, a quarter to be asked, and half of being able to start. */
	if (waited >= watch.net_s / 4) {
		AUC_GROW(watch.rows, watch.cap, watch.len + 1);
		watch.rows[watch.len++] = (row_t) { job_ptr->job_id, waited,
						watch.plans.len };
	}
	_add_plan(job_ptr);
}

/* The checks that Slurm's main loop makes, and that it is one that the auction models. */
static bool _may_start(const auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_request_t *request)
{
	auc_verdicts_t verdicts = { 0 };	/* jobs start in between */
	uint32_t limit;

	return IS_JOB_PENDING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
		job_ptr->details && job_ptr->priority && job_ptr->part_ptr &&
		!job_ptr->details->prolog_running &&
		!auc_model(job_ptr, job_ptr->part_ptr, request) &&
		job_independent(job_ptr) &&
		(job_limits_check(&job_ptr, false) == WAIT_NO_REASON) &&
		auc_within_limits(&verdicts, s, job_ptr, request, &limit) &&
		(license_job_test(job_ptr, time(NULL), true) == SLURM_SUCCESS) &&
		(((job_ptr->array_task_id == NO_VAL) && !job_ptr->array_recs) ||
		 job_array_start_test(job_ptr));
}

/* Whether there are as many cores at all. */
static bool _has_room(const round_t *round, const auc_request_t *request,
		      const bitstr_t *nodes)
{
	uint64_t cores = 0;
	uint32_t count = 0, most = MAX(request->job.cores_per_node, 1);

	for (int n = 0; n < node_record_count; n++) {
		int here;

		if (!round->idle[n] || !bit_test((bitstr_t *) nodes, n))
			continue;
		if ((here = bit_set_count(round->idle[n])) < most)
			continue;
		cores += here;
		count++;
	}
	return (cores >= request->job.cores) &&
		(count >= MAX(request->job.min_nodes, 1));
}

static bool _is_refused(const round_t *round, const job_record_t *job_ptr,
			int64_t end, int plans)
{
	for (int i = 0; i < round->refused_len; i++) {
		const refused_t *refused = &round->refused[i];

		if ((refused->end <= end) && (refused->plans <= plans) &&
		    auc_are_alike(refused->job_ptr, job_ptr))
			return true;
	}
	return false;
}

/*
 * The settings may have the library keep a place for a job that comes after this one. Where, it
 * doesn't say.
 * RET the second from which on it does; INT64_MAX: there is none
 */
static int64_t _kept_from(const round_t *round, uint32_t job_id)
{
	const auc_snapshot_t *s = round->snapshot;
	int64_t kept = INT64_MAX;
	bool found = false;

	if (!round->out)
		return kept;
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const struct aucsched_decision *decision =
			&round->out->decisions[row];

		if (s->rows[row].job_id == job_id)
			found = true;
		else if (found && decision->expected &&
			 (decision->why == AUCSCHED_WAITS_RESERVED))
			kept = MIN(kept, decision->expected);
	}
	return kept;
}

/* ---- questions and starts ---- */

/* RET whether Slurm would start the job now; of the nodes in *nodes, which the caller must free */
static bool _could_start(round_t *round, const row_t *row,
			 job_record_t *job_ptr, const auc_request_t *request,
			 bitstr_t **nodes)
{
	int64_t end = (request->job.time_limit == AUCSCHED_NO_LIMIT) ?
		INT64_MAX : (int64_t) time(NULL) + request->job.time_limit;

	*nodes = NULL;
	if ((end > _kept_from(round, row->job_id)) ||
	    _is_refused(round, job_ptr, end, row->plans))
		return false;
	*nodes = _unplanned(job_ptr, row->plans, end);
	if (!_has_room(round, request, *nodes))
		return false;
	round->asked++;
	if (auc_could_start(round->hooks, job_ptr, *nodes))
		return true;
	round->refused[round->refused_len++] =
		(refused_t) { job_ptr, end, row->plans };
	return false;
}

static bool _start(round_t *round, job_record_t *job_ptr, const bitstr_t *nodes)
{
	int rc;

	if (!(job_ptr = auc_split(job_ptr)))
		return false;
	if ((rc = auc_select_among(round->hooks, job_ptr, nodes))) {
		info("aucsched: %pJ is overdue and could start, but does not: %s",
		     job_ptr, slurm_strerror(rc));
		return false;
	}
	round->started++;
	info("aucsched: Slurm's selection gave %pJ, which was overdue, %s",
	     job_ptr, job_ptr->nodes);
	/* They are nobody's for the cycle's next questions. */
	auc_cores_take(job_ptr->job_resrcs, round->idle);
	auc_will_launch(round->starts, job_ptr);
	return true;
}

static void _hand_over(const row_t *row, job_record_t *job_ptr,
		       auc_memo_t *memo)
{
	if (memo->until <= auc_now_s())
		info("aucsched: %pJ left to Slurm: overdue (waited %u s, could start)",
		     job_ptr, row->waited);
	memo->until = auc_now_s() + HANDED_SECONDS;
	memo->until_why = memo->why = "overdue";
	memo->left = true;
}

static bool _is_over(const round_t *round)
{
	return (round->asked >= MOST_QUESTIONS) ||
		(auc_now_us() > round->until_us);
}

/* Whether the job is due, as far as it could start all the time. */
static bool _is_due(const row_t *row, const auc_memo_t *memo)
{
	return memo->could_us && (row->waited >= watch.net_s) &&
		(watch.now_us - memo->could_us >= watch.net_s * 500000LL);
}

/* RET whether the job could start, and is to */
static bool _note_answer(const row_t *row, auc_memo_t *memo, bool could)
{
	/* What came of it in the meantime nobody knows. */
	if (!could || (watch.now_us - memo->asked_us > watch.net_s * 500000LL))
		memo->could_us = 0;
	if (!could)
		return false;
	watch.could = true;
	memo->asked_us = watch.now_us;
	if (!memo->could_us)
		memo->could_us = watch.now_us;
	return _is_due(row, memo);
}

/* RET whether it has started */
static bool _look_once(round_t *round, const row_t *row, auc_memo_t *memo)
{
	job_record_t *job_ptr = find_job_record(row->job_id);
	auc_request_t request;
	bitstr_t *nodes;
	bool started = false;

	if (!job_ptr || !_may_start(round->snapshot, job_ptr, &request))
		return false;
	if (_note_answer(row, memo, _could_start(round, row, job_ptr, &request,
						 &nodes))) {
		_hand_over(row, job_ptr, memo);
		started = _start(round, job_ptr, nodes);
	}
	FREE_NULL_BITMAP(nodes);
	return started;
}

/* An array is asked about again for each of its tasks. */
static void _look_at(round_t *round, const row_t *row, auc_memo_t *memo)
{
	while (!_is_over(round) && _look_once(round, row, memo))
		;
}

/* Those who could start are asked about now and then, and when they are due. */
static void _look_at_known(round_t *round)
{
	for (size_t i = 0; (i < watch.len) && !_is_over(round); i++) {
		const row_t *row = &watch.rows[i];
		auc_memo_t *memo = auc_memo_find(row->job_id);

		if (!memo || !memo->could_us)
			continue;
		watch.could = true;
		if (_is_due(row, memo) ||
		    (watch.now_us - memo->asked_us >= watch.net_s * 125000LL))
			_look_at(round, row, memo);
	}
}

/* The row that comes after the one that was looked at last. */
static size_t _next_row(void)
{
	for (size_t i = 0; i < watch.len; i++)
		if (watch.rows[i].job_id == watch.last)
			return i + 1;
	return 0;
}

/* And the others in turn. */
static void _look_at_others(round_t *round)
{
	size_t first = _next_row();

	for (size_t i = 0; (i < watch.len) && !_is_over(round); i++) {
		const row_t *row = &watch.rows[(first + i) % watch.len];
		auc_memo_t *memo = auc_memo_find(row->job_id);

		watch.last = row->job_id;
		if (memo && !memo->could_us)
			_look_at(round, row, memo);
	}
}

/* On a full machine nobody could start, however many wait. */
static bool _is_any_idle(const round_t *round)
{
	for (int n = 0; n < node_record_count; n++)
		if (round->idle[n] && (bit_ffs(round->idle[n]) >= 0))
			return true;
	return false;
}

extern auc_overdue_t auc_overdue_ask(const auc_snapshot_t *s,
				     const struct aucsched_output *out,
				     auc_select_hooks_t *hooks,
				     auc_starts_t *starts)
{
	round_t *round;
	auc_overdue_t result = { 0 };

	watch.could = false;
	if (!watch.len || !hooks || (s->config != slurm_conf.last_update) ||
	    (s->in.nodes_len != node_record_count))
		return result;
	round = xmalloc(sizeof(*round));
	round->hooks = hooks;
	round->starts = starts;
	round->snapshot = s;
	round->out = out;
	round->until_us = auc_now_us() + MOST_US;
	round->idle = auc_idle_cores(avail_node_bitmap);
	if (_is_any_idle(round)) {
		_look_at_known(round);
		_look_at_others(round);
	}
	if (round->started)
		schedule_job_save();
	result.started = round->started;
	result.waits = watch.could || _is_over(round);
	auc_cores_free(round->idle);
	xfree(round);
	return result;
}

extern void auc_overdue_free(void)
{
	_free_plans(&watch.plans);
	_free_plans(&watch.before);
	xfree(watch.rows);
	memset(&watch, 0, sizeof(watch));
}
