/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "reason.h"
#include "start.h"

/*
 * Masks: which nodes a pending job may use, by its partition, features, memory, GPUs, the
 * reservations and the claims before it.
 *
 * Under the locks. Bitmaps are the caller's until _add_mask() takes them over.
 */

/* A queue's jobs are mostly alike: so many different masks are compared with. */
#define AUC_RECENT_MASKS 16

/* The bitmap of mask m is at m % AUC_RECENT_MASKS, and owned. */
typedef bitstr_t *auc_masks_t[AUC_RECENT_MASKS];

/* IN only - the number of one of several that all nodes are to have the same one of */
static void _and_features(const job_record_t *job_ptr, int only, bitstr_t *nodes)
{
	int len, i = 0;
	uint8_t op = auc_features(job_ptr, &len);
	bool any = op == FEATURE_OP_OR;
	bitstr_t *fit;
	job_feature_t *feature;
	node_feature_t *active;

	if (!len)
		return;
	fit = any ? bit_alloc(node_record_count) : bit_copy(nodes);
	AUC_EACH(feature, job_ptr->details->feature_list) {
		if ((op == FEATURE_OP_MOR) && (i++ != only))
			continue;
		active = list_find_first(active_feature_list, list_find_feature, feature->name);
		if (any && active)
			bit_or(fit, active->node_bitmap);
		else if (active)
			bit_and(fit, active->node_bitmap);
		else if (!any)
			bit_clear_all(fit);
	}
	bit_and(nodes, fit);
	FREE_NULL_BITMAP(fit);
}

/* Whether a node has so much memory, where it is given to nobody for himself. */
static bool _has_memory(const auc_snapshot_t *s, const auc_request_t *request,
			int n)
{
	uint64_t all = auc_all_memory(n), memory = request->memory & ~MEM_PER_CPU;
	uint64_t cpus = request->threads * (uint64_t) (
		request->job.cores_per_node ? request->job.cores_per_node :
		MIN(s->nodes[n].free_cores, request->job.cores));

	if (all < request->gpu_memory * request->job.max_gpus)
		return false;
	return !memory ||
		(all / memory >= ((request->memory & MEM_PER_CPU) ? cpus : 1));
}

/* Whether a node has the job's type of GPU. Of those with several types the library counts each. */
static bool _has_type(const auc_snapshot_t *s, auc_request_t *request, int n)
{
	bool counted = true;

	if (s->gpu_type[n] == AUC_GPU_TYPES) {
		counted = auc_counts_gres(s, gres_build_id("gpu"),
					  request->gpu_type);
		/* Those who ask for no type may be given them in the same cycle. */
		request->loose = true;
		request->approximate |= !counted;
		return counted;
	}
	return s->gpu_type[n] == request->gpu_type;
}

static void _and_resources(const auc_snapshot_t *s, auc_request_t *request,
			   const part_record_t *part_ptr, bitstr_t *nodes)
{
	bool memory = (request->memory || request->gpu_memory) &&
		!auc_consumes_memory(part_ptr);

	if (!request->gpu_type && !memory)
		return;
	AUC_EACH_BIT(n, nodes) {
		if (request->gpu_type && !_has_type(s, request, n))
			bit_clear(nodes, n);
		else if (memory && !_has_memory(s, request, n)) {
			bit_clear(nodes, n);
			request->approximate = true; /* what is planned may differ */
		}
	}
}

static bool _counts_all(const auc_snapshot_t *s, const auc_request_t *request)
{
	for (int i = 0; i < request->more_len; i++)
		if (!auc_counts_gres(s, request->more[i].gres,
				     request->more[i].type))
			return false;
	return true;
}

/* The partition's nodes that reservations leave to the job. RET as _eligible_nodes() */
static bool _unreserved(const auc_snapshot_t *s, const job_queue_rec_t *record,
			bitstr_t **nodes, const char **why)
{
	time_t when = s->in.now;
	bool some_cores = false;
	int rc;

	*nodes = NULL;
	/* Which looks at a job's own reservation too. */
	if (!resv_list || !list_count(resv_list)) {
		*nodes = bit_copy(record->part_ptr->node_bitmap);
		return true;
	}
	rc = auc_test_resv(record->job_ptr, &when, nodes, &some_cores);
	if (some_cores)
		*why = "reservation";
	if (rc || *why) {
		FREE_NULL_BITMAP(*nodes);
		return false;
	}
	bit_and(*nodes, record->part_ptr->node_bitmap);
	return true;
}

