/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "aucsched.h"
#include "common.h"
#include "model.h"

/*
 * A job that takes all that its nodes have of memory: its mask has the nodes of which nobody holds any,
 * but not what others that start with it take there. Of the winners those that have no room beside the
 * ones before them are put off to the next cycle, which sees what is left. They haven't missed a
 * start, and don't become Slurm's for it.
 *
 * Rows and arrays are the snapshot's, and the agent's thread alone looks at them: no lock.
 */

extern bool auc_consumes_memory(const part_record_t *part_ptr)
{
	return (part_ptr->cr_type ? part_ptr->cr_type :
		slurm_conf.select_type_param) & SELECT_MEMORY;
}

extern uint64_t auc_all_memory(int n)
{
	const node_record_t *node_ptr = node_record_table_ptr[n];

	return node_ptr->real_memory -
		MIN(node_ptr->mem_spec_limit, node_ptr->real_memory);
}

extern uint32_t auc_put_off(auc_snapshot_t *s,
			    const struct aucsched_output *out)
{
	bitstr_t *some = bit_alloc(s->in.nodes_len); /* whose memory a winner takes, */
	bitstr_t *whole = bit_copy(some), *nodes;	/* and all of it */
	uint32_t put_off = 0;

	for (uint32_t i = 0; i < s->in.jobs_len; i++) {
		const struct aucsched_decision *decision = &out->decisions[i];
		auc_row_t *row = &s->rows[i];

		if ((decision->why != AUCSCHED_STARTS) || !row->memory)
			continue;
		nodes = bit_alloc(s->in.nodes_len);
		for (uint32_t k = 0; k < decision->segments; k++) {
			const struct aucsched_segment *segment =
				&out->segments[decision->first_segment + k];

			bit_nset(nodes, segment->first, segment->last);
		}
		row->put_off = bit_overlap_any(nodes, row->all_memory ? some :
					       whole);
		put_off += row->put_off;
		if (!row->put_off)
			bit_or(some, nodes);
		if (!row->put_off && row->all_memory)
			bit_or(whole, nodes);
		FREE_NULL_BITMAP(nodes);
	}
	FREE_NULL_BITMAP(some);
	FREE_NULL_BITMAP(whole);
	return put_off;
}

/*
 * The nodes of the snapshot, before running jobs are looked at, and which of them take jobs.
 *
 * Node read lock. The arrays by node are the snapshot's.
 */

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

/* Free devices of the type, where the node tells its devices apart. */
static uint64_t _free_devices(const gres_node_state_t *gpus, uint32_t type)
{
	uint64_t count = 0;

	for (int t = 0; t < gpus->topo_cnt; t++)
		if (gpus->topo_gres_bitmap[t] &&
		    (gpus->topo_type_id[t] == type))
			count += bit_set_count(gpus->topo_gres_bitmap[t]) -
				bit_overlap(gpus->topo_gres_bitmap[t],
					    gpus->gres_bit_alloc);
	return count;
}

extern uint64_t auc_free_gres(const gres_node_state_t *gres, uint32_t type)
{
	uint64_t count = 0;

	if (!type)
		return gres->gres_cnt_avail - MIN(gres->gres_cnt_alloc,
						  gres->gres_cnt_avail);

	/* Jobs that ask for no type are not counted by type. */
	if (gres->topo_cnt && gres->topo_gres_bitmap && gres->topo_type_id &&
	    gres->gres_bit_alloc)
		return _free_devices(gres, type);
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
		s->gpu_type[n] = auc_gpu_type(gpus);
	}
}

extern void auc_add_nodes(auc_snapshot_t *s)
{
	AUC_GROW(s->nodes, s->nodes_cap, node_record_count);
	AUC_GROW(s->free_memory, s->memory_cap, node_record_count);
	AUC_GROW(s->gpu_type, s->type_cap, node_record_count);
	AUC_GROW(s->spare_gpus, s->spare_cap, node_record_count);
	s->in.nodes_len = node_record_count;
	s->in.mask_words = (node_record_count + 63) / 64;
	for (int n = 0; n < node_record_count; n++)
		_add_node(s, n);
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
		AUC_GROW(s->shared_gpus, s->shared_cap,
			 s->in.shared_gpus_len + 1);
		AUC_GROW(s->unheld_shares, s->unheld_shares_cap,
			 s->in.shared_gpus_len + 1);
		s->unheld_shares[s->in.shared_gpus_len] = held;
		s->shared_gpus[s->in.shared_gpus_len++] =
			(struct aucsched_shared_gpu) {
			.node = n, .free = size - held, .bin = t + 1 };
	}
}

