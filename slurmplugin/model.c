/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "common.h"
#include "model.h"
#include "src/common/env.h"

/* ---- Jobs that ask for the same ---- */

/* What of a record, and its details, says what a job asks for, and as whom. */
#define ASKED(JOB, JOB_TEXT, DETAIL, DETAIL_TEXT) \
	JOB(part_ptr) JOB(user_id) JOB(assoc_id) JOB(qos_id) JOB(req_switch) \
	JOB_TEXT(partition) JOB_TEXT(tres_per_node) JOB_TEXT(tres_per_job) \
	JOB_TEXT(tres_per_task) JOB_TEXT(cpus_per_tres) JOB_TEXT(mem_per_tres) \
	JOB_TEXT(resv_name) \
	DETAIL(min_cpus) DETAIL(min_nodes) DETAIL(max_nodes) DETAIL(num_tasks) \
	DETAIL(cpus_per_task) DETAIL(ntasks_per_node) DETAIL(pn_min_memory) \
	DETAIL(contiguous) DETAIL(whole_node) DETAIL(pn_min_cpus) DETAIL(pn_min_tmp_disk) \
	DETAIL_TEXT(req_nodes) DETAIL_TEXT(features) DETAIL_TEXT(exc_nodes)

extern bool auc_are_alike(const job_record_t *a, const job_record_t *b)
{
	const multi_core_data_t *cores = a->details->mc_ptr, *others = b->details->mc_ptr;

#define SAME(x) (a->x == b->x) &&
#define SAME_TEXT(x) !xstrcmp(a->x, b->x) &&
#define SAME_DETAIL(x) SAME(details->x)
#define SAME_DETAIL_TEXT(x) SAME_TEXT(details->x)
	return ASKED(SAME, SAME_TEXT, SAME_DETAIL, SAME_DETAIL_TEXT)
		(auc_segment(a) == auc_segment(b)) &&
		!xstrcmp(auc_extra(a), auc_extra(b)) &&
		((cores && others) ? !memcmp(cores, others, sizeof(*cores)) :
		 (cores == others));
}

/* What is not understood is left to Slurm: a rule below has to say why a request can be modelled, never why it can't. */

const char auc_unread[] = "unread";

static auc_library_t *engine;	/* of the agent */

extern int auc_alternatives_of(const job_record_t *job_ptr,
			       auc_alternative_t *alternatives)
{
	size_t len;
	const char *note = auc_note_find(job_ptr->admin_comment,
					 AUC_ALTERNATIVES_NOTE, &len);
	char *text = note ? xstrndup(note, len) : NULL;
	int found = !note ? 0 :
		auc_library_read(engine, AUC_CALL_NOTED,
				 job_ptr->details->cpus_per_task, text, len + 1,
				 alternatives,
				 AUC_ALTERNATIVES * sizeof(*alternatives));

	xfree(text);
	for (int i = 0; i < found; i++)
		alternatives[i].gpus.type[AUC_TYPE_SIZE - 1] = '\0';
	return MAX(found, 0);
}

/* ---- GPUs ---- */

static uint32_t _gpu_id(void)
{
	static uint32_t id;	/* the same in every thread */

	if (!id)
		id = gres_build_id("gpu");
	return id;
}

extern gres_job_state_t *auc_gpu_request(const job_record_t *job_ptr)
{
	return auc_gres_data(job_ptr->gres_list_req, _gpu_id());
}

extern gres_node_state_t *auc_node_gres(const node_record_t *node_ptr,
					uint32_t id)
{
	return node_ptr ? auc_gres_data(node_ptr->gres_list, id) : NULL;
}

extern gres_node_state_t *auc_node_gpus(const node_record_t *node_ptr)
{
	return auc_node_gres(node_ptr, _gpu_id());
}

extern bool auc_gres_is_gpu(uint32_t id)
{
	return id == _gpu_id();
}

/* The job's "gres:gpu[:type]:N" with another number; other gres stay as they are. */
extern int auc_set_gpus(job_record_t *job_ptr, uint32_t count)
{
	char *changed = auc_range_with_count(job_ptr->tres_per_node, count);
	int rc;

	if (!changed)
		return SLURM_ERROR;
	xfree(job_ptr->tres_per_node);
	job_ptr->tres_per_node = changed;
	FREE_NULL_LIST(job_ptr->gres_list_req);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	if ((rc = auc_gres_validate(job_ptr)))
		return rc;
	auc_set_job_tres_cnt(job_ptr->gres_list_req,
			     job_ptr->details->min_nodes,
			     job_ptr->tres_req_cnt, false);
	xfree(job_ptr->tres_req_str);
	job_ptr->tres_req_str = assoc_mgr_make_tres_str_from_array(
		job_ptr->tres_req_cnt, TRES_STR_FLAG_SIMPLE, false);
	xfree(job_ptr->tres_fmt_req_str);
	job_ptr->tres_fmt_req_str = assoc_mgr_make_tres_str_from_array(
		job_ptr->tres_req_cnt, TRES_STR_CONVERT_UNITS, false);
	return SLURM_SUCCESS;
}

