/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ways in which a job could start besides the first that is modelled: other layouts of its
 * request, the other features of "[a|b]", its other partitions, and the alternative requests of its
 * script. The library gets them as alternatives. Under the locks.
 */
#ifndef AUC_WAYS_H
#define AUC_WAYS_H

#include "claims.h"
#include "compat.h"
#include "limit_quotas.h"
#include "masks.h"
#include "memo.h"
#include "shape.h"
#include "snapshot.h"

typedef struct {
	struct aucsched_alternative given[AUC_ALTERNATIVES];
	auc_request_t requests[AUC_ALTERNATIVES];
	auc_way_t ways[AUC_ALTERNATIVES]; /* what each of them is */
	auc_counted_t counted[AUC_ALTERNATIVES]; /* against limits */
	uint8_t len;
	bool loose;		/* one of them is: see shape.h */
	bool more;		/* there are others that the library is not shown */
} auc_ways_t;

/*
 * IN request - the record's, of the row itself
 * IN queue - the records behind this one
 * IN may_wake - the job may have nodes that are powered down
 */
extern void auc_look_at_ways(auc_snapshot_t *snapshot,
			     const job_queue_rec_t *record,
			     const auc_request_t *request, list_t *queue,
			     auc_memo_t *memo, bool may_wake,
			     const auc_claims_t *claims, auc_masks_t *masks,
			     auc_limit_quotas_t *limits, auc_ways_t *found);

#endif
