/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which nodes are to be used first: those of the least Weight. Node read lock. */
#ifndef AUC_TIERS_H
#define AUC_TIERS_H

#include "snapshot.h"

/*
 * Gives each node its tier: by Weight; of the same Weight, nodes that are powered down come after
 * the others, and of these, nodes with GPUs. After auc_add_nodes().
 */
extern void auc_add_tiers(auc_snapshot_t *snapshot);

/*
 * Puts the least loaded first in partitions with LLN, and in all with CR_LLN. What starts in the same
 * cycle doesn't count. After auc_add_running(). Node and partition read locks.
 */
extern void auc_add_loads(auc_snapshot_t *snapshot);

#endif
