/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "start.h"

/* What a running job holds of the further resources on one node: equal ones compare equal by memcmp(). */
typedef struct {
	uint32_t amounts[AUC_RESOURCES];
} holding_t;

/* What a job holds of one GPU of a node. */
typedef struct {
	uint32_t share;		/* 0: none, or nobody can tell of which */
	uint8_t bin;		/* of the library */
} share_t;

/* ---- The nodes, before running jobs are looked at: node read lock ---- */

extern uint32_t auc_gpu_type(const gres_node_state_t *gpus)
{
	uint32_t type = 0;

	for (int i = 0; i < gpus->type_cnt; i++) {
		if (i && (gpus->type_id[i] != type))
			return AUC_GPU_TYPES;
		type = gpus->type_id[i];
	}
	return type;
}

/* Whether the node tells its devices of a gres apart, by type. */
static bool _tells_types(const gres_node_state_t *here)
{
	return here->topo_cnt && here->topo_gres_bitmap && here->topo_type_id;
}

/* How many devices of the type there are among some; NULL: in all. */
static uint64_t _devices(const gres_node_state_t *here, uint32_t type,
			 bitstr_t *some)
{
	uint64_t count = 0;

	for (int t = 0; t < here->topo_cnt; t++) {
		bitstr_t *of = here->topo_gres_bitmap[t];

		if (!of || (here->topo_type_id[t] != type))
			continue;
		if (!some)
			count += bit_set_count(of);
		else if (bit_size(of) == bit_size(some))
			count += bit_overlap(of, some);
	}
	return count;
}

/* How many of a gres nobody holds, of the type; type 0: of all. Job and node read locks. */
static uint64_t _free_gres(const gres_node_state_t *gres, uint32_t type)
{
	uint64_t count = 0;

	if (!type)
		return gres->gres_cnt_avail - MIN(gres->gres_cnt_alloc,
						  gres->gres_cnt_avail);

	/* Jobs that ask for no type are not counted by type. */
	if (_tells_types(gres) && gres->gres_bit_alloc)
		return _devices(gres, type, NULL) -
			_devices(gres, type, gres->gres_bit_alloc);
	for (int i = 0; i < gres->type_cnt; i++)
		if ((gres->type_id[i] == type) &&
		    (gres->type_cnt_alloc[i] < gres->type_cnt_avail[i]))
			count += gres->type_cnt_avail[i] -
				gres->type_cnt_alloc[i];
	return count;
}

/* Up, and neither completing nor resuming nor anybody's as a whole nor external. */
extern bool auc_takes_jobs(int n)
{
	return bit_test(avail_node_bitmap, n) &&
		bit_test(share_node_bitmap, n) &&
		!bit_test(cg_node_bitmap, n) && !bit_test(rs_node_bitmap, n) &&
		!auc_is_external_node(n);
}

static void _add_node(auc_snapshot_t *s, int n)
{
	node_record_t *node_ptr = node_record_table_ptr[n];
	struct aucsched_node *node = &s->nodes[n];
	gres_node_state_t *gpus;

	memset(node, 0, sizeof(*node));
	s->gpu_type[n] = 0;
	s->spare_gpus[n] = 0;
	if (!node_ptr)
		return;		/* a gap in the table, of a dynamic node that left */
	node->cores = node->free_cores = node_ptr->tot_cores;
	if (node_ptr->node_spec_bitmap)
		node->free_cores = MIN(node->cores,
			bit_set_count(node_ptr->node_spec_bitmap));
	node->up = bit_test(avail_node_bitmap, n);
	if ((gpus = auc_node_gpus(node_ptr))) {
		uint64_t held = MIN(gpus->gres_cnt_alloc, gpus->gres_cnt_avail);

		node->gpus = MIN(gpus->gres_cnt_avail, 15);
		node->free_gpus = MIN(gpus->gres_cnt_avail - held, node->gpus);
		s->spare_gpus[n] = node->gpus;
		s->gpu_type[n] = auc_gpu_type(gpus);
	}
}

/* Every node of the table, as if no job were running; free GPUs as Slurm counts them. */
static void _add_nodes(auc_snapshot_t *s)
{
	AUC_GROW(s->nodes, s->nodes_cap, node_record_count);
	AUC_GROW(s->gpu_type, s->gpu_type_cap, node_record_count);
	AUC_GROW(s->spare_gpus, s->spare_gpus_cap, node_record_count);
	s->in.nodes_len = node_record_count;
	s->in.mask_words = (node_record_count + 63) / 64;
	for (int n = 0; n < node_record_count; n++)
		_add_node(s, n);
}

