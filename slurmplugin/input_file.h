/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Input files of jobs, --comment=input=PATH:SIZE: reading them. Plain string work, shared by
 * job_submit and the scheduler.
 */
#ifndef AUC_INPUT_FILE_H
#define AUC_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of a part of the comment; ';' is between parts. */
#define AUC_INPUT_NOTE "input="

typedef struct {
	uint64_t file;		/* of the path; not 0 */
	uint64_t bytes;		/* at least 1 */
} auc_input_t;

typedef enum {
	AUC_INPUT_NONE,		/* the comment names no input */
	AUC_INPUT_OK,
	AUC_INPUT_BAD,
} auc_input_found_t;

/*
 * The input that a comment names.
 * IN comment - may be NULL
 * OUT input - set with AUC_INPUT_OK
 * OUT error - set with AUC_INPUT_BAD: one line, caller must xfree(); may be NULL
 */
extern auc_input_found_t auc_input_parse(const char *comment,
					 auc_input_t *input, char **error);

/* The same number for the same text, on any machine and for ever; not 0. */
extern uint64_t auc_id_of(const char *text, size_t len);

/* Whether SchedulerParameters has auc_locality=yes: only then the word input= is ours. */
extern bool auc_locality_is_on(const char *sched_params);

#endif