/*
 * Takes off the nodes of claims.
 * RET false if it is only for them that there are too few: the job waits for its turn, which
 * the library would take for never
 */
static bool _unclaimed(const auc_snapshot_t *s, const auc_request_t *request,
		       bitstr_t *nodes)
{
	int64_t end = (request->job.time_limit == AUCSCHED_NO_LIMIT) ?
		INT64_MAX : s->in.now + request->job.time_limit;
	int least = (request->shape.len > 1) ? 1 : MAX(request->job.min_nodes, 1);
	bool enough = bit_set_count(nodes) >= least;

	auc_claims_exclude(&s->claims, s->claims.len, end, nodes);
	return !enough || (bit_set_count(nodes) >= least);
}

/* --tmp */
static void _and_tmp_disk(uint32_t disk, bitstr_t *nodes)
{
	if (!disk)
		return;
	AUC_EACH_BIT(n, nodes)
		if (node_record_table_ptr[n]->config_ptr->tmp_disk < disk)
			bit_clear(nodes, n);
}

/* The fewest idle cores that a socket of the node has. */
static int _least_socket(const node_record_t *node_ptr, bitstr_t *idle)
{
	int least = node_ptr->cores;

	for (int first = 0; first + node_ptr->cores <= node_ptr->tot_cores;
	     first += node_ptr->cores)
		least = MIN(least, bit_set_count_range(idle, first, first +
						       node_ptr->cores));
	return least;
}

/* --ntasks-per-socket */
static void _and_sockets(uint16_t cores, bitstr_t *nodes)
{
	bitstr_t **idle;

	if (!cores)
		return;
	idle = auc_idle_cores(nodes);
	AUC_EACH_BIT(n, nodes)
		if (_least_socket(node_record_table_ptr[n], idle[n]) < cores)
			bit_clear(nodes, n);
	auc_cores_free(idle);
}

/* What the job itself says of single nodes. */
static void _and_asked(const job_record_t *job_ptr, int feature, bitstr_t *nodes)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	if (details->exc_node_bitmap)
		bit_and_not(nodes, details->exc_node_bitmap);
	if (details->req_node_bitmap)
		bit_and(nodes, details->req_node_bitmap);
	_and_features(job_ptr, feature, nodes);
	_and_tmp_disk(details->pn_min_tmp_disk, nodes);
}

/* What is noted of nodes may change at any time. */
static void _and_extra(const job_record_t *job_ptr, auc_request_t *request,
		       bitstr_t *nodes)
{
	int before = bit_set_count(nodes);

	auc_and_extra(job_ptr, nodes);
	if (bit_set_count(nodes) < before)
		request->narrowed = request->approximate = true;
}

/* What others have on the nodes for now. */
static void _and_company(const job_queue_rec_t *record, auc_request_t *request,
			 bitstr_t *nodes)
{
	bool owners = auc_may_meet_owners(record->job_ptr, record->part_ptr);
	int before;

	if (!owners && !request->shape.socket_cores)
		return;
	before = bit_set_count(nodes);
	if (owners)
		filter_by_node_owner(record->job_ptr, nodes);
	_and_sockets(request->shape.socket_cores, nodes);
	if (bit_set_count(nodes) < before)
		request->narrowed = request->approximate = true;
}

/*
 * The nodes that Slurm would let the job have: its partition's, less those excluded,
 * those that lack a feature or the memory, those of reservations that it would run
 * into, and those of claims.
 * IN/OUT request - becomes approximate, and narrowed, if what others hold keeps nodes from it
 * IN feature - which one of several all nodes are to have, if the request says so
 * OUT nodes - caller must free
 * IN/OUT why - NULL; set if the job is left to Slurm
 * RET false, without nodes, if the job can't run now, or is left to Slurm
 */
static bool _eligible_nodes(const auc_snapshot_t *s,
			    const job_queue_rec_t *record,
			    auc_request_t *request, int feature,
			    bitstr_t **nodes, const char **why)
{
	job_record_t *job_ptr = record->job_ptr;

	if (!_counts_all(s, request)) {
		*why = "gres";
		return false;
	}
	if (!_unreserved(s, record, nodes, why))
		return false;
	_and_asked(job_ptr, feature, *nodes);
	_and_extra(job_ptr, request, *nodes);
	_and_resources(s, request, record->part_ptr, *nodes);
	_and_company(record, request, *nodes);
	if (_unclaimed(s, request, *nodes))
		return true;
	FREE_NULL_BITMAP(*nodes);
	return false;
}

