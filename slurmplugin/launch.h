/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs that have their nodes, until the nodes hear of them. All under the locks; auc_starts_t is
 * the agent's.
 */
#ifndef AUC_LAUNCH_H
#define AUC_LAUNCH_H

#include "compat.h"
#include "misses.h"

/* A job that has its nodes. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool by_slurm;		/* it is configured first, and launched by Slurm then */
} auc_launch_t;

typedef struct {
	uint32_t started;
	uint32_t failed;	/* Slurm refused, or gave other cores than the bid's */
	auc_misses_t misses;	/* these, by reason */
	uint32_t readers;	/* of those started: jobs that name an input file, */
	uint32_t holders;	/* and of these, on nodes that all hold it */
	uint32_t stale;		/* the job or its nodes have changed since the snapshot */
	uint64_t next;		/* turn to go on with: see auc_all_tried() */
	auc_launch_t *launches;	/* of jobs that are to be launched */
	size_t launches_len, launches_cap;
} auc_starts_t;

/* Notes a job that has just been given its nodes. */
extern void auc_will_launch(auc_starts_t *starts, job_record_t *job_ptr);

/*
 * Tells the nodes, and those who wait for them, of starts->launches. What is suspended
 * stays there, and is launched when it goes on.
 */
extern void auc_launch(auc_starts_t *starts);

extern void auc_starts_free(auc_starts_t *starts);

#endif
