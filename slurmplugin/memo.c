/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "common.h"
#include "compat.h"
#include "status.h"

/*
 * What is remembered of pending jobs from cycle to cycle: a hash table by
 * job id with linear probing, at most half full.
 */

static auc_memo_t *table;
static uint32_t size, used;	/* size is a power of two */

static uint32_t _home(uint32_t job_id)
{
	return (job_id * 2654435761u) & (size - 1);
}

static auc_memo_t *_slot(uint32_t job_id)
{
	uint32_t at = _home(job_id);

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

/* Moves the memos to a new table with room for more. */
static void _rebuild(void)
{
	auc_memo_t *old = table;
	uint32_t old_size = size;

	for (size = 64; size < 2 * (used + 1) + used / 2; )
		size *= 2;
	table = xcalloc(size, sizeof(*table));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].job_id)
			*_slot(old[i].job_id) = old[i];
	xfree(old);
}

extern auc_memo_t *auc_memo_of(uint32_t job_id)
{
	auc_memo_t *memo;

	if (2 * (used + 1) > size)
		_rebuild();
	memo = _slot(job_id);
	if (!memo->job_id) {
		memo->job_id = job_id;
		used++;
	}
	return memo;
}

/* Takes a memo out, and moves up those behind it that would not be found past the gap. */
static void _take_out(uint32_t gap)
{
	uint32_t at = gap, home;

	while (table[at = (at + 1) & (size - 1)].job_id) {
		home = _home(table[at].job_id);
		/* Its own place lies behind the gap: it stays. */
		if (((at - home) & (size - 1)) < ((at - gap) & (size - 1)))
			continue;
		table[gap] = table[at];
		gap = at;
	}
	memset(&table[gap], 0, sizeof(table[gap]));
	used--;
}

extern void auc_memo_sweep(uint32_t cycle, void (*gone)(uint32_t job_id))
{
	for (uint32_t i = 0; i < size; i++)
		/* What moves up to i from behind is looked at; from the front it was. */
		while (table[i].job_id && (table[i].cycle != cycle)) {
			if (gone)
				gone(table[i].job_id);
			_take_out(i);
		}
	if ((size > 64) && (8 * used < size))
		_rebuild();
}

extern void auc_memo_free(void)
{
	xfree(table);
	size = used = 0;
}

/*
 * Starts that failed: as counts; in the log, once a job and reason; and with the job's memo, which
 * makes it Slurm's after a few.
 */

/* After so many starts in a row that failed, a job is Slurm's for a while. */
#define MISSES 3
#define LEFT_SECONDS 300

extern void auc_miss(auc_misses_t *misses, const char *why, uint64_t count)
{
	int i = 0;

	if (!count)
		return;
	while ((i < misses->len) &&
	       strncmp(misses->of[i].why, why, AUC_MISS_SIZE - 1))
		i++;
	/* The last one is for all that have no place of their own. */
	if (i >= AUC_MISSES - 1) {
		i = AUC_MISSES - 1;
		why = "other";
	}
	if (i >= misses->len) {
		snprintf(misses->of[i].why, AUC_MISS_SIZE, "%s", why);
		misses->len = i + 1;
	}
	misses->of[i].count += count;
}

extern void auc_misses_add(auc_misses_t *misses, const auc_misses_t *more)
{
	for (int i = 0; i < more->len; i++)
		auc_miss(misses, more->of[i].why, more->of[i].count);
}

extern void auc_missed(job_record_t *job_ptr, int rc)
{
	auc_memo_t *memo = auc_memo_of(job_ptr->job_id);

	if (memo->missed_rc != rc)
		info("aucsched: %pJ could not be started as decided: %s",
		     job_ptr, slurm_strerror(rc));
	else
		verbose("aucsched: %pJ could not be started as decided: %s",
			job_ptr, slurm_strerror(rc));
	memo->missed_rc = rc;
	if (++memo->misses < MISSES)
		return;
	memo->misses = 0;
	memo->until = auc_now_s() + LEFT_SECONDS;
	memo->until_why = NULL;
}
