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

/* The gres of a node that share its GPUs: calls with each until one says no. */
typedef bool (*auc_each_t)(const gres_state_t *gres, void *arg);

static void _each_share(const node_record_t *node_ptr, auc_each_t each,
			void *arg)
{
	gres_state_t *gres;

	if (!node_ptr)
		return;
	AUC_EACH(gres, node_ptr->gres_list)
		if (auc_gres_is_share(gres->plugin_id) && !each(gres, arg))
			break;
}

typedef struct {
	uint32_t gres;
	bool several, one_sharing;
} auc_kinds_of_shares_t;

static bool _note_kind(const gres_state_t *gres, void *arg)
{
	auc_kinds_of_shares_t *found = arg;

	if (!((gres_node_state_t *) gres->gres_data)->gres_cnt_avail)
		return true;
	found->several |= found->gres && (found->gres != gres->plugin_id);
	found->one_sharing |= (gres->config_flags & GRES_CONF_ONE_SHARING) != 0;
	found->gres = gres->plugin_id;
	return true;
}

extern void auc_shares_refresh(void)
{
	auc_kinds_of_shares_t found = { 0 };

	share_gres = 0;
	/* Where GPUs are shared the library has nobody preempted. */
	if (auc_shares_are_split() || slurm_preemption_enabled())
		return;
	for (int n = 0; n < node_record_count; n++)
		_each_share(node_record_table_ptr[n], _note_kind, &found);
	/* One GPU of a node at a time, or two kinds of shares, the library can't say. */
	if (!found.several && !found.one_sharing)
		share_gres = found.gres;
}

extern uint32_t auc_share_gres(void)
{
	return share_gres;
}

typedef struct {
	int gpu;	/* below 0: count all */
	int count;
} auc_shared_t;

static bool _count_shared(const gres_state_t *gres, void *arg)
{
	const gres_node_state_t *shares = gres->gres_data;
	auc_shared_t *shared = arg;

	for (int t = 0; auc_shares_are_known(shares) && (t < shares->topo_cnt); t++) {
		const bitstr_t *gpus = shares->topo_gres_bitmap[t];

		if (!gpus || !shares->topo_gres_cnt_alloc[t])
			continue;
		if (shared->gpu < 0)
			shared->count++;
		else if ((shared->gpu < bit_size((bitstr_t *) gpus)) &&
			 bit_test((bitstr_t *) gpus, shared->gpu))
			shared->count++;
	}
	return true;
}

extern bool auc_is_shared_gpu(const node_record_t *node_ptr, int gpu)
{
	auc_shared_t shared = { .gpu = gpu };

	_each_share(node_ptr, _count_shared, &shared);
	return shared.count;
}

extern int auc_shared_gpus(const node_record_t *node_ptr)
{
	auc_shared_t shared = { .gpu = -1 };

	_each_share(node_ptr, _count_shared, &shared);
	return shared.count;
}

static bool _any_shared(const node_record_t *node_ptr, const bitstr_t *gpus)
{
	for (int gpu = 0; gpu < bit_size((bitstr_t *) gpus); gpu++)
		if (bit_test((bitstr_t *) gpus, gpu) &&
		    auc_is_shared_gpu(node_ptr, gpu))
			return true;
	return false;
}

extern bool auc_whole_gpus(const node_record_t *node_ptr,
			   const bitstr_t *chosen, uint64_t count,
			   bitstr_t **whole)
{
	const gres_node_state_t *gpus;
	bitstr_t *found;

	*whole = NULL;
	if (!node_ptr || !auc_shared_gpus(node_ptr) ||
	    !(gpus = auc_gres_data(node_ptr->gres_list,
				    gres_build_id("gpu"))) || !gpus->gres_bit_alloc ||
	    (gpus->type_cnt > 1) || (chosen && !_any_shared(node_ptr, chosen)))
		return true;
	found = bit_alloc(bit_size(gpus->gres_bit_alloc));
	for (int gpu = 0; count && (gpu < bit_size(found)); gpu++)
		if (!bit_test(gpus->gres_bit_alloc, gpu) &&
		    !auc_is_shared_gpu(node_ptr, gpu)) {
			bit_set(found, gpu);
			count--;
		}
	if (count)
		FREE_NULL_BITMAP(found);
	*whole = found;
	return !count;
}

static bool _mark(const gres_state_t *gres, void *arg)
{
	gres_node_state_t *shares = gres->gres_data;

	if (!auc_shares_are_known(shares) || !shares->gres_bit_alloc)
		return true;
	for (int t = 0; t < shares->topo_cnt; t++)
		if (shares->topo_gres_cnt_alloc[t] &&
		    shares->topo_gres_bitmap[t] &&
		    (bit_size(shares->topo_gres_bitmap[t]) ==
		     bit_size(shares->gres_bit_alloc)))
			bit_or(shares->gres_bit_alloc,
			       shares->topo_gres_bitmap[t]);
	return true;
}

extern void auc_mark_shared(const bitstr_t *nodes)
{
	bitstr_t *of = (bitstr_t *) nodes;
	int last = bit_fls(of);

	for (int n = bit_ffs(of); n >= 0 && n <= last; n++)
		if (bit_test(of, n))
			_each_share(node_record_table_ptr[n], _mark, NULL);
}
