/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The place of a decision as a pin: exact cores and GPUs of its nodes. Bitmaps of a pin are its own,
 * also of one that could not be made. Job and node read locks.
 */
#ifndef AUC_PIN_H
#define AUC_PIN_H

#include "aucsched.h"
#include "compat.h"
#include "select_hooks.h"
#include "snapshot.h"

/*
 * IN segments, len - of a decision
 * IN idle - cores, by node
 * IN binds_gpus - Slurm's selection says which GPUs
 * RET false if not all of it is free
 */
extern bool auc_pin_make(auc_pin_t *pin, const struct aucsched_segment *segments,
			 uint32_t len, bitstr_t **idle, bool binds_gpus);

/*
 * The same where jobs are to end first. Which GPUs Slurm's selection says.
 * IN later - cores, by node, of those who are to end: taken where idle ones do not do
 */
extern bool auc_pin_make_room(auc_pin_t *pin,
			      const struct aucsched_segment *segments,
			      uint32_t len, bitstr_t **idle, bitstr_t **later);

/*
 * The GPU of a share, of a pin that is made.
 * IN segment - the decision's only one
 * RET false if it has no room any more
 */
extern bool auc_pin_share(auc_pin_t *pin, const auc_snapshot_t *snapshot,
			  const struct aucsched_segment *segment,
			  uint32_t share);

/* Any of the nodes' idle cores, and GPUs, instead. RET whether that is more */
extern bool auc_pin_widen(auc_pin_t *pin, bitstr_t **idle);

extern void auc_pin_free(auc_pin_t *pin);

#endif