/* ---- Which nodes are to be used first ---- */

/* Whether the least loaded of the partition's nodes come first. */
static bool _is_lln(const part_record_t *part_ptr)
{
	return (part_ptr->flags & PART_FLAG_LLN) ||
		(slurm_conf.select_type_param & SELECT_LLN);
}

/*
 * Weight, sleep, and LLN of partitions or CR_LLN, for which what starts in the same cycle doesn't count. The
 * library goes by it.
 */
static void _add_preferences(auc_snapshot_t *s)
{
	part_record_t *part_ptr;
	bitstr_t *spread = bit_alloc(node_record_count);

	AUC_EACH(part_ptr, part_list)
		if (part_ptr->node_bitmap && _is_lln(part_ptr))
			bit_or(spread, part_ptr->node_bitmap);
	AUC_GROW(s->preferences, s->preferences_cap, s->in.nodes_len);
	s->in.preferences_len = s->in.nodes_len;
	for (int n = 0; n < s->in.nodes_len; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];

		s->preferences[n] = (struct aucsched_preference) {
			.weight = node_ptr && node_ptr->config_ptr ?
				node_ptr->config_ptr->weight : 0,
			.asleep = node_ptr && (IS_NODE_POWERED_DOWN(node_ptr) ||
					       IS_NODE_POWERING_DOWN(node_ptr)),
			.spread = bit_test(spread, n) };
	}
	FREE_NULL_BITMAP(spread);
}

/*
 * Shares of GPUs.
 *
 * A gres that shares GPUs has a topology of one record a GPU. Bins of the library that are in use
 * have the number of their record plus 1.
 */

/* Whether somebody has the GPU of a record as a whole. */
static bool _is_whole(const gres_node_state_t *shares,
		      const gres_node_state_t *gpus, int t)
{
	bitstr_t *of = shares->topo_gres_bitmap[t];

	return gpus && gpus->gres_bit_alloc &&
		(bit_size(of) == bit_size(gpus->gres_bit_alloc)) &&
		bit_overlap_any(of, gpus->gres_bit_alloc);
}

/* How many shares each of a node's GPUs has at least; 0: the library can't count them. */
static uint32_t _size(const auc_snapshot_t *s, int n,
		      const gres_node_state_t *shares,
		      const gres_node_state_t *gpus)
{
	uint64_t least = INT32_MAX;

	if (!shares || !gpus || shares->no_consume ||
	    !auc_shares_are_known(shares) || !gpus->gres_bit_alloc ||
	    (gpus->gres_cnt_avail > AUCSCHED_MAX_GPUS) ||
	    (shares->topo_cnt != gpus->gres_cnt_avail) ||
	    (s->gpu_type[n] == AUC_GPU_TYPES))
		return 0;
	for (int t = 0; t < shares->topo_cnt; t++) {
		bitstr_t *of = shares->topo_gres_bitmap[t];

		if (!of || (t >= bit_size(of)) || !bit_test(of, t) ||
		    (bit_set_count(of) != 1))
			return 0;
		least = MIN(least, shares->topo_gres_cnt_avail[t]);
	}
	return least;
}

/* The GPUs of node n that are in shared use. */
static void _add_shared(auc_snapshot_t *s, int n,
			const gres_node_state_t *shares,
			const gres_node_state_t *gpus)
{
	struct aucsched_node *node = &s->nodes[n];
	uint32_t size = s->share_sizes[n];

	for (int t = 0; size && (t < shares->topo_cnt); t++) {
		uint64_t held = MIN(shares->topo_gres_cnt_alloc[t], size);

		/* Who has it as a whole as well is counted so. */
		if (!held || _is_whole(shares, gpus, t) ||
		    (node->free_gpus + s->in.shared_gpus_len - s->first_shared[n] >=
		     node->gpus))
			continue;
		AUC_GROW(s->unheld_shares, s->unheld_shares_cap,
			 s->in.shared_gpus_len + 1);
		s->unheld_shares[s->in.shared_gpus_len] = held;
		AUC_ADD(s, shared_gpus, (struct aucsched_shared_gpu) { n, size - held, t + 1 });
	}
}

