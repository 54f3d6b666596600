/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "reason.h"
#include "start.h"

/* ---- Places of decisions as exact cores and GPUs: job and node read locks ---- */

/*
 * Takes count cores of those idle: all on one socket if one has enough (the fullest that
 * does), else from the first on.
 */
static bitstr_t *_pick_cores(const node_record_t *node_ptr, bitstr_t *idle,
			     int count)
{
	int cores = bit_size(idle), per_socket = node_ptr->cores, from = 0;
	int best = cores + 1;
	bitstr_t *picked = bit_alloc(cores);

	for (int first = 0; per_socket && (first + per_socket <= cores);
	     first += per_socket) {
		int free = bit_set_count_range(idle, first, first + per_socket);

		if ((free >= count) && (free < best)) {
			best = free;
			from = first;
		}
	}
	for (int i = 0; i < cores && count; i++) {
		int core = (from + i) % cores;

		if (bit_test(idle, core)) {
			bit_set(picked, core);
			count--;
		}
	}
	return picked;
}

/* Bitmaps of a pin are its own, also of one that could not be made. */
static void _pin_free(auc_pin_t *pin)
{
	FREE_NULL_BITMAP(pin->nodes);
	auc_cores_free(pin->cores);
	auc_cores_free(pin->gpus);
	memset(pin, 0, sizeof(*pin));
}

static bool _pin_node(auc_pin_t *pin, int n,
		      const struct aucsched_segment *segment, bitstr_t **idle,
		      bool binds_gpus)
{
	node_record_t *node_ptr = node_record_table_ptr[n];
	gres_node_state_t *gpus;

	if (!node_ptr || !idle[n] || !auc_takes_jobs(n) ||
	    (bit_set_count(idle[n]) < segment->cores))
		return false;
	bit_set(pin->nodes, n);
	pin->cores[n] = _pick_cores(node_ptr, idle[n], segment->cores);
	if (!segment->gpus)
		return true;
	gpus = auc_node_gpus(node_ptr);
	if (!gpus || (gpus->gres_cnt_alloc + segment->gpus +
		      auc_shared_gpus(node_ptr) > gpus->gres_cnt_avail))
		return false;
	/* Which of them are of the job's type, or go with its cores, Slurm knows. */
	if (binds_gpus || (auc_gpu_type(gpus) == AUC_GPU_TYPES))
		return true;
	pin->gpus[n] = auc_free_gpus(node_ptr, gpus, pin->cores[n], segment->gpus);
	return true;
}

static void _begin(auc_pin_t *pin)
{
	pin->nodes = bit_alloc(node_record_count);
	pin->cores = xcalloc(node_record_count, sizeof(bitstr_t *));
	pin->gpus = xcalloc(node_record_count, sizeof(bitstr_t *));
}

/*
 * IN idle - cores, by node
 * IN binds_gpus - Slurm's selection says which GPUs
 * RET false if not all of it is free
 */
static bool _pin_make(auc_pin_t *pin, const struct aucsched_output *out,
		      const struct aucsched_decision *decision,
		      bitstr_t **idle, bool binds_gpus)
{
	_begin(pin);
	AUC_EACH_PLACE(n, segment, out, decision)
		if (!_pin_node(pin, n, segment, idle, binds_gpus))
			return false;
	return true;
}

/* Idle cores first, then those of jobs that are to end. Which GPUs Slurm's selection says. */
static bool _pin_later(auc_pin_t *pin, int n, int cores, bitstr_t **idle,
		       bitstr_t **later)
{
	bitstr_t *rest;
	int now;

	if (!node_record_table_ptr[n] || !idle[n] || !later[n])
		return false;
	now = MIN(bit_set_count(idle[n]), cores);
	if (bit_set_count(later[n]) < cores - now)
		return false;
	rest = _pick_cores(node_record_table_ptr[n], later[n], cores - now);
	bit_set(pin->nodes, n);
	pin->cores[n] = _pick_cores(node_record_table_ptr[n], idle[n], now);
	bit_or(pin->cores[n], rest);
	FREE_NULL_BITMAP(rest);
	return true;
}

static bool _pin_make_room(auc_pin_t *pin, const struct aucsched_output *out,
			   const struct aucsched_decision *decision,
			   bitstr_t **idle, bitstr_t **later)
{
	_begin(pin);
	AUC_EACH_PLACE(n, segment, out, decision)
		if (!_pin_later(pin, n, segment->cores, idle, later))
			return false;
	return true;
}