extern void auc_add_shares(auc_snapshot_t *s)
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
	AUC_GROW(s->share_sizes, s->sizes_cap, node_record_count);
	AUC_GROW(s->devices, s->devices_cap,
		 (size_t) node_record_count * AUC_BINS);
	memset(s->devices, 0, (size_t) node_record_count * AUC_BINS);
	s->in.share_sizes_len = node_record_count;
	for (int n = 0; n < node_record_count; n++) {
		node_record_t *node_ptr = node_record_table_ptr[n];
		gres_node_state_t *shares = node_ptr ?
			auc_node_gres(node_ptr, auc_share_gres()) : NULL;
		gres_node_state_t *gpus = node_ptr ?
			auc_node_gpus(node_ptr) : NULL;

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

extern auc_share_t auc_take_share(auc_snapshot_t *s,
				  const job_record_t *job_ptr, int n, int at)
{
	const gres_job_state_t *held;
	auc_share_t taken = { 0 };
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
		     bool (*near)(int gpu, void *arg), void *arg)
{
	for (int far = 0; far <= 1; far++)
		for (int t = 0; t < shares->topo_cnt; t++)
			if (!shares->topo_gres_cnt_alloc[t] &&
			    _has_room(shares, gpus, t, share) &&
			    (far || near(t, arg)))
				return t;
	return -1;
}

extern int auc_share_device(const auc_snapshot_t *s, int n, uint8_t bin,
			    uint32_t share, bool (*near)(int gpu, void *arg),
			    void *arg)
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
	if (!shares || !auc_shares_are_known(shares))
		return -1;
	chosen = &s->devices[(size_t) n * AUC_BINS + bin - 1];
	if (_find_shared(s, n, bin) >= 0)
		t = bin - 1;
	else if (*chosen)
		t = *chosen - 1;
	else
		t = _idle_gpu(shares, gpus, share, near, arg);
	if ((t < 0) || !_has_room(shares, gpus, t, share))
		return -1;
	*chosen = t + 1;
	return t;
}

/*
 * Memory, types of GPUs and other gres as the library's further resources.
 *
 * Memory is resource 0 where it is counted, in MB. Each type of GPU that some node has beside
 * another is one more, up to what there is room for; jobs that ask for such a type use one of it
 * per GPU. Nodes of one type alone need none: masks tell them apart. Then each other gres is one,
 * and each type of it; shares of GPUs are none.
 */

static uint32_t _of_gres(const auc_snapshot_t *s, uint32_t gres, uint32_t type)
{
	for (uint32_t r = s->counts_memory; r < s->in.resources_len; r++)
		if ((s->kinds[r].gres == gres) && (s->kinds[r].type == type))
			return r;
	return AUC_RESOURCES;
}

extern bool auc_counts_gres(const auc_snapshot_t *s, uint32_t gres,
			    uint32_t type)
{
	return _of_gres(s, gres, type) < AUC_RESOURCES;
}

static struct aucsched_amount *_amount(auc_snapshot_t *s, uint32_t r, int n)
{
	return &s->amounts[(size_t) r * s->in.nodes_len + n];
}

static bool _any_consumes_memory(void)
{
	part_record_t *part_ptr;

	AUC_EACH(part_ptr, part_list)
		if (auc_consumes_memory(part_ptr))
			return true;
	return false;
}

static void _add_kind(auc_snapshot_t *s, uint32_t gres, uint32_t type)
{
	if ((s->in.resources_len < AUC_RESOURCES) &&
	    !auc_counts_gres(s, gres, type))
		s->kinds[s->in.resources_len++] = (auc_kind_t) { gres, type };
}

static void _add_types(auc_snapshot_t *s, uint32_t gres,
		       const gres_node_state_t *here)
{
	for (int i = 0; i < here->type_cnt; i++)
		_add_kind(s, gres, here->type_id[i]);
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
		_add_kind(s, gres->plugin_id, 0);
		_add_types(s, gres->plugin_id, gres->gres_data);
	}
}

