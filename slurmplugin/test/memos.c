/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memos of jobs. */
#include "../status.h"
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

static uint32_t gone_all;

static void _count_all(uint32_t job_id)
{
	gone_all += job_id > 0;
}

/* Cycle for cycle some jobs come and some go: those that stay keep their memos. */
static void _test_sweeps(void)
{
	static bool there[3000];
	uint32_t seed = 1;

	for (uint32_t cycle = 1; cycle <= 200; cycle++) {
		uint32_t left = 0;

		for (uint32_t id = 1; id < 3000; id++) {
			bool was = there[id];

			seed = seed * 1664525u + 1013904223u;
			/* Few and many by turns, so that the table shrinks and grows. */
			there[id] = (seed >> 24) < ((cycle / 20 % 2) ? 10 : 230);
			left += was && !there[id];
			if (!there[id])
				continue;
			CHECK(!auc_memo_find(id * 64) == !was, "%u", id);
			auc_memo_of(id * 64)->cycle = cycle;
			auc_memo_of(id * 64)->until = id;
		}
		gone_all = 0;
		auc_memo_sweep(cycle, _count_all);
		CHECK(gone_all == left, "cycle %u: %u of %u", cycle, gone_all, left);
		for (uint32_t id = 1; id < 3000; id++) {
			auc_memo_t *memo = auc_memo_find(id * 64);

			CHECK(there[id] ? (memo && (memo->until == id)) : !memo,
			      "cycle %u: %u", cycle, id);
		}
	}
	auc_memo_free();
}

extern void test_memos(void)
{
	_test_memos();
	_test_sweeps();
}
