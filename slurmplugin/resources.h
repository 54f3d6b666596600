/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the library counts beside cores and GPUs: memory, GPUs by type where nodes have several
 * types, and other gres. Arrays are the snapshot's. Under the locks.
 */
#ifndef AUC_RESOURCES_H
#define AUC_RESOURCES_H

#include "compat.h"
#include "shape.h"
#include "snapshot.h"

/* What a running job holds of them on one node: equal ones compare equal by memcmp(). */
typedef struct {
	uint32_t amounts[AUC_RESOURCES];
} auc_holding_t;

/*
 * Says which there are, and what nodes have in all. Nodes must be there, and nothing be taken off
 * them. Conf and node read locks.
 */
extern void auc_begin_resources(auc_snapshot_t *snapshot,
				const auc_settings_t *settings);

/* What a job holds on node n, its number at. Before that is taken off the node. */
extern void auc_look_at_holding(auc_snapshot_t *snapshot,
				const job_record_t *job_ptr, int n, int at,
				auc_holding_t *holding);

/* What one node of a place holds that is kept for a job, by the job's request; and takes it off the node. */
extern void auc_look_at_promise(auc_snapshot_t *snapshot,
				const auc_request_t *request,
				const part_record_t *part_ptr,
				const struct aucsched_segment *segment, int n,
				auc_holding_t *holding);

/* The running job that was added last holds this on each of its nodes. */
extern void auc_add_running_uses(auc_snapshot_t *snapshot,
				 const auc_holding_t *holding);

/* What nodes have free, now that what runs has been taken off them. */
extern void auc_end_resources(auc_snapshot_t *snapshot);

/* What the job that is added next, or the next alternative, uses as its request says. */
extern void auc_add_job_uses(auc_snapshot_t *snapshot,
			     const auc_request_t *request,
			     const part_record_t *part_ptr);
extern void auc_add_alternative_uses(auc_snapshot_t *snapshot,
				     const auc_request_t *request,
				     const part_record_t *part_ptr);

/* Whether the request says of which type its GPUs, or other gres, are to be. */
extern bool auc_names_type(const auc_request_t *request);

/* Whether the library counts the gres, or the type of it, so that no mask need say where it is. */
extern bool auc_counts_gres(const auc_snapshot_t *snapshot, uint32_t gres,
			    uint32_t type);

#endif
