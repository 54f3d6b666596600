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

/* Whether Slurm is to be asked for a place for a row without one, and what such a job is told if it has none. */
extern bool auc_found_no_place(const auc_row_t *row, uint8_t why);
extern void auc_say_no_place(job_record_t *job_ptr, uint8_t why);

/* Tells a job that it waits behind the window, or that it does so no more. */
extern void auc_set_behind_reason(job_record_t *job_ptr);
extern void auc_clear_behind_reason(job_record_t *job_ptr);
extern void auc_clear_reasons(void);

/* The same for licences. RET whether they are available. */
extern bool auc_set_licence_reason(job_record_t *job_ptr, bool available);

/* Tells a job why it is left to Slurm, and logs it, if that is news. IN why - static text */
extern void auc_say_left(job_record_t *job_ptr, auc_memo_t *memo,
			 const char *why);

#endif
