/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is lost when jobs are preempted, as prices of the library. Arithmetic alone: no record, no
 * lock.
 */
#ifndef AUC_PRICE_H
#define AUC_PRICE_H

#include <stdbool.h>
#include <stdint.h>

/* The machine. */
typedef struct {
	uint64_t cores, gpus;	/* in all */
} auc_market_t;

/* A running job that may be preempted. */
typedef struct {
	uint64_t cores, gpus;	/* that it holds, in all */
	int64_t ran;		/* seconds; a new run begins from nothing */
	bool cancelled;		/* somebody has to submit it anew */
	uint8_t rank;		/* by Slurm's order those of lower ranks are to go first */
} auc_stake_t;

/* What is lost if it is preempted: at least 1, in units that are the same for all. */
extern double auc_loss(const auc_market_t *market, const auc_stake_t *stake);

/*
 * The price of that: in proportion to what is lost, and so low that a start is worth more than all
 * that could be lost, as long as there are numbers for it.
 * IN loss, all - this one's, and that of all who may be preempted
 * IN least - the least priority of those who may preempt somebody
 * RET 1..AUCSCHED_MAX_PRIORITY
 */
extern uint64_t auc_price(double loss, double all, double least);

#endif
