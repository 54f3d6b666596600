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

/* Whether auc_start() has nothing more to do for the snapshot. */
extern bool auc_all_tried(const auc_snapshot_t *snapshot,
			  const auc_starts_t *starts);

/*
 * Gives the job of one row its nodes as decided, if they are free: as auc_start().
 * IN/OUT idle - cores of these nodes; what the job gets is taken off
 * RET whether it has them
 */
extern bool auc_start_row(const auc_snapshot_t *snapshot,
			  const struct aucsched_output *out, uint32_t row,
			  bitstr_t **idle, auc_select_hooks_t *hooks,
			  auc_starts_t *starts);

/*
 * Asks stock Slurm whether the job of a row could have its pin if those of pin->victims had ended,
 * after all checks of a start. It is as it was afterwards, but for a task of an array, which is a
 * job of its own then.
 * IN pin - a question, with pin->got
 * IN room - any of these cores will do for a job that is loose
 * RET the job; or NULL, and that counts as a failed or stale start
 */
extern job_record_t *auc_start_ask(const auc_snapshot_t *snapshot,
				   const struct aucsched_output *out,
				   uint32_t row, auc_pin_t *pin,
				   bitstr_t **room, auc_select_hooks_t *hooks,
				   auc_starts_t *starts);

#endif
