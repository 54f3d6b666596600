/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs of the partition auc_invasic=PARTITION, at submission and when they are changed: they are
 * held until an invasive resource manager releases them (docs/invasive-slurm.md); users can't.
 * Who holds and releases such a job has a word of its note set, "held", and it is left alone
 * meanwhile. Jobs of other partitions are not touched.
 *
 * Locks: those of job_submit() and job_modify().
 */
#ifndef AUC_JOB_INVASIC_H
#define AUC_JOB_INVASIC_H

#include "compat.h"

/* OUT err_msg - what is wrong; may be NULL. RET an error of Slurm, or SLURM_SUCCESS */
extern int auc_invasic_submit(job_desc_msg_t *job_desc, char **err_msg);
extern int auc_invasic_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
			      uint32_t submit_uid, char **err_msg);

#endif
