/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whether two jobs ask for the same: a queue's jobs are mostly alike. Job read lock. */
#ifndef AUC_ALIKE_H
#define AUC_ALIKE_H

#include "compat.h"

/* As far as their records tell: what nodes, cores, memory and gres, and as whom. */
extern bool auc_are_alike(const job_record_t *a, const job_record_t *b);

#endif
