/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which gres share GPUs, and which GPUs they do: see model.h.
 *
 * Of each GPU the gres has a record in its topology, whose bitmap has the GPU's bit, and in it how
 * much is held. Which GPUs are in shared use its gres_bit_alloc says too, but in 22.05 it
 * forgets that when one of several jobs on a GPU ends.
 */
#include "common.h"
#include "model.h"

/* Job write lock. */
static uint32_t share_gres;

extern bool auc_gres_is_share(uint32_t id)
{
	return (id == gres_build_id("shard")) || (id == gres_build_id("mps"));
}

extern bool auc_shares_are_known(const gres_node_state_t *shares)
{
	return shares->topo_cnt && shares->topo_gres_bitmap &&
		shares->topo_gres_cnt_alloc && shares->topo_gres_cnt_avail;
}

/* Goes through the gres of a node, which may be NULL, that share its GPUs. */
#define EACH_SHARE(gres, node_ptr)					\
	AUC_EACH(gres, (node_ptr) ? (node_ptr)->gres_list : NULL)	\
		if (!auc_gres_is_share((gres)->plugin_id)) {		\
		} else

extern void auc_shares_refresh(void)
{
	bool several = false, one_sharing = false;
	gres_state_t *gres;
	uint32_t found = 0;

	share_gres = 0;
	/* Where GPUs are shared the library has nobody preempted. */
	if (auc_shares_are_split() || slurm_preemption_enabled())
		return;
	for (int n = 0; n < node_record_count; n++)
		EACH_SHARE(gres, node_record_table_ptr[n]) {
			if (!((gres_node_state_t *) gres->gres_data)->gres_cnt_avail)
				continue;
			several |= found && (found != gres->plugin_id);
			one_sharing |= (gres->config_flags & GRES_CONF_ONE_SHARING) != 0;
			found = gres->plugin_id;
		}
	/* One GPU of a node at a time, or two kinds of shares, the library can't say. */
	if (!several && !one_sharing)
		share_gres = found;
}

extern uint32_t auc_share_gres(void)
{
	return share_gres;
}

/* IN gpu - below 0: count all */
static int _count_shared(const node_record_t *node_ptr, int gpu)
{
	gres_state_t *gres;
	int count = 0;

	EACH_SHARE(gres, node_ptr) {
		const gres_node_state_t *shares = gres->gres_data;

		for (int t = 0; auc_shares_are_known(shares) &&
		     (t < shares->topo_cnt); t++) {
			bitstr_t *gpus = shares->topo_gres_bitmap[t];

			count += gpus && shares->topo_gres_cnt_alloc[t] &&
				((gpu < 0) || ((gpu < bit_size(gpus)) &&
					       bit_test(gpus, gpu)));
		}
	}
	return count;
}

extern bool auc_is_shared_gpu(const node_record_t *node_ptr, int gpu)
{
	return _count_shared(node_ptr, gpu);
}

extern int auc_shared_gpus(const node_record_t *node_ptr)
{
	return _count_shared(node_ptr, -1);
}

extern void auc_mark_shared(const bitstr_t *nodes)
{
	gres_state_t *gres;

	AUC_EACH_BIT(n, nodes)
		EACH_SHARE(gres, node_record_table_ptr[n]) {
			gres_node_state_t *shares = gres->gres_data;

			if (!auc_shares_are_known(shares) ||
			    !shares->gres_bit_alloc)
				continue;
			for (int t = 0; t < shares->topo_cnt; t++)
				if (shares->topo_gres_cnt_alloc[t] &&
				    shares->topo_gres_bitmap[t] &&
				    (bit_size(shares->topo_gres_bitmap[t]) ==
				     bit_size(shares->gres_bit_alloc)))
					bit_or(shares->gres_bit_alloc,
					       shares->topo_gres_bitmap[t]);
		}
}

extern bool auc_is_near(const gres_node_state_t *gpus, int gpu, bitstr_t *cores)
{
	for (int t = 0; t < gpus->topo_cnt; t++) {
		bitstr_t *near = gpus->topo_core_bitmap ?
			gpus->topo_core_bitmap[t] : NULL;

		if (!gpus->topo_gres_bitmap || !gpus->topo_gres_bitmap[t] ||
		    (gpu >= bit_size(gpus->topo_gres_bitmap[t])) ||
		    !bit_test(gpus->topo_gres_bitmap[t], gpu))
			continue;
		return !near || (bit_size(near) != bit_size(cores)) ||
			bit_overlap_any(near, cores);
	}
	return true;
}

extern bitstr_t *auc_free_gpus(const node_record_t *node_ptr, const gres_node_state_t *gpus,
			       bitstr_t *cores, int count)
{
	bitstr_t *picked;
	int size;

	if (!gpus || !gpus->gres_bit_alloc)
		return NULL;
	size = bit_size(gpus->gres_bit_alloc);
	picked = bit_alloc(size);
	for (int far = !cores; far <= 1; far++)
		for (int gpu = 0; gpu < size && count; gpu++) {
			if (bit_test(gpus->gres_bit_alloc, gpu) ||
			    auc_is_shared_gpu(node_ptr, gpu) ||
			    bit_test(picked, gpu) ||
			    (!far && !auc_is_near(gpus, gpu, cores)))
				continue;
			bit_set(picked, gpu);
			count--;
		}
	if (count)
		FREE_NULL_BITMAP(picked);
	return picked;
}