/* How many shares nodes' GPUs have, and which of these are in shared use; they are not free as a whole. */
static void _add_shares(auc_snapshot_t *s)
{
	AUC_GROW(s->first_shared, s->first_shared_cap, node_record_count + 1);
	s->in.shared_gpus_len = s->in.share_sizes_len = 0;
	for (int n = 0; n < node_record_count; n++) {
		struct aucsched_node *node = &s->nodes[n];
		int shared = auc_shared_gpus(node_record_table_ptr[n]);

		node->free_gpus -= MIN(shared, node->free_gpus);
		s->spare_gpus[n] -= MIN(shared, s->spare_gpus[n]);
	}
	if (!auc_share_gres())
		return;
	AUC_GROW(s->share_sizes, s->share_sizes_cap, node_record_count);
	AUC_GROW(s->devices, s->devices_cap,
		 (size_t) node_record_count * AUC_BINS);
	memset(s->devices, 0, (size_t) node_record_count * AUC_BINS);
	s->in.share_sizes_len = node_record_count;
	for (int n = 0; n < node_record_count; n++) {
		node_record_t *node_ptr = node_record_table_ptr[n];
		gres_node_state_t *shares =
			auc_node_gres(node_ptr, auc_share_gres());
		gres_node_state_t *gpus = auc_node_gpus(node_ptr);

		s->first_shared[n] = s->in.shared_gpus_len;
		s->share_sizes[n] = _size(s, n, shares, gpus);
		_add_shared(s, n, shares, gpus);
	}
	s->first_shared[node_record_count] = s->in.shared_gpus_len;
}

/* Where a bin of a node is in the snapshot's, -1 if it is not in use. */
static int _find_shared(const auc_snapshot_t *s, int n, uint8_t bin)
{
	if (!s->in.share_sizes_len)
		return -1;
	for (uint32_t i = s->first_shared[n]; i < s->first_shared[n + 1]; i++)
		if (s->shared_gpus[i].bin == bin)
			return i;
	return -1;
}

static const gres_job_state_t *_held_shares(const job_record_t *job_ptr,
					    int at)
{
	const gres_job_state_t *held;
	gres_state_t *gres;

	AUC_EACH(gres, job_ptr->gres_list_alloc) {
		held = gres->gres_data;
		if ((gres->plugin_id == auc_share_gres()) && (at < held->node_cnt) &&
		    held->gres_bit_alloc && held->gres_bit_alloc[at] &&
		    held->gres_cnt_node_alloc)
			return held;
	}
	return NULL;
}

/*
 * What a running job holds on node n, its number at, to be told once. It is taken off what
 * nobody has told of.
 */
static share_t _take_share(auc_snapshot_t *s, const job_record_t *job_ptr,
			       int n, int at)
{
	const gres_job_state_t *held;
	share_t taken = { 0 };
	int i;

	if (!s->in.share_sizes_len || !s->share_sizes[n] ||
	    !(held = _held_shares(job_ptr, at)) ||
	    (bit_set_count(held->gres_bit_alloc[at]) != 1) ||
	    ((i = _find_shared(s, n, bit_ffs(held->gres_bit_alloc[at]) + 1)) < 0))
		return taken;
	/* No more than is held of the GPU, by all jobs together. */
	taken.share = MIN(held->gres_cnt_node_alloc[at], s->unheld_shares[i]);
	taken.bin = taken.share ? s->shared_gpus[i].bin : 0;
	s->unheld_shares[i] -= taken.share;
	return taken;
}

/* ---- starts ---- */

static bool _has_room(const gres_node_state_t *shares,
		      const gres_node_state_t *gpus, int t, uint32_t share)
{
	return (t < shares->topo_cnt) && shares->topo_gres_bitmap[t] &&
		!_is_whole(shares, gpus, t) &&
		(shares->topo_gres_cnt_alloc[t] + share <=
		 shares->topo_gres_cnt_avail[t]);
}

/* A GPU that nobody has anything of. */
static int _idle_gpu(const gres_node_state_t *shares,
		     const gres_node_state_t *gpus, uint32_t share,
		     bitstr_t *cores)
{
	for (int far = 0; far <= 1; far++)
		for (int t = 0; t < shares->topo_cnt; t++)
			if (!shares->topo_gres_cnt_alloc[t] &&
			    _has_room(shares, gpus, t, share) &&
			    (far || auc_is_near(gpus, t, cores)))
				return t;
	return -1;
}

