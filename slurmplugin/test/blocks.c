/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Blocks as Slurm 24.11 prints them, and what it holds jobs to there. */
#include <string.h>

#include "../shape.h"
#include "units.h"

#define BLOCK(name, index) \
	"BlockName=" name " BlockIndex=" index " Nodes=n[1-4] BlockSize=4\n"
#define JOINED(names, size) \
	"AggregatedBlock=" names " BlockIndex=9 Nodes=n[1-9] BlockSize=" size "\n"
#define SIX BLOCK("b1", "0") BLOCK("b0", "1") BLOCK("b10", "2") \
	BLOCK("b3", "3") BLOCK("b4", "4") BLOCK("b5", "5")

#define ROOT AUCSCHED_ROOT

static const char only_blocks[] = SIX;
static const char pairs[] = SIX JOINED("b[0-1]", "8") JOINED("b[3,10]", "8")
	JOINED("b[4-5]", "8");
static const char all_sizes[] = SIX JOINED("b[0-1]", "8") JOINED("b[3,10]", "8")
	JOINED("b[4-5]", "8") JOINED("b[0-1,3,10]", "16") JOINED("b[4-5]", "16")
	JOINED("b[0-1,3-5,10]", "32");
static const char fours[] = SIX JOINED("b[0-1,3,10]", "16");

static const struct {
	const char *text;
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
		auc_blocks_t blocks;
		struct aucsched_job job = { .min_nodes = demands[i].nodes,
			.max_nodes = demands[i].nodes };
		const char *why;

		CHECK(auc_blocks_read(&blocks, demands[i].text), "case %d", i);
		why = auc_block_demand(&blocks, demands[i].nodes,
				       demands[i].segment, &job);
		CHECK(!xstrcmp(why, demands[i].why), "case %d: %s", i, why);
		CHECK(why || ((job.within == demands[i].within) &&
			      (job.switches == demands[i].switches) &&
			      (job.segment == demands[i].in_segments)),
		      "case %d: within %u, switches %u, segment %u", i,
		      job.within, job.switches, job.segment);
		auc_blocks_free(&blocks);
	}
}

static void _test_range_of_nodes(void)
{
	struct aucsched_job job = { .min_nodes = 4, .max_nodes = 8 };
	auc_blocks_t blocks;

	CHECK(auc_blocks_read(&blocks, pairs), "pairs");
	CHECK(!xstrcmp(auc_block_demand(&blocks, 4, 2, &job), "segment"),
	      "how many segments?");
	CHECK(auc_block_of(&blocks, "b0") == 1, "in Slurm's order");
	CHECK(auc_block_of(&blocks, "b") == blocks.count, "no such block");
	auc_blocks_free(&blocks);
}

/* What is not known to be said by Slurm is no blocks. */
static void _test_texts(void)
{
	static const char *const others[] = {
		NULL, "", "\n", "SwitchName=s0 Level=0 Nodes=n1\n",
		"BlockName=b0 BlockIndex=0 Nodes=n[1-4]\n",	/* 24.05 */
		"BlockName=b0 BlockIndex=0 Nodes=n[1-4] BlockSize=0\n",
		BLOCK("b0", "0") "BlockName=b1 BlockIndex=1 Nodes=n5 BlockSize=3\n",
		BLOCK("b0", "0") JOINED("b0", "6"), JOINED("b0", "8"),
		BLOCK("b0", "0") JOINED("b0", "99999999999"),
		BLOCK("b0", "0") "AggregatedBlock=b0\nBlockSize=8",
	};

	for (int i = 0; i < ARRAY_SIZE(others); i++) {
		auc_blocks_t blocks;

		CHECK(!auc_blocks_read(&blocks, others[i]) && !blocks.count &&
		      !blocks.names, "text %d", i);
	}
}

extern void test_blocks(void)
{
	_test_demands();
	_test_range_of_nodes();
	_test_texts();
}
