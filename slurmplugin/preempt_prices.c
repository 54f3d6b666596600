/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prices of running jobs: see preempt_prices.h. Under the locks. */
#include <string.h>

#include "preempt_prices.h"
#include "price.h"

/* What Slurm's order goes by before all else: _gen_job_prio() of the preempt plug-ins. */
static uint32_t _slurm_order(const job_record_t *job_ptr)
{
	if (xstrcasestr(slurm_conf.preempt_type, "qos"))
		return job_ptr->qos_ptr ? job_ptr->qos_ptr->priority : 0;
	return job_ptr->part_ptr ? job_ptr->part_ptr->priority_tier : 0;
}

/* The rank of each of those that are priced, by Slurm's order. */
static void _rank(auc_snapshot_t *s)
{
	uint32_t orders[4];
	int len = 0;

	for (uint32_t i = 0; i < s->in.running_len; i++) {
		uint32_t order = s->runners[i].order;
		int at = 0;

		if (!s->runners[i].keys)
			continue;
		while ((at < len) && (orders[at] < order))
			at++;
		if ((at == ARRAY_SIZE(orders)) ||
		    ((at < len) && (orders[at] == order)))
			continue;
		len = MIN(len + 1, ARRAY_SIZE(orders));
		memmove(&orders[at + 1], &orders[at],
			(len - 1 - at) * sizeof(orders[0]));
		orders[at] = order;
	}
	for (uint32_t i = 0; i < s->in.running_len; i++) {
		uint8_t *rank = &s->runners[i].stake.rank;

		for (*rank = 0; (*rank < len) &&
		     (orders[*rank] < s->runners[i].order); )
			(*rank)++;
	}
}

static void _look_at_stake(auc_snapshot_t *s, uint32_t i, uint64_t gpus)
{
	job_record_t *job_ptr = find_job_record(s->runners[i].job_id);
	auc_stake_t *stake = &s->runners[i].stake;

	if (!job_ptr) {
		s->runners[i].keys = 0;
		return;
	}
	*stake = (auc_stake_t) {
		.cores = job_ptr->job_resrcs->core_bitmap ?
			bit_set_count(job_ptr->job_resrcs->core_bitmap) : 1,
		.gpus = gpus,
		.ran = s->in.now - job_ptr->start_time - job_ptr->tot_sus_time,
		.cancelled = slurm_job_preempt_mode(job_ptr) ==
			PREEMPT_MODE_CANCEL,
	};
	s->runners[i].order = _slurm_order(job_ptr);
}

static uint64_t _gpus_of(const auc_snapshot_t *s, uint32_t i)
{
	const struct aucsched_running *running = &s->running[i];
	uint64_t gpus = 0;

	for (uint32_t k = 0; k < running->segments; k++) {
		const struct aucsched_segment *segment =
			&s->segments[running->first_segment + k];

		gpus += segment->gpus *
			(uint64_t) (segment->last - segment->first + 1);
	}
	return gpus;
}

static auc_market_t _market(const auc_snapshot_t *s)
{
	auc_market_t market = { 0 };

	for (uint32_t n = 0; n < s->in.nodes_len; n++) {
		market.cores += s->nodes[n].cores;
		market.gpus += s->nodes[n].gpus;
	}
	return market;
}

/* Makes room below the priorities: all are as many times as large as the library takes. */
static void _scale(auc_snapshot_t *s)
{
	uint64_t most = s->jobs[0].priority;	/* the first has most */

	while ((most << (s->priority_shift + 1)) <= AUCSCHED_MAX_PRIORITY)
		s->priority_shift++;
	for (uint32_t row = 0; row < s->in.jobs_len; row++)
		s->jobs[row].priority <<= s->priority_shift;
}

/* The least priority of those that may preempt somebody. */
static double _least_priority(const auc_snapshot_t *s)
{
	uint64_t least = 0;

	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const struct aucsched_job *job = &s->jobs[row];

		if (job->preempts && (!least || (job->priority < least)))
			least = job->priority;
	}
	return least;
}

extern void auc_set_prices(auc_snapshot_t *s)
{
	auc_market_t market = _market(s);
	double all = 0, least;

	_scale(s);
	least = _least_priority(s);
	for (uint32_t i = 0; i < s->in.running_len; i++)
		if (s->runners[i].keys)
			_look_at_stake(s, i, _gpus_of(s, i));
	_rank(s);
	for (uint32_t i = 0; i < s->in.running_len; i++)
		if (s->runners[i].keys)
			all += auc_loss(&market, &s->runners[i].stake);
	for (uint32_t i = 0; i < s->in.running_len; i++)
		if (s->runners[i].keys)
			s->running[i].price = auc_price(
				auc_loss(&market, &s->runners[i].stake), all,
				least);
}
