/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs of the partition that an invasive resource manager has (auc_invasic=PARTITION): what they
 * say in --comment=invasic=..., and the settings. Plain string work.
 */
#ifndef AUC_INVASIC_H
#define AUC_INVASIC_H

#include <stdbool.h>
#include <stdint.h>

#include "word.h"

/* The key of a part of the comment; ';' is between parts. */
#define AUC_INVASIC_NOTE "invasic="

/* Where `aucsched ihypervisor` has its socket for jobs unless it is told otherwise. */
#define AUC_INVASIC_SOCKET "/var/lib/aucsched-invasive/run/jobs"

typedef struct {
	uint32_t low, high;	/* cores that the job can use */
	const char *kind;	/* rigid, moldable, evolving or malleable */
	bool urgent;
	bool held;		/* somebody wants it to wait: scontrol hold, sbatch -H */
	uint32_t points;	/* of a note that was made here; 0 otherwise */
} auc_invasic_t;

/*
 * What a comment says: invasic=[CORES|MIN-MAX][,KIND][,urgent], in any order.
 * IN comment - may be NULL
 * IN cores - that the job can use if the comment doesn't say; 0: the request says nothing either
 * IN made - a note as auc_invasic_note() makes it is taken too
 * OUT error - one line if it is wrong, caller must xfree(); may be NULL
 * RET whether all is well
 */
extern bool auc_invasic_parse(const char *comment, uint32_t cores, bool made,
			      auc_invasic_t *want, char **error);

/*
 * Puts into *comment, in place of what the user wrote, what the iScheduler reads:
 * invasic=MIN-MAX,KIND[,urgent][,held],points=N
 */
extern void auc_invasic_note(char **comment, const auc_invasic_t *want);

/*
 * A setting of SchedulerParameters, of which the last one counts.
 * IN key - with its '='
 * OUT value - not empty
 * RET whether there is one
 */
extern bool auc_param(const char *sched_params, const char *key, word_t *value);

/* Whether a list of partitions, with commas, has one of this name. OUT alone - and no other */
extern bool auc_names_partition(const char *list, word_t name, bool *alone);

#endif
