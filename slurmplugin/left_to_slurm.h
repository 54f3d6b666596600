/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pending jobs that are left to Slurm: which, why, and how many. Under the locks. */
#ifndef AUC_LEFT_TO_SLURM_H
#define AUC_LEFT_TO_SLURM_H

#include "compat.h"
#include "memo.h"
#include "shape.h"
#include "snapshot.h"
#include "status.h"

/* Since a job was submitted, or could begin if that was later: seconds. */
extern uint32_t auc_waited(const job_record_t *job_ptr, time_t now);

/* Describes a record's job to the auction. RET NULL, or why it is left to Slurm */
extern const char *auc_why_delegated(auc_snapshot_t *snapshot,
				     const job_queue_rec_t *record,
				     const auc_memo_t *memo, auc_request_t *request);

/* Notes that a job is left to Slurm, and logs why if that is news. */
extern void auc_delegate(auc_snapshot_t *snapshot, job_record_t *job_ptr,
			 auc_memo_t *memo, const char *why);

/* A job behind all that the library is given: Slurm may find a gap for it. */
extern void auc_delegate_beyond(auc_snapshot_t *snapshot, job_record_t *job_ptr,
				auc_memo_t *memo);

/* The same where nobody may, unless the job is left to Slurm for what it asks for. */
extern void auc_keep_beyond(auc_snapshot_t *snapshot,
			    const job_queue_rec_t *record, auc_memo_t *memo);

/* Notes that such a job has its nodes. Of any thread, as is what follows. */
extern void auc_left_started(const job_record_t *job_ptr);

/* How long those have waited, s. */
extern auc_figure_t auc_left_waits(void);

#endif
