/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is remembered of pending jobs from cycle to cycle: see memo.h. A hash table by
 * job id with linear probing, at most half full.
 */
#include "compat.h"
#include "memo.h"

static auc_memo_t *table;
static uint32_t size, used;	/* size is a power of two */

static auc_memo_t *_slot(uint32_t job_id)
{
	uint32_t at = job_id * 2654435761u;

	while (table[at & (size - 1)].job_id &&
	       (table[at & (size - 1)].job_id != job_id))
		at++;
	return &table[at & (size - 1)];
}

extern auc_memo_t *auc_memo_find(uint32_t job_id)
{
	auc_memo_t *memo;

	if (!size)
		return NULL;
	memo = _slot(job_id);
	return memo->job_id ? memo : NULL;
}

/* Moves the memos worth keeping to a new table with room for more. */
static void _rebuild(uint32_t cycle, bool all)
{
	auc_memo_t *old = table;
	uint32_t old_size = size, keep = 0;

	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].job_id && (all || (old[i].cycle == cycle)))
			keep++;
	for (size = 64; size < 4 * (keep + 1); )
		size *= 2;
	table = xcalloc(size, sizeof(*table));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].job_id && (all || (old[i].cycle == cycle)))
			*_slot(old[i].job_id) = old[i];
	used = keep;
	xfree(old);
}

extern auc_memo_t *auc_memo_of(uint32_t job_id)
{
	auc_memo_t *memo;

	if (2 * (used + 1) > size)
		_rebuild(0, true);
	memo = _slot(job_id);
	if (!memo->job_id) {
		memo->job_id = job_id;
		used++;
	}
	return memo;
}

extern void auc_memo_sweep(uint32_t cycle, void (*gone)(uint32_t job_id))
{
	bool any = false;

	for (uint32_t i = 0; i < size; i++)
		if (table[i].job_id && (table[i].cycle != cycle)) {
			any = true;
			if (gone)
				gone(table[i].job_id);
		}
	if (any)
		_rebuild(cycle, false);
}

extern void auc_memo_free(void)
{
	xfree(table);
	size = used = 0;
}
