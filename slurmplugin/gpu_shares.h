/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Shares of GPUs in the snapshot, and at starts: gres/shard, or gres/mps with no_one_sharing,
 * whichever some node has. A job's shares of a node are all of one GPU.
 */
#ifndef AUC_GPU_SHARES_H
#define AUC_GPU_SHARES_H

#include "compat.h"
#include "snapshot.h"

/* What a job holds of one GPU of a node. */
typedef struct {
	uint32_t share;		/* 0: none, or nobody can tell of which */
	uint8_t bin;		/* of the library */
} auc_share_t;

/*
 * How many shares nodes' GPUs have, and which of these are in shared use; they are not free as a
 * whole. The nodes must be there, and nothing be taken off them. Node read lock.
 */
extern void auc_add_shares(auc_snapshot_t *snapshot);

/*
 * What a running job holds on node n, its number at, to be told once. It is taken off what
 * nobody has told of. Job and node read locks.
 */
extern auc_share_t auc_take_share(auc_snapshot_t *snapshot,
				  const job_record_t *job_ptr, int n, int at);

/*
 * The device that a start gets, for a bin that the library has named; starts of a cycle that are
 * given the same bin get the same one. Node write lock.
 * IN near - says of a GPU whether it is close to the job's cores; such are preferred
 * RET index in the gres's topology, -1 if none has room any more
 */
extern int auc_share_device(const auc_snapshot_t *snapshot, int n, uint8_t bin,
			    uint32_t share, bool (*near)(int gpu, void *arg),
			    void *arg);

#endif
