/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Alternative requests of a job: lines of its script such as
 *
 *	#AUCSCHED --alternative --nodes=4 --ntasks-per-node=8 --gres=gpu:2
 *
 * before the first command, one line an alternative. Plain string work.
 */
#ifndef AUC_ALTERNATIVE_H
#define AUC_ALTERNATIVE_H

#include "alternative_note.h"

/*
 * Reads the alternatives out of a batch script, down to its first command.
 * IN script - may be NULL
 * IN cpus_per_task - the job's, at least 1
 * IN is_type - whether a name is a GPU type of the cluster
 * OUT alternatives - AUC_ALTERNATIVES of them
 * OUT error - set with -1: one line that names the script's line, caller must xfree()
 * RET how many, or -1 if one is wrong
 */
extern int auc_alternatives_parse(const char *script, uint32_t cpus_per_task,
				  bool (*is_type)(const char *name),
				  auc_alternative_t *alternatives, char **error);

#endif
