/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Decisions into jobs that have their nodes. */
#ifndef AUC_START_H
#define AUC_START_H

#include "save.h"

/*
 * Places that are kept: a job has been decided on, and others have to end before it can start. Until
 * then its place is nobody else's. All under the job write lock; an array that is handed out is good
 * as long as that is held, and until the next call that adds or drops.
 */

typedef struct {
	uint32_t job_id;	/* who waits */
	auc_snapshot_t s;	/* of one row, 0: the job's as it was decided on, */
	struct aucsched_output out; /* and what was decided */
	bitstr_t *nodes;	/* of the place */
	uint32_t *victims;	/* job ids of those who are to end */
	uint32_t victims_len;
	time_t until;		/* it is given up then; later while somebody has a grace time */
} auc_hold_t;

/*
 * Keeps what was decided for a row.
 * IN job_ptr - the row's; of an array, the task
 * IN victims, len - copied
 */
extern void auc_hold_add(const auc_snapshot_t *snapshot,
			 const struct aucsched_output *out, uint32_t row,
			 const job_record_t *job_ptr, const uint32_t *victims,
			 uint32_t len, time_t until);
extern auc_hold_t *auc_holds(uint32_t *len);
extern void auc_hold_drop(uint32_t i); /* the last one takes its number */
extern bool auc_holds_any(uint32_t job_id); /* whether one is the job's */

/* Takes the nodes of all that are kept for others than the job off nodes. */
extern void auc_holds_keep(const job_record_t *job_ptr, bitstr_t *nodes);

extern void auc_holds_free(void); /* drops all */

/*
 * What stock Slurm would allocate to a job now: as a yes or no, and as a start. All under the locks.
 */

/* What a test changes in a job's record; its gres lists are swapped for copies. */
#define AUC_TESTED(JOB, DETAIL) \
	DETAIL(usable_nodes) DETAIL(pn_min_memory) \
	JOB(start_time) JOB(total_cpus) JOB(total_nodes) JOB(cpu_cnt) JOB(start_protocol_ver) \
	JOB(state_reason) JOB(node_cnt_wag) JOB(state_desc) JOB(gres_list_req) JOB(gres_list_req_accum)

typedef struct {
	AUC_TESTED(AUC_JOB_FIELD, AUC_DETAIL_FIELD)
} auc_tested_t;

/* Around a question about a job, which is afterwards as it was. */
extern void auc_test_begin(auc_tested_t *tested, job_record_t *job_ptr);
extern void auc_test_end(const auc_tested_t *tested, job_record_t *job_ptr);

/*
 * Makes the next task of an array's record a job of its own; any other job is that already.
 * RET that job, or NULL
 */
extern job_record_t *auc_split(job_record_t *job_ptr);

/*
 * Gives jobs their nodes as decided, from starts->next on, until all are done or
 * budget_us is over (one start is always tried). Every job is validated again first.
 * auc_launch() has to follow. Under the locks, as what follows.
 */
extern void auc_start(const auc_snapshot_t *snapshot,
		      const struct aucsched_output *out,
		      auc_select_hooks_t *hooks, int64_t budget_us,
		      auc_starts_t *starts);

/* Whether auc_start() has nothing more to do for the snapshot. */
extern bool auc_all_tried(const auc_snapshot_t *snapshot,
			  const auc_starts_t *starts);

/* Starts that waited until others had ended. Under the locks, the agent's thread alone. */

/* Who waits on. */
typedef enum {
	AUC_NOBODY,
	AUC_FOR_GRACE,		/* for jobs that still run */
	AUC_FOR_NODES		/* some for nodes to be clean, which is a matter of moments */
} auc_waits_t;

/*
 * Starts those whose victims have ended, ends those whose grace is over, and gives up places that
 * have been waited for too long. Before a snapshot is taken; auc_launch() has to follow.
 */
extern auc_waits_t auc_holds_tend(auc_select_hooks_t *hooks,
				  auc_starts_t *starts);

/*
 * For the starts that have to wait for others: asks Slurm whether these would do, has it preempt them,
 * and keeps the places. Under the locks, the agent's thread alone. A start that has become possible meanwhile is made. After auc_start().
 * IN budget_us - who is not looked at by then bids again
 * RET how many jobs have been preempted
 */
extern uint32_t auc_preempt(const auc_snapshot_t *snapshot,
			    const struct aucsched_output *out,
			    auc_select_hooks_t *hooks, int64_t budget_us,
			    auc_starts_t *starts);

#endif
