/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What Slurm holds jobs to in blocks. */
#include <string.h>

#include "../shape.h"
#include "units.h"

#define ROOT AUCSCHED_ROOT

/* Of six blocks of four nodes: which sizes there are. */
#define only_blocks 1
#define pairs 3
#define fours 5
#define all_sizes 15

static const struct {
	uint32_t levels;
	uint32_t nodes, segment;
	uint16_t within;
	uint32_t switches;
	uint16_t in_segments;
	const char *why;
} demands[] = {
	/* What fits into a block is in one. */
	{ only_blocks, 1, 0, 1 }, { only_blocks, 4, 0, 1 }, { all_sizes, 4, 0, 1 },
	/* Others are in the smallest that there is for them, and as few below it as they fill. */
	{ only_blocks, 5, 0, ROOT, 2 }, { only_blocks, 9, 0, ROOT, 3 },
	{ only_blocks, 20, 0, ROOT, 5 }, { only_blocks, 24, 0, ROOT },
	{ pairs, 5, 0, 2 }, { pairs, 8, 0, 2 }, { pairs, 9, 0, .why = "blocks" },
	{ pairs, 17, 0, ROOT }, { all_sizes, 9, 0, 3 }, { all_sizes, 17, 0, 4 },
	{ fours, 5, 0, 2, 2 }, { fours, 9, 0, 2, 3 }, { fours, 13, 0, 2 },
	{ fours, 17, 0, ROOT },
	/* Each segment is in a block, and these are anywhere. */
	{ pairs, 8, 2, .in_segments = 2 }, { pairs, 12, 4, .in_segments = 4 },
	{ pairs, 6, 1 }, { pairs, 2, 2, 1 }, { pairs, 8, 3, .why = "segment" },
	{ pairs, 16, 8, .why = "segment" }, { pairs, 8, 8, .why = "segment" },
};

static void _test_demands(void)
{
	for (int i = 0; i < ARRAY_SIZE(demands); i++) {
		struct aucsched_topology blocks = { .base = 4, .count = 6,
			.levels = demands[i].levels };
		struct aucsched_job job = { .min_nodes = demands[i].nodes,
			.max_nodes = demands[i].nodes };
		const char *why;

		why = auc_block_demand(&blocks, demands[i].nodes,
				       demands[i].segment, &job);
		CHECK(!xstrcmp(why, demands[i].why), "case %d: %s", i, why);
		CHECK(why || ((job.within == demands[i].within) &&
			      (job.switches == demands[i].switches) &&
			      (job.segment == demands[i].in_segments)),
		      "case %d: within %u, switches %u, segment %u", i,
		      job.within, job.switches, job.segment);
	}
}

static void _test_range_of_nodes(void)
{
	struct aucsched_job job = { .min_nodes = 4, .max_nodes = 8 };
	struct aucsched_topology blocks = { .base = 4, .count = 6,
		.levels = pairs };

	CHECK(!xstrcmp(auc_block_demand(&blocks, 4, 2, &job), "segment"),
	      "how many segments?");
}

extern void test_blocks(void)
{
	_test_demands();
	_test_range_of_nodes();
}