extern int auc_share_device(const auc_snapshot_t *s, int n, uint8_t bin,
			    uint32_t share, bitstr_t *cores)
{
	const node_record_t *node_ptr = node_record_table_ptr[n];
	const gres_node_state_t *shares, *gpus;
	uint8_t *chosen;
	int t;

	if (!s->in.share_sizes_len || !s->share_sizes[n] || !node_ptr ||
	    !bin || (bin > AUC_BINS))
		return -1;
	shares = auc_node_gres(node_ptr, auc_share_gres());
	gpus = auc_node_gpus(node_ptr);
	if (!shares || !gpus || !auc_shares_are_known(shares))
		return -1;
	chosen = &s->devices[(size_t) n * AUC_BINS + bin - 1];
	if (_find_shared(s, n, bin) >= 0)
		t = bin - 1;
	else if (*chosen)
		t = *chosen - 1;
	else
		t = _idle_gpu(shares, gpus, share, cores);
	if ((t < 0) || !_has_room(shares, gpus, t, share))
		return -1;
	*chosen = t + 1;
	return t;
}

/*
 * The library's further resources. The first are counted by the cluster's own rules, from what jobs hold:
 * memory, in MB; where a job of the queue takes all of its nodes' memory, who has some of it, of which such a
 * job takes as much as there is; and CPUs of partitions of which jobs may have so many on a node.
 *
 * Then each type of GPU that some node has beside another, up to what there is room for; jobs that
 * ask for such a type use one of it per GPU. Nodes of one type alone need none: masks tell them apart.
 * Then each other gres, and each type of it; shares of GPUs do not count as one.
 */

/* More than jobs that hold memory of one node. */
#define MOST_HOLDERS 4096

extern bool auc_consumes_memory(const part_record_t *part_ptr)
{
	return (part_ptr->cr_type ? part_ptr->cr_type :
		slurm_conf.select_type_param) & SELECT_MEMORY;
}

extern uint64_t auc_all_memory(int n)
{
	const node_record_t *node_ptr = node_record_table_ptr[n];

	return !node_ptr ? 0 : node_ptr->real_memory -
		MIN(node_ptr->mem_spec_limit, node_ptr->real_memory);
}

extern bool auc_counts_gres(const auc_snapshot_t *s, uint32_t gres,
			    uint32_t type)
{
	for (uint32_t r = 0; r < s->in.resources_len; r++)
		if ((s->kinds[r].of == AUC_GRES) && (s->kinds[r].gres == gres) &&
		    (s->kinds[r].type == type))
			return true;
	return false;
}

static struct aucsched_amount *_amount(auc_snapshot_t *s, uint32_t r, int n)
{
	return &s->amounts[(size_t) r * s->in.nodes_len + n];
}

static void _add_kind(auc_snapshot_t *s, auc_kind_t kind)
{
	if ((s->in.resources_len < AUC_RESOURCES) &&
	    ((kind.of != AUC_GRES) || !auc_counts_gres(s, kind.gres, kind.type)))
		s->kinds[s->in.resources_len++] = kind;
}

static void _add_types(auc_snapshot_t *s, uint32_t gres,
		       const gres_node_state_t *here)
{
	for (int i = 0; i < here->type_cnt; i++)
		_add_kind(s, (auc_kind_t) { AUC_GRES, gres, here->type_id[i] });
}

/* All gres of a node that are neither GPUs nor shares of these. */
static void _add_others(auc_snapshot_t *s, const node_record_t *node_ptr)
{
	gres_state_t *gres;

	if (!node_ptr)
		return;
	AUC_EACH(gres, node_ptr->gres_list) {
		if (auc_gres_is_gpu(gres->plugin_id) ||
		    auc_gres_is_share(gres->plugin_id))
			continue;
		_add_kind(s, (auc_kind_t) { AUC_GRES, gres->plugin_id });
		_add_types(s, gres->plugin_id, gres->gres_data);
	}
}

static void _add_rules(auc_snapshot_t *s)
{
	part_record_t *part_ptr;
	job_record_t *job_ptr;
	bool memory = false, all = false;

	AUC_EACH(part_ptr, part_list)
		memory |= auc_consumes_memory(part_ptr);
	AUC_EACH(job_ptr, memory ? job_list : NULL)
		all |= IS_JOB_PENDING(job_ptr) && job_ptr->details &&
			!(job_ptr->details->pn_min_memory & ~MEM_PER_CPU);
	if (memory)
		_add_kind(s, (auc_kind_t) { AUC_MEMORY });
	if (all)
		_add_kind(s, (auc_kind_t) { AUC_MEMORY_HOLDERS });
	AUC_EACH(part_ptr, part_list)
		if (auc_most_cpus(part_ptr))
			_add_kind(s, (auc_kind_t) { AUC_PART_CPUS, .part_ptr = part_ptr });
}

