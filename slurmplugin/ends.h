/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Has Slurm preempt jobs, each once. All under the locks: read lock on the configuration, write locks
 * on jobs and nodes.
 */
#ifndef AUC_ENDS_H
#define AUC_ENDS_H

#include "compat.h"

/* A job that is to end, and for whom. */
typedef struct {
	uint32_t victim, preemptor; /* job ids */
} auc_end_t;

typedef struct {
	auc_end_t *of;		/* xfree() */
	uint32_t len;
	size_t cap;
} auc_ends_t;

/* Adds one, unless the victim is there. */
extern void auc_ends_add(auc_ends_t *ends, uint32_t victim, uint32_t preemptor);

/* Has all be preempted. RET how many of them ran */
extern uint32_t auc_ends_all(const auc_ends_t *ends);

/* Has one be preempted that may have a grace time, or had one. RET whether it ran */
extern bool auc_end(uint32_t victim, job_record_t *preemptor);

/* Until when nodes of a job should be clean that is killed at end. */
extern time_t auc_ends_until(time_t end);

#endif
