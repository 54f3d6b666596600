/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which nodes a pending job may use. Under the locks. */
#ifndef AUC_MASKS_H
#define AUC_MASKS_H

#include "claims.h"
#include "compat.h"
#include "shape.h"
#include "snapshot.h"

/* A queue's jobs are mostly alike: so many different masks are compared with. */
#define AUC_RECENT_MASKS 16

/* The bitmap of mask m is at m % AUC_RECENT_MASKS, and owned. */
typedef struct {
	bitstr_t *recent[AUC_RECENT_MASKS];
} auc_masks_t;

/*
 * The nodes that Slurm would let the job have: its partition's, less those excluded,
 * those that lack a feature or the memory, those of reservations that it would run
 * into, and those of claims.
 * IN/OUT request - becomes approximate, and narrowed, if what others hold keeps nodes from it
 * IN feature - which one of several all nodes are to have, if the request says so
 * OUT nodes - caller must free
 * IN/OUT why - NULL; set if the job is left to Slurm
 * RET false, without nodes, if the job can't run now, or is left to Slurm
 */
extern bool auc_eligible_nodes(const auc_snapshot_t *snapshot,
			       const job_queue_rec_t *record,
			       auc_request_t *request, int feature,
			       const auc_claims_t *claims, bitstr_t **nodes,
			       const char **why);

/* The index of a mask, added if none of the last few is the same. Takes nodes over. */
extern int32_t auc_add_mask(auc_snapshot_t *snapshot, auc_masks_t *masks,
			    bitstr_t *nodes);
extern void auc_masks_free(auc_masks_t *masks);

#endif
