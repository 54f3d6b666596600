/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the auction says of a waiting job, as a note in the job's SystemComment: for `aucsched why`.
 * Slurm shows the record to whom it shows the job, on whatever machine he is, and saves it with the
 * job. The text is WORD[ DETAIL][ lost=ID,...@TIME] since=TIME; docs/slurm.md has the words.
 *
 * All under the job write lock, and a read lock of the configuration.
 */
#ifndef AUC_VERDICT_H
#define AUC_VERDICT_H

#include "aucsched.h"
#include "compat.h"
#include "snapshot.h"

/* While it is quiet no record is written: in shadow mode nothing is decided for anybody. */
extern void auc_verdict_quiet(bool on);

/* IN word - and its detail. The record is left alone if that is what it says already. */
extern void auc_verdict_tell(job_record_t *job_ptr, const char *word,
			     const char *detail);

/* Looks for the winners of a cycle, for so many looks in all. */
typedef struct {
	uint32_t looks;
} auc_winners_t;

/*
 * A row that has lost: to those that start on nodes which it could use, as far as its user may
 * see them.
 */
extern void auc_verdict_lost(job_record_t *job_ptr, const auc_snapshot_t *snapshot,
			     const struct aucsched_output *out, uint32_t row,
			     auc_winners_t *winners);

/* The job starts, or something else than the auction has it wait. */
extern void auc_verdict_drop(job_record_t *job_ptr);

#endif