/* Any of the nodes' idle cores, and GPUs, instead. RET whether that is more */
static bool _pin_widen(auc_pin_t *pin, bitstr_t **idle)
{
	bool more = false;

	for (int n = 0; n < node_record_count; n++) {
		if (!pin->cores[n])
			continue;
		more |= !bit_equal(pin->cores[n], idle[n]) || pin->gpus[n];
		FREE_NULL_BITMAP(pin->cores[n]);
		pin->cores[n] = bit_copy(idle[n]);
		FREE_NULL_BITMAP(pin->gpus[n]);
	}
	return more;
}

/*
 * Decisions into jobs that have their nodes.
 *
 * A decision was taken on a snapshot, without locks. Before a job is started all that
 * the decision rests on is looked at again; then stock select_nodes() does the work and
 * validates once more. A job that can't be started as decided stays pending, and after a few
 * such misses Slurm gets it.
 */

/* Whether a node has become another user's since the snapshot. */
static bool _is_owned(job_record_t *job_ptr, const auc_pin_t *pin)
{
	bitstr_t *open = bit_copy(pin->nodes);
	bool owned;

	filter_by_node_owner(job_ptr, open);
	owned = !bit_equal(open, pin->nodes);
	FREE_NULL_BITMAP(open);
	return owned;
}

/* Whether others have been given cores of the nodes since the snapshot. */
static bool _is_contended(const auc_snapshot_t *s, const auc_pin_t *pin,
			  bitstr_t **idle)
{
	/* A place that is kept is nobody else's. */
	for (int n = 0; s->nodes && (n < node_record_count); n++)
		if (pin->cores[n] &&
		    (bit_set_count(idle[n]) < s->nodes[n].free_cores))
			return true;
	return false;
}

/* ---- is it still the same job? ---- */

static bool _same_request(const struct aucsched_job *a,
			  const struct aucsched_job *b)
{
	return (a->cores == b->cores) && (a->min_nodes == b->min_nodes) &&
		(a->max_nodes == b->max_nodes) &&
		(a->cores_per_node == b->cores_per_node) &&
		(a->share == b->share) &&
		(a->time_limit <= b->time_limit) &&
		(a->min_gpus == b->min_gpus) && (a->max_gpus >= b->max_gpus) &&
		(a->flags == b->flags) && (a->within == b->within) &&
		(a->segment == b->segment) &&
		(!a->switches || (a->switches == b->switches));
}

static const auc_way_t *_way(const auc_row_t *row,
			     const struct aucsched_decision *decision)
{
	return &row->ways[(decision->alternative < row->ways_len) ?
			  decision->alternative : 0];
}

/* Whether a layout of the request is what was decided on. */
static bool _same_layout(const auc_row_t *row, const auc_way_t *way,
			 const auc_request_t *request)
{
	struct aucsched_job now;

	if (way->number)	/* _take_alternative() looks at it */
		return _same_request(&request->job, &row->ways[0].job);
	if (way->layout >= request->shape.len)
		return false;
	auc_use_layout(request, way->layout, &now);
	return _same_request(&now, &way->job);
}

/* The job of a row, if it may start as the snapshot saw it. Its partition is the way's then. */
static job_record_t *_find(const auc_snapshot_t *s, uint32_t row,
			   const struct aucsched_decision *decision)
{
	const auc_way_t *way = _way(&s->rows[row], decision);
	job_record_t *job_ptr = find_job_record(s->rows[row].job_id);
	auc_request_t request;
	bool is_array;

	if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->details ||
	    !job_ptr->part_ptr)
		return NULL;
	auc_update_judge(job_ptr);
	is_array = job_ptr->array_recs && job_ptr->array_recs->task_id_bitmap &&
		(job_ptr->array_task_id == NO_VAL);
	/* The record of an array becomes an ordinary one with its last task. */
	if (is_array && !s->rows[row].array)
		return NULL;
	if (!auc_has_partition(job_ptr, way->part_ptr))
		return NULL;
	/* As Slurm's main loop does for each that it tries. */
	job_ptr->part_ptr = (part_record_t *) way->part_ptr;
	if (auc_model(job_ptr, job_ptr->part_ptr, &request) ||
	    !_same_layout(&s->rows[row], way, &request))
		return NULL;
	return auc_passes(job_ptr) ? job_ptr : NULL;
}