/* Words of a bitmap, one by one: no use is made of how Slurm keeps them. */
static void _to_words(const bitstr_t *nodes, uint64_t *words, uint32_t len)
{
	memset(words, 0, len * sizeof(*words));
	AUC_EACH_BIT(n, nodes)
		words[n / 64] |= (uint64_t) 1 << (n % 64);
}

/* The index of a mask, added if none of the last few is the same. Takes nodes over. */
static int32_t _add_mask(auc_snapshot_t *s, auc_masks_t *masks,
			 bitstr_t *nodes)
{
	uint32_t words = s->in.mask_words, len = s->in.masks_len;
	bitstr_t **slot;

	for (uint32_t m = len; m > 0 && m + AUC_RECENT_MASKS > len; m--) {
		if (bit_equal((*masks)[(m - 1) % AUC_RECENT_MASKS], nodes)) {
			FREE_NULL_BITMAP(nodes);
			return m - 1;
		}
	}
	AUC_GROW(s->masks, s->masks_cap, (size_t) (len + 1) * words);
	_to_words(nodes, s->masks + (size_t) len * words, words);
	slot = &(*masks)[len % AUC_RECENT_MASKS];
	FREE_NULL_BITMAP(*slot);
	*slot = nodes;
	return s->in.masks_len++;
}

/*
 * The ways to start a job beside the first that is modelled: other layouts of its
 * request, the other features of "[a|b]", its other partitions, and the alternative requests of its
 * script. The library gets them as alternatives.
 *
 * The job's record is changed while another partition or a line of its script is looked at, and is
 * as it was afterwards. Under the locks.
 */

/* What all looks of a job share. */
typedef struct {
	struct aucsched_alternative given[AUC_ALTERNATIVES];
	auc_request_t requests[AUC_ALTERNATIVES];
	auc_way_t ways[AUC_ALTERNATIVES]; /* what each of them is */
	auc_counted_t counted[AUC_ALTERNATIVES]; /* against limits */
	uint8_t len;
	bool loose;		/* one of them is */
	bool more;		/* there are others that the library is not shown */
} auc_ways_t;

typedef struct {
	auc_snapshot_t *s;
	const job_queue_rec_t *record;
	const auc_request_t *own;	/* its first request */
	auc_masks_t *masks;
	auc_ways_t *found;
} look_t;

/* Whether the request says of which type its GPUs, or other gres, are to be. */
static bool _names_type(const auc_request_t *request)
{
	bool names = request->gpu_type;

	for (int i = 0; i < request->more_len; i++)
		names |= request->more[i].type != 0;
	return names;
}

/* RET NULL, or why nobody is shown this one */
static const char *_add(look_t *look, const job_queue_rec_t *record,
			const auc_request_t *request, auc_way_t way)
{
	auc_ways_t *found = look->found;
	auc_request_t narrowed = *request;
	bitstr_t *nodes = NULL;
	const char *why = NULL;

	if (found->len == AUC_ALTERNATIVES) {
		found->more = true;
		return NULL;
	}
	auc_use_layout(request, way.layout, &narrowed.job);
	if (!_eligible_nodes(look->s, record, &narrowed, way.feature,
				&nodes, &why))
		return why ? why : "nodes";
	found->loose |= narrowed.loose;
	way.names_type = _names_type(request);
	/* Slurm has not been asked for each layout. */
	found->counted[found->len] = auc_count_limits(
		look->s, record->job_ptr, &narrowed, nodes, !way.layout, false,
		NULL);
	/* Of these the library has the job's own. */
	way.job = narrowed.job;
	way.job.time_limit = look->own->job.time_limit;
	way.job.switches = look->own->job.switches;
	way.job.within = look->own->job.within;
	way.job.segment = look->own->job.segment;
	found->given[found->len] = auc_as_alternative(&narrowed.job);
	found->given[found->len].mask = _add_mask(look->s, look->masks, nodes);
	found->requests[found->len] = narrowed;
	found->ways[found->len++] = way;
	return NULL;
}

/* All ways within one partition but the row's own. */
static void _add_own(look_t *look, const job_queue_rec_t *record,
		     const auc_request_t *request)
{
	bool first = record == look->record;

	for (int f = 0; f < MAX(request->features, 1); f++) {
		for (int i = 0; i < request->shape.len; i++) {
			if (!(first && !f && !i) &&
			    _add(look, record, request, (auc_way_t) {
				    .layout = i, .feature = f,
				    .part_ptr = record->part_ptr }))
				look->found->more = true;
		}
	}
}

