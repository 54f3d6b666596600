/* The cluster as flat arrays: see scheduler.h. */
#include <stdlib.h>
#include <string.h>

#include "scheduler.h"

/* What a job that is left to Slurm has been promised by the backfill scheduler. */
typedef struct {
	time_t start;
	bitstr_t *nodes;
} claim_t;

/* More claims than this are not looked at: those of the first jobs count. */
#define MOST_CLAIMS 64

/* A queue's jobs are mostly alike: so many different masks are compared with. */
#define RECENT_MASKS 16

/* What is kept while the queue is gone through. */
typedef struct {
	uint16_t tiers[256];
	int tiers_len;
	claim_t claims[MOST_CLAIMS];
	int claims_len;
	const part_record_t *heads[MOST_CLAIMS];
	int heads_len;
	auc_select_hooks_t *hooks;
	int limit, most_offers;
	uint32_t cycle;
	auc_offers_t offers;
	bitstr_t *masks[RECENT_MASKS];	/* of mask m at m % RECENT_MASKS */
} queue_state_t;

/* ---- running jobs ---- */

/* A completing job has given all back; its nodes are busy until they are clean. */
static bool _holds_nodes(const job_record_t *job_ptr)
{
	const job_resources_t *held = job_ptr->job_resrcs;

	return held && held->core_bitmap && held->node_bitmap &&
		(IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) &&
		!IS_JOB_COMPLETING(job_ptr);
}

/*
 * A job that was suspended by hand (which takes its priority) keeps its memory and GPUs,
 * but select/cons_tres gives its cores to others. Those that gang scheduling suspends
 * keep them.
 */
static bool _gave_cores(const job_record_t *job_ptr)
{
	return IS_JOB_SUSPENDED(job_ptr) && !job_ptr->priority;
}

extern bitstr_t **auc_idle_cores(const bitstr_t *want)
{
	bitstr_t **idle = xcalloc(node_record_count, sizeof(*idle));
	node_record_t *node_ptr;
	job_record_t *job_ptr;
	list_itr_t *iter;

	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]) ||
		    !bit_test((bitstr_t *) want, n))
			continue;
		idle[n] = bit_alloc(node_ptr->tot_cores);
		bit_set_all(idle[n]);
		if (node_ptr->node_spec_bitmap &&
		    (bit_size(node_ptr->node_spec_bitmap) ==
		     bit_size(idle[n])))
			bit_and(idle[n], node_ptr->node_spec_bitmap);
	}
	iter = list_iterator_create(job_list);
	while ((job_ptr = list_next(iter))) {
		job_resources_t *held = job_ptr->job_resrcs;
		int first = 0, last;

		if (!_holds_nodes(job_ptr) || _gave_cores(job_ptr) ||
		    !bit_overlap_any(held->node_bitmap, (bitstr_t *) want))
			continue;
		last = bit_fls(held->node_bitmap);
		for (int n = bit_ffs(held->node_bitmap); n >= 0 && n <= last;
		     n++) {
			int cores;

			if (!bit_test(held->node_bitmap, n))
				continue;
			cores = node_record_table_ptr[n]->tot_cores;
			for (int c = 0; idle[n] && (c < cores); c++)
				if (bit_test(held->core_bitmap, first + c))
					bit_clear(idle[n], c);
			first += cores;
		}
	}
	list_iterator_destroy(iter);
	return idle;
}

extern void auc_cores_free(bitstr_t **cores)
{
	if (!cores)
		return;
	for (int n = 0; n < node_record_count; n++)
		FREE_NULL_BITMAP(cores[n]);
	xfree(cores);
}

static uint64_t _gpus_held(const gres_job_state_t *gpus, int at)
{
	if (!gpus || (at >= gpus->node_cnt))
		return 0;
	if (gpus->gres_cnt_node_alloc)
		return gpus->gres_cnt_node_alloc[at];
	if (gpus->gres_bit_alloc && gpus->gres_bit_alloc[at])
		return bit_set_count(gpus->gres_bit_alloc[at]);
	return 0;
}