/* ---- the start ---- */

/* select_nodes() with the choice narrowed to the pin; all else as it was afterwards. */
static int _select_pinned(job_record_t *job_ptr, auc_pin_t *pin,
			  auc_select_hooks_t *hooks)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	bitstr_t *required = details->req_node_bitmap;
	bitstr_t *excluded = details->exc_node_bitmap;
	uint32_t min_nodes = details->min_nodes, max_nodes = details->max_nodes;
	int rc;

	details->req_node_bitmap = bit_copy(pin->nodes);
	details->exc_node_bitmap = bit_copy(pin->nodes);
	bit_not(details->exc_node_bitmap);
	if (excluded)	/* perhaps only since the snapshot */
		bit_or(details->exc_node_bitmap, excluded);
	details->min_nodes = details->max_nodes = bit_set_count(pin->nodes);
	pin->unnamed = auc_segment(job_ptr);
	auc_use_features(job_ptr);
	auc_note_switch_wait(job_ptr);
	pin->job_ptr = job_ptr;
	hooks->pin = pin;
	rc = auc_select_nodes(job_ptr);
	hooks->pin = NULL;
	details = job_ptr->details;
	FREE_NULL_BITMAP(details->req_node_bitmap);
	FREE_NULL_BITMAP(details->exc_node_bitmap);
	details->req_node_bitmap = required;
	details->exc_node_bitmap = excluded;
	details->min_nodes = min_nodes;
	details->max_nodes = max_nodes;
	return rc;
}

/*
 * Whether Slurm gave what the bid says; it may always give other, valid resources.
 * IN loose - less of a node will do
 */
static bool _as_decided(const job_record_t *job_ptr, const auc_pin_t *pin,
			bool loose)
{
	const job_resources_t *held = job_ptr->job_resrcs;
	int first = 0;

	if (!held || !bit_equal(held->node_bitmap, pin->nodes))
		return false;
	AUC_EACH_BIT(n, held->node_bitmap) {
		int cores = node_record_table_ptr[n]->tot_cores;

		for (int c = 0; c < cores; c++)
			if ((!bit_test(held->core_bitmap, first + c) !=
			     !bit_test(pin->cores[n], c)) &&
			    !(loose && bit_test(pin->cores[n], c)))
				return false;
		first += cores;
	}
	return true;
}

/* A failed attempt leaves no trace in what the user is told, except for limits. */
static int _try(job_record_t *job_ptr, auc_pin_t *pin,
		auc_select_hooks_t *hooks, int gpus)
{
	uint32_t reason = job_ptr->state_reason;
	uint32_t minutes = job_ptr->time_limit;
	char *desc = xstrdup(job_ptr->state_desc);
	auc_gpus_t range;
	bool raised = auc_range_read_note(job_ptr->admin_comment, &range) &&
		(gpus != range.low);
	int rc = raised ? auc_set_gpus(job_ptr, gpus) : SLURM_SUCCESS;

	if (auc_has_deadline(job_ptr))
		job_ptr->time_limit = auc_minutes(job_ptr, job_ptr->part_ptr);
	if (!rc)
		rc = _select_pinned(job_ptr, pin, hooks);
	if (rc)
		job_ptr->time_limit = minutes;
	if (rc && raised)
		(void) auc_set_gpus(job_ptr, range.low);
	if (rc && (rc != ESLURM_ACCOUNTING_POLICY)) {
		job_ptr->state_reason = reason;
		xfree(job_ptr->state_desc);
		job_ptr->state_desc = desc;
		desc = NULL;
	}
	xfree(desc);
	return rc;
}

/*
 * Makes a job ask for the alternative that has won, if one has, and looks again whether it
 * may start with it.
 * OUT kept - set if decision has one
 * RET SLURM_SUCCESS; or an error, and then the job is as it was
 */