/* A gres of the type, whoever holds it; type 0: all. */
static uint32_t _all_of_type(const gres_node_state_t *gres, uint32_t type)
{
	uint64_t count = type ? 0 : gres->gres_cnt_avail;

	for (int i = 0; type && (i < gres->type_cnt); i++)
		if (gres->type_id[i] == type)
			count += gres->type_cnt_avail[i];
	return MIN(count, INT32_MAX);
}

/* What a node has in all, and of gres what is free. */
static void _add_amount(auc_snapshot_t *s, uint32_t r, int n)
{
	const auc_kind_t *kind = &s->kinds[r];
	struct aucsched_amount *a = _amount(s, r, n);
	node_record_t *node_ptr = node_record_table_ptr[n];
	gres_node_state_t *gres;

	a->total = 0;
	switch (kind->of) {
	case AUC_MEMORY:
		a->total = MIN(auc_all_memory(n), INT32_MAX);
		break;
	case AUC_MEMORY_HOLDERS:
		a->total = MOST_HOLDERS;
		break;
	case AUC_PART_CPUS:
		a->total = MIN(auc_most_cpus(kind->part_ptr), INT32_MAX);
		break;
	case AUC_GRES:
		gres = auc_node_gres(node_ptr, kind->gres);
		if (gres)
			a->total = _all_of_type(gres, kind->type);
		a->free = gres ? MIN(_free_gres(gres, kind->type), a->total) : 0;
		if (auc_gres_is_gpu(kind->gres) && !s->nodes[n].free_gpus)
			a->free = 0;
		s->unheld[(size_t) r * s->in.nodes_len + n] = a->total - a->free;
		return;
	}
	a->free = a->total;
}

/* Says which there are, and what nodes have in all. */
static void _add_resources(auc_snapshot_t *s)
{
	uint32_t gpu = gres_build_id("gpu");

	s->in.resources_len = 0;
	_add_rules(s);
	for (int n = 0; n < node_record_count; n++)
		if (s->gpu_type[n] == AUC_GPU_TYPES)
			_add_types(s, gpu, auc_node_gpus(node_record_table_ptr[n]));
	for (int n = 0; n < node_record_count; n++)
		_add_others(s, node_record_table_ptr[n]);
	AUC_GROW(s->amounts, s->amounts_cap,
		 (size_t) s->in.resources_len * s->in.nodes_len);
	AUC_GROW(s->unheld, s->unheld_cap,
		 (size_t) s->in.resources_len * s->in.nodes_len);
	for (uint32_t r = 0; r < s->in.resources_len; r++)
		for (int n = 0; n < node_record_count; n++)
			_add_amount(s, r, n);
}

/* How many of a kind the job holds on its node number at, by one of its records of the gres. */
static uint64_t _held_by(const gres_job_state_t *held,
			 const gres_node_state_t *here, int at, uint32_t type)
{
	if (at >= held->node_cnt)
		return 0;
	if (type && _tells_types(here) && held->gres_bit_alloc &&
	    held->gres_bit_alloc[at])
		return _devices(here, type, held->gres_bit_alloc[at]);
	if ((!type || (held->type_id == type)) && held->gres_cnt_node_alloc)
		return held->gres_cnt_node_alloc[at];
	return 0;
}

static uint64_t _held_gres(const job_record_t *job_ptr, const auc_kind_t *kind,
			   int n, int at)
{
	const gres_node_state_t *here =
		auc_node_gres(node_record_table_ptr[n], kind->gres);
	uint64_t count = 0;
	gres_state_t *gres;

	AUC_EACH(gres, here ? job_ptr->gres_list_alloc : NULL)
		if (gres->plugin_id == kind->gres)
			count += _held_by(gres->gres_data, here, at, kind->type);
	return count;
}

/* All GPUs that a job holds on node n, its number at, of whatever type. */
static uint8_t _held_gpus(const job_record_t *job_ptr, int n, int at)
{
	auc_kind_t gpus = { .of = AUC_GRES, .gres = gres_build_id("gpu") };

	return MIN(_held_gres(job_ptr, &gpus, n, at), AUCSCHED_MAX_GPUS);
}

/*
 * What a job holds on node n, its number at, which is taken off the node.
 * IN cores - that Slurm gave it there
 */
