/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What Slurm holds jobs to in blocks. */
#include <string.h>

#include "../shape.h"
#include "units.h"

/* Of blocks of four nodes, and of what the library says of a job without segments. */
static const struct {
	uint32_t nodes, segment;
	struct aucsched_demand demand;
	uint16_t within;
	uint32_t switches;
	uint16_t in_segments;
	const char *why;
} demands[] = {
	{ 4, 0, { .within = 1 }, 1 }, { 5, 0, { 2, 7 }, 7, 2 },
	{ 9, 0, { .unsaid = 1 }, .why = "blocks" },
	/* Each segment is in a block, and these are anywhere. */
	{ 8, 2, { .within = 1 }, .in_segments = 2 }, { 12, 4, { 3, 2 }, .in_segments = 4 },
	{ 6, 1, { .unsaid = 1 } }, { 2, 2, { .within = 1 }, 1 }, { 8, 3, { .within = 1 }, .why = "segment" },
	{ 16, 8, { .within = 1 }, .why = "segment" }, { 8, 8, { .within = 1 }, .why = "segment" },
};

static void _test_demands(void)
{
	for (int i = 0; i < ARRAY_SIZE(demands); i++) {
		struct aucsched_topology blocks = { .base = 4 };
		struct aucsched_job job = { .min_nodes = demands[i].nodes,
			.max_nodes = demands[i].nodes };
		const char *why;

		why = auc_block_demand(&blocks, demands[i].nodes,
				       demands[i].segment, &demands[i].demand,
				       &job);
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
	struct aucsched_topology blocks = { .base = 4 };

	CHECK(!xstrcmp(auc_block_demand(&blocks, 4, 2, &demands[0].demand, &job), "segment"),
	      "how many segments?");
}

extern void test_blocks(void)
{
	_test_demands();
	_test_range_of_nodes();
}