/* Lowers the GPU count of a pending job with a range to the low end again, if it has been
 * raised. Job write lock and node read lock. */
static void _back_to_range(job_record_t *job_ptr)
{
	gres_job_state_t *gpus;
	auc_gpus_t range;

	if (!auc_range_read_note(job_ptr->admin_comment, &range))
		return;
	gpus = auc_gpu_request(job_ptr);
	if (gpus && (gpus->gres_per_node != range.low))
		(void) auc_set_gpus(job_ptr, range.low);
}

static bool _set16(uint16_t value)
{
	return value && (value != NO_VAL16) && (value != INFINITE16);
}

extern gres_job_state_t *auc_only_gpus(const job_record_t *job_ptr)
{
	gres_state_t *gres;
	int requests = 0;

	AUC_EACH(gres, job_ptr->gres_list_req)
		requests += auc_gres_is_gpu(gres->plugin_id);
	return (requests == 1) ? auc_gpu_request(job_ptr) : NULL;
}

/*
 * What a job asks for of gres, for the library to judge. Those that are no GPUs, and GPUs of several types,
 * are counted by type.
 */
static const char *_read_gres(job_record_t *job_ptr, auc_request_t *request,
			      struct aucsched_numbers *numbers)
{
	const gres_job_state_t *only = auc_only_gpus(job_ptr);
	gres_state_t *gres;

	AUC_EACH(gres, job_ptr->gres_list_req) {
		const gres_job_state_t *asked = gres->gres_data;
		uint32_t type = (asked->type_name && asked->type_name[0]) ?
			asked->type_id : 0;
		struct aucsched_gres row = {
			.per_node = MIN(asked->gres_per_node, UINT32_MAX),
			.per_job = MIN(asked->gres_per_job, UINT32_MAX),
			.per_socket = MIN(asked->gres_per_socket, UINT32_MAX),
			.per_task = MIN(asked->gres_per_task, UINT32_MAX),
			.kind = auc_gres_is_gpu(gres->plugin_id) ? AUCSCHED_GRES_GPU :
				!auc_gres_is_share(gres->plugin_id) ? AUCSCHED_GRES_OTHER :
				(gres->plugin_id == auc_share_gres()) ? AUCSCHED_GRES_SHARE :
				AUCSCHED_GRES_UNCOUNTED,
			.typed = type != 0 };

		if (numbers->gres_len == AUCSCHED_MAX_GRES)
			return "gres";
		numbers->gres[numbers->gres_len++] = row;
		if (row.kind == AUCSCHED_GRES_SHARE)
			request->job.share = row.per_node;
		else if (asked == only)
			request->gpu_type = type;
		else
			request->more[request->more_len++] = (auc_gres_t) {
				gres->plugin_id, type, row.per_node };
	}
	return NULL;
}

static uint64_t _default_in(list_t *defaults, uint16_t type)
{
	job_defaults_t *found;
	uint64_t value = 0;

	AUC_EACH(found, defaults)
		if (found->type == type)
			value = found->value;
	return value;
}

/* DefCpuPerGPU or DefMemPerGPU (type: JOB_DEF_...), the partition's or the cluster's; 0: none. */
static uint64_t _default_per_gpu(const part_record_t *part_ptr, uint16_t type)
{
	uint64_t value = _default_in(part_ptr->job_defaults_list, type);

	return value ? value : _default_in(slurm_conf.job_defaults_list, type);
}

/* What goes with each GPU: the job's own, or what slurm.conf has for the partition. */
static void _beside_gpus(const job_record_t *job_ptr,
			 const part_record_t *part_ptr,
			 const gres_job_state_t *gpu, auc_request_t *request,
			 struct aucsched_numbers *numbers)
{
	uint64_t cpus = gpu->cpus_per_gres, memory = gpu->mem_per_gres;

	if (!cpus && (job_ptr->details->orig_cpus_per_task == NO_VAL16))
		cpus = _default_per_gpu(part_ptr, JOB_DEF_CPU_PER_GPU);
	if (!memory)
		memory = _default_per_gpu(part_ptr, JOB_DEF_MEM_PER_GPU);
	numbers->cpus_per_gpu = MIN(cpus, UINT16_MAX);
	if (!(job_ptr->bit_flags & JOB_MEM_SET))
		request->gpu_memory = memory;
}

static const char *_model_gres(job_record_t *job_ptr, part_record_t *part_ptr,
			       auc_request_t *request, struct aucsched_numbers *numbers)
{
	gres_job_state_t *gpu = auc_gpu_request(job_ptr);
	const char *why = _read_gres(job_ptr, request, numbers);
	auc_gpus_t range;

	if (why || !gpu)
		return why;
	numbers->tasks_go_by_gpus = _set16(job_ptr->details->ntasks_per_tres);
	_beside_gpus(job_ptr, part_ptr, gpu, request, numbers);
	if (auc_range_read_note(job_ptr->admin_comment, &range)) {
		numbers->low_gpus = range.low;
		numbers->high_gpus = range.high;
	}
	if (job_ptr->bit_flags & GRES_ENFORCE_BIND)
		request->binds_gpus = request->loose = request->approximate =
			true;
	return NULL;
}