static void _take_holding(auc_snapshot_t *s, const job_record_t *job_ptr,
			  int n, int at, int cores, holding_t *holding)
{
	const job_resources_t *held = job_ptr->job_resrcs;
	uint64_t memory = held->memory_allocated ? held->memory_allocated[at] : 0;

	memset(holding, 0, sizeof(*holding));
	for (uint32_t r = 0; r < s->in.resources_len; r++) {
		const auc_kind_t *kind = &s->kinds[r];
		uint32_t *left = &_amount(s, r, n)->free;
		uint64_t amount = 0;

		/* No more than the node says that is held, by all jobs together. */
		if (kind->of == AUC_GRES)
			left = &s->unheld[(size_t) r * s->in.nodes_len + n];
		if (!*left)
			continue;
		if (kind->of == AUC_GRES)
			amount = _held_gres(job_ptr, kind, n, at);
		else if (kind->of == AUC_MEMORY)
			amount = memory;
		else if (kind->of == AUC_MEMORY_HOLDERS)
			amount = memory > 0;
		else if (kind->part_ptr == job_ptr->part_ptr)
			amount = (uint64_t) cores * auc_threads_of(node_record_table_ptr[n]);
		holding->amounts[r] = MIN(amount, *left);
		*left -= holding->amounts[r];
	}
}

/* The running job that was added last holds this on each of its nodes. */
static void _add_running_uses(auc_snapshot_t *s, const holding_t *holding)
{
	for (uint32_t r = 0; r < s->in.resources_len; r++)
		if (holding->amounts[r])
			AUC_ADD(s, running_uses, (struct aucsched_use) {
				.of = s->in.running_len - 1, .resource = r,
				.per_node = holding->amounts[r] });
}

/* What a request uses of a kind; nothing is all zeros. */
static struct aucsched_use _use(const auc_kind_t *kind,
				const auc_request_t *request,
				const part_record_t *part_ptr)
{
	uint64_t memory = auc_consumes_memory(part_ptr) ?
		request->memory & ~MEM_PER_CPU : 0;
	uint64_t gpu_memory = auc_consumes_memory(part_ptr) ?
		request->gpu_memory : 0;
	struct aucsched_use use = { 0 };

	switch (kind->of) {
	case AUC_MEMORY:
		if (gpu_memory)
			use.per_gpu = MIN(gpu_memory, INT32_MAX);
		else if (request->memory & MEM_PER_CPU)
			use.per_core = MIN(memory * request->threads, INT32_MAX);
		else
			use.per_node = MIN(memory, INT32_MAX);
		break;
	case AUC_MEMORY_HOLDERS:
		use.per_node = request->all_memory ? MOST_HOLDERS :
			memory || gpu_memory;
		break;
	case AUC_PART_CPUS:
		if (kind->part_ptr == part_ptr)
			use.per_core = request->threads;
		break;
	case AUC_GRES:
		use.per_gpu = auc_gres_is_gpu(kind->gres) && kind->type &&
			(kind->type == request->gpu_type);
		for (int i = 0; i < request->more_len; i++)
			if ((request->more[i].gres == kind->gres) &&
			    ((request->more[i].type == kind->type) || !kind->type))
				use.per_node = MIN((uint64_t) use.per_node +
						   request->more[i].count, INT32_MAX);
		break;
	}
	return use;
}

/* By ascending resource. */
extern void auc_add_uses(auc_snapshot_t *s, bool alternative,
			 const auc_request_t *request,
			 const part_record_t *part_ptr)
{
	for (uint32_t r = 0; r < s->in.resources_len; r++) {
		struct aucsched_use use = _use(&s->kinds[r], request, part_ptr);

		if (!use.per_node && !use.per_core && !use.per_gpu)
			continue;
		use.of = alternative ? s->in.alternatives_len : s->in.jobs_len;
		use.resource = r;
		if (alternative)
			AUC_ADD(s, alternative_uses, use);
		else
			AUC_ADD(s, job_uses, use);
	}
}

