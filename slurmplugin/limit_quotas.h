/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of associations and QOS as quotas, which the library counts. Arrays are the snapshot's, but
 * for what is known of each limit. Locks as assoc_limits.h.
 */
#ifndef AUC_LIMIT_QUOTAS_H
#define AUC_LIMIT_QUOTAS_H

#include "assoc_limits.h"
#include "compat.h"
#include "settings.h"
#include "shape.h"
#include "snapshot.h"

typedef struct auc_limit_quotas auc_limit_quotas_t;

/* What a request counts: a part of what the limits keep, as long as they are kept. See limit_charges.h. */
typedef struct {
	uint32_t first, len;
} auc_counted_t;

/*
 * For one snapshot; other quotas come before. A limit becomes a quota when the first job counts it.
 * RET NULL if the policy counts none, or Slurm enforces none. Free with auc_limit_quotas_free().
 */
extern auc_limit_quotas_t *auc_limit_quotas_new(const auc_settings_t *settings);
extern void auc_limit_quotas_free(auc_limit_quotas_t *limits);

/* On TRES, on minutes of them, or on the number of jobs. */
typedef enum { AUC_ON_TRES, AUC_ON_MINUTES, AUC_ON_JOBS } auc_measure_t;

/* A limit. Who has it may have it with several values, by QOS with a LimitFactor. */
typedef struct {
	auc_holder_kind_t kind;
	uint32_t id, sub;
	auc_measure_t measure;
	int tres;
	uint64_t limit;
} auc_limit_t;

/*
 * A request that is being counted counts a charge against a limit of which so much is left.
 * IN/OUT counted - what it counts so far, the last of all that are kept; zero at first
 */
extern void auc_limit_quotas_charge(auc_limit_quotas_t *limits,
				    auc_snapshot_t *snapshot,
				    const auc_limit_t *limit, uint64_t left,
				    const struct aucsched_charge *charge,
				    auc_counted_t *counted);
/* In the order of the quotas, when all of it is counted. */
extern void auc_limit_quotas_sort(auc_limit_quotas_t *limits,
				  auc_counted_t counted);

/* rate x number; AUCSCHED_MAX_CHARGE at most. */
extern uint64_t auc_charge_times(uint64_t rate, uint64_t number);

/* What any start with the request counts at least. */
extern uint64_t auc_least_charge(const struct aucsched_charge *charge,
				 const auc_request_t *request);

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

#endif
