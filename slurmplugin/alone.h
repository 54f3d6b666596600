/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which jobs have nobody in their way, and are started by Slurm at once. All under the job write
 * lock.
 */
#ifndef AUC_ALONE_H
#define AUC_ALONE_H

#include "compat.h"
#include "snapshot.h"

/*
 * Whether a job may be started by Slurm right now: it was submitted just now, nobody waits
 * for nodes of its partition, and no other job has just been started so that still runs:
 * jobs that come together are decided together. Job write lock.
 * IN together_ms - how soon after one another jobs come together
 */
extern bool auc_alone_is(job_record_t *job_ptr, int together_ms);

/* What became of a job: Slurm has started it, or it has to wait for a cycle. Job write lock. */
extern void auc_alone_started(job_record_t *job_ptr);
extern void auc_alone_waits(job_record_t *job_ptr);

/* A cycle begins; and it ends, and knows who waits. Under the locks. */
extern void auc_alone_begin(void);
extern void auc_alone_end(const auc_snapshot_t *snapshot);
extern void auc_alone_free(void);

#endif
