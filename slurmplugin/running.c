/*
 * What running jobs hold of the nodes: as counts and until when, for the snapshot, and
 * as bitmaps of cores, for starts. See snapshot.h.
 *
 * Job and node read locks. The snapshot owns its arrays; bitmaps of cores are
 * the caller's.
 */
#include "snapshot.h"

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

/* ---- as bitmaps ---- */

/* All cores of a node that jobs may have at all. */
static bitstr_t *_usable_cores(const node_record_t *node_ptr)
{
	bitstr_t *cores = bit_alloc(node_ptr->tot_cores);

	bit_set_all(cores);
	if (node_ptr->node_spec_bitmap &&
	    (bit_size(node_ptr->node_spec_bitmap) == bit_size(cores)))
		bit_and(cores, node_ptr->node_spec_bitmap);
	return cores;
}

extern void auc_cores_take(const job_resources_t *held, bitstr_t **idle)
{
	int first = 0, last = bit_fls(held->node_bitmap);

	for (int n = bit_ffs(held->node_bitmap); n >= 0 && n <= last; n++) {
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

extern bitstr_t **auc_idle_cores(const bitstr_t *want)
{
	bitstr_t **idle = xcalloc(node_record_count, sizeof(*idle));
	job_record_t *job_ptr;
	list_itr_t *iter;

	for (int n = 0; n < node_record_count; n++)
		if (node_record_table_ptr[n] && bit_test((bitstr_t *) want, n))
			idle[n] = _usable_cores(node_record_table_ptr[n]);
	iter = list_iterator_create(job_list);
	while ((job_ptr = list_next(iter)))
		if (_holds_nodes(job_ptr) && !_gave_cores(job_ptr) &&
		    bit_overlap_any(job_ptr->job_resrcs->node_bitmap,
				    (bitstr_t *) want))
			auc_cores_take(job_ptr->job_resrcs, idle);
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

/* ---- as counts ---- */

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

static void _add_segment(auc_snapshot_t *s, struct aucsched_running *running,
			 int n, uint16_t cores, uint8_t gpus)
{
	auc_add_segment(&s->segments, &s->segments_cap,
			&s->in.running_segments_len, running->first_segment, n,
			cores, gpus);
	running->segments = s->in.running_segments_len - running->first_segment;
}

/*
 * A job that holds nothing is not told of.
 * IN job_ptr - NULL: it is no job
 */
static void _end_running(auc_snapshot_t *s,
			 const struct aucsched_running *running,
			 const job_record_t *job_ptr)
{
	if (!running->segments)
		return;
	if (job_ptr)
		auc_add_running_read(s, job_ptr);
	AUC_GROW(s->running, s->running_cap, s->in.running_len + 1);
	s->running[s->in.running_len++] = *running;
}

/*
 * Takes what a job holds on node n off it.
 * IN at - the number of the node among the job's
 * IN cores - how many the job was given there
 */
static void _take_off(auc_snapshot_t *s, struct aucsched_running *running,
		      const job_record_t *job_ptr, int n, int at, int cores)
{
	const job_resources_t *held = job_ptr->job_resrcs;
	struct aucsched_node *node = &s->nodes[n];
	uint8_t gpus = _job_gpus(job_ptr, at);

	/* What is shared, or on its way out, is counted once. */
	cores = MIN(cores, node->free_cores);
	node->free_cores -= cores;
	gpus = MIN(gpus, s->spare_gpus[n]);
	s->spare_gpus[n] -= gpus;
	if (held->memory_allocated)
		s->free_memory[n] -= MIN(held->memory_allocated[at],
					 s->free_memory[n]);
	if (cores)
		_add_segment(s, running, n, cores, gpus);
}

/* Takes what a job holds off its nodes, and remembers until when. */
static void _add_job(auc_snapshot_t *s, const job_record_t *job_ptr)
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
		int cores, taken;

		if (!bit_test(held->node_bitmap, n))
			continue;
		cores = node_record_table_ptr[n]->tot_cores;
		taken = _gave_cores(job_ptr) ? 0 :
			bit_set_count_range(held->core_bitmap, first,
					    first + cores);
		_take_off(s, &running, job_ptr, n, at, taken);
		first += cores;
		at++;
	}
	_end_running(s, &running, job_ptr);
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
		if (!node->up || auc_takes_jobs(n) || !node->free_cores)
			continue;
		_add_segment(s, &busy, n, node->free_cores, node->free_gpus);
		node->free_cores = node->free_gpus = 0;
	}
	_end_running(s, &busy, NULL);
}

extern void auc_add_running(auc_snapshot_t *s)
{
	job_record_t *job_ptr;
	list_itr_t *iter = list_iterator_create(job_list);

	while ((job_ptr = list_next(iter)))
		if (_holds_nodes(job_ptr))
			_add_job(s, job_ptr);
	list_iterator_destroy(iter);
	_add_busy(s);
}
