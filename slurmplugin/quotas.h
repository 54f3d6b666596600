/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits of associations and QOS, and licences. */
#ifndef AUC_QUOTAS_H
#define AUC_QUOTAS_H

#include "compat.h"
#include "settings.h"
#include "shape.h"
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
 * Limits of associations and QOS, and licences, as quotas, which the library counts. Arrays are the
 * snapshot's, but for what is known of each limit. Under the locks.
 */

typedef struct auc_limit_quotas auc_limit_quotas_t;

/* What a request counts: a part of what the limits keep, as long as they are kept. See quotas.h. */
typedef struct {
	uint32_t first, len;
} auc_counted_t;

/*
 * For one snapshot. A limit becomes a quota when the first job counts it.
 * RET auc_limit_quotas_free()
 */
extern auc_limit_quotas_t *auc_limit_quotas_new(void);
extern void auc_limit_quotas_free(auc_limit_quotas_t *limits);

/*
 * How many rows may compete for what the limits leave, up to most: as many as there is room for, and
 * none once the rows before ask for several times as much. Notes what they ask for.
 * IN stuck - it found no place last time, and keeps out only others of which that is true
 */
extern uint32_t auc_limit_quotas_admit(auc_limit_quotas_t *limits,
				       const auc_snapshot_t *snapshot,
				       const auc_request_t *request,
				       auc_counted_t counted, uint32_t most,
				       bool stuck);

/* What the job that is added next, or the next alternative, counts. */
extern void auc_add_job_limits(const auc_limit_quotas_t *limits,
			       auc_snapshot_t *snapshot, auc_counted_t counted);
extern void auc_add_alternative_limits(const auc_limit_quotas_t *limits,
				       auc_snapshot_t *snapshot,
				       auc_counted_t counted);

/*
 * What jobs count against limits of associations and QOS, and which of these bind them. Locks as
 * quotas.h.
 */

/*
 * What a job, as its record is now, counts with a request, by Slurm's rules of which limits bind it.
 * IN/OUT request - with a smaller range of GPUs if the limits have no room for more
 * IN/OUT nodes - the request's; less those that a limit on nodes keeps from it
 * IN asked - Slurm lets it start, as far as limits go: one that says otherwise is not counted
 */
extern auc_counted_t auc_count_limits(auc_limit_quotas_t *limits,
				      auc_snapshot_t *snapshot,
				      job_record_t *job_ptr,
				      auc_request_t *request, bitstr_t *nodes,
				      bool asked);

#endif
