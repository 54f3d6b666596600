/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that have to end before others can start: has Slurm preempt them, and keeps the places. Under
 * the locks, the agent's thread alone.
 */
#ifndef AUC_VICTIMS_H
#define AUC_VICTIMS_H

#include "launch.h"
#include "select_hooks.h"
#include "snapshot.h"

/*
 * For the starts that have to wait for others: asks Slurm whether these would do, preempts them,
 * and keeps the places. A start that has become possible meanwhile is made. After auc_start().
 * IN budget_us - who is not looked at by then bids anew
 * RET how many jobs have been preempted
 */
extern uint32_t auc_preempt(const auc_snapshot_t *snapshot,
			    const struct aucsched_output *out,
			    auc_select_hooks_t *hooks, int64_t budget_us,
			    auc_starts_t *starts);

#endif
