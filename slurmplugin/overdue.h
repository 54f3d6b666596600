/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that Slurm could start, and the auction does not: after a while they are Slurm's. The
 * agent's thread alone; under the locks, but for auc_overdue_free().
 */
#ifndef AUC_OVERDUE_H
#define AUC_OVERDUE_H

#include "compat.h"
#include "launch.h"
#include "select_hooks.h"
#include "snapshot.h"

/* The queue begins; then its jobs in their order. IN waited - s */
extern void auc_overdue_begin(int net_s);
extern void auc_overdue_add(const job_record_t *job_ptr, uint32_t waited);

typedef struct {
	uint32_t started;
	bool waits;	/* a job could start, or has not been asked about: there must be a next time */
} auc_overdue_t;

/*
 * Asks about some of the jobs that were waiting as the snapshot was taken, and starts those that
 * are overdue. auc_launch() has to follow if it has started any.
 * IN out - what was decided on the snapshot; NULL: nothing
 */
extern auc_overdue_t auc_overdue_ask(const auc_snapshot_t *snapshot,
				     const struct aucsched_output *out,
				     auc_select_hooks_t *hooks,
				     auc_starts_t *starts);
extern void auc_overdue_free(void);

#endif
