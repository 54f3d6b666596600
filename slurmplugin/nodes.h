/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes of the snapshot, and which of them take jobs. Node read lock. */
#ifndef AUC_NODES_H
#define AUC_NODES_H

#include "compat.h"
#include "snapshot.h"

/*
 * Every node of the table: cores and memory as if no job were running, free GPUs as
 * Slurm counts them.
 */
extern void auc_add_nodes(auc_snapshot_t *snapshot);

/* Whether new jobs may start on node n as it is: up, and nothing completes on it. */
extern bool auc_takes_jobs(int n);

#define AUC_GPU_TYPES UINT32_MAX

/* The one type of a node's GPUs, 0: none; AUC_GPU_TYPES if there are several. */
extern uint32_t auc_gpu_type(const gres_node_state_t *gpus);

/* How many of a gres nobody holds, of the type; type 0: of all. Job and node read
 * locks. */
extern uint64_t auc_free_gres(const gres_node_state_t *gres, uint32_t type);

#endif
