/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "reason.h"
#include "start.h"

/* ---- What stock Slurm would allocate to a job now, and as a start: under the locks ---- */

/*
 * Has stock code choose among the nodes of the pin, whose bitmaps are gone then. A question leaves the
 * job as it was. RET as select_nodes()
 */
static int _select_with(auc_pin_t *pin, auc_select_hooks_t *hooks, job_record_t *job_ptr)
{
	auc_tested_t kept;
	int rc;

	pin->job_ptr = job_ptr;
	if (!pin->cores)
		pin->cores = xcalloc(node_record_count, sizeof(bitstr_t *));
	pin->gpus = xcalloc(node_record_count, sizeof(bitstr_t *));
	if (pin->got)
		auc_test_begin(&kept, job_ptr);
	auc_use_features(job_ptr);
	hooks->pin = pin;
	rc = auc_select_nodes(job_ptr);
	hooks->pin = NULL;
	if (pin->got)
		auc_test_end(&kept, job_ptr);
	FREE_NULL_BITMAP(pin->nodes);
	auc_cores_free(pin->cores);
	auc_cores_free(pin->gpus);
	return rc;
}

/* The nodes without those that are kept for others. */
static bitstr_t *_open_nodes(job_record_t *job_ptr, const bitstr_t *nodes)
{
	bitstr_t *open = bit_copy((bitstr_t *) nodes);

	auc_holds_keep(job_ptr, open);
	return open;
}

static void _yes(job_record_t *job_ptr, void *arg)
{
}

typedef enum { NO, YES, PREEMPTS } answer_t;

/*
 * Whether stock Slurm would start a job now on some of the nodes, if it may preempt others, and whether it would
 * then. The job is as it was afterwards.
 */
static answer_t _question(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			  const bitstr_t *nodes, bool may_preempt)
{
	auc_pin_t pin = { .may_preempt = may_preempt, .got = _yes };

	if (job_ptr->job_resrcs)
		return NO;
	pin.nodes = _open_nodes(job_ptr, nodes);
	/* Limits are looked at last, and mean that it could not. */
	if ((_select_with(&pin, hooks, job_ptr) == ESLURM_ACCOUNTING_POLICY) || !pin.asked)
		return NO;
	return pin.preempts ? PREEMPTS : YES;
}

/*
 * Of several jobs that come together the first has nobody in its way. The bitmap is by node index; with
 * another number of nodes it is void, and then all are wanted until the next cycle.
 */

/* After so many seconds a job is not new. */
#define NEW_SECONDS 2

static struct {
	bitstr_t *wanted;	/* nodes that jobs wait for; NULL: no cycle has ended */
	bitstr_t *since;	/* those of jobs that came after the last snapshot */
	uint32_t started;	/* the job that was started so last: no other is as long as it runs; 0: none */
	int64_t started_us;
} alone;

/* Whether another job was started so since then, and runs. */
static bool _has_company(const job_record_t *job_ptr, int64_t since_us)
{
	job_record_t *other = (alone.started != job_ptr->job_id) &&
		(alone.started_us >= since_us) ?
		find_job_record(alone.started) : NULL;

	return other && !IS_JOB_FINISHED(other) && !IS_JOB_COMPLETING(other);
}

static bool _is_wanted(const part_record_t *part_ptr)
{
	return !alone.wanted ||
		(bit_size(alone.wanted) != bit_size(part_ptr->node_bitmap)) ||
		bit_overlap_any(alone.wanted, part_ptr->node_bitmap);
}

extern bool auc_alone_is(job_record_t *job_ptr, int together_ms)
{
	const part_record_t *part_ptr = job_ptr->part_ptr;
	time_t age = time(NULL) - job_ptr->details->submit_time;

	return part_ptr && part_ptr->node_bitmap && (age >= 0) &&
		(age <= NEW_SECONDS) && !job_ptr->array_recs &&
		(job_ptr->array_task_id == NO_VAL) && !_is_wanted(part_ptr) &&
		!_has_company(job_ptr, auc_now_us() - together_ms * 1000LL);
}

