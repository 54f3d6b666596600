/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that Slurm's own selection of nodes starts in a cycle: those that it could start, and the
 * auction does not, after a while; and those that are left to Slurm, in their turn. The agent's
 * thread alone; under the locks, but for auc_overdue_free().
 */
#ifndef AUC_OVERDUE_H
#define AUC_OVERDUE_H

#include "compat.h"
#include "launch.h"
#include "select_hooks.h"
#include "snapshot.h"

/* The queue begins; then its jobs in their order. IN waited - s */
extern void auc_overdue_begin(int net_s);
extern void auc_overdue_add(const auc_snapshot_t *snapshot,
			    const job_record_t *job_ptr, uint32_t waited);

/*
 * Gives a job that is left to Slurm its turn at this place of the queue, unless to start it takes
 * more than to select nodes. IN why - static text
 */
extern void auc_turns_add(auc_snapshot_t *snapshot,
			  const job_queue_rec_t *record, const char *why);

/* Whether anybody has a turn still. */
extern bool auc_turns_wait(void);

/*
 * Starts those who can be whose turn is before that of a row. auc_launch() has to follow.
 * IN/OUT idle - cores of nodes; what they get is taken off
 */
extern void auc_turns_take(const auc_snapshot_t *snapshot, uint32_t row,
			   auc_select_hooks_t *hooks, auc_starts_t *starts,
			   bitstr_t **idle);

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