/* All GPUs that a job holds on its node number at, of whatever type. */
static uint8_t _job_gpus(const job_record_t *job_ptr, int at)
{
	uint32_t gpu = gres_build_id("gpu");
	gres_state_t *gres;
	list_itr_t *iter;
	uint64_t held = 0;

	if (!job_ptr->gres_list_alloc)
		return 0;
	iter = list_iterator_create(job_ptr->gres_list_alloc);
	while ((gres = list_next(iter)))
		if (gres->plugin_id == gpu)
			held += _gpus_held(gres->gres_data, at);
	list_iterator_destroy(iter);
	return MIN(held, 15);
}

extern void auc_add_segment(struct aucsched_segment **segments, size_t *cap,
			    uint32_t *len, uint32_t first, int n,
			    uint16_t cores, uint8_t gpus)
{
	struct aucsched_segment *last;

	if (*len > first) {
		last = &(*segments)[*len - 1];
		if ((last->last + 1 == n) && (last->cores == cores) &&
		    (last->gpus == gpus)) {
			last->last = n;
			return;
		}
	}
	AUC_GROW(*segments, *cap, *len + 1);
	(*segments)[(*len)++] = (struct aucsched_segment) {
		.first = n, .last = n, .cores = cores, .gpus = gpus };
}

static void _add_segment(auc_snapshot_t *s, struct aucsched_running *running,
			 int n, uint16_t cores, uint8_t gpus)
{
	auc_add_segment(&s->segments, &s->segments_cap,
			&s->in.running_segments_len, running->first_segment, n,
			cores, gpus);
	running->segments = s->in.running_segments_len - running->first_segment;
}

/* Takes what a job holds off its nodes, and remembers until when. */
static void _add_running(auc_snapshot_t *s, job_record_t *job_ptr)
{
	job_resources_t *held = job_ptr->job_resrcs;
	int first = 0, at = 0, last = bit_fls(held->node_bitmap);
	struct aucsched_running running = {
		.end = job_ptr->end_time,
		.first_segment = s->in.running_segments_len,
	};

	if (running.end <= s->in.now)
		running.end = s->in.now + 1;
	for (int n = bit_ffs(held->node_bitmap); n >= 0 && n <= last; n++) {
		struct aucsched_node *node = &s->nodes[n];
		int cores, taken;
		uint8_t gpus;

		if (!bit_test(held->node_bitmap, n))
			continue;
		cores = node_record_table_ptr[n]->tot_cores;
		taken = _gave_cores(job_ptr) ? 0 :
			bit_set_count_range(held->core_bitmap, first,
					    first + cores);
		gpus = _job_gpus(job_ptr, at);
		/* What is shared, or on its way out, is counted once. */
		taken = MIN(taken, node->free_cores);
		node->free_cores -= taken;
		gpus = MIN(gpus, s->spare_gpus[n]);
		s->spare_gpus[n] -= gpus;
		if (held->memory_allocated)
			s->free_memory[n] -= MIN(held->memory_allocated[at],
						 s->free_memory[n]);
		if (taken)
			_add_segment(s, &running, n, taken, gpus);
		first += cores;
		at++;
	}
	if (!running.segments)
		return;
	AUC_GROW(s->running, s->running_cap, s->in.running_len + 1);
	s->running[s->in.running_len++] = running;
}

/* ---- nodes ---- */

/* The one type of a node's GPUs; AUC_GPU_TYPES if there are several. */
static uint32_t _gpu_type(const gres_node_state_t *gpus)
{
	uint32_t type = 0;

	for (int i = 0; i < gpus->type_cnt; i++) {
		if (i && (gpus->type_id[i] != type))
			return AUC_GPU_TYPES;
		type = gpus->type_id[i];
	}
	return type;
}

/* Neither completing nor resuming nor anybody's as a whole. */
static bool _is_clean(int n)
{
	return bit_test(share_node_bitmap, n) && !bit_test(cg_node_bitmap, n) &&
		!bit_test(rs_node_bitmap, n);
}

extern bool auc_takes_jobs(int n)
{
	return bit_test(avail_node_bitmap, n) && _is_clean(n);
}

