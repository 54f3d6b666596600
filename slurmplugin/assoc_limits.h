/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of associations and QOS, looked at before a job becomes a row. Under the locks; those of
 * assoc_mgr are taken after them.
 */
#ifndef AUC_ASSOC_LIMITS_H
#define AUC_ASSOC_LIMITS_H

#include "compat.h"
#include "shape.h"
#include "snapshot.h"

/* Whether AccountingStorageEnforce has limits. */
extern bool auc_limits_enforced(void);

/* assoc_mgr's write locks of associations and QOS, and its read lock of TRES. */
extern void auc_limits_lock(void);
extern void auc_limits_unlock(void);

/*
 * What a job counts against limits, by what the auction would give it: never more than
 * Slurm will count when it starts. Arrays of slurmctld_tres_cnt.
 */
typedef struct {
	uint64_t *tres;		/* owned */
	uint64_t *run_secs;	/* TRES x seconds; behind tres */
	uint64_t seconds;
} auc_need_t;

/* With auc_limits_lock(). Free with auc_need_free(). */
extern void auc_need_count(job_record_t *job_ptr, const auc_request_t *request,
			   auc_need_t *need);
extern void auc_need_free(auc_need_t *need);

/* The same with so many GPUs on each node, if they are not of several types. The job is as it was. */
extern void auc_need_with_gpus(job_record_t *job_ptr,
			       const auc_request_t *request, uint8_t gpus,
			       auc_need_t *need);

typedef enum {
	AUC_ASSOC,
	AUC_QOS,
	AUC_QOS_ACCOUNT,	/* what an account has of a QOS; sub: its association */
	AUC_QOS_USER,		/* what a user has; sub: the user */
	AUC_LICENCE,
} auc_holder_kind_t;

/* Whose limits count for a job, and where Slurm counts what is used of them. */
typedef struct {
	auc_holder_kind_t kind;
	uint32_t id, sub;
	uint64_t *tres, *run_secs; /* run_secs: NULL if nobody asks for them */
	uint32_t *jobs;
	/* The limits; INFINITE64 and INFINITE: none. */
	const uint64_t *tres_limits, *run_limits; /* these in minutes */
	uint32_t jobs_limit;
	uint32_t own_jobs_limit; /* of the job's own association alone */
	bitstr_t *nodes;	/* that are used; NULL: none, or nodes are not limited */
	uint64_t spared;	/* of nodes, by auc_spare_nodes() */
	bool narrowed;		/* the job gets none but nodes */
} auc_holder_t;

#define AUC_HOLDERS_MAX 32

/*
 * Those who have limits. With auc_limits_lock(), which holders don't outlive; 0 for a job without
 * a valid association.
 */
extern int auc_holders(job_record_t *job_ptr, auc_holder_t *holders);

/* Takes nodes off usage that the job may share, and puts them back. With auc_limits_lock(). */
extern void auc_spare_nodes(const auc_snapshot_t *snapshot,
			    const auc_request_t *request,
			    const auc_need_t *need, auc_holder_t *holders,
			    int len);
extern void auc_unspare_nodes(auc_holder_t *holders, int len);

/*
 * Where a holder may have no node more than it has, the job has to get one of these. A job of
 * several nodes may need some of either: that is left to the start. Between the two above.
 */
extern void auc_narrow_nodes(job_record_t *job_ptr, const auc_need_t *need,
			     auc_holder_t *holders, int len, bitstr_t *nodes);

/*
 * Whether Slurm would start the job, as far as limits go. The job is as it was afterwards. With
 * auc_limits_lock(), and only if auc_has_association().
 */
extern bool auc_has_association(const job_record_t *job_ptr);
extern bool auc_limits_ask(job_record_t *job_ptr, const auc_need_t *need);

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
	bool held;		/* the ledger had no row for it, */
	bool left;		/* and it was left to Slurm */
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

#endif
