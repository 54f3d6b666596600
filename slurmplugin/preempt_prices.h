/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prices of running jobs that may be preempted. Under the locks, in auc_snapshot_take(). */
#ifndef AUC_PREEMPT_PRICES_H
#define AUC_PREEMPT_PRICES_H

#include "snapshot.h"

/*
 * Prices those that are in some answer, and multiplies priorities by a power of two, so that there
 * are numbers below them. Rows must say whom they may preempt.
 */
extern void auc_set_prices(auc_snapshot_t *snapshot);

#endif
