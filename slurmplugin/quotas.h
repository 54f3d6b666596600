/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits of associations and QOS, and licences. */
#ifndef AUC_QUOTAS_H
#define AUC_QUOTAS_H

#include "snapshot.h"

/*
 * Limits of associations and QOS, looked at before a job becomes a row. Under the locks; those of
 * assoc_mgr are taken after them.
 */

/*
 * Whether limits on what jobs ask for allow the request; the job is as it was. Takes the locks by
 * itself, as what follows.
 */
extern bool auc_limits_allow(const auc_snapshot_t *snapshot,
			     job_record_t *job_ptr,
			     const auc_request_t *request);

/* What was found of a job, for those that are like it. */
typedef struct {
	const job_record_t *job_ptr; /* NULL: nothing */
	auc_request_t request;
	bool may;		/* Slurm would start it, as far as limits go */
	uint32_t reason;	/* if not */
	slurmdb_qos_rec_t *blocking;
	bool held;		/* it got no row */
} auc_verdict_t;

#define AUC_VERDICTS 16

/* Zero at first; good for as long as the locks are held and no job starts or ends. */
typedef struct {
	auc_verdict_t kept[AUC_VERDICTS], unlimited;
	uint32_t next;
} auc_verdicts_t;

/*
 * Whether Slurm would start the job, as far as limits go, and if not the reason for users to
 * see; a job that may, and waited for a limit until now, is told Priority.
 * OUT limit - the reason for which it did, or WAIT_NO_REASON
 * RET the verdict; NULL: it may not
 */
extern auc_verdict_t *auc_within_limits(auc_verdicts_t *verdicts,
					const auc_snapshot_t *snapshot,
					job_record_t *job_ptr,
					const auc_request_t *request,
					uint32_t *limit);

/*
 * Limits of associations and QOS, and licences, as quotas, which the library counts. A limit becomes one
 * when the first job counts it. The agent's thread, under the locks.
 */

/* What a request counts: a part of what is kept until the end. */
typedef struct {
	uint32_t first, len;
} auc_counted_t;

/* Around the queue. */
extern void auc_limits_begin(void);
extern void auc_limits_end(void);

/*
 * Whose limits count for a job, as its record is now, and what it counts with a request.
 * IN/OUT request - with a smaller range of GPUs if the limits have no room for more
 * IN/OUT nodes - the request's; less those that a limit on nodes keeps from it
 * IN asked - Slurm lets it start, as far as limits go: one that says otherwise is not counted
 * IN stuck - it found no place last time, and keeps out only others of which that is true
 * IN/OUT rows - how many may compete for what the limits leave: as many as there is room for, and none
 *	once the rows before ask for several times as much; NULL: it is an alternative
 */
extern auc_counted_t auc_count_limits(auc_snapshot_t *snapshot,
				      job_record_t *job_ptr,
				      auc_request_t *request, bitstr_t *nodes,
				      bool asked, bool stuck, uint32_t *rows);

/* The job that is added next, or the next alternative, counts that. */
extern void auc_add_limits(auc_snapshot_t *snapshot, bool alternative,
			   auc_counted_t counted);

#endif
