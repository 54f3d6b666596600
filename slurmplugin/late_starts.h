/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Starts that waited until others had ended. Under the locks, the agent's thread alone. */
#ifndef AUC_LATE_STARTS_H
#define AUC_LATE_STARTS_H

#include "launch.h"
#include "select_hooks.h"

/* Who waits on. */
typedef enum {
	AUC_NOBODY,
	AUC_FOR_GRACE,		/* for jobs that still run */
	AUC_FOR_NODES		/* some for nodes to be clean, which is a matter of moments */
} auc_waits_t;

/*
 * Starts those whose victims have ended, ends those whose grace is over, and gives up places that
 * have been waited for too long. Before a snapshot is taken; auc_launch() has to follow.
 */
extern auc_waits_t auc_holds_tend(auc_select_hooks_t *hooks,
				  auc_starts_t *starts);

#endif