/* The same as _take_holding() of a node of a place that is kept for a job, by the job's request. */
static void _take_promise(auc_snapshot_t *s, const auc_request_t *request,
			  const part_record_t *part_ptr,
			  const struct aucsched_segment *segment, int n,
			  holding_t *holding)
{
	memset(holding, 0, sizeof(*holding));
	for (uint32_t r = 0; r < s->in.resources_len; r++) {
		struct aucsched_use use = _use(&s->kinds[r], request, part_ptr);
		struct aucsched_amount *a = _amount(s, r, n);
		uint64_t want = use.per_node +
			(uint64_t) use.per_core * segment->cores +
			(uint64_t) use.per_gpu * segment->gpus;

		if ((s->kinds[r].of == AUC_MEMORY) && request->all_memory)
			want = a->free;
		holding->amounts[r] = MIN(want, a->free);
		a->free -= holding->amounts[r];
	}
}

/* ---- Input files that jobs read, and nodes hold ---- */

/* What nodes keep of files; nothing with auc_locality=no. */
static void _add_stores(auc_snapshot_t *s, const auc_settings_t *settings)
{
	if (!settings->locality)
		return;
	AUC_GROW(s->stores, s->stores_cap, s->in.nodes_len);
	s->in.stores_len = s->in.nodes_len;
	for (int n = 0; n < s->in.nodes_len; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		struct aucsched_store *store = &s->stores[n];
		uint64_t mb;

		memset(store, 0, sizeof(*store));
		if (!node_ptr)
			continue;
		mb = node_ptr->real_memory;
		store->id = auc_id_of(node_ptr->name, strlen(node_ptr->name));
		store->bytes = MIN(mb, AUCSCHED_MAX_FILE >> 20) << 20;
	}
}

extern bool auc_add_read(auc_snapshot_t *s, const job_record_t *job_ptr, bool runs)
{
	struct aucsched_read read = { 0 };
	size_t found;

	if (!s->in.stores_len ||
	    !auc_note_find(job_ptr->comment, AUC_INPUT_NOTE, &found) ||
	    auc_library_read(s->library, AUC_CALL_INPUT_FILE, 0, job_ptr->comment,
			     strlen(job_ptr->comment) + 1, &read, sizeof(read)) ||
	    !read.file)
		return false;
	read.job = runs ? s->in.running_len : s->in.jobs_len;
	if (runs)
		AUC_ADD(s, running_reads, read);
	else
		AUC_ADD(s, job_reads, read);
	return true;
}

/* ---- What running jobs hold of the nodes, and until when: job and node read locks ---- */

/*
 * Adds what a job has on node n, joined to its segment before where that is alike.
 * IN bin - the GPU in shared use that has the job's share; 0: none
 */
static void _add_segment(auc_snapshot_t *s, struct aucsched_running *running,
			 int n, uint16_t cores, uint8_t gpus, uint8_t bin)
{
	struct aucsched_segment *last = !running->segments ? NULL :
		&s->running_segments[s->in.running_segments_len - 1];

	if (last && (last->last + 1 == n) && (last->cores == cores) &&
	    (last->gpus == gpus) && !last->bin && !bin) {
		last->last = n;
		return;
	}
	AUC_ADD(s, running_segments, (struct aucsched_segment) { n, n, cores, gpus, bin });
	running->segments++;
}

/*
 * A job that holds nothing is not told of.
 * IN job_ptr, holding - NULL: it is no job
 */
static void _end_running(auc_snapshot_t *s,
			 const struct aucsched_running *running,
			 const job_record_t *job_ptr,
			 const holding_t *holding)
{
	if (!running->segments)
		return;
	if (job_ptr)
		(void) auc_add_read(s, job_ptr, true);
	AUC_GROW(s->runners, s->runners_cap, s->in.running_len + 1);
	memset(&s->runners[s->in.running_len], 0, sizeof(*s->runners));
	AUC_ADD(s, running, *running);
	if (holding)
		_add_running_uses(s, holding);
}

/*
 * Takes what a job holds on node n off it.
 * IN at - the number of the node among the job's
 * IN cores - how many the job was given there
 * IN bin - the GPU of its share, 0: none
 */
static void _take_off(auc_snapshot_t *s, struct aucsched_running *running,
		      const job_record_t *job_ptr, int n, int at, int cores,
		      uint8_t bin)
{
	struct aucsched_node *node = &s->nodes[n];
	uint8_t gpus = _held_gpus(job_ptr, n, at);

	/* What is shared, or on its way out, is counted once. */
	cores = MIN(cores, node->free_cores);
	node->free_cores -= cores;
	gpus = MIN(gpus, s->spare_gpus[n]);
	s->spare_gpus[n] -= gpus;
	if (cores)
		_add_segment(s, running, n, cores, gpus, bin);
}

/*
 * Takes what a job holds off its nodes, and remembers until when. Where it holds other amounts of
 * further resources than on the nodes before, it goes on as another running job.
 */
