/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Slurm's own backfill scheduler, wrapped: it starts what is left to Slurm, and all jobs when the
 * auction claims none. For the entry points of the plug-in.
 */
#ifndef AUC_FALLBACK_H
#define AUC_FALLBACK_H

/* Loads the stock sched_backfill.so and starts its thread. */
extern int auc_fallback_start(void);
extern void auc_fallback_reconfig(void);
extern void auc_fallback_stop(void);

#endif
