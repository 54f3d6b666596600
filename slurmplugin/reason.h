/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What users are told of why their jobs wait, and until when. A reason that Slurm has found stays.
 * All under the locks.
 */
#ifndef AUC_REASON_H
#define AUC_REASON_H

#include "compat.h"
#include "memo.h"
#include "snapshot.h"

/* Tells waiting jobs why they wait, and when they are expected to start. */
extern void auc_explain(const auc_snapshot_t *snapshot,
			const struct aucsched_output *out);

/* Tells a job that it waits behind the window, or that it does so no more. */
extern void auc_set_behind_reason(job_record_t *job_ptr);
extern void auc_clear_behind_reason(job_record_t *job_ptr);
extern void auc_clear_reasons(void);

/* The same for licences. RET whether they are available. */
extern bool auc_set_licence_reason(job_record_t *job_ptr, bool available);

/* Logs why a job is left to Slurm, if that is news. IN why - static text */
extern void auc_say_left(job_record_t *job_ptr, auc_memo_t *memo,
			 const char *why);

#endif