extern void auc_alone_started(job_record_t *job_ptr)
{
	alone.started = job_ptr->job_id;
	alone.started_us = auc_now_us();
}

/* The nodes of the partition, or all if it is not said which. */
static void _want(bitstr_t *wanted, const part_record_t *part_ptr)
{
	if (wanted && part_ptr && part_ptr->node_bitmap &&
	    (bit_size(wanted) == bit_size(part_ptr->node_bitmap)))
		bit_or(wanted, part_ptr->node_bitmap);
	else if (wanted)
		bit_set_all(wanted);
}

extern void auc_alone_waits(job_record_t *job_ptr)
{
	_want(alone.wanted, job_ptr->part_ptr);
	_want(alone.since, job_ptr->part_ptr);
}

extern void auc_alone_begin(void)
{
	FREE_NULL_BITMAP(alone.since);
	alone.since = bit_alloc(node_record_count);
}

/* What backfill has planned for jobs that the auction has started since is nobody's. */
static void _clear_planned(void)
{
	node_record_t *node_ptr;

	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]) ||
		    !(node_ptr->node_state & NODE_STATE_PLANNED))
			continue;
		node_ptr->node_state &= ~NODE_STATE_PLANNED;
		last_node_update = time(NULL);
	}
}

extern void auc_alone_end(const auc_snapshot_t *s)
{
	const part_record_t *last = NULL;

	FREE_NULL_BITMAP(alone.wanted);
	alone.wanted = bit_copy(alone.since);
	if (s->beyond)	/* somebody is behind those that were looked at */
		bit_set_all(alone.wanted);
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const job_record_t *job_ptr =
			find_job_record(s->rows[row].job_id);

		if (!job_ptr || !IS_JOB_PENDING(job_ptr) ||
		    (job_ptr->part_ptr == last))
			continue;
		last = job_ptr->part_ptr;
		_want(alone.wanted, last);
	}
	if (!s->left_jobs && (bit_ffs(alone.wanted) < 0))
		_clear_planned();
}

extern void auc_alone_free(void)
{
	FREE_NULL_BITMAP(alone.wanted);
	FREE_NULL_BITMAP(alone.since);
	memset(&alone, 0, sizeof(alone));
}

/*
 * Jobs without a place that Slurm may have one for are Slurm's until the next cycle. Any other goes on
 * bidding: on a full machine nothing would start it, and when nodes get free the auction is to decide whose
 * they are. What was answered of one job holds for all that ask for the same. Jobs for which there is no time
 * left are Slurm's, if they are modelled roughly.
 */

/* Questions of a cycle, and their time. */
#define MOST_QUESTIONS 32
#define MOST_US 50000

typedef struct {
	const job_record_t *job_ptr;
	answer_t answer;
} answered_t;

typedef struct {
	auc_select_hooks_t *hooks;
	answered_t answered[MOST_QUESTIONS];
	int len;
	int64_t until_us;
} round_t;

static answer_t _ask_of_partition(const round_t *round, const auc_row_t *row,
				  job_record_t *job_ptr)
{
	const bitstr_t *nodes = job_ptr->part_ptr->node_bitmap;

	if (row->approximate && _question(round->hooks, job_ptr, nodes, false))
		return YES;
	if (row->may_preempt &&
	    (_question(round->hooks, job_ptr, nodes, true) == PREEMPTS))
		return PREEMPTS;
	return NO;
}

/* In any of its partitions. */
static answer_t _ask(const round_t *round, const auc_row_t *row,
		     job_record_t *job_ptr)
{
	part_record_t *kept = job_ptr->part_ptr, *part_ptr;
	answer_t answer = NO;

	if (!job_ptr->part_ptr_list)
		return _ask_of_partition(round, row, job_ptr);
	AUC_EACH(part_ptr, job_ptr->part_ptr_list) {
		job_ptr->part_ptr = part_ptr;
		if ((answer = _ask_of_partition(round, row, job_ptr)))
			break;
	}
	job_ptr->part_ptr = kept;
	return answer;
}

