/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Alternative requests of a job, and its first one, as they are noted on the job. Plain string
 * work, shared by job_submit and the scheduler.
 */
#ifndef AUC_ALTERNATIVE_NOTE_H
#define AUC_ALTERNATIVE_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu_range.h"

/* Alternatives a job; the library takes as many. */
#define AUC_ALTERNATIVES 8

/* The keys of the notes. */
#define AUC_ALTERNATIVES_NOTE "auc:alt="
#define AUC_FIRST_NOTE "auc:first="

/* A whole request: what it does not name, the job does not ask for when it starts with it. */
typedef struct {
	uint32_t tasks;		/* at least 1 */
	uint32_t min_nodes;	/* at least 1 */
	uint32_t max_nodes;	/* 0: any */
	uint32_t per_node;	/* tasks on each node, 0: any */
	uint32_t low, high;	/* GPUs on each node; 0, 0: none */
	bool contiguous;
	char type[AUC_TYPE_SIZE]; /* of the GPUs; "": any */
} auc_alternative_t;

/*
 * Whether an alternative's CPUs, in all and on each node, are numbers that a job's record, and
 * the library, can hold. IN cpus_per_task - the job's, whatever it is by now
 */
extern bool auc_alternative_counts(const auc_alternative_t *alternative,
				   uint32_t cpus_per_task);

/*
 * Notes len alternatives in *comment, in place of those there; without any it takes the note
 * out.
 */
extern void auc_alternatives_set_note(char **comment,
				      const auc_alternative_t *alternatives,
				      int len);

/* The noted alternatives. RET how many; 0 too if the note is none of ours */
extern int auc_alternatives_find_note(const char *comment,
				      auc_alternative_t *alternatives);

#define AUC_FIRST_TASKS 1	/* JOB_NTASKS_SET */
#define AUC_FIRST_IMPLIED 2	/* AUC_IMPLIED_MAX_NODES */

/* What a job asked for first, as its record has it: kept while it runs as an alternative. */
typedef struct {
	uint32_t tasks, min_nodes, max_nodes, min_cpus, max_cpus;
	uint32_t ntasks_per_node, cpus_per_node, contiguous;
	uint32_t flags;		/* AUC_FIRST_* */
	uint32_t low, high;	/* of its GPU range; 0, 0: none */
	char *tres_per_node;	/* NULL: none; without ';' */
} auc_first_t;

/* RET false if it can't be noted */
extern bool auc_first_set_note(char **comment, const auc_first_t *first);

/* OUT first - its tres_per_node, if there is one, is to be xfree()d by the caller */
extern bool auc_first_find_note(const char *comment, auc_first_t *first);

#endif
