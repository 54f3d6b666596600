/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Nodes that are powered down: they are woken for jobs that find no place without them. Under the
 * locks.
 */
#ifndef AUC_ASLEEP_H
#define AUC_ASLEEP_H

#include "compat.h"
#include "snapshot.h"

/* Which nodes are powered down. */
extern void auc_add_asleep(auc_snapshot_t *snapshot);

/*
 * Takes them off the nodes that a job is shown, if those that are up would do.
 * RET whether it did
 */
extern bool auc_let_sleep(const auc_snapshot_t *snapshot,
			  const struct aucsched_job *job, bitstr_t *nodes);

/*
 * After a decision: notes the jobs that found no place without the nodes that are powered down,
 * which the next cycle lets have them; and takes that back from the others.
 * IN woke - that was this cycle: nobody is noted
 * RET whether jobs wait that were decided on without those nodes
 */
extern bool auc_may_wake(const auc_snapshot_t *snapshot,
			 const struct aucsched_output *out, bool woke);

#endif
