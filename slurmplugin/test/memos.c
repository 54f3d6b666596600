/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memos of jobs. */
#include "../memo.h"
#include "units.h"

static uint32_t gone;

static void _count_gone(uint32_t job_id)
{
	gone += (job_id % 7919 == 0) && (job_id / 7919 % 2 == 0);
}

static void _test_memos(void)
{
	for (uint32_t id = 1; id <= 5000; id++) {
		auc_memo_of(id * 7919)->misses = id % 200;
		auc_memo_of(id * 7919)->cycle = id % 2;
	}
	for (uint32_t id = 1; id <= 5000; id++) {
		auc_memo_t *memo = auc_memo_find(id * 7919);

		CHECK(memo && (memo->misses == id % 200), "%u", id);
	}
	CHECK(!auc_memo_find(1), "a job that nobody added");
	auc_memo_sweep(1, _count_gone);
	CHECK(gone == 2500, "%u of 2500", gone);
	for (uint32_t id = 1; id <= 5000; id++)
		CHECK(!auc_memo_find(id * 7919) == !(id % 2), "%u", id);
	auc_memo_free();
	CHECK(!auc_memo_find(7919), "after all were freed");
}

extern void test_memos(void)
{
	_test_memos();
}