/* ---- features ---- */

extern uint8_t auc_features(const job_record_t *job_ptr, int *len)
{
	uint8_t op = FEATURE_OP_AND;
	job_feature_t *feature;

	*len = 0;
	if (job_ptr->details->features && !job_ptr->details->feature_list)
		return FEATURE_OP_XAND;
	AUC_EACH(feature, job_ptr->details->feature_list) {
		if (!*len && (feature->op_code != FEATURE_OP_END))
			op = feature->op_code;
		if (((feature->op_code != op) && (feature->op_code != FEATURE_OP_END)) ||
		    feature->count || feature->paren || strchr(feature->name, '!') || (++*len > UINT8_MAX))
			return FEATURE_OP_XAND;
	}
	return op;
}

/* ---- cores and nodes ---- */

/* CPUs a core that jobs may use, on all nodes; 0 if they differ. Job write lock. */
static uint16_t all_threads;

extern uint16_t auc_threads_of(const node_record_t *node_ptr)
{
	/* CPUs=cores in slurm.conf, whatever the hardware has: a CPU is a core. */
	return (node_ptr->cpus == node_ptr->tot_cores) ? 1 : node_ptr->tpc;
}

/* CPUs a core on the nodes (NULL: all), 0 if they differ in it. */
static uint16_t _count_threads(bitstr_t *nodes)
{
	uint16_t threads = 0, here;
	node_record_t *node_ptr;

	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]) ||
		    (nodes && !bit_test(nodes, n)))
			continue;
		here = auc_threads_of(node_ptr);
		if (threads && (here != threads))
			return 0;
		threads = here;
	}
	return threads;
}

static uint16_t _threads(const part_record_t *part_ptr)
{
	return all_threads ? all_threads :
		_count_threads(part_ptr->node_bitmap);
}

static bool _other_granularity(const part_record_t *part_ptr, uint16_t threads)
{
	uint16_t type = slurm_conf.select_type_param;

	if (part_ptr->cr_type)
		type = part_ptr->cr_type | (type & SELECT_ONE_TASK_PER_CORE);
	if (type & SELECT_SOCKET)
		return true;
	return (threads != 1) && !((type & SELECT_CORE) &&
				   !(type & SELECT_ONE_TASK_PER_CORE));
}

static bool _asks_for_topology(const job_record_t *job_ptr)
{
	const multi_core_data_t *mc = job_ptr->details->mc_ptr;

	if (job_ptr->details->core_spec != NO_VAL16)
		return true;
	if (job_ptr->bit_flags & (SPREAD_JOB | USE_MIN_NODES))
		return true;
	if (job_ptr->details->task_dist &
	    (SLURM_DIST_PACK_NODES | SLURM_DIST_NO_PACK_NODES))
		return true;
	return mc && (_set16(mc->sockets_per_node) ||
		      _set16(mc->cores_per_socket));
}

/*
 * --threads-per-core, --hint=nomultithread and --ntasks-per-core: how many CPUs of a core the
 * job uses. The others are nobody's.
 * RET false if cores have not so many
 */
static bool _read_threads(const job_record_t *job_ptr, struct aucsched_numbers *n)
{
	const multi_core_data_t *mc = job_ptr->details->mc_ptr;
	uint32_t per_task = MAX(job_ptr->details->cpus_per_task, 1);

	n->use_threads = n->threads;
	if (!mc)
		return true;
	if (_set16(mc->ntasks_per_core))
		n->use_threads = MIN(n->threads,
				     mc->ntasks_per_core * per_task);
	if (_set16(mc->threads_per_core)) {
		if (mc->threads_per_core > n->threads)
			return false;
		n->use_threads = MIN(n->use_threads, mc->threads_per_core);
	}
	if (_set16(mc->ntasks_per_socket))
		n->socket_tasks = mc->ntasks_per_socket;
	return true;
}

/* -N MIN-MAX, of which Slurm gives as many nodes as it can. */
static bool _is_node_range(const job_record_t *job_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	return details->max_nodes && (details->max_nodes != details->min_nodes) &&
		!(job_ptr->bit_flags & AUC_IMPLIED_MAX_NODES);
}

/* What there is of nodes in a partition. */
typedef struct {
	const part_record_t *part_ptr;
	uint32_t nodes, most_cores, most_gpus, fewest_gpus, sockets;
	uint32_t cores;		/* of each node, 0 if they differ */
	bool keeps_cores;	/* some node keeps cores for those who have its GPUs */
} extent_t;

/* Of the partitions that were looked at in this cycle; more take turns. Job write lock. */
#define EXTENTS 32
static extent_t extents[EXTENTS];
static unsigned next_extent;

static void _extend(extent_t *extent, node_record_t *node_ptr, bool *differ)
{
	gres_node_state_t *gpus = auc_node_gpus(node_ptr);
	uint64_t count = gpus ? gpus->gres_cnt_avail : 0;

	*differ |= node_ptr->core_spec_cnt ||
		(extent->nodes && (node_ptr->tot_cores != extent->most_cores));
	extent->most_cores = MAX(extent->most_cores, node_ptr->tot_cores);
	extent->most_gpus = MAX(extent->most_gpus, count);
	if (!extent->nodes || (count < extent->fewest_gpus))
		extent->fewest_gpus = count;
	if (!extent->nodes || (node_ptr->tot_sockets < extent->sockets))
		extent->sockets = node_ptr->tot_sockets;
	extent->keeps_cores |= auc_cores_kept_per_gpu(node_ptr) > 0;
	extent->nodes++;
}