static int _take_alternative(const auc_way_t *way,
			     const struct aucsched_decision *decision,
			     job_record_t *job_ptr, auc_kept_t *kept)
{
	auc_alternative_t noted[AUC_ALTERNATIVES];
	struct aucsched_alternative won, now;
	auc_request_t request;
	int number = way->number, rc;

	if (!number)
		return SLURM_SUCCESS;
	if (number > auc_alternatives_of(job_ptr, noted))
		return SLURM_ERROR;
	if ((rc = auc_swap_for_start(job_ptr, &noted[number - 1], number,
				       decision->gpus, kept)))
		return rc;
	if (!auc_model(job_ptr, job_ptr->part_ptr, &request)) {
		won = auc_as_alternative(&way->job);
		now = auc_as_alternative(&request.job);
		if (!memcmp(&now, &won, sizeof(now)) &&
		    (job_limits_check(&job_ptr, false) == WAIT_NO_REASON))
			return SLURM_SUCCESS;
	}
	auc_swap_back(job_ptr, kept);
	return SLURM_ERROR;
}

/* A loose job that finds its place taken in part gets it another time. */
static void _start_failed(const auc_snapshot_t *s, uint32_t row,
			  job_record_t *job_ptr, const auc_pin_t *pin,
			  bitstr_t **idle, int rc, auc_starts_t *starts)
{
	if (rc == ESLURM_ACCOUNTING_POLICY) {
		/*
		 * By the reason that the job has now. With fewer nodes it may be Slurm's to start.
		 */
		auc_missed(job_ptr, rc);
		last_job_update = time(NULL);
	} else if (!s->rows[row].loose || !_is_contended(s, pin, idle)) {
		starts->status->starts_failed++;
		auc_miss(&starts->status->misses, slurm_strerror(rc));
		auc_missed(job_ptr, rc);
	}
}

static void _say_started(const job_record_t *job_ptr, const auc_row_t *row,
			 const struct aucsched_decision *decision)
{
	int number = _way(row, decision)->number;
	char which[32] = "";

	if (number)
		snprintf(which, sizeof(which), ", alternative %d", number);
	info("aucsched: started %pJ on %s (class %c)%s", job_ptr,
	     job_ptr->nodes, decision->bid_class, which);
}

/* With the cores that were decided; or, if it is loose, with others of the same nodes. */
static int _try_both(const auc_row_t *row, job_record_t *job_ptr, auc_pin_t *pin,
		     bitstr_t **idle, auc_select_hooks_t *hooks, int gpus)
{
	int rc = _try(job_ptr, pin, hooks, gpus);

	if (rc && (rc != ESLURM_ACCOUNTING_POLICY) && row->loose &&
	    _pin_widen(pin, idle))
		rc = _try(job_ptr, pin, hooks, gpus);
	return rc;
}

/*
 * Takes the alternative that has won, if one has, and tries the pin; what did not start is as it
 * was. A question changes nothing.
 * OUT kept - auc_kept_free() after a start
 */
static int _attempt(const auc_snapshot_t *s, uint32_t row,
		    const struct aucsched_decision *decision,
		    job_record_t *job_ptr, auc_pin_t *pin, bitstr_t **idle,
		    auc_select_hooks_t *hooks, auc_kept_t *kept)
{
	const auc_row_t *r = &s->rows[row];
	auc_tested_t tested;
	const auc_way_t *way = _way(r, decision);
	int rc = _take_alternative(way, decision, job_ptr, kept);

	if (rc)
		return rc;
	if (pin->got)
		auc_test_begin(&tested, job_ptr);
	rc = _try_both(r, job_ptr, pin, idle, hooks, decision->gpus);
	if (pin->got)
		auc_test_end(&tested, job_ptr);
	if (rc && way->number)
		auc_swap_back(job_ptr, kept);
	return rc;
}

/* The job of a row, on its own, if it may still have those nodes; else NULL. */
static job_record_t *_take(const auc_snapshot_t *s, uint32_t row,
			   const struct aucsched_decision *decision,
			   const auc_pin_t *pin)
{
	job_record_t *job_ptr = _find(s, row, decision);

	if (!job_ptr || !bit_super_set(pin->nodes, job_ptr->part_ptr->node_bitmap) ||
	    _is_owned(job_ptr, pin))
		return NULL;
	return auc_split(job_ptr);
}

/* The GPU of a row's share, if it gets one, for a pin that is made; false if it has no room any more. */
static bool _pin_share(auc_pin_t *pin, const auc_snapshot_t *s,
		       const struct aucsched_output *out, uint32_t row)
{
	const struct aucsched_decision *decision = &out->decisions[row];
	const struct aucsched_segment *segment =
		out->segments + decision->first_segment;
	uint32_t share = _way(&s->rows[row], decision)->job.share;
	int n = segment->first;

	if (!share)
		return true;
	pin->share_gres = auc_share_gres();
	pin->share_node = n;
	pin->device = auc_share_device(s, n, segment->bin, share, pin->cores[n]);
	return pin->device >= 0;
}