/* RET NULL, or why the job can't start as its record is now */
static const char *_may_start(const auc_snapshot_t *s,
			      const job_queue_rec_t *record,
			      auc_request_t *request)
{
	job_record_t *job_ptr = record->job_ptr;
	const char *why = auc_model(job_ptr, record->part_ptr, request);

	if (why)
		return why;
	if (job_limits_check(&job_ptr, false) != WAIT_NO_REASON)
		return "limits";
	return auc_limits_allow(s, job_ptr, request) ? NULL : "limits";
}

static void _add_partitions(look_t *look, list_t *queue)
{
	job_record_t *job_ptr = look->record->job_ptr;
	part_record_t *part_ptr = job_ptr->part_ptr;
	job_queue_rec_t *record;

	if (!job_ptr->part_ptr_list || (list_count(job_ptr->part_ptr_list) < 2))
		return;
	AUC_EACH(record, queue) {
		auc_request_t request;

		if ((record->job_ptr != job_ptr) || record->resv_ptr)
			continue;
		job_ptr->part_ptr = record->part_ptr;
		if (_may_start(look->s, record, &request))
			look->found->more = true;
		else
			_add_own(look, record, &request);
	}
	job_ptr->part_ptr = part_ptr;
}

static void _left_out(job_record_t *job_ptr, auc_memo_t *memo, int number,
		      const char *why)
{
	if (!(memo->unmodelled & (1 << (number - 1))))
		info("aucsched: %pJ: alternative %d is left out: %s", job_ptr,
		     number, why);
	memo->unmodelled |= 1 << (number - 1);
}

/* Of numbers that 0 stands for any of, the smaller demands more. */
static bool _is_less(uint32_t a, uint32_t b)
{
	return a && (!b || (a < b));
}

/* Whether a job demands of switches what another, whose demands its bids keep to, does not. */
static bool _demands_more(const struct aucsched_job *job,
			  const struct aucsched_job *than)
{
	return _is_less(job->switches, than->switches) ||
		_is_less(job->within, than->within) ||
		(job->segment && (job->segment != than->segment));
}

/* Only batch scripts have them: the environment of srun and salloc is not ours to set. */
static void _add_lines(look_t *look, auc_memo_t *memo)
{
	job_record_t *job_ptr = look->record->job_ptr;
	auc_alternative_t noted[AUC_ALTERNATIVES];
	int len = job_ptr->batch_flag ?
		auc_alternatives_of(job_ptr, noted) : 0;

	for (int i = 0; i < len; i++) {
		auc_request_t request;
		auc_kept_t kept;
		int rc = auc_swap(job_ptr, &noted[i], &kept);
		const char *why = (rc == ESLURM_TOO_MANY_REQUESTED_CPUS) ?
			"limits" : "gres";

		if (!rc) {
			why = _may_start(look->s, look->record, &request);
			if (!why && _demands_more(&request.job, &look->own->job))
				why = "switches";
			if (!why)
				why = _add(look, look->record, &request,
					   (auc_way_t) { .number = i + 1,
						.part_ptr = look->record->part_ptr });
			auc_swap_back(job_ptr, &kept);
		}
		if (why && (why != auc_unread))
			_left_out(job_ptr, memo, i + 1, why);
	}
}

/* IN queue - the records behind this one */
static void _look_at_ways(look_t *look, list_t *queue, auc_memo_t *memo)
{
	memset(look->found, 0, sizeof(*look->found));
	/* What the user has written comes before what would do as well. */
	_add_lines(look, memo);
	_add_own(look, look->record, look->own);
	_add_partitions(look, queue);
}

/* ---- The queue, in Slurm's order and with worth by it ---- */

/*
 * The queue is gone through for so long: Slurm's locks are held. It takes a queue of very many
 * jobs that are all kept out of the window, by limits of many kinds.
 */
#define MOST_US 100000

/* What is kept while the queue is gone through. */
typedef struct {
	const part_record_t *heads[AUC_CLAIMS_MAX];
	int heads_len;
	int limit;
	bool shadow;		/* nothing is to come of it */
	uint32_t cycle;
	auc_masks_t masks;
	auc_verdicts_t verdicts;
} queue_state_t;

/* ---- jobs that are left to Slurm: docs/reference/slurm-jobs.md has the reasons, static texts ---- */

