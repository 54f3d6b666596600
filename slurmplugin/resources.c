/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Memory, types of GPUs and other gres as the library's further resources: see resources.h.
 *
 * Memory is resource 0 where it is counted, in MB. Each type of GPU that some node has beside
 * another is one more, up to what there is room for; jobs that ask for such a type use one of it
 * per GPU. Nodes of one type alone need none: masks tell them apart. Then each other gres is one,
 * and each type of it; shares of GPUs are none.
 *
 * The policies whose model is a paper's know of cores and GPUs only: for these nothing is
 * counted, and job_memory.c puts off winners that have no room beside each other.
 */
#include <string.h>

#include "grow.h"
#include "job_memory.h"
#include "model.h"
#include "nodes.h"
#include "resources.h"
#include "shared_gpus.h"

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
	list_itr_t *iter = list_iterator_create(part_list);
	bool any = false;

	while (!any && (part_ptr = list_next(iter)))
		any = auc_consumes_memory(part_ptr);
	list_iterator_destroy(iter);
	return any;
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
	list_itr_t *iter;

	if (!node_ptr || !node_ptr->gres_list)
		return;
	iter = list_iterator_create(node_ptr->gres_list);
	while ((gres = list_next(iter))) {
		if (auc_gres_is_gpu(gres->plugin_id) ||
		    auc_gres_is_share(gres->plugin_id))
			continue;
		_add_kind(s, gres->plugin_id, 0);
		_add_types(s, gres->plugin_id, gres->gres_data);
	}
	list_iterator_destroy(iter);
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

extern void auc_begin_resources(auc_snapshot_t *s,
				const auc_settings_t *settings)
{
	s->counts_memory = settings->counts && _any_consumes_memory();
	s->in.resources_len = s->counts_memory;
	if (!settings->counts)
		return;
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
	list_itr_t *iter;

	if (!job_ptr->gres_list_alloc || !here)
		return 0;
	iter = list_iterator_create(job_ptr->gres_list_alloc);
	while ((gres = list_next(iter)))
		if (gres->plugin_id == kind->gres)
			count += _held_by(gres->gres_data, here, at, kind->type);
	list_iterator_destroy(iter);
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
