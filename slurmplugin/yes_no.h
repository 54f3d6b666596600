/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Settings of SchedulerParameters that are yes or no, read where they are: for job_submit,
 * which has no settings of its own. Plain string work.
 */
#ifndef AUC_YES_NO_H
#define AUC_YES_NO_H

#include <stdbool.h>

/*
 * The last value among params that is yes or no, as settings.c has it.
 * IN params - may be NULL
 * IN key - with its '='
 * RET normal if there is none
 */
extern bool auc_yes(const char *params, const char *key, bool normal);

#endif