/*
 * Gives the job of one row its nodes as decided, if they are free: as auc_start().
 * IN/OUT idle - cores of these nodes; what the job gets is taken off
 * RET whether it has them
 */
static bool _start_row(const auc_snapshot_t *s, const struct aucsched_output *out,
		       uint32_t row, bitstr_t **idle, auc_select_hooks_t *hooks,
		       auc_starts_t *starts)
{
	const struct aucsched_decision *decision = &out->decisions[row];
	const auc_row_t *r = &s->rows[row];
	job_record_t *job_ptr = NULL;
	auc_pin_t pin = { 0 };
	auc_kept_t kept = { 0 };
	int rc;

	if (!_pin_make(&pin, out, decision, idle, r->binds_gpus) ||
	    !_pin_share(&pin, s, out, row) ||
	    !(job_ptr = _take(s, row, decision, &pin))) {
		_pin_free(&pin);
		return false;
	}
	rc = _attempt(s, row, decision, job_ptr, &pin, idle, hooks, &kept);
	if (rc) {
		_start_failed(s, row, job_ptr, &pin, idle, rc, starts);
		_pin_free(&pin);
		return false;
	}
	starts->status->started++;
	auc_verdict_drop(job_ptr);
	starts->status->readers += r->reads;
	starts->status->holders += r->reads &&
		(decision->holders == bit_set_count(pin.nodes));
	_say_started(job_ptr, r, decision);
	auc_kept_free(&kept);
	if (!_as_decided(job_ptr, &pin, r->loose)) {
		starts->status->starts_failed++;
		auc_miss(&starts->status->misses, "other cores than the bid's");
		info("aucsched: %pJ got other cores than its bid's", job_ptr);
	}
	auc_will_launch(starts, job_ptr);
	auc_cores_mark(job_ptr->job_resrcs, idle, false);
	_pin_free(&pin);
	return true;
}

/*
 * Asks stock Slurm whether the job of a row could have its pin if those of pin->victims had ended,
 * after all checks of a start. It is as it was afterwards, except for a task of an array, which is a
 * job of its own then.
 * IN pin - a question, with pin->got
 * IN room - any of these cores will do for a job that is loose
 * RET the job; or NULL
 */
static job_record_t *_start_ask(const auc_snapshot_t *s,
				const struct aucsched_output *out,
				uint32_t row, auc_pin_t *pin, bitstr_t **room,
				auc_select_hooks_t *hooks, auc_starts_t *starts)
{
	const struct aucsched_decision *decision = &out->decisions[row];
	job_record_t *job_ptr = _take(s, row, decision, pin);
	auc_kept_t kept = { 0 };
	int rc;

	if (!job_ptr)
		return NULL;
	rc = _attempt(s, row, decision, job_ptr, pin, room, hooks, &kept);
	if (pin->asked && (rc != ESLURM_ACCOUNTING_POLICY))
		return job_ptr;
	_start_failed(s, row, job_ptr, pin, room, rc, starts);
	return NULL;
}

/*
 * When it is a row's turn. Who names a type of GPU, or of another gres, comes first: Slurm gives
 * others what is left, of whatever type, and might else give them what was decided for these.
 */
static uint64_t _turn(const auc_snapshot_t *s,
		      const struct aucsched_output *out, uint32_t row)
{
	bool first = _way(&s->rows[row], &out->decisions[row])->names_type;

	return first ? row : (uint64_t) s->in.jobs_len + row;
}

/* All nodes of the decisions whose turn is still to come. */
static bitstr_t *_decided_nodes(const auc_snapshot_t *s,
				const struct aucsched_output *out,
				uint64_t next)
{
	bitstr_t *nodes = bit_alloc(node_record_count);

	for (uint32_t row = 0; row < s->in.jobs_len; row++)
		if (_turn(s, out, row) >= next)
			AUC_EACH_PLACE(n, segment, out, &out->decisions[row])
				bit_set(nodes, n);
	return nodes;
}

