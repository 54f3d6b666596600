/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which input files nodes hold, as the library is told, and the file in StateSaveLocation in which
 * that outlasts a restart. The agent's thread alone.
 */
#ifndef AUC_FILES_H
#define AUC_FILES_H

#include "compat.h"
#include "library.h"
#include "settings.h"
#include "snapshot.h"

/* What nodes keep of files, which must be there; nothing with auc_locality=no. */
extern void auc_add_stores(auc_snapshot_t *snapshot,
			   const auc_settings_t *settings);

/* The file of the job that comes next, if it names one. RET whether it does */
extern bool auc_add_job_read(auc_snapshot_t *snapshot,
			     const job_record_t *job_ptr);
extern void auc_add_running_read(auc_snapshot_t *snapshot,
				 const job_record_t *job_ptr);

/* All without a lock. Takes over what an earlier slurmctld has left in dir, the first time. */
extern void auc_files_load(const auc_library_t *library, const char *dir);

/* Saves what the library knows of files, if that has changed and it is not too soon. */
extern void auc_files_keep(const auc_library_t *library,
			   const struct aucsched_output *out, const char *dir);

/* The last time, before the library is closed. */
extern void auc_files_end(const auc_library_t *library, const char *dir);

#endif
