/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What jobs count against limits of associations and QOS: see limit_charges.h.
 *
 * Each limit that somebody has, on TRES i, on its minutes or on jobs, is a quota. Which of them bind a
 * job is as in src/slurmctld/acct_policy.c: of two QOS the first that has a limit on TRES i counts, and
 * an association's only if neither has; those of the associations above count beside each other.
 *
 * The library keeps to the quotas, and chooses who gets what is left. Slurm is asked before a job
 * becomes a row, and again when it starts: what is counted wrongly here costs a start at most, and
 * what can't be counted is left out: nodes that several jobs share count at their least, minutes that
 * have been used are Slurm's alone, and a job whose own limit is overridden is not seen by others'.
 *
 * Locks as assoc_limits.c.
 */
#include <string.h>

#include "assoc_limits.h"
#include "aucsched.h"
#include "limit_charges.h"
#include "model.h"

/* ---- charges ---- */

/* A charge as it is, but for so many minutes. */
static struct aucsched_charge _for_minutes(const struct aucsched_charge *charge,
					   uint64_t minutes)
{
	return (struct aucsched_charge) {
		.per_job = auc_charge_times(charge->per_job, minutes),
		.per_node = auc_charge_times(charge->per_node, minutes),
		.per_core = auc_charge_times(charge->per_core, minutes),
		.per_gpu = auc_charge_times(charge->per_gpu, minutes) };
}

static bool _is_gpu(int tres)
{
	const slurmdb_tres_rec_t *rec = assoc_mgr_tres_array[tres];

	return !xstrcmp(rec->type, "gres") && rec->name &&
		!xstrncmp(rec->name, "gpu", 3) &&
		(!rec->name[3] || (rec->name[3] == ':'));
}

static struct aucsched_charge _memory(const auc_request_t *request,
				      uint64_t least)
{
	if (!least || !(request->memory || request->gpu_memory))
		return (struct aucsched_charge) { .per_job = least };
	if (request->gpu_memory)
		return (struct aucsched_charge) { .per_gpu = request->gpu_memory };
	if (request->memory & MEM_PER_CPU)
		return (struct aucsched_charge) { .per_core =
			(request->memory & ~MEM_PER_CPU) * request->threads };
	return (struct aucsched_charge) { .per_node = request->memory };
}

/* What a job counts of TRES i. Nodes of its own are as many as it has. */
static struct aucsched_charge _tres(const auc_request_t *request,
				    const auc_need_t *need, int i,
				    bool own_nodes)
{
	const struct aucsched_job *job = &request->job;
	uint64_t least = need->tres[i];

	if ((i == TRES_ARRAY_ENERGY) || (least == NO_CONSUME_VAL64))
		return (struct aucsched_charge) { 0 };
	if (i == TRES_ARRAY_CPU)
		return (struct aucsched_charge) { .per_core = request->threads };
	if (i == TRES_ARRAY_MEM)
		return _memory(request, least);
	if ((i == TRES_ARRAY_NODE) && own_nodes)
		return (struct aucsched_charge) { .per_node = 1 };
	if (least && _is_gpu(i) &&
	    (least == (uint64_t) MAX(job->min_nodes, 1) * job->min_gpus))
		return (struct aucsched_charge) { .per_gpu = 1 };
	return (struct aucsched_charge) { .per_job = least };
}

/* ---- limits that bind ---- */

/* Those that hold for all, within an account, and for a user: what a QOS has overrides others'. */
typedef enum { OF_ALL, OF_ACCOUNT, OF_USER, SCOPES } scope_t;

/* What is known while a request is counted. */
typedef struct {
	auc_limit_quotas_t *limits;
	auc_snapshot_t *s;
	const job_record_t *job_ptr;
	const auc_request_t *request;
	auc_need_t need;
	bool own_nodes, asked;
	double factor;		/* of associations' limits on TRES; <= 0: 1 */
	bool *tres_set, *minutes_set; /* [scope * slurmctld_tres_cnt + TRES], by a QOS */
	bool jobs_set[SCOPES];
	auc_counted_t counted;
} count_t;

static scope_t _scope(const auc_holder_t *holder)
{
	switch (holder->kind) {
	case AUC_QOS_ACCOUNT:
		return OF_ACCOUNT;
	case AUC_QOS_USER:
		return OF_USER;
	default:
		return OF_ALL;
	}
}

/* Counts a charge against a limit of which so much is used. */
static void _count(count_t *count, const auc_holder_t *holder,
		   auc_measure_t measure, int tres, uint64_t limit, uint64_t used,
		   struct aucsched_charge charge)
{
	uint64_t left = (limit > used) ? limit - used : 0;
	auc_limit_t of = { holder->kind, holder->id, holder->sub, measure, tres,
		       limit };

	charge.per_job = MIN(charge.per_job, AUCSCHED_MAX_CHARGE);
	charge.per_node = MIN(charge.per_node, AUCSCHED_MAX_CHARGE);
	charge.per_core = MIN(charge.per_core, AUCSCHED_MAX_CHARGE);
	charge.per_gpu = MIN(charge.per_gpu, AUCSCHED_MAX_CHARGE);
	if (!(charge.per_job | charge.per_node | charge.per_core |
	      charge.per_gpu) ||
	    (count->asked && (auc_least_charge(&charge, count->request) > left)))
		return;
	auc_limit_quotas_charge(count->limits, count->s, &of, left, &charge,
				&count->counted);
}