extern bool auc_all_tried(const auc_snapshot_t *s, const auc_starts_t *starts)
{
	return starts->next >= 2 * (uint64_t) s->in.jobs_len;
}

extern void auc_start(const auc_snapshot_t *s,
		      const struct aucsched_output *out,
		      auc_select_hooks_t *hooks, int64_t budget_us,
		      auc_starts_t *starts)
{
	int64_t end = auc_now_us() + budget_us;
	uint64_t before = starts->status->started;
	bitstr_t *nodes, **idle;

	if (!auc_is_current(s)) {
		starts->next = 2 * (uint64_t) s->in.jobs_len;
		return;
	}
	nodes = _decided_nodes(s, out, starts->next);
	idle = auc_idle_cores(nodes);
	while (!auc_all_tried(s, starts)) {
		uint64_t turn = starts->next++;
		uint32_t row = turn % s->in.jobs_len;

		/* Those for whom others have to end come last: auc_preempt(). */
		if ((turn != _turn(s, out, row)) ||
		    (out->decisions[row].why != AUCSCHED_STARTS) ||
		    out->decisions[row].victims)
			continue;
		if (turn >= s->in.jobs_len)
			auc_turns_take(s, row, hooks, starts, idle);
		(void) _start_row(s, out, row, idle, hooks, starts);
		if (auc_now_us() > end)
			break;
	}
	if (auc_all_tried(s, starts))
		auc_turns_take(s, s->in.jobs_len, hooks, starts, idle);
	auc_cores_free(idle);
	FREE_NULL_BITMAP(nodes);
	if (starts->status->started > before)
		schedule_job_save();
}

/*
 * Jobs that Slurm is to preempt, each once. As all here: the agent's thread, under the locks (conf read, job
 * and node write).
 *
 * By slurm_job_preempt(), as Slurm's _preempt_jobs() does it: modes, grace times and signals are
 * Slurm's. Called again when the grace is over it kills; otherwise job_time_limit() would, up to half
 * a minute later.
 */

/* Beyond Slurm's own times for an end. */
#define SPARE_SECONDS 60

/* Has one be preempted that may have a grace time, or had one. RET whether it ran */
static bool _end(uint32_t victim, job_record_t *preemptor)
{
	job_record_t *job_ptr = find_job_record(victim);

	if (!job_ptr || !auc_holds_nodes(job_ptr))
		return false;
	(void) slurm_job_preempt(job_ptr, preemptor,
				 slurm_job_preempt_mode(job_ptr), true);
	return true;
}

/* Until when nodes of a job should be clean that is killed at end. */
static time_t _ends_until(time_t end)
{
	return end + slurm_conf.kill_wait + slurm_conf.msg_timeout +
		SPARE_SECONDS;
}

/* ---- Starts that waited until others had ended ---- */

/* Ends those whose grace is over. RET whether some hold their nodes still */
static bool _still_run(auc_hold_t *hold, job_record_t *job_ptr)
{
	bool any = false;

	for (uint32_t i = 0; i < hold->victims_len; i++) {
		job_record_t *victim = find_job_record(hold->victims[i]);

		/* One that runs again has not been preempted again. */
		if (!victim || !victim->preempt_time || !auc_holds_nodes(victim))
			continue;
		/* That of its grace. */
		hold->until = MAX(hold->until, _ends_until(victim->end_time));
		if (time(NULL) >= victim->end_time)
			(void) _end(hold->victims[i], job_ptr);
		any |= auc_holds_nodes(victim);
	}
	return any;
}

/* RET what the place is kept for; AUC_NOBODY: it is not */
static auc_waits_t _tend(auc_hold_t *hold, auc_select_hooks_t *hooks,
			 auc_starts_t *starts)
{
	job_record_t *job_ptr = find_job_record(hold->job_id);
	bitstr_t **idle;
	bool started, run;

	if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority ||
	    !auc_is_current(&hold->s))
		return AUC_NOBODY;
	run = _still_run(hold, job_ptr);
	if ((run || bit_overlap_any(hold->nodes, cg_node_bitmap)) &&
	    (time(NULL) < hold->until))
		return run ? AUC_FOR_GRACE : AUC_FOR_NODES;
	idle = auc_idle_cores(hold->nodes);
	started = _start_row(&hold->s, &hold->out, 0, idle, hooks, starts);
	auc_cores_free(idle);
	if (!started) {
		auc_missed(job_ptr, ESLURM_NODES_BUSY);
		info("aucsched: the place of %pJ is given up, it bids again",
		     job_ptr);
	}
	return AUC_NOBODY;
}

