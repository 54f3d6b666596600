/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What outlives a kill of slurmctld. */
#ifndef AUC_SAVE_H
#define AUC_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/*
 * Starts and ends of jobs that Slurm may not have saved: a file in StateSaveLocation, and a copy of
 * it in memory. Its own lock is taken last of all.
 */

/* One start of a job, or its end. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool ended;
	uint32_t state;		/* with ended: job_state as it was given back its nodes */
	uint32_t exit_code;
} auc_run_t;

#define AUC_RUN_LINE 80

/* A run as a line of the file, and back. RET false if the line is not one */
extern int auc_run_format(char *line, size_t size, const auc_run_t *run);
extern bool auc_run_parse(const char *line, auc_run_t *run);

/*
 * Opens the journal in dir, and keeps what is in it.
 * RET that, in the order of the events; caller must xfree()
 */
extern auc_run_t *auc_journal_open(const char *dir, size_t *len);

/*
 * Why there is no file at the moment; NULL: there is one. Static text. Any thread.
 */
extern const char *auc_journal_why_off(void);

/* Any thread; without an open journal nothing is written. */
extern void auc_journal_start(uint32_t job_id, time_t start);
extern void auc_journal_end(job_record_t *job_ptr);

/* How long it will take until all that was started is a step on its node, at most 1 s. */
extern int64_t auc_journal_rest_us(void);

/* Where the journal is now, and: Slurm has saved what happened before a mark. The latter
 * may rewrite the file. */
extern size_t auc_journal_mark(void);
extern void auc_journal_forget(size_t mark, time_t now);

/* IN discard - remove the file: from now on there would be gaps in it */
extern void auc_journal_close(bool discard);

/*
 * Slurm's own thread that saves its state, made to save at once. Its lock is held while that thread
 * is waited for, and no lock is taken under it.
 */

/*
 * Has Slurm's thread save all that is to be saved, with the state of jobs, and waits for
 * that. No lock of slurmctld's, any thread.
 * IN dir - StateSaveLocation
 * RET SLURM_SUCCESS; EBUSY: not in this time; EIO, nothing was written; ECANCELED: closed
 */
extern int auc_saver_save(const char *dir, int64_t wait_ms);

/*
 * Whether a save could replace the state's files now: no save is better than one that can't.
 * IN dir - StateSaveLocation
 * RET SLURM_SUCCESS or an errno
 */
extern int auc_saver_probe(const char *dir);

/*
 * Whether Slurm's thread has not ended yet, as it was asked to; and: starts it again if it has. As
 * long as the first is so somebody has to do the second, or nothing is saved any more.
 */
extern bool auc_saver_is_late(void);
extern void auc_saver_mend(void);

/*
 * When slurmctld ends: Slurm's thread is Slurm's alone again; waits for it if it is late. No lock of
 * slurmctld's.
 * IN wait_ms - at most so long where threads are a pool's (26.05); else until it has ended
 */
extern void auc_saver_open(void);
extern void auc_saver_close(int64_t wait_ms);

/* A job that has its nodes, until these hear of it. All under the locks; auc_starts_t is the agent's. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool by_slurm;		/* it is configured first, and launched by Slurm then */
} auc_launch_t;

typedef struct {
	auc_status_t *status;	/* that counts them */
	uint64_t next;		/* turn to go on with: see auc_all_tried() */
	auc_launch_t *launches;	/* of jobs that are to be launched */
	size_t launches_len, launches_cap;
} auc_starts_t;

/* Notes a job that has just been given its nodes. */
extern void auc_will_launch(auc_starts_t *starts, job_record_t *job_ptr);

/*
 * Tells the nodes, and those who wait for them, of starts->launches. What is suspended
 * stays there, and is launched when it goes on.
 */
extern void auc_launch(auc_starts_t *starts);

extern void auc_starts_free(auc_starts_t *starts);

/*
 * The thread that has starts and ends saved, and repairs what a kill -9 left behind. Its lock is
 * taken after Slurm's.
 */

/*
 * Repairs what slurmctld could not save before it was killed, by the journal in dir, and
 * starts the thread. To be called from the agent's thread, without a lock.
 */
extern void auc_keeper_start(const char *dir);

/*
 * IN discard - slurmctld goes on without: the journal is removed. Not while auc_saver_is_late()
 *	goes unmended
 */
extern void auc_keeper_stop(bool discard);

/* Whether it still asks nodes what became of jobs. */
extern bool auc_keeper_asks(void);

/*
 * Has Slurm save the state of jobs now, and waits for it, but not for long: not at all for a
 * while after a save that failed, when the thread tries again. No lock of slurmctld's.
 * RET 0 or an error
 */
extern int auc_keeper_save(void);

/* How often that failed. */
extern uint64_t auc_keeper_failed(void);

/* Has it saved soon. Any thread, any lock. */
extern void auc_keeper_want(void);

#endif
