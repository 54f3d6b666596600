/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Starts that failed: counted by reason, for the status, and noted of the job, which is Slurm's
 * after a few.
 */
#ifndef AUC_MISSES_H
#define AUC_MISSES_H

#include "compat.h"

/* Starts that failed, by what was said of them. */
#define AUC_MISSES 16
#define AUC_MISS_SIZE 64

typedef struct {
	struct {
		char why[AUC_MISS_SIZE];
		uint64_t count;
	} of[AUC_MISSES];
	int len;
} auc_misses_t;

/* Counts. IN why - such as slurm_strerror()'s; those of many kinds are "other" */
extern void auc_miss(auc_misses_t *misses, const char *why, uint64_t count);
extern void auc_misses_add(auc_misses_t *misses, const auc_misses_t *more);

/* A start failed, with an error of Slurm's. Under the locks. */
extern void auc_missed(job_record_t *job_ptr, int rc);

#endif