extern auc_waits_t auc_holds_tend(auc_select_hooks_t *hooks,
				  auc_starts_t *starts)
{
	auc_waits_t waits = AUC_NOBODY;
	uint32_t len, i = 0;
	auc_hold_t *holds = auc_holds(&len);

	while (i < len) {
		auc_waits_t here = _tend(&holds[i], hooks, starts);

		waits = MAX(waits, here);
		if (here != AUC_NOBODY)
			i++;
		else
			auc_hold_drop(i);
		holds = auc_holds(&len);
	}
	return waits;
}

/*
 * Jobs that have to end before others can start, as the library says. Before anybody is preempted
 * stock select_nodes() is asked, with its own candidates cut down to these: it looks at all that a
 * start looks at, by the rules of this moment, and names those that it would preempt. When all
 * starts of the cycle have been asked about, these are preempted. The places are kept until the
 * nodes are clean.
 */

/* What the starts of a cycle share. */
typedef struct {
	const auc_snapshot_t *s;
	const struct aucsched_output *out;
	auc_select_hooks_t *hooks;
	auc_starts_t *starts;
	bitstr_t **idle;	/* cores, by node, that no start has */
	bitstr_t **later;	/* the same of those who are to end */
	struct {
		uint32_t victim, preemptor; /* job ids */
	} *ends;
	uint32_t ends_len;
	size_t ends_cap;
} round_t;

/* Adds one, unless the victim is there. */
static void _ends_add(round_t *round, uint32_t victim, uint32_t preemptor)
{
	for (uint32_t i = 0; i < round->ends_len; i++)
		if (round->ends[i].victim == victim)
			return;
	AUC_APPEND(round->ends, (__typeof__(*round->ends)) { victim, preemptor });
}

/* Has all be preempted. RET how many of them ran */
static uint32_t _ends_all(const round_t *round)
{
	uint32_t ended = 0;

	/* Which Slurm's _preempt_jobs() reads when it is called first. */
	preempt_send_user_signal =
		xstrcasestr(slurm_conf.slurmctld_params,
			    "preempt_send_user_signal") != NULL;
	for (uint32_t i = 0; i < round->ends_len; i++) {
		job_record_t *preemptor = find_job_record(round->ends[i].preemptor);

		if (preemptor && _end(round->ends[i].victim, preemptor))
			ended++;
	}
	return ended;
}

/* Of one question: whom Slurm would preempt. */
typedef struct {
	const auc_pin_t *pin;
	uint32_t *ids;
	uint32_t ids_len;
	size_t ids_cap;
} named_t;

static void _note_named(job_record_t *job_ptr, void *arg)
{
	named_t *named = arg;
	job_record_t *victim;

	named->ids_len = 0;
	AUC_EACH(victim, named->pin->preempted)
		AUC_APPEND(named->ids, victim->job_id);
}

static uint32_t _victim(const round_t *round, uint32_t i)
{
	return round->s->runners[round->out->victims[i]].job_id;
}

/* Adds what some of the decisions' victims hold. */
static void _add_cores(const round_t *round, uint32_t first, uint32_t len,
		       bitstr_t **cores)
{
	for (uint32_t i = first; i < first + len; i++) {
		job_record_t *job_ptr = find_job_record(_victim(round, i));

		if (job_ptr && auc_holds_nodes(job_ptr))
			auc_cores_mark(job_ptr->job_resrcs, cores, true);
	}
}

/* ---- places ---- */

static void _keep(round_t *round, uint32_t row, job_record_t *job_ptr,
		  const auc_pin_t *pin, const named_t *named)
{
	for (uint32_t i = 0; i < named->ids_len; i++)
		_ends_add(round, named->ids[i], job_ptr->job_id);
	auc_hold_add(round->s, round->out, row, job_ptr, named->ids, named->ids_len,
		     _ends_until(time(NULL)));
	job_ptr->state_reason = WAIT_RESOURCES;
	xfree(job_ptr->state_desc);
	last_job_update = time(NULL);
	for (int n = 0; n < node_record_count; n++) {
		if (!pin->cores[n])
			continue;
		bit_and_not(round->idle[n], pin->cores[n]);
		bit_and_not(round->later[n], pin->cores[n]);
	}
	info("aucsched: %pJ waits until %u jobs have ended that it preempts",
	     job_ptr, named->ids_len);
}

