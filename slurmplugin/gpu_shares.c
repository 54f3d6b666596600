/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Shares of GPUs: see gpu_shares.h.
 *
 * A gres that shares GPUs has a topology of one record a GPU. Bins of the library that are in use
 * have the number of their record plus 1.
 */
#include <string.h>

#include "gpu_shares.h"
#include "grow.h"
#include "model.h"
#include "nodes.h"
#include "shared_gpus.h"

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
	const gres_job_state_t *found = NULL, *held;
	gres_state_t *gres;
	list_itr_t *iter;

	if (!job_ptr->gres_list_alloc)
		return NULL;
	iter = list_iterator_create(job_ptr->gres_list_alloc);
	while (!found && (gres = list_next(iter))) {
		held = gres->gres_data;
		if ((gres->plugin_id == auc_share_gres()) && (at < held->node_cnt) &&
		    held->gres_bit_alloc && held->gres_bit_alloc[at] &&
		    held->gres_cnt_node_alloc)
			found = held;
	}
	list_iterator_destroy(iter);
	return found;
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
