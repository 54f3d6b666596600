/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who may preempt whom, as classes and prices of the library. Under the locks, in
 * auc_snapshot_take(); what is known of it is the snapshot's.
 */
#ifndef AUC_PREEMPT_RIGHTS_H
#define AUC_PREEMPT_RIGHTS_H

#include "snapshot.h"

/*
 * Forgets all. Running jobs must be there.
 * IN priced - some are to get prices; no: Slurm is asked, and all is left to it
 */
extern void auc_rights_begin(auc_snapshot_t *snapshot, bool priced);

/*
 * Asks Slurm whom a pending job may preempt in its partition. Jobs for which the answer has to be
 * the same share one.
 * IN/OUT keys - bits of the answers that hold for the job, one of which is added; 0 afterwards: the
 *	auction is to preempt nobody for it
 * RET whether there is anybody
 */
extern bool auc_rights_of(auc_snapshot_t *snapshot, job_record_t *job_ptr,
			  uint64_t *keys);

/* Sets classes and prices of running jobs, and whom the rows may preempt; and scales priorities then. */
extern void auc_rights_end(auc_snapshot_t *snapshot);

#endif