/* The cores of those who are to end for this start, as far as no other has them. RET auc_cores_free() */
static bitstr_t **_later_for(const round_t *round,
			     const struct aucsched_decision *decision)
{
	bitstr_t **later = xcalloc(node_record_count, sizeof(*later));

	AUC_EACH_PLACE(n, segment, round->out, decision)
		if (round->later[n])
			later[n] = bit_alloc(bit_size(round->later[n]));
	_add_cores(round, decision->first_victim, decision->victims, later);
	for (int n = 0; n < node_record_count; n++)
		if (later[n])
			bit_and(later[n], round->later[n]);
	return later;
}

static void _ask(round_t *round, uint32_t row)
{
	const struct aucsched_decision *decision = &round->out->decisions[row];
	uint32_t *victims = xcalloc(decision->victims, sizeof(*victims));
	bitstr_t **later = _later_for(round, decision);
	auc_pin_t pin = { .may_preempt = true, .victims = victims,
			  .victims_len = decision->victims,
			  .got = _note_named };
	named_t named = { .pin = &pin };
	job_record_t *job_ptr = NULL;

	for (uint32_t i = 0; i < decision->victims; i++)
		victims[i] = _victim(round, decision->first_victim + i);
	pin.arg = &named;
	if (_pin_make_room(&pin, round->out, decision, round->idle, later)) {
		/* Idle cores, and those that will be. */
		for (int n = 0; n < node_record_count; n++)
			if (pin.cores[n])
				bit_or(later[n], round->idle[n]);
		job_ptr = _start_ask(round->s, round->out, row, &pin, later,
				     round->hooks, round->starts);
	}
	if (job_ptr && named.ids_len)
		_keep(round, row, job_ptr, &pin, &named);
	else if (job_ptr)	/* nobody has to end by what Slurm says */
		auc_missed(job_ptr, ESLURM_NODES_BUSY);
	xfree(named.ids);
	xfree(victims);
	auc_cores_free(later);
	_pin_free(&pin);
}

/* Whether all of the place is free by now. */
static bool _is_free(const round_t *round,
		     const struct aucsched_decision *decision)
{
	AUC_EACH_PLACE(n, segment, round->out, decision)
		if (!auc_takes_jobs(n) || !round->idle[n] ||
		    (bit_set_count(round->idle[n]) < segment->cores))
			return false;
	return true;
}

static bool _waits(const round_t *round, uint32_t row)
{
	return (round->out->decisions[row].why == AUCSCHED_STARTS) &&
		round->out->decisions[row].victims;
}

/* The cores of the nodes of all starts: idle, and of those that are to end. */
static void _look_at_cores(round_t *round)
{
	bitstr_t *nodes = _decided_nodes(round->s, round->out, 0);

	round->idle = auc_idle_cores(nodes);
	round->later = xcalloc(node_record_count, sizeof(bitstr_t *));
	for (int n = 0; n < node_record_count; n++)
		if (round->idle[n])
			round->later[n] = bit_alloc(bit_size(round->idle[n]));
	_add_cores(round, 0, round->out->victims_len, round->later);
	FREE_NULL_BITMAP(nodes);
}

extern uint32_t auc_preempt(const auc_snapshot_t *s,
			    const struct aucsched_output *out,
			    auc_select_hooks_t *hooks, int64_t budget_us,
			    auc_starts_t *starts)
{
	round_t round = { .s = s, .out = out, .hooks = hooks, .starts = starts };
	int64_t end_us = auc_now_us() + budget_us;
	uint32_t ended;

	if (!auc_is_current(s))
		return 0;
	_look_at_cores(&round);
	for (uint32_t row = 0; (row < s->in.jobs_len) &&
	     (auc_now_us() < end_us); row++) {
		if (!_waits(&round, row))
			continue;
		if (_is_free(&round, &out->decisions[row]))
			(void) _start_row(s, out, row, round.idle, hooks,
					  starts);
		else
			_ask(&round, row);
	}
	ended = _ends_all(&round);
	auc_cores_free(round.idle);
	auc_cores_free(round.later);
	xfree(round.ends);
	return ended;
}
