/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Places that are kept: a job has been decided on, and others have to end before it can start. Until
 * then its place is nobody else's. All under the job write lock; an array that is handed out is good
 * as long as that is held, and until the next call that adds or drops.
 */
#ifndef AUC_HOLDS_H
#define AUC_HOLDS_H

#include "aucsched.h"
#include "compat.h"
#include "snapshot.h"

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

#endif
