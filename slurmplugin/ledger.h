/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the rows of a snapshot would use of limits and licences together, for policies that count
 * neither: see limit_quotas.h for the others. Locks as assoc_limits.h; a ledger is its caller's.
 */
#ifndef AUC_LEDGER_H
#define AUC_LEDGER_H

#include "compat.h"
#include "shape.h"
#include "snapshot.h"

typedef struct auc_ledger auc_ledger_t;

/* For one snapshot. */
extern auc_ledger_t *auc_ledger_new(void);
extern void auc_ledger_free(auc_ledger_t *ledger);

/*
 * Admits rows of a job that is within all limits by itself, as many as can start together with
 * the rows before, and notes them.
 * IN/OUT request - with a smaller range of GPUs if the limits have no room for more
 * IN/OUT nodes - the job's; less those that a limit on nodes keeps from it
 * OUT left - there are none, and the job may be left to Slurm
 */
extern uint32_t auc_ledger_admit(auc_ledger_t *ledger,
				 const auc_snapshot_t *snapshot,
				 job_record_t *job_ptr,
				 auc_request_t *request, bitstr_t *nodes,
				 uint32_t copies, bool *left);

#endif
