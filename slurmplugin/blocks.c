/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Blocks of topology/block: see blocks.h.
 *
 * Slurm counts a block as BASE nodes, whatever more it has, and may join 2, 4, 8 ... of them, in
 * their order, to larger blocks: those sizes that BlockSizes has. A job is in one block of the
 * smallest size that it needs, and there in as few of the next smaller size as its nodes fill.
 * With --segment each segment is in one block, wherever the others are.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "compat.h"

/* As many as Slurm has. */
#define LEVELS 16

/* The number after a key of a line, 0 if it is not there. */
static uint64_t _number(const char *line, const char *end, const char *key)
{
	const char *at = strstr(line, key);

	return (at && (at < end)) ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static void _add_block(auc_blocks_t *blocks, const char *name)
{
	int len = strcspn(name, " \n");

	xrecalloc(blocks->names, blocks->count + 1, sizeof(char *));
	blocks->names[blocks->count++] = xstrdup_printf("%.*s", len, name);
}

/* RET false if no job can be told what the size means */
static bool _add_size(auc_blocks_t *blocks, uint64_t size, bool joined)
{
	if (!joined && !blocks->base)
		blocks->base = size;
	if (!joined)
		return size && (size == blocks->base);
	for (int level = 1; blocks->base && (level < LEVELS); level++)
		if (size == ((uint64_t) blocks->base << level)) {
			blocks->levels |= 1u << level;
			return true;
		}
	return false;
}

extern bool auc_blocks_read(auc_blocks_t *blocks, const char *text)
{
	bool ok = true;

	memset(blocks, 0, sizeof(*blocks));
	blocks->levels = 1;
	for (const char *line = text; ok && line && *line; ) {
		const char *end = line + strcspn(line, "\n");
		bool joined = !xstrncmp(line, "AggregatedBlock=", 16);

		if (joined || !xstrncmp(line, "BlockName=", 10)) {
			if (!joined)
				_add_block(blocks, line + 10);
			ok = _add_size(blocks, _number(line, end, " BlockSize="),
				       joined);
		}
		line = *end ? end + 1 : end;
	}
	if (!ok || !blocks->count)
		auc_blocks_free(blocks);
	return blocks->count;
}

extern void auc_blocks_free(auc_blocks_t *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++)
		xfree(blocks->names[i]);
	xfree(blocks->names);
	memset(blocks, 0, sizeof(*blocks));
}

extern uint32_t auc_block_of(const auc_blocks_t *blocks, const char *name)
{
	uint32_t i = 0;

	while ((i < blocks->count) && xstrcmp(blocks->names[i], name))
		i++;
	return i;
}

static uint64_t _divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* The first level from one on. RET -1 if there is none */
static int _level_from(const auc_blocks_t *blocks, int level)
{
	while ((level < LEVELS) && !(blocks->levels & (1u << level)))
		level++;
	return (level < LEVELS) ? level : -1;
}

/* The last level before one. */
static int _level_before(const auc_blocks_t *blocks, int level)
{
	for (level--; level > 0; level--)
		if ((level < LEVELS) && (blocks->levels & (1u << level)))
			break;
	return MAX(level, 0);
}

static const char *_whole_job(const auc_blocks_t *blocks, uint32_t nodes,
			      struct aucsched_job *job)
{
	uint64_t needs = _divide_up(nodes, blocks->base), most, in_block;
	int level = 0, before;

	while (((uint64_t) 1 << level) < needs)
		level++;
	before = _level_before(blocks, level);
	most = _divide_up(nodes, (uint64_t) blocks->base << before);
	level = _level_from(blocks, level);
	in_block = (level < 0) ? blocks->count : ((uint64_t) 1 << level);
	if (level < 0)
		job->within = AUCSCHED_ROOT;
	else
		job->within = __builtin_popcount(blocks->levels &
						 ((2u << level) - 1));
	if (most >= _divide_up(in_block, (uint64_t) 1 << before))
		return NULL;	/* it has no smaller ones to spare */
	if (before)
		return "blocks";	/* few of a size that is no leaf's */
	job->switches = most;
	return NULL;
}

extern const char *auc_block_demand(const auc_blocks_t *blocks, uint32_t nodes,
				    uint32_t segment, struct aucsched_job *job)
{
	if (segment && ((segment > blocks->base) || (nodes % segment)))
		return "segment";	/* Slurm will refuse it */
	if (!segment || (segment == nodes))
		return _whole_job(blocks, nodes, job);
	if ((job->min_nodes != nodes) || (job->max_nodes != nodes))
		return "segment";	/* of how many nodes there are to be segments? */
	job->segment = (segment > 1) ? segment : 0;
	return NULL;
}