static void _add_job(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	job_resources_t *held = job_ptr->job_resrcs;
	int first = 0, at = 0;
	holding_t here, before = { { 0 } };
	uint32_t others = s->in.running_len;
	struct aucsched_running running = {
		.end = job_ptr->end_time,
		.first_segment = s->in.running_segments_len,
		.whole_leaves = auc_holds_leaves(job_ptr),
	};

	if (running.end <= s->in.now)
		running.end = s->in.now + 1;
	AUC_EACH_BIT(n, held->node_bitmap) {
		int cores = node_record_table_ptr[n]->tot_cores;
		int taken = bit_set_count_range(held->core_bitmap, first,
						first + cores);
		share_t share;

		_take_holding(s, job_ptr, n, at, taken, &here);
		if (auc_gave_cores(job_ptr))
			taken = 0;
		share = _take_share(s, job_ptr, n, at);
		if (memcmp(&here, &before, sizeof(here)) ||
		    (share.share != running.share)) {
			_end_running(s, &running, job_ptr, &before);
			running.share = share.share;
			running.first_segment = s->in.running_segments_len;
			running.segments = 0;
			before = here;
		}
		_take_off(s, &running, job_ptr, n, at, taken, share.bin);
		first += cores;
		at++;
	}
	_end_running(s, &running, job_ptr, &before);
	/* In several parts it can't be preempted: the others would go on. */
	if (s->in.running_len == others + 1)
		s->runners[others].job_id = job_ptr->job_id;
}

/* One node of a place that is kept, as if its job ran there. */
static void _add_kept(auc_snapshot_t *s, const auc_hold_t *hold,
		      const auc_request_t *request,
		      const part_record_t *part_ptr, uint32_t n,
		      const struct aucsched_segment *segment)
{
	struct aucsched_node *node = &s->nodes[n];
	holding_t holding;
	struct aucsched_running running = {
		.end = s->in.now + hold->s.rows[0].ways[0].job.time_limit,
		.first_segment = s->in.running_segments_len,
	};
	int cores = MIN(segment->cores, node->free_cores);
	int gpus = MIN(segment->gpus, s->spare_gpus[n]);

	node->free_cores -= cores;
	s->spare_gpus[n] -= gpus;
	_take_promise(s, request, part_ptr, segment, n, &holding);
	if (cores)
		_add_segment(s, &running, n, cores, gpus, 0);
	_end_running(s, &running, NULL, &holding);
}

/*
 * Places that are kept are as taken. They come first: what is left of a node to those who are on their
 * way out is what is theirs alone.
 */
static void _add_holds(auc_snapshot_t *s)
{
	uint32_t len;
	const auc_hold_t *holds = auc_holds(&len);

	for (uint32_t i = 0; i < len; i++) {
		job_record_t *job_ptr = find_job_record(holds[i].job_id);
		part_record_t *part_ptr;
		auc_request_t request;

		if (!job_ptr || !(part_ptr = job_ptr->part_ptr) ||
		    auc_model(job_ptr, part_ptr, &request))
			continue;
		AUC_EACH_PLACE(n, segment, &holds[i].out, holds[i].out.decisions)
			if (n < s->in.nodes_len)
				_add_kept(s, &holds[i], &request, part_ptr, n,
					  segment);
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
		if (!node->up || auc_takes_jobs(n) || !node->free_cores)
			continue;
		_add_segment(s, &busy, n, node->free_cores, node->free_gpus, 0);
		node->free_cores = node->free_gpus = 0;
	}
	_end_running(s, &busy, NULL, NULL);
}

/* Takes what running jobs hold off the nodes, which must be there. */
static void _add_running(auc_snapshot_t *s)
{
	job_record_t *job_ptr;
	bool leave = false;	/* some are on their way out: they come last */

	_add_holds(s);
	for (int last = 0; last <= leave; last++)
		AUC_EACH(job_ptr, job_list)
			if (auc_holds_nodes(job_ptr)) {
				leave |= job_ptr->preempt_time != 0;
				if ((job_ptr->preempt_time != 0) == last)
					_add_job(s, job_ptr);
			}
	_add_busy(s);
}

extern void auc_add_machine(auc_snapshot_t *s, const auc_settings_t *settings)
{
	_add_nodes(s);
	_add_shares(s);
	_add_preferences(s);
	_add_stores(s, settings);
	_add_resources(s);
	_add_running(s);
}