/* RET false if there is no time to ask */
static bool _answer(round_t *round, const auc_row_t *row,
		    job_record_t *job_ptr, answer_t *answer)
{
	for (int i = 0; i < round->len; i++) {
		if (auc_are_alike(round->answered[i].job_ptr, job_ptr)) {
			*answer = round->answered[i].answer;
			return true;
		}
	}
	if (!round->hooks || (round->len == MOST_QUESTIONS) ||
	    (auc_now_us() > round->until_us))
		return false;
	*answer = _ask(round, row, job_ptr);
	round->answered[round->len++] = (answered_t) { job_ptr, *answer };
	return true;
}

static void _look_at(round_t *round, const auc_row_t *row, uint8_t why)
{
	job_record_t *job_ptr = find_job_record(row->job_id);
	auc_memo_t *memo = auc_memo_find(row->job_id);
	answer_t answer;

	if (!job_ptr || !memo || !IS_JOB_PENDING(job_ptr) ||
	    IS_JOB_COMPLETING(job_ptr) || !job_ptr->priority ||
	    !job_ptr->details || !job_ptr->part_ptr)
		return;
	if (!_answer(round, row, job_ptr, &answer)) {
		memo->left = row->approximate;
		auc_say_no_place(job_ptr, why);
		return;
	}
	memo->left = answer != NO;
	memo->no_place = row->approximate && (answer == NO);
	if (answer == PREEMPTS)
		auc_say_left(job_ptr, memo, "preemption");
	else if (answer == YES)
		auc_verdict_tell(job_ptr, "left", "place");
	else
		auc_say_no_place(job_ptr, why);
}

extern void auc_leave_without_place(const auc_snapshot_t *s,
				    const struct aucsched_output *out,
				    auc_select_hooks_t *hooks)
{
	round_t *round;
	uint32_t last = 0;

	if (!auc_is_current(s))
		return;
	round = xmalloc(sizeof(*round));
	round->hooks = hooks;
	round->until_us = auc_now_us() + MOST_US;
	for (uint32_t i = 0; i < s->in.jobs_len; i++) {
		const auc_row_t *row = &s->rows[i];

		/* An array's tasks share a record. */
		if ((row->job_id == last) ||
		    !auc_found_no_place(row, out->decisions[i].why))
			continue;
		last = row->job_id;
		_look_at(round, row, out->decisions[i].why);
	}
	xfree(round);
}

/*
 * The safety net by time. Whatever the auction is blind to, now or in a version to come: a job
 * that it doesn't start for auc_net_s seconds, although Slurm's own selection says that it
 * could start now, is Slurm's. And the turns of those that are left to Slurm: else they would have
 * what every cycle leaves until backfill's next pass. See reason.h; docs/howto/why.md tells what users
 * see of both.
 *
 * When the cycle's starts are done some of those who have waited long are asked about, in turn:
 * what would Slurm allocate of what is left? On nodes that are claimed by jobs before it in the
 * queue a job must be done by then, as all that the auction starts. One that
 * could start for half of the time, whenever it was asked about, and has waited for all of it, is
 * handed over: it is taken off the auction, and started right here by Slurm's selection, as its
 * main loop may be held up by jobs that the auction keeps. It is launched as all the auction's
 * starts are: saved first, and not while slurm.conf is read (save.h).
 */

/* Questions of a cycle, and their time. */
#define MOST_OVERDUE_QUESTIONS 16
/* So many turns has a cycle, and so much time for them. */
#define MOST_TURNS 64
#define MOST_TURNS_US 20000

/* For how long it is Slurm's, should this start fail. */
#define HANDED_SECONDS 300

/* A job that has waited long enough to be asked about. */
typedef struct {
	uint32_t job_id;
	uint32_t waited;	/* s */
	int claims;		/* so many are of jobs before it */
	auc_memo_t *memo;	/* good until the next snapshot */
} row_t;