static const extent_t *_extent(const part_record_t *part_ptr)
{
	extent_t *extent;
	node_record_t *node_ptr;
	bool differ = false;

	for (int i = 0; i < EXTENTS; i++)
		if (extents[i].part_ptr == part_ptr)
			return &extents[i];
	extent = &extents[next_extent++ % EXTENTS];
	*extent = (extent_t) { .part_ptr = part_ptr };
	for (int n = 0; part_ptr->node_bitmap && (n < node_record_count); n++)
		if (bit_test(part_ptr->node_bitmap, n) &&
		    (node_ptr = node_record_table_ptr[n]))
			_extend(extent, node_ptr, &differ);
	extent->cores = differ ? 0 : extent->most_cores;
	return extent;
}

static uint32_t _or_0(uint32_t value)
{
	return ((value == NO_VAL) || (value == INFINITE)) ? 0 : value;
}

extern uint32_t auc_most_cpus(const part_record_t *part_ptr)
{
	uint32_t most = _or_0(part_ptr->max_cpus_per_node);
	uint64_t of_sockets = (uint64_t) _or_0(auc_most_of_socket(part_ptr)) *
		MAX(_extent(part_ptr)->sockets, 1);

	if (!of_sockets)
		return most;
	return most ? MIN(most, of_sockets) : MIN(of_sockets, INT32_MAX);
}

extern uint32_t auc_fewest_gpus(const part_record_t *part_ptr)
{
	return _extent(part_ptr)->fewest_gpus;
}

extern void auc_model_refresh(auc_library_t *library)
{
	engine = library;
	all_threads = _count_threads(NULL);
	memset(extents, 0, sizeof(extents));
	auc_part_rules_refresh();
}

/* --nodelist: these nodes and no others, if they are enough. */
static const char *_count_required(const job_record_t *job_ptr, uint32_t low,
				   uint32_t high, struct aucsched_numbers *numbers)
{
	bitstr_t *required = job_ptr->details->req_node_bitmap;
	uint32_t count;

	if (!required)
		return job_ptr->details->req_nodes ? "nodelist" : NULL;
	count = bit_set_count(required);
	if ((count < low) || (count > high))
		return "nodelist";
	numbers->min_nodes = numbers->max_nodes = count;
	return NULL;
}

static const char *_count_nodes(job_record_t *job_ptr, part_record_t *part_ptr,
				struct aucsched_numbers *numbers)
{
	uint32_t low, want, high, qos_flags = 0;

	if (job_ptr->qos_ptr)
		qos_flags = job_ptr->qos_ptr->flags;
	if (get_node_cnts(job_ptr, qos_flags, part_ptr, &low, &want, &high))
		return "limits";
	numbers->min_nodes = low;
	numbers->max_nodes = (high >= node_record_count) ? 0 : high;
	return _count_required(job_ptr, low, high, numbers);
}

/* ---- where nodes stand ---- */

/* Since when the job waits for few switches. */
static time_t _waits_since(const job_record_t *job_ptr)
{
	if (job_ptr->wait4switch_start)
		return job_ptr->wait4switch_start;
	return MAX(job_ptr->details->begin_time,
		   job_ptr->details->submit_time);
}

extern void auc_note_switch_wait(job_record_t *job_ptr)
{
	if (job_ptr->req_switch && !job_ptr->wait4switch_start)
		job_ptr->wait4switch_start = _waits_since(job_ptr);
}

static void _read_topology(const job_record_t *job_ptr,
			   const part_record_t *part_ptr,
			   struct aucsched_numbers *numbers)
{
	numbers->contiguous = job_ptr->details->contiguous;
	numbers->named = job_ptr->details->req_node_bitmap != NULL;
	numbers->elsewhere = auc_has_other_topology(part_ptr);
	numbers->own_blocks = auc_has_own_blocks(job_ptr, part_ptr);
	numbers->segment = auc_segment(job_ptr);
	numbers->arranged = auc_arranges_segments(job_ptr);
	if (job_ptr->req_switch &&
	    (time(NULL) - _waits_since(job_ptr) < job_ptr->wait4switch))
		numbers->switches = job_ptr->req_switch;
}

/* ---- memory and time ---- */

extern bool auc_is_whole(const job_record_t *job_ptr,
			 const part_record_t *part_ptr)
{
	return (job_ptr->details->whole_node == WHOLE_NODE_REQUIRED) ||
		!part_ptr->max_share;
}