/* As acct_policy.c has it. */
static uint64_t _by_factor(const count_t *count, const auc_holder_t *holder,
			   uint64_t limit)
{
	int64_t product;

	if ((holder->kind != AUC_ASSOC) || (count->factor <= 0))
		return limit;
	product = (int64_t) limit * count->factor;
	return (product < 0) ? INFINITE64 : product;
}

static void _count_tres(count_t *count, const auc_holder_t *holder, int i)
{
	struct aucsched_charge charge = _tres(count->request, &count->need, i,
					      count->own_nodes);
	bool *set = &count->tres_set[_scope(holder) * slurmctld_tres_cnt + i];
	uint64_t limit = holder->tres_limits[i];

	if ((limit == INFINITE64) || *set ||
	    (count->job_ptr->limit_set.tres &&
	     (count->job_ptr->limit_set.tres[i] == ADMIN_SET_LIMIT)))
		return;
	*set = holder->kind != AUC_ASSOC;
	limit = _by_factor(count, holder, limit);
	if (i == TRES_ARRAY_NODE) {
		if (holder->narrowed)
			return;	/* it has the nodes already */
		/* The job may share some that it has. */
		if (!count->own_nodes && (limit < charge.per_job + holder->tres[i]))
			charge.per_job -= MIN(charge.per_job, holder->spared);
	}
	_count(count, holder, AUC_ON_TRES, i, limit, holder->tres[i], charge);
}

static void _count_minutes(count_t *count, const auc_holder_t *holder, int i)
{
	struct aucsched_charge charge = _tres(count->request, &count->need, i,
					      true);
	bool *set = &count->minutes_set[_scope(holder) * slurmctld_tres_cnt + i];
	uint64_t limit = holder->run_limits[i];

	if ((limit == INFINITE64) || *set)
		return;
	*set = holder->kind != AUC_ASSOC;
	_count(count, holder, AUC_ON_MINUTES, i, limit, holder->run_secs[i] / 60,
	       _for_minutes(&charge, count->need.seconds / 60));
}

static void _count_jobs(count_t *count, const auc_holder_t *holder)
{
	bool *set = &count->jobs_set[_scope(holder)];
	uint32_t limit = *set ? INFINITE : holder->jobs_limit;

	if (!count->jobs_set[OF_ACCOUNT] && !count->jobs_set[OF_USER])
		limit = MIN(limit, holder->own_jobs_limit);
	if (limit == INFINITE)
		return;
	*set |= holder->kind != AUC_ASSOC;
	_count(count, holder, AUC_ON_JOBS, 0, limit, *holder->jobs,
	       (struct aucsched_charge) { .per_job = 1 });
}

static void _count_holder(count_t *count, const auc_holder_t *holder)
{
	for (int i = 0; i < slurmctld_tres_cnt; i++) {
		if (holder->tres_limits)
			_count_tres(count, holder, i);
		if (holder->run_limits && holder->run_secs)
			_count_minutes(count, holder, i);
	}
	_count_jobs(count, holder);
}

/* LimitFactor of the first QOS that has one. */
static double _factor(job_record_t *job_ptr)
{
	slurmdb_qos_rec_t *qos[2];

	acct_policy_set_qos_order(job_ptr, &qos[0], &qos[1]);
	for (int i = 0; i < 2; i++)
		if (qos[i] && !fuzzy_equal(qos[i]->limit_factor, INFINITE))
			return qos[i]->limit_factor;
	return -1;
}

/* A range of GPUs goes no further than one job may have. */
static void _cap_gpus(job_record_t *job_ptr, auc_request_t *request)
{
	bool may = false;

	while (!may && (request->job.max_gpus > request->job.min_gpus)) {
		auc_need_t need;

		auc_need_with_gpus(job_ptr, request, request->job.max_gpus,
				   &need);
		may = auc_limits_ask(job_ptr, &need);
		auc_need_free(&need);
		if (!may)
			request->job.max_gpus--;
	}
}

static void _count_all(count_t *count, job_record_t *job_ptr,
		       auc_request_t *request, bitstr_t *nodes)
{
	auc_holder_t holders[AUC_HOLDERS_MAX];
	int len = auc_holders(job_ptr, holders);
	bool *set = xcalloc(2 * SCOPES * slurmctld_tres_cnt, sizeof(bool));

	auc_need_with_gpus(job_ptr, request, request->job.min_gpus,
			   &count->need);
	auc_spare_nodes(count->s, request, &count->need, holders, len);
	auc_narrow_nodes(job_ptr, &count->need, holders, len, nodes);
	_cap_gpus(job_ptr, request);
	auc_unspare_nodes(holders, len);
	count->tres_set = set;
	count->minutes_set = set + SCOPES * slurmctld_tres_cnt;
	count->factor = _factor(job_ptr);
	for (int i = 0; i < len; i++)
		_count_holder(count, &holders[i]);
	auc_need_free(&count->need);
	xfree(set);
}

extern auc_counted_t auc_count_limits(auc_limit_quotas_t *limits,
				      auc_snapshot_t *s, job_record_t *job_ptr,
				      auc_request_t *request, bitstr_t *nodes,
				      bool asked)
{
	count_t count = {
		.limits = limits, .s = s, .job_ptr = job_ptr,
		.request = request, .asked = asked };

	if (!limits || !auc_has_association(job_ptr))
		return count.counted;
	count.own_nodes = auc_is_whole(job_ptr, job_ptr->part_ptr);
	auc_limits_lock();
	_count_all(&count, job_ptr, request, nodes);
	auc_limits_unlock();
	auc_limit_quotas_sort(limits, count.counted);
	return count.counted;
}
