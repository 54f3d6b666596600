/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What jobs are told, who may preempt whom, and which jobs are Slurm's. */
#ifndef AUC_REASON_H
#define AUC_REASON_H

#include "save.h"

/*
 * What the auction says of a waiting job, as a note in the job's SystemComment: for `aucsched why`.
 * Slurm shows the record to whom it shows the job, on whatever machine he is, and saves it with the
 * job. The text is WORD[ DETAIL][ lost=ID,...@TIME] since=TIME; docs/howto/why.md has the words.
 *
 * All under the job write lock, and a read lock of the configuration.
 */

/* While it is quiet no record is written: in shadow mode nothing is decided for anybody. */
extern void auc_verdict_quiet(bool on);

/* IN word - and its detail. The record is left alone if that is what it says already. */
extern void auc_verdict_tell(job_record_t *job_ptr, const char *word,
			     const char *detail);

/* The job starts, or something else than the auction has it wait. */
extern void auc_verdict_drop(job_record_t *job_ptr);

/*
 * What users are told of why their jobs wait, and until when. A reason that Slurm has found stays.
 * All under the locks.
 */

/* Tells waiting jobs why they wait, and when they are expected to start. */
extern void auc_explain(const auc_snapshot_t *snapshot,
			const struct aucsched_output *out);

/* Whether Slurm is to be asked for a place for a row without one, and what such a job is told if it has none. */
extern bool auc_found_no_place(const auc_row_t *row, uint8_t why);
extern void auc_say_no_place(job_record_t *job_ptr, uint8_t why);

/* Takes back what waiting jobs are told. */
extern void auc_clear_reasons(void);

/* Tells a job that it waits for licences, or that it does so no more. RET available */
extern bool auc_set_licence_reason(job_record_t *job_ptr, bool available);

/* Tells a job why it is left to Slurm, and logs it, if that is news. IN why - static text */
extern void auc_say_left(job_record_t *job_ptr, auc_memo_t *memo,
			 const char *why);

/*
 * Who may preempt whom, of which the library makes classes and prices. Under the locks, in
 * auc_snapshot_take(); what is known of it is the snapshot's.
 */

/*
 * Forgets all. Running jobs must be there.
 * IN priced - some are to get prices; no: Slurm is asked, and all is left to it
 */
extern void auc_rights_begin(auc_snapshot_t *snapshot, bool priced);

/*
 * Asks Slurm whom a pending job may preempt in its partition. Jobs for which the answer has to be
 * the same share one.
 * IN/OUT keys - bits of the answers that hold for the job, one of which is added; 0 afterwards: the
 *	auction is to preempt nobody for it
 * RET whether there is anybody
 */
extern bool auc_rights_of(auc_snapshot_t *snapshot, job_record_t *job_ptr,
			  uint64_t *keys);

/* Adds what would be lost of the running jobs that are in some answer. */
extern void auc_rights_end(auc_snapshot_t *snapshot);

/* Pending jobs that are left to Slurm: which, why, and how many. Under the locks. */

/* Since a job was submitted, or could begin if that was later: seconds. */
extern uint32_t auc_waited(const job_record_t *job_ptr, time_t now);

/* Notes that such a job has its nodes. Job write lock, as for what follows. */
extern void auc_left_started(const job_record_t *job_ptr);

/* How long those have waited, s. */
extern auc_figure_t auc_left_waits(void);

/*
 * Leaves jobs without a place to Slurm that it would start now: it knows layouts that the library is not
 * shown, or would preempt others. Under the locks, after auc_explain().
 * IN hooks - NULL: nobody can be asked, and all are left that are modelled roughly
 */
extern void auc_leave_without_place(const auc_snapshot_t *snapshot,
				    const struct aucsched_output *out,
				    auc_select_hooks_t *hooks);

/*
 * Whether a job may be started by Slurm right now: it was submitted just now, nobody waits
 * for nodes of its partition, and no other job has just been started so that still runs:
 * jobs that come together are decided together. Job write lock.
 * IN together_ms - how soon after one another jobs come together
 */
extern bool auc_alone_is(job_record_t *job_ptr, int together_ms);

/* What became of a job: Slurm has started it, or it has to wait for a cycle. Job write lock. */
extern void auc_alone_started(job_record_t *job_ptr);
extern void auc_alone_waits(job_record_t *job_ptr);

/* A cycle begins; and it ends, and knows who waits. Under the locks. */
extern void auc_alone_begin(void);
extern void auc_alone_end(const auc_snapshot_t *snapshot);
extern void auc_alone_free(void);

/*
 * Jobs that Slurm's own selection of nodes starts in a cycle: those that it could start, and the
 * auction does not, after a while; and those that are left to Slurm, in their turn. The agent's
 * thread alone; under the locks, except for auc_overdue_free().
 */

/* The queue begins; then its jobs in their order. */
extern void auc_overdue_begin(int net_s);
extern void auc_overdue_add(const auc_snapshot_t *snapshot,
			    const job_record_t *job_ptr, auc_memo_t *memo);

/*
 * Gives a job that is left to Slurm its turn at this place of the queue, unless to start it takes
 * more than to select nodes. IN why - static text
 */
extern void auc_turns_add(auc_snapshot_t *snapshot,
			  const job_queue_rec_t *record, const char *why);

/* The checks that Slurm's main loop makes before it looks for nodes. */
extern bool auc_passes(job_record_t *job_ptr);

/* Whether anybody has a turn still. */
extern bool auc_turns_wait(void);

/*
 * Starts those who can be whose turn is before that of a row. auc_launch() has to follow.
 * IN/OUT idle - cores of nodes; what they get is taken off
 */
extern void auc_turns_take(const auc_snapshot_t *snapshot, uint32_t row,
			   auc_select_hooks_t *hooks, auc_starts_t *starts,
			   bitstr_t **idle);

typedef struct {
	uint32_t started;
	bool waits;	/* a job could start, or has not been asked about: there must be a next time */
} auc_overdue_t;

/*
 * Asks about some of the jobs that were waiting as the snapshot was taken, and starts those that
 * are overdue. auc_launch() has to follow if it has started any.
 * IN out - what was decided on the snapshot; NULL: nothing
 */
extern auc_overdue_t auc_overdue_ask(const auc_snapshot_t *snapshot,
				     const struct aucsched_output *out,
				     auc_select_hooks_t *hooks,
				     auc_starts_t *starts);
extern void auc_overdue_free(void);

#endif