static void _model_memory(job_record_t *job_ptr, part_record_t *part_ptr,
			  auc_request_t *request)
{
	uint16_t type = part_ptr->cr_type ? part_ptr->cr_type :
		slurm_conf.select_type_param;
	uint64_t memory = job_ptr->details->pn_min_memory;

	if (!(memory & ~MEM_PER_CPU)) {
		/*
		 * --mem=0, or no request and no default: all of a node's memory. An idle node
		 * has that.
		 */
		request->all_memory = (type & SELECT_MEMORY) &&
			!request->gpu_memory && !auc_is_whole(job_ptr, part_ptr);
		return;
	}
	request->memory = memory;
}

extern uint32_t auc_minutes(const job_record_t *job_ptr,
			    const part_record_t *part_ptr)
{
	uint32_t minutes = job_ptr->time_limit;
	int64_t left = (int64_t) job_ptr->deadline - time(NULL);

	if (minutes == NO_VAL)
		minutes = (part_ptr->default_time != NO_VAL) ?
			part_ptr->default_time : part_ptr->max_time;
	if (!auc_has_deadline(job_ptr) || (left < 60))
		return minutes;
	return MIN(minutes, left / 60);
}

/* ---- the whole ---- */

/* What is Slurm's for reasons that have nothing to do with cores and GPUs. */
static const char *_not_ours(job_record_t *job_ptr, part_record_t *part_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	const char *why = auc_out_of_scope(job_ptr, part_ptr);
	int len;

	if (why)
		return why;
	if (job_ptr->het_job_id)
		return "hetjob";
	if (job_ptr->fed_details)
		return "federation";
	if (auc_is_external(job_ptr))
		return "external";
	if (auc_is_expedited(job_ptr))
		return "expedited";
	if (job_ptr->burst_buffer)
		return "burst-buffer";
	if (auc_has_several_qos(job_ptr))
		return "qos";
	if (job_ptr->resv_list)	/* it may be locked, as that of QOS */
		return "reservation";
	if (job_ptr->mcs_label)
		return "exclusive";
	if ((part_ptr->max_share & SHARED_FORCE) || details->overcommit ||
	    ((part_ptr->max_share > 1) && (details->share_res == 1)))
		return "oversubscribe";
	if (job_ptr->reboot)
		return "reboot";
	if (details->expanding_jobid)
		return "expand";
	if (details->prefer || (auc_features(job_ptr, &len) == FEATURE_OP_XAND))
		return "features";
	return NULL;
}

static uint32_t _or_0_16(uint16_t value)
{
	return _set16(value) ? value : 0;
}

static void _read_numbers(const job_record_t *job_ptr,
			  const part_record_t *part_ptr, struct aucsched_numbers *n)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	const extent_t *extent = _extent(part_ptr);
	uint32_t most;

	n->asked_nodes = details->min_nodes;
	n->node_range = _is_node_range(job_ptr);
	n->tasks = _or_0(details->num_tasks);
	n->cpus_per_task = _or_0_16(details->cpus_per_task);
	n->tasks_per_node = _or_0_16(details->ntasks_per_node);
	n->min_cpus = details->min_cpus;
	n->max_cpus = _or_0(details->max_cpus);
	n->node_min_cpus = details->pn_min_cpus;
	n->whole = auc_is_whole(job_ptr, part_ptr);
	n->node_cores = extent->cores;
	n->most_nodes = extent->nodes;
	n->most_cores = extent->most_cores;
	n->most_gpus = extent->most_gpus;
	n->sockets = extent->sockets;
	if ((most = auc_most_cpus(part_ptr)))
		n->most_cores = MAX(MIN(n->most_cores, most / n->threads), 1);
}

extern struct aucsched_alternative auc_as_alternative(const struct aucsched_job *job)
{
	return (struct aucsched_alternative) {
		.cores = job->cores, .min_nodes = job->min_nodes,
		.max_nodes = job->max_nodes,
		.cores_per_node = job->cores_per_node,
		.min_gpus = job->min_gpus, .max_gpus = job->max_gpus,
		.flags = job->flags, .mask = job->mask, .share = job->share };
}

/* Requests that other jobs on the nodes matter for, or that stand for more than is shown. */
static void _read_company(const job_record_t *job_ptr,
			  const part_record_t *part_ptr, auc_request_t *request)
{
	if (auc_wants_own_nodes(job_ptr, part_ptr) ||
	    auc_most_cpus(part_ptr))
		request->loose = true;
	/* Slurm may give it less time, or further nodes. */
	if (job_ptr->time_min || job_ptr->details->req_node_bitmap)
		request->approximate = true;
}

static uint32_t _seconds(uint32_t minutes)
{
	if ((minutes == INFINITE) || (minutes == NO_VAL) ||
	    (minutes >= (AUCSCHED_NO_LIMIT - 1) / 60))
		return AUCSCHED_NO_LIMIT;
	return MAX(minutes, 1) * 60;
}

static void _set_layout(const struct aucsched_layout *layout,
			struct aucsched_job *job)
{
	job->cores = layout->cores;
	job->min_nodes = layout->min_nodes;
	job->max_nodes = layout->max_nodes;
	job->cores_per_node = layout->cores_per_node;
	job->min_gpus = layout->min_gpus;
	job->max_gpus = layout->max_gpus;
}

