/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What jobs ask for beyond Slurm: for job_submit, cli_filter and the scheduler. No lock. */
#ifndef AUC_REQUEST_H
#define AUC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aucsched.h"
#include "compat.h"

/* A part of a text that is looked at where it is. */
typedef struct {
	const char *at;
	size_t len;
} word_t;

static inline bool auc_is(word_t word, const char *text)
{
	return (word.len == strlen(text)) &&
		!strncmp(word.at, text, word.len);
}

/*
 * GPU ranges, --gres=gpu[:TYPE]:LOW-HIGH, as they are noted on a job; the library reads requests. Plain
 * string work, shared by job_submit, cli_filter and the scheduler.
 */

/*
 * How a job's range is noted, in its admin_comment; and on the way there, in its comment, all GPUs that it
 * asks for: "1-3,a100:2".
 */
#define AUC_RANGE_NOTE "auc:gpu="

typedef struct aucsched_gpus auc_gpus_t;

/* Bytes of a GPU type's name, with its NUL. */
#define AUC_TYPE_SIZE sizeof(((auc_gpus_t *) NULL)->type)

/*
 * A list of gres with another number of GPUs, that of the first element gpu[:TYPE]:COUNT; or with the number
 * spelled otherwise, gpu:01 for gpu:1, and back.
 * RET new string, caller must xfree(); NULL if there is no such element, or it is spelled so already
 */
extern char *auc_range_with_count(const char *list, uint32_t count);
extern char *auc_range_respelled(const char *list);
extern char *auc_range_plain(const char *list);

/* The noted range, false if there is none. IN comment - may be NULL */
extern bool auc_range_read_note(const char *comment, auc_gpus_t *range);

/* Adds a note to *comment, in place of one that is there. */
extern void auc_range_add_note(char **comment, const auc_gpus_t *range);

/* The same for a range of the GPUs that a list asks for: of their type. IN list - may be NULL */
extern void auc_range_add_note_of(char **comment, const char *list,
				  uint32_t low, uint32_t high);

/*
 * Alternative requests of a job, which the library reads, and its first one, as they are noted on the
 * job. Plain string work, shared by job_submit and the scheduler.
 */

typedef struct aucsched_noted auc_alternative_t;
#define AUC_ALTERNATIVES AUCSCHED_MAX_ALTERNATIVES

/* The keys of the notes. */
#define AUC_ALTERNATIVES_NOTE "auc:alt="
#define AUC_FIRST_NOTE "auc:first="

#define AUC_FIRST_TASKS 1	/* JOB_NTASKS_SET */
#define AUC_FIRST_IMPLIED 2	/* AUC_IMPLIED_MAX_NODES */

/* What a job asked for first, as its details have it, and how that is noted: kept while it runs as an alternative. */
#define AUC_FIRST(X) \
	X("n%u", num_tasks) X(",N%u", min_nodes) X("-%u", max_nodes) X(",c%u", orig_min_cpus) \
	X("-%u", orig_max_cpus) X(",t%u", ntasks_per_node) X(",p%u", orig_pn_min_cpus) X(",k%u", contiguous)

typedef struct {
#define AUC_FIRST_FIELD(form, x) uint32_t x;
	AUC_FIRST(AUC_FIRST_FIELD)
	uint32_t flags;		/* AUC_FIRST_* */
	uint32_t low, high;	/* of its GPU range; 0, 0: none */
	char *tres_per_node;	/* NULL: none; without ';' */
} auc_first_t;

/* RET false if it can't be noted */
extern bool auc_first_set_note(char **comment, const auc_first_t *first);

/* OUT first - its tres_per_node, if there is one, is to be xfree()d by the caller */
extern bool auc_first_find_note(const char *comment, auc_first_t *first);

/* The key of a job's input file in its comment, --comment=input=PATH:SIZE, which the library reads. */
#define AUC_INPUT_NOTE "input="

/* The same number for the same text, on any machine and for ever; not 0. */
extern uint64_t auc_id_of(const char *text, size_t len);

/*
 * Updates of a job that slurmctld has not judged yet. job_modify() is asked before slurmctld
 * says whether an update holds, and nobody is told afterwards. So it leaves a note on the job
 * that tells what the job asked for, and what is to become of the other notes should
 * that have changed; and whoever looks at the job next finds out.
 */

#define AUC_UPDATE_NOTE "auc:update="

/*
 * Notes an update that is about to be judged.
 * IN/OUT tres_per_node - of the update, may be NULL. If it is word for word the job's own it is
 *	spelled otherwise, gpu:01 for gpu:1, so that the record tells whether it was taken
 * IN range - what becomes of the job's; 0, 0: it has none then; NULL: the update says nothing of GPUs on
 *	each node
 * Job write lock.
 */
extern void auc_update_begin(job_record_t *job_ptr, char **tres_per_node,
			     const auc_gpus_t *range);

/*
 * Settles what auc_update_begin() has noted, if anything: the job's alternatives and range
 * stay as they were if it asks for what it asked before. Job write lock.
 * RET whether the job's request has changed
 */
extern bool auc_update_settle(job_record_t *job_ptr);

/*
 * A setting of SchedulerParameters, of which the last one counts.
 * IN key - with its '='
 * OUT value - not empty
 * RET whether there is one
 */
extern bool auc_param(const char *sched_params, const char *key, word_t *value);

#endif
