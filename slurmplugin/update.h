/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Updates of a job that slurmctld has not judged yet. job_modify() is asked before slurmctld
 * says whether an update holds, and nobody is told afterwards. So it leaves a note on the job
 * that tells what the job asked for, and what is to become of the other notes should
 * that have changed; and whoever looks at the job next finds out.
 */
#ifndef AUC_UPDATE_H
#define AUC_UPDATE_H

#include "compat.h"

#include "gpu_range.h"

#define AUC_UPDATE_NOTE "auc:update="

/* What an update makes of a job's GPU range. */
typedef enum {
	AUC_UPDATE_KEEPS,	/* it says nothing of GPUs on each node */
	AUC_UPDATE_DROPS,
	AUC_UPDATE_SETS,
} auc_update_t;

/*
 * Notes an update that is about to be judged.
 * IN/OUT tres_per_node - of the update, may be NULL. If it is word for word the job's own it is
 *	spelled otherwise, gpu:01 for gpu:1, so that the record tells whether it was taken
 * IN range - with AUC_UPDATE_SETS
 * Job write lock.
 */
extern void auc_update_begin(job_record_t *job_ptr, char **tres_per_node,
			     auc_update_t update, const auc_gpus_t *range);

/*
 * Settles what auc_update_begin() has noted, if anything: the job's alternatives and range
 * stay as they were if it asks for what it asked before. Job write lock.
 * RET whether the job's request has changed
 */
extern bool auc_update_settle(job_record_t *job_ptr);

#endif
