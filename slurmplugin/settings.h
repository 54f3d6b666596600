/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The settings, and for whom the auction is. */
#ifndef AUC_SETTINGS_H
#define AUC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "aucsched.h"
#include "compat.h"

/* What SchedulerParameters=auc_... say; docs/reference/settings.md has the list. The agent's thread alone. */

typedef struct aucsched_settings auc_settings_t;

struct auc_library;

/*
 * Reads SchedulerParameters, by the library. A wrong value is logged by name and its default used. No lock.
 * IN library - NULL: there is none, and all that is read is whether there is to be one, and auc_status
 * OUT settings - whose texts stay until the next call
 */
extern void auc_settings_read(auc_settings_t *settings,
			      struct auc_library *library,
			      const char *params);

/*
 * From the begin of a cycle to that of the next, at least, so that cycles hold the locks for no more
 * than a tenth of the time; a minute at most. Starts do not count: they are what cycles are
 * for, and come to an end.
 * IN held - how long the cycle has held the locks, us, but for starts
 * RET ms
 */
extern int64_t auc_pace_ms(int64_t held);

/*
 * For whom the auction is, where a site has it for a part of its jobs: auc_partitions and
 * auc_users_share. All others' jobs are Slurm's.
 */

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
