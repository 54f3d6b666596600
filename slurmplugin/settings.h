/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The settings, and for whom the auction is. */
#ifndef AUC_SETTINGS_H
#define AUC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "compat.h"

/* What SchedulerParameters=auc_... say; docs/slurm.md has the list. The agent's thread alone. */

typedef struct {
	char *engine;		/* settings for aucsched_configure() */
	int enabled;		/* auc_enabled: 0 or 1, as all others that are yes or no */
	int shadow;		/* auc_mode=shadow: decisions are written down, and that is all */
	int interval;		/* auc_interval, s */
	int delay_ms;		/* auc_delay_ms */
	int start_ms;		/* auc_start_ms */
	int lock_percent;	/* auc_lock_percent */
	int deadline_ms;	/* auc_deadline_ms */
	int save;		/* auc_save */
	int beyond_waits;	/* auc_beyond=wait; below 0 while none is known */
	int net_s;		/* auc_net_s; 0: no such net */
	int at_once;		/* auc_at_once */
	int locality;		/* auc_locality */
	int file_memory;	/* auc_file_memory, MB a node; 0: all that the node has */
	int max_rpcs;		/* max_rpc_cnt; 0: none */
	int offers;		/* auc_slurm_bids */
	int preempt;		/* auc_preempt */
	bool counts;		/* the policy counts memory, GPUs by type and licences: auction2 */
	int limit;		/* window + depth: jobs handed to the library */
	char *library;		/* auc_library; NULL: beside the plug-in, then the loader's path */
	char *status;		/* auc_status; NULL: in StateSaveLocation */
	char *shadow_file;	/* auc_shadow; NULL: in StateSaveLocation */
	int shadow_mb;		/* auc_shadow_mb */
	char *record;		/* auc_record; NULL: none */
	char *partitions;	/* auc_partitions, names with commas between; NULL: all */
	int users_share;	/* auc_users_share, percent */
} auc_settings_t;

/*
 * Reads slurm.conf's SchedulerParameters into settings, which must be zero or of an
 * earlier call. A wrong value is logged by name and its default used. Conf read lock.
 */
extern void auc_settings_read(auc_settings_t *settings);
extern void auc_settings_free(auc_settings_t *settings);

/*
 * From the begin of a cycle to that of the next, at least, so that cycles hold the locks for no more
 * than auc_lock_percent of the time; a minute at most. Starts do not count: they are what cycles are
 * for, and come to an end.
 * IN held - how long the cycle has held the locks, us, but for starts
 * RET ms
 */
extern int64_t auc_pace_ms(const auc_settings_t *settings, int64_t held);

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
