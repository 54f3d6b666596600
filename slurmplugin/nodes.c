/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The nodes of the snapshot, before running jobs are looked at, and which of them take jobs.
 * See nodes.h.
 *
 * Node read lock. The arrays by node are the snapshot's.
 */
#include <string.h>

#include "aucsched.h"
#include "grow.h"
#include "model.h"
#include "nodes.h"

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
