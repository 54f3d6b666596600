/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What preemption loses, in numbers: see price.h. */
#include "aucsched.h"
#include "price.h"

/* What each run needs to begin, s: of two jobs that have just begun the smaller one is cheaper. */
#define BEGIN_SECONDS 60

/* A job that is cancelled is as dear as one that has run so many times as long and is requeued. */
#define CANCELLED 2

/* A job of one rank more is as dear as so many. */
#define PER_RANK 256

/* Of the least start's priority all preemptions together are this part. */
#define PART 8

static double _share(const auc_market_t *market, uint64_t cores, uint64_t gpus)
{
	return (market->cores ? (double) cores / market->cores : 0) +
		(market->gpus ? (double) gpus / market->gpus : 0);
}

extern double auc_loss(const auc_market_t *market, const auc_stake_t *stake)
{
	double share = _share(market, stake->cores, stake->gpus);
	double loss = share * market->cores *
		(BEGIN_SECONDS + ((stake->ran > 0) ? stake->ran : 0));

	if (stake->cancelled)
		loss *= CANCELLED;
	for (int i = 0; (i < stake->rank) && (i < 3); i++)
		loss *= PER_RANK;
	return (loss > 1) ? loss : 1;
}

extern uint64_t auc_price(double loss, double all, double least)
{
	double price = least / PART * loss / all;

	if (!(price > 1))
		return 1;
	return (price < AUCSCHED_MAX_PRIORITY) ? price : AUCSCHED_MAX_PRIORITY;
}
