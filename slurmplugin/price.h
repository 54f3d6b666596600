/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is lost when jobs are preempted, as prices of the library. Arithmetic alone: no record, no
 * lock.
 */
#ifndef AUC_PRICE_H
#define AUC_PRICE_H

#include <stdbool.h>
#include <stdint.h>

/* What a start is worth: auc_objective. */
typedef enum {
	AUC_BY_PRIORITY,
	AUC_BY_SIZE,		/* times cores */
	AUC_BY_RATE		/* times the shares of all cores and of all GPUs, by seconds of the time limit */
} auc_objective_t;

/* The machine, and how worth is counted on it. */
typedef struct {
	auc_objective_t objective;
	uint64_t cores, gpus;	/* in all */
} auc_market_t;

/* A running job that may be preempted. */
typedef struct {
	uint64_t cores, gpus;	/* that it holds, in all */
	int64_t ran;		/* seconds; a new run begins from nothing */
	int64_t left;		/* seconds until its limit */
	bool cancelled;		/* somebody has to submit it anew */
	uint8_t rank;		/* by Slurm's order those of lower ranks are to go first */
} auc_stake_t;

/*
 * By what the library multiplies the priority of a job, or the price of a running one.
 * IN seconds - of the time limit, or what is left of it
 */
extern double auc_worth_factor(const auc_market_t *market, uint64_t cores,
			       uint64_t gpus, int64_t seconds);

/* What is lost if it is preempted: at least 1, in units that are the same for all. */
extern double auc_loss(const auc_market_t *market, const auc_stake_t *stake);

/*
 * The price of that: in proportion to what is lost, and so low that a start is worth more than all
 * that could be lost, as long as there are numbers for it.
 * IN loss, all - this one's, and that of all who may be preempted
 * IN least - what the start is worth that is worth least and may preempt somebody
 * RET 1..AUCSCHED_MAX_PRIORITY
 */
extern uint64_t auc_price(const auc_market_t *market,
			  const auc_stake_t *stake, double loss, double all,
			  double least);

#endif