/* Whether others have licences that the job wants, whom it may preempt for them. */
static bool _reclaims_licences(job_record_t *job_ptr)
{
	return job_ptr->license_list && auc_preempts_for_licences() &&
		(license_job_test(job_ptr, time(NULL), true) == EAGAIN);
}

/* Describes a record's job to the auction. RET NULL, or why it is left to Slurm */
static const char *_why_delegated(auc_snapshot_t *s,
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

/* Notes that a job is left to Slurm, and logs why if that is news. */
static void _delegate(auc_snapshot_t *s, const queue_state_t *state,
		      job_record_t *job_ptr, auc_memo_t *memo, const char *why)
{
	memo->left = true;
	if (!memo->why && !state->shadow)	/* Slurm has been told that its nodes are busy */
		queue_job_scheduler();
	auc_say_left(job_ptr, memo, why);
	_count_left(s, job_ptr, why);
}

/* A job behind all that the library is given: Slurm may find a gap for it. */
static void _delegate_beyond(auc_snapshot_t *s, job_record_t *job_ptr,
			     auc_memo_t *memo)
{
	s->beyond++;
	memo->left = true;
	auc_verdict_tell(job_ptr, "left", "beyond");
	_count_left(s, job_ptr, "beyond");
}

/* ---- rows ---- */

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
	AUC_APPEND(s->held, job_ptr->job_id);
}

/*
 * How many rows the job gets: the copies that there is room for, and that its limits allow beside
 * the rows before.
 * OUT counted - against limits and licences
 */
static uint32_t _admit(auc_snapshot_t *s, job_record_t *job_ptr,
		       auc_request_t *request, auc_memo_t *memo,
		       queue_state_t *state, bitstr_t *nodes, uint32_t copies,
		       auc_verdict_t *verdict, uint32_t limit,
		       auc_counted_t *counted)
{
	uint32_t most = MIN(copies, state->limit - s->in.jobs_len), rows;

	rows = most;
	*counted = auc_count_limits(s, job_ptr, request, nodes, true,
				    memo->stuck, &rows);
	if (!rows) {
		memo->stuck = false;	/* whether it is still, the next cycle may see */
		verdict->held = verdict != &state->verdicts.unlimited;
	}
	if (rows < most)
		_hold(s, job_ptr, limit);
	return rows;
}

/* The alternatives of the job that comes next into the snapshot. */
static void _add_alternatives(auc_snapshot_t *s, const auc_ways_t *found)
{
	for (int i = 0; i < found->len; i++) {
		struct aucsched_alternative given = found->given[i];

		auc_add_uses(s, true, &found->requests[i],
			     found->ways[i].part_ptr);
		auc_add_limits(s, true, found->counted[i]);
		given.job = s->in.jobs_len;
		AUC_ADD(s, alternatives, given);
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
		.loose = request->loose,
		.narrowed = request->narrowed,
		.binds_gpus = request->binds_gpus,
		.may_preempt = request->may_preempt,
		.threads = request->threads,
		.ways_len = 1 + found->len,
		.ways[0] = { .names_type = _names_type(request),
			     .part_ptr = record->part_ptr },
	};
	struct aucsched_job job = request->job;

	job.preempts = request->preempt_keys;
	memcpy(&row.ways[1], found->ways, sizeof(found->ways));
	row.ways[0].job = job;
	copies = MIN(copies, state->limit - s->in.jobs_len);
	AUC_GROW(s->rows, s->rows_cap, s->in.jobs_len + copies);
	for (uint32_t i = 0; i < copies; i++) {
		if (found->len)
			_add_alternatives(s, found);
		auc_add_uses(s, false, request, record->part_ptr);
		auc_add_limits(s, false, counted);
		row.reads = auc_add_read(s, record->job_ptr, false);
		s->rows[s->in.jobs_len] = row;
		AUC_ADD(s, jobs, job);
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
	auc_counted_t counted;
	bitstr_t *nodes = NULL;
	auc_ways_t ways;
	auc_verdict_t *verdict;
	const char *why;
	uint32_t copies, limit;
	bool array;

	memo->planned = memo->left || memo->no_place || (s->again && memo->planned);
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
	if ((why = _why_delegated(s, record, memo, &request)) == auc_unread)
		return;
	if (why) {
		memo->settled = state->cycle;
		_delegate(s, state, job_ptr, memo, why);
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
		_hold(s, job_ptr, limit);
		return;
	}
	if (!_eligible_nodes(s, record, &request, 0, &nodes, &why)) {
		if (why)
			_delegate(s, state, job_ptr, memo, why);
		else
			auc_verdict_tell(job_ptr, "nodes", NULL);
		return;
	}
	if (!(copies = _admit(s, job_ptr, &request, memo, state, nodes, copies,
			      verdict, limit, &counted))) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	request.job.mask = _add_mask(s, &state->masks, nodes);
	/* A partition's tier comes before any priority. */
	request.job.priority = MAX(record->priority, 1);
	request.job.tier = record->part_ptr->priority_tier + 1;
	request.job.waited = auc_waited(job_ptr, s->in.now);
	memo->settled = state->cycle;
	_look_at_ways(&(look_t) { s, record, &request, &state->masks, &ways },
		      queue, memo);
	_narrow_rights(s, record, &ways, &request);
	request.approximate |= ways.more;
	request.loose |= ways.loose;
	_add_rows(s, record, &request, counted, &ways, state, copies, array);
	/*
	 * The library keeps a place for the first of the queue. For the first of each
	 * other partition, and for a job that found no place last time, there is the one that
	 * the backfill scheduler has planned.
	 */
	if (s->in.jobs_len == copies)
		auc_claims_add(&s->first, job_ptr);
	if (memo->planned || (_is_head(state, record->part_ptr) &&
			      (s->in.jobs_len > copies)))
		auc_claims_add(&s->claims, job_ptr);
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
		auc_overdue_add(s, record->job_ptr, memo);
		if ((s->in.jobs_len >= state->limit) ||
		    (auc_now_us() > end_us))
			_delegate_beyond(s, record->job_ptr, memo);
		else
			_add_record(s, record, memo, state, queue);
		xfree(record);
	}
	FREE_NULL_LIST(queue);
}

