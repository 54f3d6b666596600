/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Memory, and winners that have no room for it beside each other where the library does not count it.
 */
#ifndef AUC_JOB_MEMORY_H
#define AUC_JOB_MEMORY_H

#include "compat.h"
#include "snapshot.h"

/* Whether memory is given out in the partition. Conf and partition read locks. */
extern bool auc_consumes_memory(const part_record_t *part_ptr);

/* All that jobs may have of a node's memory, MB. Node read lock. */
extern uint64_t auc_all_memory(int n);

/*
 * Puts off winners that have no room beside those before them. RET how many; there should be
 * another cycle for them soon
 */
extern uint32_t auc_put_off(auc_snapshot_t *snapshot,
			    const struct aucsched_output *out);

#endif