static void _add_node(auc_snapshot_t *s, int n)
{
	node_record_t *node_ptr = node_record_table_ptr[n];
	struct aucsched_node *node = &s->nodes[n];
	gres_node_state_t *gpus;

	memset(node, 0, sizeof(*node));
	s->free_memory[n] = 0;
	s->gpu_type[n] = 0;
	s->spare_gpus[n] = 0;
	if (!node_ptr)
		return;		/* a gap in the table, of a dynamic node that left */
	node->cores = node->free_cores = node_ptr->tot_cores;
	if (node_ptr->node_spec_bitmap)
		node->free_cores = MIN(node->cores,
			bit_set_count(node_ptr->node_spec_bitmap));
	node->up = bit_test(avail_node_bitmap, n);
	s->free_memory[n] = node_ptr->real_memory -
		MIN(node_ptr->mem_spec_limit, node_ptr->real_memory);
	if ((gpus = auc_node_gpus(node_ptr))) {
		uint64_t held = MIN(gpus->gres_cnt_alloc, gpus->gres_cnt_avail);

		node->gpus = MIN(gpus->gres_cnt_avail, 15);
		node->free_gpus = MIN(gpus->gres_cnt_avail - held, node->gpus);
		s->spare_gpus[n] = node->gpus;
		s->gpu_type[n] = _gpu_type(gpus);
	}
}

/*
 * Nodes that take no job for the moment are as if somebody had all that is free there for
 * another second: a job that needs them waits, which is not the same as that it
 * can never run.
 */
static void _add_busy(auc_snapshot_t *s)
{
	struct aucsched_running busy = {
		.end = s->in.now + 1,
		.first_segment = s->in.running_segments_len,
	};

	for (int n = 0; n < node_record_count; n++) {
		struct aucsched_node *node = &s->nodes[n];

		node->free_gpus = MIN(node->free_gpus, s->spare_gpus[n]);
		if (!node->up || _is_clean(n) || !node->free_cores)
			continue;
		_add_segment(s, &busy, n, node->free_cores, node->free_gpus);
		node->free_cores = node->free_gpus = 0;
	}
	if (!busy.segments)
		return;
	AUC_GROW(s->running, s->running_cap, s->in.running_len + 1);
	s->running[s->in.running_len++] = busy;
}

static void _add_machine(auc_snapshot_t *s)
{
	job_record_t *job_ptr;
	list_itr_t *iter;

	AUC_GROW(s->nodes, s->nodes_cap, node_record_count);
	AUC_GROW(s->free_memory, s->memory_cap, node_record_count);
	AUC_GROW(s->gpu_type, s->type_cap, node_record_count);
	AUC_GROW(s->spare_gpus, s->spare_cap, node_record_count);
	s->in.nodes_len = node_record_count;
	s->in.mask_words = (node_record_count + 63) / 64;
	for (int n = 0; n < node_record_count; n++)
		_add_node(s, n);
	iter = list_iterator_create(job_list);
	while ((job_ptr = list_next(iter)))
		if (_holds_nodes(job_ptr))
			_add_running(s, job_ptr);
	list_iterator_destroy(iter);
	_add_busy(s);
}

/* ---- which nodes a job may use ---- */

static void _and_features(job_record_t *job_ptr, bitstr_t *nodes)
{
	char *names = job_ptr->details->features, *copy, *save = NULL, *name;
	bool any = names && strchr(names, '|');
	bitstr_t *fit;

	if (!names || !names[0])
		return;
	fit = bit_alloc(node_record_count);
	if (!any)
		bit_set_all(fit);
	copy = xstrdup(names);
	for (name = strtok_r(copy, "&|,", &save); name;
	     name = strtok_r(NULL, "&|,", &save)) {
		node_feature_t *feature = list_find_first(
			active_feature_list, list_find_feature, name);
		bitstr_t *have = feature ? bit_copy(feature->node_bitmap) :
			bit_alloc(node_record_count);

		if (any)
			bit_or(fit, have);
		else
			bit_and(fit, have);
		FREE_NULL_BITMAP(have);
	}
	xfree(copy);
	bit_and(nodes, fit);
	FREE_NULL_BITMAP(fit);
}

