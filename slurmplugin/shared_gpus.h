/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which gres share GPUs (shard, mps), and which GPUs are in shared use. A GPU is given whole, or
 * jobs have shares of it.
 */
#ifndef AUC_SHARED_GPUS_H
#define AUC_SHARED_GPUS_H

#include "compat.h"
#include "settings.h"

/* Whether a gres shares GPUs. */
extern bool auc_gres_is_share(uint32_t id);

/* Which one is counted in this cycle. Conf and node read locks, job write lock. */
extern void auc_shares_refresh(const auc_settings_t *settings);

/* The id of that one, 0: none. Job write lock. */
extern uint32_t auc_share_gres(void);

/* Whether it is known of a node's shares which GPU each is of. */
extern bool auc_shares_are_known(const gres_node_state_t *shares);

/* Whether jobs have shares of GPU number gpu of a node, and of how many. Node read lock. */
extern bool auc_is_shared_gpu(const node_record_t *node_ptr, int gpu);
extern int auc_shared_gpus(const node_record_t *node_ptr);

/*
 * So many GPUs of a node that nobody has anything of, the first ones, in place of those chosen, if
 * any of these is in shared use. Node read lock.
 * IN chosen - NULL: which ones nobody has said
 * OUT whole - FREE_NULL_BITMAP(); NULL: those chosen will do, or GPUs are of several types
 * RET false if there are too few
 */
extern bool auc_whole_gpus(const node_record_t *node_ptr,
			   const bitstr_t *chosen, uint64_t count,
			   bitstr_t **whole);

/*
 * Has Slurm know again which GPUs of a job's nodes are in shared use, when the job has given back
 * what it had: 22.05 takes a GPU that others still have shares of for one that nobody has, and
 * could give it away whole. Node write lock.
 */
extern void auc_mark_shared(const bitstr_t *nodes);

#endif
