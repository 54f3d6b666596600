/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Starts and ends of jobs that Slurm may not have saved: a file in StateSaveLocation, and a copy of
 * it in memory. Its own lock is taken last of all.
 */
#ifndef AUC_JOURNAL_H
#define AUC_JOURNAL_H

#include "compat.h"

/* One start of a job, or its end. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool ended;
	uint32_t state;		/* with ended: job_state as it was given back its nodes */
	uint32_t exit_code;
} auc_run_t;

#define AUC_RUN_LINE 80

/* A run as a line of the file, and back. RET false if the line is none */
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
extern void auc_journal_end(const job_record_t *job_ptr);

/* How long it will take until all that was started is a step on its node, at most 1 s. */
extern int64_t auc_journal_rest_us(void);

/* Where the journal is now, and: Slurm has saved what happened before a mark. The latter
 * may write the file anew; one thread at a time. */
extern size_t auc_journal_mark(void);
extern void auc_journal_forget(size_t mark, time_t now);

/* IN discard - remove the file: from now on there would be gaps in it */
extern void auc_journal_close(bool discard);

#endif
