/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The blocks of topology/block, as Slurm prints them, and what it holds a job to there
 * (eval_nodes_block.c of 24.11). Text and arithmetic alone: no record, no lock.
 */
#ifndef AUC_BLOCKS_H
#define AUC_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aucsched.h"

/* All zero: nothing is known. */
typedef struct {
	char **names;		/* [block], in Slurm's order, which says what is joined */
	uint32_t count, base;	/* blocks; nodes that each counts for, of BlockSizes the first */
	uint32_t levels;	/* bit l: 2^l blocks make a block, too (AggregatedBlock); bit 0 is set */
} auc_blocks_t;

/*
 * Reads what "scontrol show topology" prints; auc_blocks_free().
 * RET false, and nothing is known: it does not say how large blocks are (before 24.11)
 */
extern bool auc_blocks_read(auc_blocks_t *blocks, const char *text);

extern void auc_blocks_free(auc_blocks_t *blocks);

/* The index of a block; blocks->count: there is none of this name. */
extern uint32_t auc_block_of(const auc_blocks_t *blocks, const char *name);

/*
 * Has a job that asks for so many nodes demand what Slurm would hold it to. The levels are those
 * of a tree with the blocks, then what is joined of them level by level, and one root.
 * IN segment - --segment, 0: none
 * RET NULL, or a word that says why it is left to Slurm: it is held to more than can be said
 */
extern const char *auc_block_demand(const auc_blocks_t *blocks, uint32_t nodes,
				    uint32_t segment, struct aucsched_job *job);

#endif
