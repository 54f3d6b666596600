/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs for which the auction has found no place, and Slurm could have one: it knows layouts that the
 * library is not shown, or would preempt others. Under the locks.
 */
#ifndef AUC_NO_PLACE_H
#define AUC_NO_PLACE_H

#include "aucsched.h"
#include "compat.h"
#include "select_hooks.h"
#include "snapshot.h"

/*
 * Leaves those to Slurm that it would start now. After auc_explain().
 * IN hooks - NULL: nobody can be asked, and all are left that are modelled roughly
 */
extern void auc_leave_without_place(const auc_snapshot_t *snapshot,
				    const struct aucsched_output *out,
				    auc_select_hooks_t *hooks);

#endif