/*
 * The pending jobs in the order in which Slurm would try them, as rows with their masks. Nodes and running
 * jobs must be there.
 */
static void _add_queue(auc_snapshot_t *s, const auc_settings_t *settings,
		       uint32_t cycle)
{
	queue_state_t *state = xmalloc(sizeof(*state));

	state->limit = settings->limit;
	state->shadow = settings->shadow;
	state->cycle = cycle;
	auc_limits_begin();
	auc_claims_free(&s->claims);
	auc_claims_free(&s->first);
	auc_overdue_begin(settings->net_s);
	_go_through(s, state);
	for (int i = 0; i < AUC_RECENT_MASKS; i++)
		FREE_NULL_BITMAP(state->masks[i]);
	auc_limits_end();
	xfree(state);
}

/* ---- The snapshot: under the locks, except for auc_snapshot_free() ---- */

static void _clear(auc_snapshot_t *s, uint32_t cycle)
{
	memset(&s->in, 0, sizeof(s->in));
	s->in.abi = AUCSCHED_ABI;
	s->in.size = sizeof(s->in);
	s->in.now = time(NULL);
	s->in.seed = cycle;
	s->config = slurm_conf.last_update;
	s->queue = s->beyond = s->left_jobs = s->left_longest_s = 0;
	s->left_len = 0;
	s->held_len = 0;
}

/* The arrays have moved as they grew. */
static void _point_to_arrays(auc_snapshot_t *s)
{
#define POINT(type, name) s->in.name = s->name;
	AUC_SHOWN_ARRAYS(POINT)
}

/* Something else has the job wait: Slurm's reason says it. */
static void _drop_verdict(uint32_t job_id)
{
	job_record_t *job_ptr = find_job_record(job_id);

	if (job_ptr && IS_JOB_PENDING(job_ptr))
		auc_verdict_drop(job_ptr);
}

extern void auc_snapshot_take(auc_snapshot_t *s, const auc_settings_t *settings,
			      auc_library_t *library, uint32_t cycle)
{
	_clear(s, cycle);
	s->library = library;
	auc_model_refresh(library);
	auc_shares_refresh();
	auc_requests_restore();
	auc_tell_topology(library);
	auc_add_machine(s, settings);
	auc_rights_begin(s, settings->preempt);
	_add_queue(s, settings, cycle);
	auc_rights_end(s);
	auc_memo_sweep(cycle, _drop_verdict);
	_point_to_arrays(s);
}

extern void auc_snapshot_free(auc_snapshot_t *s)
{
	auc_claims_free(&s->claims);
	auc_claims_free(&s->first);
#define FREE(type, name) xfree(s->name);
	AUC_SHOWN_ARRAYS(FREE)
	AUC_OWN_ARRAYS(FREE)
	memset(s, 0, sizeof(*s));
}