/* A job that is left to Slurm. */
typedef struct {
	uint32_t job_id;
	uint32_t row;		/* it comes before that one */
	part_record_t *part_ptr;
	int claims;
} turn_t;

/* The answer to a question was no; it is for all that ask for as much or more. */
typedef struct {
	uint32_t job_id;
	int64_t end;
	int claims;
} refused_t;

static struct {
	int net_s;		/* 0: off */
	int64_t now_us;
	row_t *rows;
	size_t rows_len, rows_cap;
	uint32_t last;		/* the job that was asked about last */
	bool could;		/* some job could have started */
	turn_t turns[MOST_TURNS];
	int turns_len, next;
	int64_t turns_us;	/* that they have taken */
	refused_t refused[MOST_OVERDUE_QUESTIONS + MOST_TURNS];
	int refused_len;
} watch;

/* What one cycle's questions share. */
typedef struct {
	auc_select_hooks_t *hooks;
	auc_starts_t *starts;
	bitstr_t **idle;	/* cores, by node */
	const auc_snapshot_t *snapshot;
	const struct aucsched_output *out; /* NULL: there was no decision */
	int asked, started;
	int64_t until_us;
} overdue_round_t;

/* ---- nodes ---- */

/*
 * The partition's nodes, less those that jobs before this one will have before it ends. The first
 * of the queue has its place by the library, which does not say where.
 * IN behind - the job is behind that one
 */
static bitstr_t *_unclaimed(const auc_snapshot_t *s, const job_record_t *job_ptr,
			    int claims, bool behind, int64_t end)
{
	bitstr_t *nodes = bit_copy(job_ptr->part_ptr->node_bitmap);

	auc_claims_exclude(&s->claims, claims, end, nodes);
	if (behind)
		auc_claims_exclude(&s->first, s->first.len, end, nodes);
	return nodes;
}

static bool _is_refused(const job_record_t *job_ptr, int64_t end, int claims)
{
	for (int i = 0; i < watch.refused_len; i++) {
		const refused_t *refused = &watch.refused[i];
		job_record_t *other = find_job_record(refused->job_id);

		if (other && (refused->end <= end) &&
		    (refused->claims <= claims) &&
		    auc_are_alike(other, job_ptr))
			return true;
	}
	return false;
}

/* RET whether Slurm would start the job now, on these nodes */
static bool _could_start_on(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			    int64_t end, int claims, const bitstr_t *nodes)
{
	if (_question(hooks, job_ptr, nodes, false))
		return true;
	if (watch.refused_len < ARRAY_SIZE(watch.refused))
		watch.refused[watch.refused_len++] =
			(refused_t) { job_ptr->job_id, end, claims };
	return false;
}

/* ---- who is asked about ---- */

extern void auc_overdue_begin(int net_s)
{
	watch.rows_len = watch.turns_len = watch.next = watch.refused_len = 0;
	watch.turns_us = 0;
	watch.net_s = net_s;
	watch.now_us = auc_now_us();
}

extern void auc_overdue_add(const auc_snapshot_t *s,
			    const job_record_t *job_ptr, auc_memo_t *memo)
{
	row_t row = { job_ptr->job_id, auc_waited(job_ptr, s->in.now),
		      s->claims.len, memo };

	/* A quarter to be seen, a quarter to be asked, and half of being able to start. */
	if (!watch.net_s || (row.waited < watch.net_s / 4))
		return;
	AUC_APPEND(watch.rows, row);
}

extern bool auc_passes(job_record_t *job_ptr)
{
	return IS_JOB_PENDING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
		job_ptr->details && job_ptr->priority && job_ptr->part_ptr &&
		!job_ptr->details->prolog_running && job_independent(job_ptr) &&
		(job_limits_check(&job_ptr, false) == WAIT_NO_REASON) &&
		(license_job_test(job_ptr, time(NULL), true) == SLURM_SUCCESS) &&
		(((job_ptr->array_task_id == NO_VAL) && !job_ptr->array_recs) ||
		 job_array_start_test(job_ptr));
}

