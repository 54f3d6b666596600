/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Decisions into jobs that have their nodes. Under the locks. */
#ifndef AUC_START_H
#define AUC_START_H

#include "compat.h"
#include "launch.h"
#include "select_hooks.h"
#include "snapshot.h"

/*
 * Gives jobs their nodes as decided, from starts->next on, until all are done or
 * budget_us is over (one start is always tried). Every job is validated again first.
 * auc_launch() has to follow.
 */
extern void auc_start(const auc_snapshot_t *snapshot,
		      const struct aucsched_output *out,
		      auc_select_hooks_t *hooks, int64_t budget_us,
		      auc_starts_t *starts);

/*
 * Makes the next task of an array's record a job of its own; any other job is that already.
 * RET that job, or NULL
 */
extern job_record_t *auc_split(job_record_t *job_ptr);

#endif