/* Nodes whose memory does not limit the job more than their cores do. */
static bool _memory_fits(const auc_snapshot_t *s,
			 const auc_request_t *request, bool consumed, int n)
{
	uint64_t memory = request->memory & ~MEM_PER_CPU, cpus;
	uint64_t have = consumed ? s->free_memory[n] :
		node_record_table_ptr[n]->real_memory;

	if (!memory)
		return true;
	if (!(request->memory & MEM_PER_CPU))
		return have >= memory;
	cpus = request->job.cores_per_node ? request->job.cores_per_node :
		MIN(s->nodes[n].free_cores, request->job.cores);
	return have / memory >= cpus * request->threads;
}

static void _and_resources(const auc_snapshot_t *s, auc_request_t *request,
			   const part_record_t *part_ptr, bitstr_t *nodes)
{
	bool consumed;
	uint16_t type = part_ptr->cr_type ? part_ptr->cr_type :
		slurm_conf.select_type_param;

	if (!request->memory && !request->gpu_type)
		return;
	consumed = type & CR_MEMORY;
	for (int n = 0; n < node_record_count; n++) {
		if (!bit_test(nodes, n))
			continue;
		if (request->gpu_type && (s->gpu_type[n] != request->gpu_type))
			bit_clear(nodes, n);
		else if (!_memory_fits(s, request, consumed, n)) {
			/* Perhaps only for now: what is planned may differ. */
			request->approximate = true;
			bit_clear(nodes, n);
		}
	}
}

/* Words of a bitmap, one by one: no use is made of how Slurm keeps them. */
static void _to_words(const bitstr_t *nodes, uint64_t *words, uint32_t len)
{
	bitstr_t *from = (bitstr_t *) nodes;
	int last = bit_fls(from);

	memset(words, 0, len * sizeof(*words));
	for (int n = bit_ffs(from); n >= 0 && n <= last; n++)
		if (bit_test(from, n))
			words[n / 64] |= (uint64_t) 1 << (n % 64);
}

/*
 * The index of a mask, added if none of the last few is the same. Takes the bitmap over.
 */
static int32_t _mask(auc_snapshot_t *s, queue_state_t *state, bitstr_t *nodes)
{
	uint32_t words = s->in.mask_words, len = s->in.masks_len;
	bitstr_t **slot;

	for (uint32_t m = len; m > 0 && m + RECENT_MASKS > len; m--) {
		if (bit_equal(state->masks[(m - 1) % RECENT_MASKS], nodes)) {
			FREE_NULL_BITMAP(nodes);
			return m - 1;
		}
	}
	AUC_GROW(s->masks, s->masks_cap, (size_t) (len + 1) * words);
	_to_words(nodes, s->masks + (size_t) len * words, words);
	slot = &state->masks[len % RECENT_MASKS];
	FREE_NULL_BITMAP(*slot);
	*slot = nodes;
	return s->in.masks_len++;
}

/*
 * The nodes that Slurm would let the job have: its partition's, less those excluded, those
 * that lack a feature or the memory, those of reservations that it would run into, and
 * those promised to jobs before it that are left to Slurm.
 * RET false if the job can't run now, or *why says that it is left to Slurm
 */
static bool _usable_nodes(auc_snapshot_t *s, const job_queue_rec_t *record,
			  auc_request_t *request, const claim_t *claims,
			  int claims_len, bitstr_t **nodes, const char **why)
{
	job_record_t *job_ptr = record->job_ptr;
	time_t when = s->in.now;
	int64_t end = (request->job.time_limit == AUCSCHED_NO_LIMIT) ?
		INT64_MAX : when + request->job.time_limit;

	*nodes = NULL;
	if (resv_list && list_count(resv_list)) {
		bool some_cores = false;
		int rc = auc_test_resv(job_ptr, &when, nodes, &some_cores);

		if (some_cores)
			*why = "reservation";
		if (rc || *why) {
			FREE_NULL_BITMAP(*nodes);
			return false;
		}
		bit_and(*nodes, record->part_ptr->node_bitmap);
	} else
		*nodes = bit_copy(record->part_ptr->node_bitmap);
	if (job_ptr->details->exc_node_bitmap)
		bit_and_not(*nodes, job_ptr->details->exc_node_bitmap);
	_and_features(job_ptr, *nodes);
	_and_resources(s, request, record->part_ptr, *nodes);
	for (int i = 0; i < claims_len; i++)
		if (claims[i].start < end)
			bit_and_not(*nodes, claims[i].nodes);
	return true;
}