/* And that it is one that the auction models, within its limits. */
static bool _may_start(const auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_request_t *request)
{
	auc_verdicts_t verdicts = { 0 };	/* jobs start in between */
	uint32_t limit;

	return auc_passes(job_ptr) &&
		!auc_model(job_ptr, job_ptr->part_ptr, request) &&
		auc_within_limits(&verdicts, s, job_ptr, request, &limit);
}

/* Whether there are as many cores at all. */
static bool _has_room(const overdue_round_t *round, const auc_request_t *request,
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

/*
 * The settings may have the library keep a place for a job that comes after this one. Where, it
 * doesn't say.
 * RET the second from which on it does; INT64_MAX: there is none
 */
static int64_t _kept_from(const overdue_round_t *round, uint32_t job_id)
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
static bool _could_start(overdue_round_t *round, const row_t *row,
			 job_record_t *job_ptr, const auc_request_t *request,
			 bitstr_t **nodes)
{
	const auc_snapshot_t *s = round->snapshot;
	int64_t end = (request->job.time_limit == AUCSCHED_NO_LIMIT) ?
		INT64_MAX : (int64_t) time(NULL) + request->job.time_limit;

	*nodes = NULL;
	if ((end > _kept_from(round, row->job_id)) ||
	    _is_refused(job_ptr, end, row->claims))
		return false;
	*nodes = _unclaimed(s, job_ptr, row->claims, s->in.jobs_len &&
			    (s->rows[0].job_id != row->job_id), end);
	if (!_has_room(round, request, *nodes))
		return false;
	round->asked++;
	return _could_start_on(round->hooks, job_ptr, end, row->claims, *nodes);
}

/* RET whether it has its nodes, which are idle no more */
static bool _select(auc_select_hooks_t *hooks, job_record_t *job_ptr,
		    const bitstr_t *nodes, const char *what,
		    auc_starts_t *starts, bitstr_t **idle)
{
	auc_pin_t pin = { 0 };
	int rc;

	if (!(job_ptr = auc_split(job_ptr)))
		return false;
	pin.nodes = _open_nodes(job_ptr, nodes);
	if ((rc = _select_with(&pin, hooks, job_ptr))) {
		info("aucsched: %pJ %s and could start, but does not: %s",
		     job_ptr, what, slurm_strerror(rc));
		return false;
	}
	info("aucsched: Slurm's selection gave %pJ, which %s, %s",
	     job_ptr, what, job_ptr->nodes);
	auc_cores_mark(job_ptr->job_resrcs, idle, false);
	auc_will_launch(starts, job_ptr);
	schedule_job_save();
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

static bool _is_over(const overdue_round_t *round)
{
	return (round->asked >= MOST_OVERDUE_QUESTIONS) ||
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
static bool _look_once(overdue_round_t *round, const row_t *row, auc_memo_t *memo)
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
		started = _select(round->hooks, job_ptr, nodes, "was overdue",
				  round->starts, round->idle);
		round->started += started;
	}
	FREE_NULL_BITMAP(nodes);
	return started;
}

/*
 * Those who could start are asked about now and then, and when they are due; and the others in turn.
 * An array is asked about again for each of its tasks.
 */
static void _look_at_all(overdue_round_t *round)
{
	size_t first = 0;

	for (size_t i = 0; i < watch.rows_len; i++)
		if (watch.rows[i].job_id == watch.last)
			first = i + 1;
	for (size_t i = 0; (i < 2 * watch.rows_len) && !_is_over(round); i++) {
		bool known = i < watch.rows_len;
		const row_t *row = &watch.rows[known ? i :
					       (first + i) % watch.rows_len];

		if (!known)
			watch.last = row->job_id;
		if (known == !row->memo->could_us)
			continue;
		watch.could |= known;
		if (!known || _is_due(row, row->memo) || (watch.now_us -
		    row->memo->asked_us >= watch.net_s * 125000LL))
			while (!_is_over(round) &&
			       _look_once(round, row, row->memo))
				;
	}
}

/* On a full machine nobody could start, however many wait. */
static bool _is_any_idle(const overdue_round_t *round)
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
	overdue_round_t *round;
	auc_overdue_t result = { 0 };

	watch.could = false;
	if (!watch.rows_len || !hooks || !auc_is_current(s))
		return result;
	round = xmalloc(sizeof(*round));
	round->hooks = hooks;
	round->starts = starts;
	round->snapshot = s;
	round->out = out;
	round->until_us = auc_now_us() + MOST_US;
	round->idle = auc_idle_cores(avail_node_bitmap);
	if (_is_any_idle(round))
		_look_at_all(round);
	result.started = round->started;
	result.waits = watch.could || _is_over(round);
	auc_cores_free(round->idle);
	xfree(round);
	return result;
}

