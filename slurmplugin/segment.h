/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Segments: neighbouring nodes on which a job has the same, as the library is told of them.
 * The arrays are the caller's.
 */
#ifndef AUC_SEGMENT_H
#define AUC_SEGMENT_H

#include <stddef.h>

#include "aucsched.h"

/*
 * Adds what a job has on node n, joined to the segment before where that is alike.
 * IN first - index of the job's first segment
 * IN bin - the GPU in shared use that has the job's share; 0: none
 */
extern void auc_add_segment(struct aucsched_segment **segments, size_t *cap,
			    uint32_t *len, uint32_t first, int n,
			    uint16_t cores, uint8_t gpus, uint8_t bin);

#endif