extern void auc_use_layout(const auc_request_t *request, int i,
			   struct aucsched_job *job)
{
	*job = request->job;
	if (i)
		_set_layout(&request->shape.layouts[i], job);
}

static const char *_model_shape(const struct aucsched_numbers *numbers,
				auc_request_t *request)
{
	static const char *const words[] = AUCSCHED_LEFT_WORDS;
	struct aucsched_shape *shape = &request->shape;
	int rc = auc_library_read(engine, AUC_CALL_SHAPE, 0, numbers,
				  sizeof(*numbers), shape, sizeof(*shape));

	if (rc)
		return (rc == AUC_UNREAD) ? auc_unread : "record";
	if (shape->left)
		return words[shape->left];
	_set_layout(shape->layouts, &request->job);
	request->job.switches = shape->switches;
	request->job.within = shape->within;
	request->job.segment = shape->segment;
	request->approximate |= shape->approximate;
	request->loose |= shape->loose;
	return NULL;
}

extern const char *auc_model(job_record_t *job_ptr, part_record_t *part_ptr,
			     auc_request_t *request)
{
	struct aucsched_numbers numbers = { 0 };
	const char *why;
	int names;

	memset(request, 0, sizeof(*request));
	request->job.mask = -1;
	if (!job_ptr->details || !part_ptr || !part_ptr->node_bitmap)
		return "record";
	if ((why = _not_ours(job_ptr, part_ptr)))
		return why;
	if (_asks_for_topology(job_ptr) || _extent(part_ptr)->keeps_cores)
		return "layout";
	numbers.threads = _threads(part_ptr);
	if (!numbers.threads || _other_granularity(part_ptr, numbers.threads))
		return "threads";
	if (!_read_threads(job_ptr, &numbers))
		return "layout";
	if (job_ptr->details->contiguous)
		request->job.flags |= AUCSCHED_CONTIGUOUS;
	if (auc_features(job_ptr, &names) == FEATURE_OP_MOR)
		request->features = names;
	if ((why = _model_gres(job_ptr, part_ptr, request, &numbers)) ||
	    (why = _count_nodes(job_ptr, part_ptr, &numbers)))
		return why;
	_read_numbers(job_ptr, part_ptr, &numbers);
	if (job_ptr->details->whole_node > WHOLE_NODE_USER)
		return "exclusive";
	_read_company(job_ptr, part_ptr, request);
	request->threads = numbers.threads;
	request->job.time_limit = _seconds(auc_minutes(job_ptr, part_ptr));
	_read_topology(job_ptr, part_ptr, &numbers);
	if ((why = _model_shape(&numbers, request)))
		return why;
	_model_memory(job_ptr, part_ptr, request);
	return NULL;
}

/*
 * A pending job's record with another request in it.
 *
 * Slurm starts a job with what its record asks for. So a job whose alternative has won
 * gets that request into its record, as slurmctld would have written it had the job been
 * submitted with it, and is started like any other; what it asked for first is kept, in
 * memory in case the start fails, and in a note on the job for when it is requeued. The
 * fields are set here and not by update_job(): that asks other plug-ins, lifts limits in
 * the name of the administrator, and can't be undone.
 */

/* What the environment of a batch script says of its request. */
#define NTASKS "SLURM_NTASKS"
#define NPROCS "SLURM_NPROCS"
#define NTASKS_PER_NODE "SLURM_NTASKS_PER_NODE"
#define GPUS_PER_NODE "SLURM_GPUS_PER_NODE"
#define WHICH "AUCSCHED_ALTERNATIVE"

static const char *variables[] = {
	NTASKS, NPROCS, NTASKS_PER_NODE, GPUS_PER_NODE, WHICH,
};

/* ---- the environment ---- */

static void _free_env(char **env, uint16_t len)
{
	for (int i = 0; i < len; i++)
		xfree(env[i]);
	xfree(env);
}