/* ---- turns ---- */

/* Whether Slurm does no more to start it than to select nodes, and preempts nobody. */
static bool _is_selected(auc_snapshot_t *s, job_record_t *job_ptr,
			 const char *why)
{
	static const char *const words[] = { "exclusive", "features", "gres",
		"layout", "nodelist", "oversubscribe", "threads" };
	uint64_t keys = 0;

	for (int i = 0; i < ARRAY_SIZE(words); i++)
		if (!xstrcmp(why, words[i]))
			return !job_ptr->details->prefer && !job_ptr->reboot &&
				!job_ptr->details->expanding_jobid &&
				!auc_rights_of(s, job_ptr, &keys);
	return false;
}

extern void auc_turns_add(auc_snapshot_t *s, const job_queue_rec_t *record,
			  const char *why)
{
	if ((watch.turns_len < MOST_TURNS) &&
	    _is_selected(s, record->job_ptr, why))
		watch.turns[watch.turns_len++] = (turn_t) {
			record->job_ptr->job_id, s->in.jobs_len,
			record->part_ptr, s->claims.len };
}

extern bool auc_turns_wait(void)
{
	return (watch.next < watch.turns_len) &&
		(watch.turns_us < MOST_TURNS_US);
}

/* RET whether it has started: an array has a turn for each of its tasks */
static bool _take_turn(const auc_snapshot_t *s, const turn_t *turn,
		       auc_select_hooks_t *hooks, auc_starts_t *starts,
		       bitstr_t **idle)
{
	job_record_t *job_ptr = find_job_record(turn->job_id);
	uint32_t minutes;
	int64_t end;
	bitstr_t *nodes;
	bool started;

	if (!job_ptr || !auc_has_partition(job_ptr, turn->part_ptr))
		return false;
	job_ptr->part_ptr = turn->part_ptr;
	minutes = auc_minutes(job_ptr, turn->part_ptr);
	end = (minutes == INFINITE) ? INT64_MAX :
		(int64_t) time(NULL) + (int64_t) minutes * 60;
	if (!auc_passes(job_ptr) || _is_refused(job_ptr, end, turn->claims))
		return false;
	nodes = _unclaimed(s, job_ptr, turn->claims, turn->row > 0, end);
	started = _could_start_on(hooks, job_ptr, end, turn->claims, nodes) &&
		_select(hooks, job_ptr, nodes, "had its turn", starts, idle);
	FREE_NULL_BITMAP(nodes);
	if (started)
		auc_left_started(job_ptr);
	return started;
}

extern void auc_turns_take(const auc_snapshot_t *s, uint32_t row,
			   auc_select_hooks_t *hooks, auc_starts_t *starts,
			   bitstr_t **idle)
{
	while (auc_turns_wait() && (watch.turns[watch.next].row <= row)) {
		int64_t begin = auc_now_us();

		if (!_take_turn(s, &watch.turns[watch.next], hooks, starts,
				idle))
			watch.next++;
		watch.turns_us += auc_now_us() - begin;
	}
}

extern void auc_overdue_free(void)
{
	xfree(watch.rows);
	memset(&watch, 0, sizeof(watch));
}
