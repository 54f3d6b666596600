/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What jobs count against limits of associations and QOS, and which of these bind them. Locks as
 * assoc_limits.h.
 */
#ifndef AUC_LIMIT_CHARGES_H
#define AUC_LIMIT_CHARGES_H

#include "compat.h"
#include "limit_quotas.h"
#include "shape.h"
#include "snapshot.h"

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