/* ---- the queue ---- */

static void _count_left(auc_snapshot_t *s, const char *why)
{
	s->left_jobs++;
	for (int i = 0; i < s->left_len; i++) {
		if (!xstrcmp(s->left[i].why, why)) {
			s->left[i].jobs++;
			return;
		}
	}
	if (s->left_len < AUC_LEFT_MAX)
		s->left[s->left_len++] = (auc_left_t) { why, 1 };
}

static void _leave(auc_snapshot_t *s, job_record_t *job_ptr,
		   auc_memo_t *memo, const char *why)
{
	memo->left = true;
	if (xstrcmp(memo->why, why))
		info("aucsched: %pJ left to Slurm: %s", job_ptr, why);
	memo->why = why;
	_count_left(s, why);
}

/* What a planned job that is left to Slurm keeps others from. */
static void _claim(const auc_snapshot_t *s, job_record_t *job_ptr,
		   claim_t *claims, int *len)
{
	bitstr_t *nodes = NULL;

	if ((*len == MOST_CLAIMS) || !job_ptr->sched_nodes ||
	    !job_ptr->start_time)
		return;
	if (auc_names_to_nodes(job_ptr->sched_nodes, &nodes) || !nodes) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	claims[(*len)++] = (claim_t) { job_ptr->start_time, nodes };
}

/* Whether there is a job that this one may preempt. */
static bool _may_preempt(job_record_t *job_ptr)
{
	list_t *candidates;
	bool any;

	if (!slurm_preemption_enabled())
		return false;
	candidates = slurm_find_preemptable_jobs(job_ptr);
	any = candidates && list_count(candidates);
	FREE_NULL_LIST(candidates);
	return any;
}

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