/* What Slurm lays over the environment that came with the job, except for ours; those for arrays stay. */
static char **_others(const job_record_t *job_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	char **env = xcalloc(details->env_cnt + 1, sizeof(char *));

	for (int i = 0; i < details->env_cnt; i++)
		env[i] = xstrdup(details->env_sup[i]);
	for (int i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenvp(env, variables[i]);
	return env;
}

/* Of the variables, those that came with the job. */
static void _came_with(job_record_t *job_ptr, bool *per_node, bool *gpus)
{
	uint32_t len = 0;
	char **env = get_job_env(job_ptr, &len);

	*per_node = *gpus = false;
	for (uint32_t i = 0; env && (i < len); i++) {
		*per_node |= !xstrncmp(env[i], NTASKS_PER_NODE "=",
				       sizeof(NTASKS_PER_NODE));
		*gpus |= !xstrncmp(env[i], GPUS_PER_NODE "=",
				   sizeof(GPUS_PER_NODE));
	}
	if (env && len)
		xfree(env[0]);	/* the text of them all */
	xfree(env);
}

/* srun in the script takes its defaults from these. */
static void _set_env(job_record_t *job_ptr, const auc_alternative_t *a,
		     int number, int gpus_each)
{
	char **env = _others(job_ptr);
	bool per_node, gpus;

	_came_with(job_ptr, &per_node, &gpus);
	env_array_overwrite_fmt(&env, NTASKS, "%u", a->tasks);
	env_array_overwrite_fmt(&env, NPROCS, "%u", a->tasks);
	/* It can't be taken away. As many as there are in all is no restriction. */
	if (a->per_node || per_node)
		env_array_overwrite_fmt(&env, NTASKS_PER_NODE, "%u", a->per_node ?
					a->per_node : a->tasks);
	if (gpus)
		env_array_overwrite_fmt(&env, GPUS_PER_NODE, "%s%s%u", a->gpus.type,
					a->gpus.type[0] ? ":" : "", gpus_each);
	env_array_overwrite_fmt(&env, WHICH, "%d", number);
	job_ptr->details->env_sup = env;
	job_ptr->details->env_cnt = envcount(env);
}

/* ---- the record ---- */

#define SWAPPED_FLAGS (JOB_NTASKS_SET | AUC_IMPLIED_MAX_NODES)

static void _keep(auc_kept_t *kept, job_record_t *job_ptr)
{
	AUC_SWAPPED(AUC_KEEP_JOB, AUC_KEEP_DETAIL)
	kept->bit_flags = job_ptr->bit_flags;
	job_ptr->admin_comment = xstrdup(kept->admin_comment);
	job_ptr->tres_per_node = NULL;
	job_ptr->gres_list_req = job_ptr->gres_list_req_accum = NULL;
}

/* The numbers of a request, as slurmctld writes them into a new job's record. */
static void _set_numbers(job_record_t *job_ptr, const auc_alternative_t *a)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	uint32_t per_task = MAX(details->cpus_per_task, 1);

	details->num_tasks = a->tasks;
	details->min_nodes = a->min_nodes;
	details->max_nodes = a->max_nodes;
	details->min_cpus = details->orig_min_cpus = a->tasks * per_task;
	details->max_cpus = details->orig_max_cpus = NO_VAL;
	details->ntasks_per_node = a->per_node;
	details->pn_min_cpus = (a->tasks > 1) && a->per_node ?
		a->per_node * per_task : per_task;
	details->orig_pn_min_cpus = details->pn_min_cpus;
	details->contiguous = a->contiguous;
	job_ptr->bit_flags &= ~AUC_IMPLIED_MAX_NODES;
	job_ptr->bit_flags |= JOB_NTASKS_SET;
}

static int _set_gres(job_record_t *job_ptr, const auc_gpus_t *gpus)
{
	auc_note_drop(&job_ptr->admin_comment, AUC_RANGE_NOTE);
	if (!gpus->high)
		return SLURM_SUCCESS;
	job_ptr->tres_per_node = xstrdup_printf(AUC_GRES_PREFIX "gpu:%s%s%u",
						gpus->type, gpus->type[0] ? ":" : "",
						gpus->low);
	if (gpus->low < gpus->high)
		auc_range_add_note(&job_ptr->admin_comment, gpus);
	return auc_gres_validate(job_ptr);
}

extern int auc_swap(job_record_t *job_ptr, const auc_alternative_t *a,
		    auc_kept_t *kept)
{
	int rc;

	/* More CPUs a task than at submission, MaxMemPerCPU may have made it. */
	if (!a->tasks)
		return ESLURM_TOO_MANY_REQUESTED_CPUS;
	_keep(kept, job_ptr);
	_set_numbers(job_ptr, a);
	if ((rc = _set_gres(job_ptr, &a->gpus)))
		auc_swap_back(job_ptr, kept);
	return rc;
}

/* The sums of what a pending job asks for, whatever it has had in an earlier run. */
static void _set_tres(job_record_t *job_ptr)
{
	uint32_t cpus = job_ptr->total_cpus, nodes = job_ptr->node_cnt;

	job_ptr->total_cpus = job_ptr->node_cnt = 0;
	job_set_req_tres(job_ptr, false);
	job_ptr->total_cpus = cpus;
	job_ptr->node_cnt = nodes;
}

/* What the job asked for first, for when it is in the queue again. */
static bool _note_first(job_record_t *job_ptr, const auc_kept_t *kept)
{
	auc_gpus_t range;
	auc_first_t first = {
#define FROM_KEPT(form, x) .x = kept->x,
		AUC_FIRST(FROM_KEPT)
		.flags = ((kept->bit_flags & JOB_NTASKS_SET) ?
			  AUC_FIRST_TASKS : 0) |
			((kept->bit_flags & AUC_IMPLIED_MAX_NODES) ?
			 AUC_FIRST_IMPLIED : 0),
		.tres_per_node = kept->tres_per_node,
	};

	if (auc_range_read_note(kept->admin_comment, &range)) {
		first.low = range.low;
		first.high = range.high;
	}
	return auc_first_set_note(&job_ptr->admin_comment, &first);
}

