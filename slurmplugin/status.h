/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The figures for `aucsched status`. The agent's thread alone, without a lock. */
#ifndef AUC_STATUS_H
#define AUC_STATUS_H

#include "library.h"
#include "misses.h"
#include "settings.h"
#include "snapshot.h"

typedef struct {
	int64_t last, max;
	double sum;
	uint64_t count;
} auc_figure_t;

/* Why a job does not start: AUCSCHED_STARTS ... AUCSCHED_WAITS_QUOTA. */
#define AUC_WHYS (AUCSCHED_WAITS_QUOTA + 1)

typedef struct {
	const char *state;	/* "starting", "on", "off", "no-library", "failing" */
	char *state_text;
	time_t began;		/* when counting began, with slurmctld */
	uint64_t cycles, skipped, cycles_failed, started, starts_failed,
		fallbacks, worker_failures, readers, holders, overdue,
		preempted;	/* jobs, for the auction's starts */
	uint32_t files, copies;
	char *last_failure;
	auc_misses_t misses;	/* starts_failed by reason */
	char *worker_fault;	/* why a worker process failed last */
	const char *journal;	/* static text: "on", or why it is not; NULL: not known */
	uint64_t saves_failed;	/* of the jobs' state before a launch */
	auc_figure_t cycle_us, snapshot_us, decide_us, start_us, lock_us;
	auc_figure_t left_wait_s;	/* of jobs left to Slurm that have started */
	uint32_t window, bids;
	uint32_t waits[AUC_WHYS];	/* jobs of the last decision, by AUCSCHED_WAITS_... */
	uint64_t late_cycles;	/* whose deadline cut the search short */
	double objective, bound;
	bool optimal;
} auc_status_t;

/* Counts why the jobs of a decision wait, and whether it was late. */
extern void auc_status_decided(auc_status_t *status,
			       const struct aucsched_output *out);

extern void auc_figure_add(auc_figure_t *figure, int64_t value);

/* Notes that worker processes failed, and logs the words, which it takes, if they are new. */
extern void auc_status_worker(auc_status_t *status, uint32_t failures,
			      char *fault);

/*
 * Writes the file anew, so that a reader never sees half of it. The directory may be one
 * where others write: no link of theirs is followed. What goes wrong is logged once. No lock;
 * the agent's thread.
 */
extern void auc_status_write(const auc_status_t *status,
			     const auc_settings_t *settings,
			     const auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir);

/* RET false with errno; and then there is no new file */
extern bool auc_status_replace(const char *path, const char *text);

#endif