/* The checks that Slurm's main loop makes before it looks for nodes. */
static bool _may_run(job_record_t *job_ptr)
{
	if (((job_ptr->array_task_id != NO_VAL) || job_ptr->array_recs) &&
	    !job_array_start_test(job_ptr))
		return false;
	if (auc_waits_for_limit(job_ptr) &&
	    !acct_policy_job_runnable_pre_select(job_ptr, false))
		return false;
	return license_job_test(job_ptr, time(NULL), true) == SLURM_SUCCESS;
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

static void _add_rows(auc_snapshot_t *s, const job_queue_rec_t *record,
		      const auc_request_t *request, uint32_t copies, bool array,
		      int limit)
{
	auc_row_t row = {
		.job_id = record->job_ptr->job_id,
		.array = array,
		.approximate = request->approximate,
	};
	struct aucsched_job job = request->job;

	/* Preemption and the like can put a job before one of higher priority. */
	if (s->in.jobs_len)
		job.priority = MIN(job.priority,
				   s->jobs[s->in.jobs_len - 1].priority);
	copies = MIN(copies, limit - s->in.jobs_len);
	AUC_GROW(s->jobs, s->jobs_cap, s->in.jobs_len + copies);
	AUC_GROW(s->rows, s->rows_cap, s->in.jobs_len + copies);
	for (uint32_t i = 0; i < copies; i++) {
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
	if (state->heads_len == MOST_CLAIMS)
		return false;
	state->heads[state->heads_len++] = part_ptr;
	return true;
}

static void _add_record(auc_snapshot_t *s, const job_queue_rec_t *record,
			queue_state_t *state)
{
	job_record_t *job_ptr = record->job_ptr;
	auc_memo_t *memo = auc_memo_of(job_ptr->job_id);
	auc_request_t request;
	bitstr_t *nodes = NULL;
	const char *why;
	uint32_t copies;
	bool array, was_left;

	was_left = memo->left;
	memo->cycle = state->cycle;
	memo->left = false;
	s->queue++;
	if (!(copies = _copies(job_ptr, &array)))
		return;
	why = auc_model(job_ptr, record->part_ptr, &request);
	if (!why && (memo->until > s->in.now))
		why = "failed";
	if (!why && record->resv_ptr)
		why = "reservation";
	if (!why && _may_preempt(job_ptr))
		why = "preemption";
	if (why) {
		_leave(s, job_ptr, memo, why);
		_claim(s, job_ptr, state->claims, &state->claims_len);
		return;
	}
	if (!_may_run(job_ptr))
		return;
	if (!_usable_nodes(s, record, &request, state->claims,
			   state->claims_len, &nodes, &why)) {
		if (why)
			_leave(s, job_ptr, memo, why);
		return;
	}
	if (s->in.jobs_len < state->most_offers)
		auc_offer(s, &state->offers, state->hooks, job_ptr, nodes,
			  s->in.jobs_len);
	request.job.mask = _mask(s, state, nodes);
	request.job.priority = _priority(record, state->tiers,
					 state->tiers_len);
	_add_rows(s, record, &request, copies, array, state->limit);
	/*
	 * The library keeps a place for the first of the queue. For the first of each
	 * other partition, and for a job that found no place last time, there is the one that
	 * the backfill scheduler has planned.
	 */
	if (was_left || (_is_head(state, record->part_ptr) &&
			 (s->in.jobs_len > copies)))
		_claim(s, job_ptr, state->claims, &state->claims_len);
}

/* A job behind all that the library is given: Slurm may find a gap for it. */
static void _beyond(auc_snapshot_t *s, job_record_t *job_ptr, uint32_t cycle)
{
	auc_memo_t *memo = auc_memo_of(job_ptr->job_id);

	memo->cycle = cycle;
	memo->left = true;
	s->queue++;
	_count_left(s, "beyond");
}

static void _add_queue(auc_snapshot_t *s, queue_state_t *state)
{
	list_t *queue = build_job_queue(false, false);
	job_queue_rec_t *record;

	sort_job_queue(queue);
	state->tiers_len = _tiers(queue, state->tiers,
				  ARRAY_SIZE(state->tiers));
	while ((record = list_pop(queue))) {
		if (s->in.jobs_len >= state->limit)
			_beyond(s, record->job_ptr, state->cycle);
		else
			_add_record(s, record, state);
		xfree(record);
	}
	FREE_NULL_LIST(queue);
}

static void _free_state(queue_state_t *state)
{
	for (int i = 0; i < state->claims_len; i++)
		FREE_NULL_BITMAP(state->claims[i].nodes);
	for (int i = 0; i < RECENT_MASKS; i++)
		FREE_NULL_BITMAP(state->masks[i]);
	auc_offers_free(&state->offers);
	xfree(state);
}

extern void auc_snapshot_take(auc_snapshot_t *s, const auc_settings_t *settings,
			      auc_select_hooks_t *hooks, uint32_t cycle)
{
	queue_state_t *state = xmalloc(sizeof(*state));

	state->hooks = hooks;
	state->limit = settings->limit;
	state->most_offers = settings->offers;
	state->cycle = cycle;
	memset(&s->in, 0, sizeof(s->in));
	s->in.abi = AUCSCHED_ABI;
	s->in.size = sizeof(s->in);
	s->in.now = time(NULL);
	s->in.seed = cycle;
	s->config = slurm_conf.last_update;
	s->queue = s->left_jobs = 0;
	s->left_len = 0;
	auc_model_refresh();
	auc_ranges_restore();
	_add_machine(s);
	_add_queue(s, state);
	_free_state(state);
	auc_memo_sweep(cycle);
	s->in.nodes = s->nodes;
	s->in.running = s->running;
	s->in.running_segments = s->segments;
	s->in.jobs = s->jobs;
	s->in.masks = s->masks;
	s->in.offers = s->offers;
	s->in.offer_segments = s->offer_segments;
}

extern void auc_snapshot_free(auc_snapshot_t *s)
{
	xfree(s->nodes);
	xfree(s->running);
	xfree(s->segments);
	xfree(s->jobs);
	xfree(s->masks);
	xfree(s->rows);
	xfree(s->offers);
	xfree(s->offer_segments);
	xfree(s->free_memory);
	xfree(s->gpu_type);
	xfree(s->spare_gpus);
	memset(s, 0, sizeof(*s));
}
