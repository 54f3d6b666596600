/* SPDX-License-Identifier: GPL-2.0-or-later */

/* auc_record=FILE: what the library was given, and what it answered. The agent's thread, without a lock. */
#ifndef AUC_RECORD_H
#define AUC_RECORD_H

#include "aucsched.h"
#include "settings.h"

/*
 * Adds a cycle to the file, which is written anew by each slurmctld and ends at 64 MB. A fault is logged
 * once, and ends it.
 */
extern void auc_record_cycle(const auc_settings_t *settings,
			     const struct aucsched_input *in,
			     const struct aucsched_output *out);
extern void auc_record_close(void);

#endif
