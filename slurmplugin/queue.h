/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The queue: pending jobs as rows of the snapshot. Under the locks. */
#ifndef AUC_QUEUE_H
#define AUC_QUEUE_H

#include "select_hooks.h"
#include "settings.h"
#include "snapshot.h"

/*
 * The pending jobs in the order in which Slurm would try them, with their masks and what
 * stock Slurm would give the first of them. Nodes and running jobs must be there.
 */
extern void auc_add_queue(auc_snapshot_t *snapshot,
			  const auc_settings_t *settings,
			  auc_select_hooks_t *hooks, uint32_t cycle);

#endif