static void _add_kinds(auc_snapshot_t *s)
{
	uint32_t gpu = gres_build_id("gpu");

	for (int n = 0; n < node_record_count; n++)
		if (s->gpu_type[n] == AUC_GPU_TYPES)
			_add_types(s, gpu, auc_node_gpus(node_record_table_ptr[n]));
	for (int n = 0; n < node_record_count; n++)
		_add_others(s, node_record_table_ptr[n]);
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
static void _add_amounts(auc_snapshot_t *s, int n)
{
	node_record_t *node_ptr = node_record_table_ptr[n];

	for (uint32_t r = 0; r < s->in.resources_len; r++) {
		struct aucsched_amount *a = _amount(s, r, n);
		gres_node_state_t *gres;

		if (s->counts_memory && !r) {
			a->total = MIN(s->free_memory[n], INT32_MAX);
			continue;
		}
		gres = node_ptr ? auc_node_gres(node_ptr, s->kinds[r].gres) :
			NULL;
		a->total = gres ? _all_of_type(gres, s->kinds[r].type) : 0;
		a->free = gres ? MIN(auc_free_gres(gres, s->kinds[r].type),
				     a->total) : 0;
		if (auc_gres_is_gpu(s->kinds[r].gres) && !s->nodes[n].free_gpus)
			a->free = 0;
	}
}

extern void auc_begin_resources(auc_snapshot_t *s)
{
	s->counts_memory = _any_consumes_memory();
	s->in.resources_len = s->counts_memory;
	_add_kinds(s);
	AUC_GROW(s->amounts, s->amounts_cap,
		 (size_t) s->in.resources_len * s->in.nodes_len);
	AUC_GROW(s->unheld, s->unheld_cap,
		 (size_t) s->in.resources_len * s->in.nodes_len);
	for (int n = 0; n < node_record_count; n++)
		_add_amounts(s, n);
	for (size_t i = 0; i < (size_t) s->in.resources_len * s->in.nodes_len; i++)
		s->unheld[i] = s->amounts[i].total - s->amounts[i].free;
}

/* How many of the devices that a job holds there are of the type. */
static uint64_t _devices_of_type(const gres_job_state_t *held,
				 const gres_node_state_t *here, int at,
				 uint32_t type)
{
	uint64_t count = 0;

	for (int t = 0; t < here->topo_cnt; t++)
		if (here->topo_gres_bitmap[t] && (here->topo_type_id[t] == type) &&
		    (bit_size(here->topo_gres_bitmap[t]) ==
		     bit_size(held->gres_bit_alloc[at])))
			count += bit_overlap(here->topo_gres_bitmap[t],
					     held->gres_bit_alloc[at]);
	return count;
}

/* How many of a kind the job holds on its node number at, by one of its records of the gres. */
static uint64_t _held_by(const gres_job_state_t *held,
			 const gres_node_state_t *here, int at, uint32_t type)
{
	if (at >= held->node_cnt)
		return 0;
	if (type && here->topo_cnt && here->topo_gres_bitmap &&
	    here->topo_type_id && held->gres_bit_alloc &&
	    held->gres_bit_alloc[at])
		return _devices_of_type(held, here, at, type);
	if ((!type || (held->type_id == type)) && held->gres_cnt_node_alloc)
		return held->gres_cnt_node_alloc[at];
	return 0;
}

static uint32_t _held_of(const job_record_t *job_ptr, const auc_kind_t *kind,
			 int n, int at)
{
	const gres_node_state_t *here =
		auc_node_gres(node_record_table_ptr[n], kind->gres);
	uint64_t count = 0;
	gres_state_t *gres;

	if (!here)
		return 0;
	AUC_EACH(gres, job_ptr->gres_list_alloc)
		if (gres->plugin_id == kind->gres)
			count += _held_by(gres->gres_data, here, at, kind->type);
	return MIN(count, INT32_MAX);
}

extern void auc_look_at_holding(auc_snapshot_t *s, const job_record_t *job_ptr,
				int n, int at, auc_holding_t *holding)
{
	const job_resources_t *held = job_ptr->job_resrcs;

	memset(holding, 0, sizeof(*holding));
	for (uint32_t r = 0; r < s->in.resources_len; r++) {
		uint32_t *unheld = &s->unheld[(size_t) r * s->in.nodes_len + n];

		if (s->counts_memory && !r) {
			if (held->memory_allocated)
				holding->amounts[r] = MIN(held->memory_allocated[at],
							  MIN(s->free_memory[n], INT32_MAX));
			continue;
		}
		/* No more than the node says that is held, by all jobs together. */
		holding->amounts[r] = MIN(_held_of(job_ptr, &s->kinds[r], n, at),
					  *unheld);
		*unheld -= holding->amounts[r];
	}
}

static struct aucsched_use *_next_use(struct aucsched_use **uses, size_t *cap,
				      uint32_t *len, uint32_t of, uint32_t r)
{
	struct aucsched_use *use;

	AUC_GROW(*uses, *cap, *len + 1);
	use = &(*uses)[(*len)++];
	*use = (struct aucsched_use) { .of = of, .resource = r };
	return use;
}

extern void auc_add_running_uses(auc_snapshot_t *s, const auc_holding_t *holding)
{
	for (uint32_t r = 0; r < s->in.resources_len; r++)
		if (holding->amounts[r])
			_next_use(&s->running_uses, &s->running_uses_cap,
				  &s->in.running_uses_len,
				  s->in.running_len - 1, r)->per_node =
				holding->amounts[r];
}

extern void auc_end_resources(auc_snapshot_t *s)
{
	if (!s->counts_memory)
		return;
	for (int n = 0; n < node_record_count; n++)
		_amount(s, 0, n)->free = MIN(s->free_memory[n],
					     _amount(s, 0, n)->total);
}

/* By ascending resource, of each the sum of what is asked for. */
static void _add_gres_uses(auc_snapshot_t *s, struct aucsched_use **uses,
			   size_t *cap, uint32_t *len, uint32_t of,
			   const auc_request_t *request)
{
	for (uint32_t r = s->counts_memory; r < s->in.resources_len; r++) {
		const auc_kind_t *kind = &s->kinds[r];
		struct aucsched_use use = { 0 };
		bool gpu = auc_gres_is_gpu(kind->gres);

		if (gpu && kind->type && (kind->type == request->gpu_type))
			use.per_gpu = 1;
		for (int i = 0; i < request->more_len; i++) {
			const auc_gres_t *more = &request->more[i];

			if ((more->gres == kind->gres) &&
			    ((more->type == kind->type) || !kind->type))
				use.per_node = MIN((uint64_t) use.per_node +
						   more->count, INT32_MAX);
		}
		if (use.per_gpu || use.per_node) {
			struct aucsched_use *next =
				_next_use(uses, cap, len, of, r);

			next->per_gpu = use.per_gpu;
			next->per_node = use.per_node;
		}
	}
}

static void _add_uses(auc_snapshot_t *s, struct aucsched_use **uses, size_t *cap,
		      uint32_t *len, uint32_t of, const auc_request_t *request,
		      const part_record_t *part_ptr)
{
	uint64_t memory = request->memory & ~MEM_PER_CPU;

	/* Of a job that takes all of a node's memory the masks know. */
	if ((memory || request->gpu_memory) && !request->all_memory &&
	    s->counts_memory && auc_consumes_memory(part_ptr)) {
		struct aucsched_use *use = _next_use(uses, cap, len, of, 0);

		if (request->gpu_memory)
			use->per_gpu = MIN(request->gpu_memory, INT32_MAX);
		else if (request->memory & MEM_PER_CPU)
			use->per_core = MIN(memory * request->threads, INT32_MAX);
		else
			use->per_node = MIN(memory, INT32_MAX);
	}
	_add_gres_uses(s, uses, cap, len, of, request);
}

extern bool auc_names_type(const auc_request_t *request)
{
	bool names = request->gpu_type;

	for (int i = 0; i < request->more_len; i++)
		names |= request->more[i].type != 0;
	return names;
}

extern void auc_look_at_promise(auc_snapshot_t *s, const auc_request_t *request,
				const part_record_t *part_ptr,
				const struct aucsched_segment *segment, int n,
				auc_holding_t *holding)
{
	struct aucsched_use *uses = NULL;
	size_t cap = 0;
	uint32_t len = 0;

	memset(holding, 0, sizeof(*holding));
	_add_uses(s, &uses, &cap, &len, 0, request, part_ptr);
	if (request->all_memory && s->counts_memory) {
		holding->amounts[0] = s->free_memory[n];
		s->free_memory[n] = 0;
	}
	for (uint32_t i = 0; i < len; i++) {
		uint32_t r = uses[i].resource;
		uint64_t want = uses[i].per_node +
			(uint64_t) uses[i].per_core * segment->cores +
			(uint64_t) uses[i].per_gpu * segment->gpus;

		if (s->counts_memory && !r) {
			holding->amounts[r] = MIN(want, s->free_memory[n]);
			s->free_memory[n] -= holding->amounts[r];
			continue;
		}
		holding->amounts[r] = MIN(want, _amount(s, r, n)->free);
		_amount(s, r, n)->free -= holding->amounts[r];
	}
	xfree(uses);
}

extern void auc_add_job_uses(auc_snapshot_t *s, const auc_request_t *request,
			     const part_record_t *part_ptr)
{
	_add_uses(s, &s->job_uses, &s->job_uses_cap, &s->in.job_uses_len,
		  s->in.jobs_len, request, part_ptr);
}

extern void auc_add_alternative_uses(auc_snapshot_t *s,
				     const auc_request_t *request,
				     const part_record_t *part_ptr)
{
	_add_uses(s, &s->alternative_uses, &s->alternative_uses_cap,
		  &s->in.alternative_uses_len, s->in.alternatives_len, request,
		  part_ptr);
}
