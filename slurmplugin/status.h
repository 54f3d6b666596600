/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is kept of the jobs and of the starts, and told in files. */
#ifndef AUC_STATUS_H
#define AUC_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "snapshot.h"

/*
 * What is remembered of pending jobs from cycle to cycle. All under the job write lock; a memo
 * moves as others are made, and is there until a sweep forgets it.
 */

typedef struct {
	uint32_t job_id;
	uint32_t cycle;		/* the last one that saw the job */
	uint32_t settled;	/* the last one in which it got rows, or was left to Slurm */
	uint8_t misses;		/* starts that failed since the last one that did not */
	int missed_rc;		/* of the last of them that was logged */
	bool left;		/* to Slurm, until the next cycle says otherwise */
	bool no_place;		/* nor had Slurm: the next cycle goes by what backfill plans for it */
	bool planned;		/* so it does, for one of the two */
	bool stuck;		/* it found no place in the last decision */
	uint8_t verdict;	/* the last decision on it, plus 1; 0: it had no row */
	const char *why;	/* the word that was logged; static text */
	uint8_t unmodelled;	/* bit k: alternative k + 1 was logged as left out */
	int64_t until;		/* left to Slurm until then, by auc_now_s(), for its misses */
	const char *until_why;	/* or for another reason: the word; static text */
	int64_t could_us;	/* Slurm could start it, since; 0: or could not. Monotonic */
	int64_t asked_us;	/* when it last said so */
	uint64_t would;		/* the last of its runs that the shadow has noted a start of; 0: none */
} auc_memo_t;

extern auc_memo_t *auc_memo_find(uint32_t job_id);
extern auc_memo_t *auc_memo_of(uint32_t job_id);	/* made if need be */
/* Forgets jobs not seen in the cycle. IN gone - called for each before; may be NULL */
extern void auc_memo_sweep(uint32_t cycle, void (*gone)(uint32_t job_id));
extern void auc_memo_free(void);

/*
 * Starts that failed: counted by reason, for the status, and noted of the job, which is Slurm's
 * after a few.
 */

typedef struct aucsched_misses auc_misses_t;

/* Counts. IN why - such as slurm_strerror()'s; those of many kinds are "other" */
extern void auc_miss(auc_misses_t *misses, const char *why);

/* A start failed, with an error of Slurm's. Under the locks. */
extern void auc_missed(job_record_t *job_ptr, int rc);

/* The figures for `aucsched status`. The agent's thread alone, without a lock. */
typedef struct aucsched_figure auc_figure_t;
typedef struct aucsched_status auc_status_t;

extern void auc_figure_add(auc_figure_t *figure, int64_t value);

/*
 * Replaces the file, so that a reader never sees half of it. The directory may be one
 * where others write: no link of theirs is followed. What goes wrong is logged once. No lock;
 * the agent's thread.
 */
extern void auc_status_write(auc_status_t *status,
			     const auc_settings_t *settings,
			     auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir);

/* RET false with errno; and then there is no new file */
extern bool auc_status_replace(const char *path, const char *text);

#endif
