/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Segments: see segment.h. */
#include "compat.h"
#include "grow.h"
#include "segment.h"

extern void auc_add_segment(struct aucsched_segment **segments, size_t *cap,
			    uint32_t *len, uint32_t first, int n,
			    uint16_t cores, uint8_t gpus, uint8_t bin)
{
	struct aucsched_segment *last;

	if (*len > first) {
		last = &(*segments)[*len - 1];
		if ((last->last + 1 == n) && (last->cores == cores) &&
		    (last->gpus == gpus) && !last->bin && !bin) {
			last->last = n;
			return;
		}
	}
	AUC_GROW(*segments, *cap, *len + 1);
	(*segments)[(*len)++] = (struct aucsched_segment) {
		.first = n, .last = n, .cores = cores, .gpus = gpus,
		.bin = bin };
}