extern int auc_swap_for_start(job_record_t *job_ptr,
			      const auc_alternative_t *a, int number, int gpus,
			      auc_kept_t *kept)
{
	int rc = auc_swap(job_ptr, a, kept);

	if (rc)
		return rc;
	if (!_note_first(job_ptr, kept)) {
		auc_swap_back(job_ptr, kept);
		return ESLURM_INVALID_GRES;
	}
	_set_env(job_ptr, a, number, gpus);
	job_ptr->tres_req_cnt = NULL;
	job_ptr->tres_req_str = job_ptr->tres_fmt_req_str = NULL;
	_set_tres(job_ptr);
	return SLURM_SUCCESS;
}

/* Frees what is not what was kept: the other of the two requests. */
#define FREE_OTHER(mine, kept_)						\
	do {								\
		if ((mine) != (kept_))					\
			xfree(mine);					\
	} while (0)

extern void auc_swap_back(job_record_t *job_ptr, auc_kept_t *kept)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	FREE_OTHER(job_ptr->admin_comment, kept->admin_comment);
	FREE_OTHER(job_ptr->tres_per_node, kept->tres_per_node);
	FREE_OTHER(job_ptr->tres_req_cnt, kept->tres_req_cnt);
	FREE_OTHER(job_ptr->tres_req_str, kept->tres_req_str);
	FREE_OTHER(job_ptr->tres_fmt_req_str, kept->tres_fmt_req_str);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	if (details->env_sup != kept->env_sup)
		_free_env(details->env_sup, details->env_cnt);
	/* Of these an attempt to start it sets some too. */
	AUC_SWAPPED(AUC_BACK_JOB, AUC_BACK_DETAIL)
	job_ptr->bit_flags &= ~SWAPPED_FLAGS;
	job_ptr->bit_flags |= kept->bit_flags & SWAPPED_FLAGS;
}

extern void auc_kept_free(auc_kept_t *kept)
{
	xfree(kept->admin_comment);
	xfree(kept->tres_per_node);
	xfree(kept->tres_req_cnt);
	xfree(kept->tres_req_str);
	xfree(kept->tres_fmt_req_str);
	FREE_NULL_LIST(kept->gres_list_req);
	FREE_NULL_LIST(kept->gres_list_req_accum);
	_free_env(kept->env_sup, kept->env_cnt);
	memset(kept, 0, sizeof(*kept));
}

/* ---- back in the queue ---- */

/* The cluster has no such gres any more. */
static void _hold(job_record_t *job_ptr)
{
	error("aucsched: %pJ is held: its first request, %s, is not valid any more",
	      job_ptr, job_ptr->tres_per_node);
	job_ptr->priority = 0;
	job_ptr->state_reason = WAIT_HELD;
	xfree(job_ptr->state_desc);
}

static void _restore_first(job_record_t *job_ptr, const auc_first_t *first)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	char **env = _others(job_ptr);

	_free_env(details->env_sup, details->env_cnt);
	details->env_sup = env;
	details->env_cnt = envcount(env);
#define TO_DETAILS(form, x) details->x = first->x;
	AUC_FIRST(TO_DETAILS)
	details->min_cpus = details->orig_min_cpus;
	details->max_cpus = details->orig_max_cpus;
	details->pn_min_cpus = details->orig_pn_min_cpus;
	job_ptr->bit_flags &= ~SWAPPED_FLAGS;
	if (first->flags & AUC_FIRST_TASKS)
		job_ptr->bit_flags |= JOB_NTASKS_SET;
	if (first->flags & AUC_FIRST_IMPLIED)
		job_ptr->bit_flags |= AUC_IMPLIED_MAX_NODES;
	auc_note_drop(&job_ptr->admin_comment, AUC_FIRST_NOTE);
	auc_note_drop(&job_ptr->admin_comment, AUC_RANGE_NOTE);
	if (first->high)
		auc_range_add_note_of(&job_ptr->admin_comment,
				      first->tres_per_node, first->low,
				      first->high);
	xfree(job_ptr->tres_per_node);
	job_ptr->tres_per_node = xstrdup(first->tres_per_node);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	if (job_ptr->tres_per_node && auc_gres_validate(job_ptr))
		_hold(job_ptr);
	/* scontrol would show those of the last run. */
	job_ptr->total_nodes = job_ptr->node_cnt_wag = 0;
	_set_tres(job_ptr);
	last_job_update = time(NULL);
}

static void _back_to_first(job_record_t *job_ptr)
{
	auc_first_t first;

	if (!auc_first_find_note(job_ptr->admin_comment, &first))
		return;
	_restore_first(job_ptr, &first);
	info("aucsched: %pJ asks for its first request again", job_ptr);
	xfree(first.tres_per_node);
}

extern void auc_update_judge(job_record_t *job_ptr)
{
	if (!auc_update_settle(job_ptr))
		return;
	info("aucsched: %pJ has been changed: what else it asked for is gone",
	     job_ptr);
	last_job_update = time(NULL);
}

extern void auc_requests_restore(void)
{
	job_record_t *job_ptr;

	AUC_EACH(job_ptr, job_list) {
		if (!job_ptr->admin_comment || !IS_JOB_PENDING(job_ptr) ||
		    IS_JOB_COMPLETING(job_ptr) || !job_ptr->details)
			continue;
		auc_update_judge(job_ptr);
		_back_to_first(job_ptr);
		_back_to_range(job_ptr);
	}
}
