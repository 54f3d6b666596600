/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes that the backfill scheduler has promised to jobs. Job and node read locks. */
#ifndef AUC_CLAIMS_H
#define AUC_CLAIMS_H

#include "compat.h"

/* More claims than this are not looked at: those of the first jobs count. */
#define AUC_CLAIMS_MAX 64

/* What a job that is left to Slurm has been promised by the backfill scheduler. */
typedef struct {
	time_t start;
	bitstr_t *nodes;	/* owned */
} auc_claim_t;

typedef struct {
	auc_claim_t claims[AUC_CLAIMS_MAX];
	int len;
} auc_claims_t;

/* Notes what a job is planned to get, if it is. */
extern void auc_claims_add(auc_claims_t *claims, job_record_t *job_ptr);

/* Takes off nodes those of the first len claims, if they start before end. */
extern void auc_claims_exclude(const auc_claims_t *claims, int len, int64_t end,
			       bitstr_t *nodes);
extern void auc_claims_free(auc_claims_t *claims);

#endif
