/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * GPU ranges, --gres=gpu[:TYPE]:LOW-HIGH: reading them from a request, noting them on a
 * job. Plain string work, shared by job_submit, cli_filter and the scheduler.
 */
#ifndef AUC_GPU_RANGE_H
#define AUC_GPU_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a GPU type's name, with its NUL. */
#define AUC_TYPE_SIZE 64

/* How a job's range is noted, in its admin_comment (and on the way there, in its comment). */
#define AUC_RANGE_NOTE "auc:gpu="

typedef struct {
	uint32_t low, high;	/* on each node, from 1 on */
	char type[AUC_TYPE_SIZE]; /* of the GPUs; "": any */
} auc_gpus_t;

typedef enum {
	AUC_RANGE_NONE,		/* no GPU range: leave the request alone */
	AUC_RANGE_OK,
	AUC_RANGE_BAD,		/* meant as a range, and wrong */
} auc_range_t;

/*
 * Looks for a GPU range in a list of gres such as "gres:gpu:a100:1-3,license:2". It must be
 * the only request of GPUs there.
 * IN text - may be NULL
 * IN is_type - whether a name is a GPU type of the cluster (such as "v100-pcie", which is
 *	no range); NULL: nobody knows here, so that what could be a type is left alone
 * OUT range - set with AUC_RANGE_OK
 * OUT error - set with AUC_RANGE_BAD: one line, caller must xfree()
 */
extern auc_range_t auc_range_parse(const char *text,
				   bool (*is_type)(const char *name),
				   auc_gpus_t *range, char **error);

/*
 * The list with every GPU element's number, or range, replaced by count.
 * RET new string, caller must xfree(); NULL if there is no GPU element
 */
extern char *auc_range_with_count(const char *text, uint32_t count);

/*
 * The list with a GPU element's number spelled otherwise, gpu:01 for gpu:1; and back.
 * RET new string, caller must xfree(); NULL if there is nothing to spell so, or it is already
 */
extern char *auc_range_respelled(const char *text);
extern char *auc_range_plain(const char *text);

/* The noted range, false if there is none. IN comment - may be NULL */
extern bool auc_range_read_note(const char *comment, auc_gpus_t *range);
extern bool auc_range_find_note(const char *comment, uint32_t *low,
				uint32_t *high);

/* Adds a note to *comment, in place of one that is there. */
extern void auc_range_add_note(char **comment, const auc_gpus_t *range);

/* The same for a range of the GPUs that a list asks for: of their type. IN list - may be NULL */
extern void auc_range_add_note_of(char **comment, const char *list,
				  uint32_t low, uint32_t high);

/* Takes the note out of *comment, which becomes NULL when nothing else is left. */
extern void auc_range_drop_note(char **comment);

#endif
