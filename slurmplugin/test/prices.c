/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What preemption loses, as prices. */
#include <stdlib.h>

#include "aucsched.h"
#include "../shape.h"
#include "units.h"

#define JOBS 200

static auc_stake_t _any_stake(unsigned *seed)
{
	return (auc_stake_t) {
		.cores = 1 + rand_r(seed) % 4096, .gpus = rand_r(seed) % 16,
		.ran = (int64_t) (rand_r(seed) % 1000000) - 10,
		.cancelled = rand_r(seed) % 2,
		.rank = rand_r(seed) % 6 };
}

/* Whoever is dearer in one respect alone is dearer. */
static void _test_order(const auc_market_t *market, unsigned *seed)
{
	auc_stake_t a = _any_stake(seed), b = a;
	double loss = auc_loss(market, &a);

	b.cores *= 2;
	CHECK(auc_loss(market, &b) > loss, "cores");
	b = a;
	b.ran = MAX(b.ran, 0) + 60;
	CHECK(auc_loss(market, &b) > loss, "time");
	b = a;
	b.cancelled = true;
	CHECK(a.cancelled || (auc_loss(market, &b) > loss), "cancelled");
	b = a;
	b.rank++;
	CHECK((a.rank > 2) || (auc_loss(market, &b) > loss), "rank");
	if (market->gpus) {
		b = a;
		b.gpus++;
		CHECK(auc_loss(market, &b) > loss, "GPUs");
	}
}

/* A start is worth more than all together, and of two the one that loses more is dearer. */
static void _test_together(const auc_market_t *market, unsigned *seed)
{
	auc_stake_t stakes[JOBS];
	double all = 0, sum = 0, loss, least = 1e9 * (1 + rand_r(seed) % 1000);
	int ones = 0;

	for (int i = 0; i < JOBS; i++) {
		stakes[i] = _any_stake(seed);
		all += auc_loss(market, &stakes[i]);
	}
	for (int i = 0; i < JOBS; i++) {
		uint64_t price;

		loss = auc_loss(market, &stakes[i]);
		price = auc_price(loss, all, least);
		CHECK((price >= 1) && (price <= AUCSCHED_MAX_PRIORITY), "%llu",
		      (unsigned long long) price);
		if (price == 1) {
			ones++;
			continue;
		}
		sum += price;
		CHECK((price == AUCSCHED_MAX_PRIORITY) ||
		      (price <= auc_price(2 * loss, all, least)), "twice as dear");
	}
	CHECK(sum < least, "%g of %g", sum, least);
	CHECK(ones < JOBS, "all prices are 1");
}

extern void test_prices(unsigned seed)
{
	static const auc_market_t markets[] = {
		{ 64, 0 }, { 100000, 800 }, { 10000, 16 },
	};
	for (int i = 0; i < ARRAY_SIZE(markets); i++) {
		for (int k = 0; k < 50; k++) {
			_test_order(&markets[i], &seed);
			_test_together(&markets[i], &seed);
		}
		CHECK(auc_price(1, 1, 0) == 1, "no worth");
		CHECK(auc_price(1, 1, 1e30) ==
		      AUCSCHED_MAX_PRIORITY, "any worth");
	}
}
