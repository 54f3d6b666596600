/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For whom the auction is, where a site has it for a part of its jobs: auc_partitions and
 * auc_users_share. All others' jobs are Slurm's.
 */
#ifndef AUC_SCOPE_H
#define AUC_SCOPE_H

#include "compat.h"
#include "settings.h"

/* Takes the settings over, and logs partitions that there are not. Job write lock, part read lock. */
extern void auc_scope_refresh(const auc_settings_t *settings);

/*
 * Why a job is not the auction's: NULL, "partition" or "user". A job of several partitions is the
 * auction's if all of them are. Job read lock.
 */
extern const char *auc_out_of_scope(const job_record_t *job_ptr,
				    const part_record_t *part_ptr);

/* Whether a user is among the first share of a hundred, always the same ones. */
extern bool auc_user_in_share(uint32_t uid, int share);

/* Whether a name is in a list with commas. */
extern bool auc_is_listed(const char *list, const char *name);

extern void auc_scope_free(void);

#endif
