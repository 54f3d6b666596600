/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Licences as quotas, which the library counts. Arrays are the snapshot's, but for the names. Under
 * the locks.
 */
#ifndef AUC_LICENCES_H
#define AUC_LICENCES_H

#include "compat.h"
#include "settings.h"
#include "snapshot.h"

typedef struct auc_licences auc_licences_t;

/*
 * The quotas of a snapshot: what is left of each licence.
 * RET NULL if the policy counts none. Free with auc_licences_free().
 */
extern auc_licences_t *auc_licences_new(auc_snapshot_t *snapshot,
					const auc_settings_t *settings);
extern void auc_licences_free(auc_licences_t *licences);

/*
 * How many rows of a job may compete for its licences, up to most: as many as there are for, and
 * none once the rows before ask for several times what is left. Notes what they ask for.
 */
extern uint32_t auc_licences_admit(auc_licences_t *licences,
				   const auc_snapshot_t *snapshot,
				   const job_record_t *job_ptr, uint32_t most);

/* What the job that is added next, or the next alternative, counts. */
extern void auc_add_job_licences(const auc_licences_t *licences,
				 auc_snapshot_t *snapshot,
				 const job_record_t *job_ptr);
extern void auc_add_alternative_licences(const auc_licences_t *licences,
					 auc_snapshot_t *snapshot,
					 const job_record_t *job_ptr);

#endif
