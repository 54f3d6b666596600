/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of associations and QOS, looked at before a job becomes a row: see assoc_limits.h.
 *
 * Slurm checks those on TRES (GrpTRES, MaxTRESPerUser, GrpTRESMins and the like) when it has
 * chosen a job's nodes. A job that one of them holds back would win nodes for nothing, so
 * Slurm's own functions are asked here first, with the least that the job will count: a
 * job close to a limit may still be refused at its start, but none is kept out that Slurm
 * would start.
 *
 * Locks: under the locks. Those of assoc_mgr are taken after slurmctld's, as everywhere in Slurm. A
 * question about other usage than there is changes the usage for as long as it takes, under
 * assoc_mgr's write locks, so that nobody else sees it.
 */
#include <string.h>

#include "assoc_limits.h"
#include "job_memory.h"
#include "model.h"

/* More CPUs than any job counts: a number that nobody can overflow. */
#define MAX_CPUS (1u << 30)

static assoc_mgr_lock_t write_locks = {
	.assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK
};

extern bool auc_limits_enforced(void)
{
	return accounting_enforce & ACCOUNTING_ENFORCE_LIMITS;
}

extern void auc_limits_lock(void)
{
	assoc_mgr_lock(&write_locks);
}

extern void auc_limits_unlock(void)
{
	assoc_mgr_unlock(&write_locks);
}

/* ---- what a job counts ---- */

/* As acct_policy.c has it; INFINITE without a limit. */
static uint64_t _seconds(const job_record_t *job_ptr)
{
	const part_record_t *part_ptr = job_ptr->part_ptr;
	uint32_t minutes = job_ptr->time_limit;
	uint64_t seconds;

	if (minutes == NO_VAL)
		minutes = (part_ptr->default_time != NO_VAL) ?
			part_ptr->default_time : part_ptr->max_time;
	seconds = (uint64_t) minutes * 60;
	if (job_ptr->qos_ptr && (job_ptr->qos_ptr->usage_factor >= 0))
		seconds *= job_ptr->qos_ptr->usage_factor;
	return seconds;
}

/* Whole cores count. */
static uint32_t _cpus(const auc_request_t *request)
{
	return MIN((uint64_t) request->job.cores * request->threads,
		   MAX_CPUS);
}

/* A job that takes whole nodes counts all of their GPUs, of which it may have asked for none. */
static void _count_whole_nodes(const job_record_t *job_ptr, uint32_t nodes,
			       uint64_t *tres)
{
	uint64_t gpus;

	if (job_ptr->details->whole_node != WHOLE_NODE_REQUIRED)
		return;
	gpus = (uint64_t) nodes * auc_fewest_gpus(job_ptr->part_ptr);
	for (int i = 0; gpus && (i < slurmctld_tres_cnt); i++)
		if (!xstrcmp(assoc_mgr_tres_array[i]->type, "gres") &&
		    !xstrcmp(assoc_mgr_tres_array[i]->name, "gpu"))
			tres[i] = MAX(tres[i], gpus);
}

extern void auc_need_count(job_record_t *job_ptr, const auc_request_t *request,
			   auc_need_t *need)
{
	uint32_t nodes = MAX(request->job.min_nodes, 1);
	uint32_t cpus = _cpus(request);
	uint64_t seconds = need->seconds = _seconds(job_ptr);

	need->tres = xcalloc(2 * slurmctld_tres_cnt, sizeof(uint64_t));
	need->run_secs = need->tres + slurmctld_tres_cnt;
	if (job_ptr->tres_req_cnt)
		memcpy(need->tres, job_ptr->tres_req_cnt,
		       slurmctld_tres_cnt * sizeof(uint64_t));
	need->tres[TRES_ARRAY_CPU] = cpus;
	/* Where it is not consumed Slurm counts none. */
	need->tres[TRES_ARRAY_MEM] = !auc_consumes_memory(job_ptr->part_ptr) ? 0 :
		job_get_tres_mem(NULL, job_ptr->details->pn_min_memory, cpus,
				 nodes, job_ptr->part_ptr,
				 job_ptr->gres_list_req,
				 job_ptr->bit_flags & JOB_MEM_SET,
				 job_get_sockets_per_node(job_ptr),
				 job_ptr->details->num_tasks);
	need->tres[TRES_ARRAY_NODE] = nodes;
	auc_set_job_tres_cnt(job_ptr->gres_list_req, nodes, need->tres, true);
	_count_whole_nodes(job_ptr, nodes, need->tres);
	need->tres[TRES_ARRAY_BILLING] = assoc_mgr_tres_weighted(
		need->tres, job_ptr->part_ptr->billing_weights,
		slurm_conf.priority_flags, true);
	for (int i = 0; i < slurmctld_tres_cnt; i++)
		if (need->tres[i] != NO_CONSUME_VAL64)
			need->run_secs[i] = need->tres[i] * seconds;
}

extern void auc_need_free(auc_need_t *need)
{
	xfree(need->tres);
	need->run_secs = NULL;
}

/* The job's request for GPUs; NULL if there is none, or one for each of several types. */
static gres_job_state_t *_only_gpus(const job_record_t *job_ptr)
{
	gres_state_t *gres;
	list_itr_t *iter;
	int requests = 0;

	if (!job_ptr->gres_list_req)
		return NULL;
	iter = list_iterator_create(job_ptr->gres_list_req);
	while ((gres = list_next(iter)))
		requests += auc_gres_is_gpu(gres->plugin_id);
	list_iterator_destroy(iter);
	return (requests == 1) ? auc_gpu_request(job_ptr) : NULL;
}

extern void auc_need_with_gpus(job_record_t *job_ptr,
			       const auc_request_t *request, uint8_t gpus,
			       auc_need_t *need)
{
	gres_job_state_t *asked = _only_gpus(job_ptr);
	uint64_t total;

	if (!asked) {
		auc_need_count(job_ptr, request, need);
		return;
	}
	total = asked->total_gres;
	asked->total_gres = (uint64_t) gpus * MAX(request->job.min_nodes, 1);
	auc_need_count(job_ptr, request, need);
	asked->total_gres = total;
}

/* ---- whose limits ---- */

static bool _limits(const uint64_t *limits)
{
	for (int i = 0; limits && (i < slurmctld_tres_cnt); i++)
		if (limits[i] != INFINITE64)
			return true;
	return false;
}

static bool _limits_nodes(const uint64_t *limits)
{
	return limits && (limits[TRES_ARRAY_NODE] != INFINITE64);
}

/* IN own - the job's own association, not one above it */
static bool _assoc_holder(slurmdb_assoc_rec_t *assoc, bool own,
			  auc_holder_t *holder)
{
	slurmdb_assoc_usage_t *usage = assoc->usage;

	if (!usage || !(_limits(assoc->grp_tres_ctld) ||
			_limits(assoc->grp_tres_mins_ctld) ||
			_limits(assoc->grp_tres_run_mins_ctld) ||
			(assoc->grp_jobs != INFINITE) ||
			(own && (assoc->max_jobs != INFINITE))))
		return false;
	*holder = (auc_holder_t) {
		.kind = AUC_ASSOC, .id = assoc->id,
		.tres = usage->grp_used_tres,
		.run_secs = usage->grp_used_tres_run_secs,
		.jobs = &usage->used_jobs,
		.tres_limits = assoc->grp_tres_ctld,
		.run_limits = assoc->grp_tres_run_mins_ctld,
		.jobs_limit = assoc->grp_jobs,
		.own_jobs_limit = own ? assoc->max_jobs : INFINITE,
		.nodes = _limits_nodes(assoc->grp_tres_ctld) ?
			usage->grp_node_bitmap : NULL };
	return true;
}

static bool _qos_holder(slurmdb_qos_rec_t *qos, auc_holder_t *holder)
{
	slurmdb_qos_usage_t *usage = qos->usage;

	if (!(_limits(qos->grp_tres_ctld) || _limits(qos->grp_tres_mins_ctld) ||
	      _limits(qos->grp_tres_run_mins_ctld) ||
	      (qos->grp_jobs != INFINITE)))
		return false;
	*holder = (auc_holder_t) {
		.kind = AUC_QOS, .id = qos->id,
		.tres = usage->grp_used_tres,
		.run_secs = usage->grp_used_tres_run_secs,
		.jobs = &usage->grp_used_jobs,
		.tres_limits = qos->grp_tres_ctld,
		.run_limits = qos->grp_tres_run_mins_ctld,
		.jobs_limit = qos->grp_jobs,
		.own_jobs_limit = INFINITE,
		.nodes = _limits_nodes(qos->grp_tres_ctld) ?
			usage->grp_node_bitmap : NULL };
	return true;
}

static auc_holder_t _within_qos(auc_holder_kind_t kind, uint32_t qos,
				uint32_t sub, slurmdb_used_limits_t *used,
				const uint64_t *tres_limits,
				const uint64_t *run_limits, uint32_t jobs_limit)
{
	return (auc_holder_t) {
		.kind = kind, .id = qos, .sub = sub, .tres = used->tres,
		.run_secs = auc_used_run_secs(used), .jobs = &used->jobs,
		.tres_limits = tres_limits, .run_limits = run_limits,
		.jobs_limit = jobs_limit, .own_jobs_limit = INFINITE,
		.nodes = _limits_nodes(tres_limits) ? used->node_bitmap : NULL };
}

static int _qos_holders(job_record_t *job_ptr, slurmdb_qos_rec_t *qos,
			auc_holder_t *holders)
{
	slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;
	slurmdb_assoc_rec_t *above = assoc->usage ?
		assoc->usage->parent_assoc_ptr : NULL;
	int len = 0;

	if (!qos || !qos->usage)
		return 0;
	len += _qos_holder(qos, &holders[len]);
	if (_limits(qos->max_tres_pa_ctld) ||
	    _limits(qos->max_tres_run_mins_pa_ctld) ||
	    (qos->max_jobs_pa != INFINITE))
		holders[len++] = _within_qos(
			AUC_QOS_ACCOUNT, qos->id, above ? above->id : assoc->id,
			acct_policy_get_acct_used_limits(
				&qos->usage->acct_limit_list, assoc->acct),
			qos->max_tres_pa_ctld, qos->max_tres_run_mins_pa_ctld,
			qos->max_jobs_pa);
	if (_limits(qos->max_tres_pu_ctld) ||
	    _limits(qos->max_tres_run_mins_pu_ctld) ||
	    (qos->max_jobs_pu != INFINITE))
		holders[len++] = _within_qos(
			AUC_QOS_USER, qos->id, job_ptr->user_id,
			acct_policy_get_user_used_limits(
				&qos->usage->user_limit_list, job_ptr->user_id),
			qos->max_tres_pu_ctld, qos->max_tres_run_mins_pu_ctld,
			qos->max_jobs_pu);
	return len;
}

/* pre_select has found it, or nothing is asked. */
extern bool auc_has_association(const job_record_t *job_ptr)
{
	const slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;

	return assoc && (assoc->id == job_ptr->assoc_id) &&
		(assoc->uid == job_ptr->user_id);
}

extern int auc_holders(job_record_t *job_ptr, auc_holder_t *holders)
{
	slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;
	slurmdb_qos_rec_t *first, *second;
	int len;

	if (!auc_has_association(job_ptr))
		return 0;
	acct_policy_set_qos_order(job_ptr, &first, &second);
	len = _qos_holders(job_ptr, first, holders);
	len += _qos_holders(job_ptr, second, holders + len);
	while (assoc && (len < AUC_HOLDERS_MAX)) {
		len += _assoc_holder(assoc, assoc == job_ptr->assoc_ptr,
				     &holders[len]);
		assoc = assoc->usage ? assoc->usage->parent_assoc_ptr : NULL;
	}
	return len;
}

/* ---- questions ---- */

/*
 * A limit on nodes counts each node once, however many jobs are on it. At best the job gets
 * such as the holder has, and that have room: they are taken off its usage.
 */
extern void auc_spare_nodes(const auc_snapshot_t *s,
			    const auc_request_t *request,
			    const auc_need_t *need, auc_holder_t *holders,
			    int len)
{
	uint16_t cores = MAX(request->job.cores_per_node, 1);

	for (int i = 0; i < len; i++) {
		auc_holder_t *holder = &holders[i];
		uint64_t open = 0;

		for (int n = 0; holder->nodes && (n < s->in.nodes_len); n++)
			if (bit_test(holder->nodes, n) &&
			    (s->nodes[n].free_cores >= cores))
				open++;
		open = MIN(open, need->tres[TRES_ARRAY_NODE]);
		holder->spared = MIN(open, holder->tres[TRES_ARRAY_NODE]);
		holder->tres[TRES_ARRAY_NODE] -= holder->spared;
	}
}

extern void auc_unspare_nodes(auc_holder_t *holders, int len)
{
	for (int i = 0; i < len; i++)
		holders[i].tres[TRES_ARRAY_NODE] += holders[i].spared;
}

/* What a question must leave as it is. */
typedef struct {
	uint32_t reason;
	char *desc;
	slurmdb_qos_rec_t *blocking;
} told_t;

static told_t _keep_told(job_record_t *job_ptr)
{
	told_t told = { job_ptr->state_reason, job_ptr->state_desc,
			job_ptr->qos_blocking_ptr };

	job_ptr->state_desc = NULL;
	return told;
}

static void _restore_told(job_record_t *job_ptr, const told_t *told)
{
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = told->desc;
	job_ptr->state_reason = told->reason;
	job_ptr->qos_blocking_ptr = told->blocking;
}

extern bool auc_limits_ask(job_record_t *job_ptr, const auc_need_t *need)
{
	told_t told = _keep_told(job_ptr);
	bool may = acct_policy_job_runnable_pre_select(job_ptr, true) &&
		acct_policy_job_runnable_post_select(job_ptr, need->tres, true);

	_restore_told(job_ptr, &told);
	return may;
}

extern void auc_narrow_nodes(job_record_t *job_ptr, const auc_need_t *need,
			     auc_holder_t *holders, int len, bitstr_t *nodes)
{
	for (int i = 0; i < len; i++) {
		auc_holder_t *holder = &holders[i];

		if (!holder->nodes || !holder->spared ||
		    (holder->spared < need->tres[TRES_ARRAY_NODE]))
			continue;
		holder->tres[TRES_ARRAY_NODE]++;
		holder->narrowed = !auc_limits_ask(job_ptr, need);
		holder->tres[TRES_ARRAY_NODE]--;
		if (holder->narrowed)
			bit_and(nodes, holder->nodes);
	}
}

static bool _post_select(const auc_snapshot_t *s, job_record_t *job_ptr,
			 const auc_request_t *request)
{
	auc_holder_t holders[AUC_HOLDERS_MAX];
	auc_need_t need;
	bool may;
	int len;

	auc_limits_lock();
	len = auc_holders(job_ptr, holders);
	auc_need_count(job_ptr, request, &need);
	auc_spare_nodes(s, request, &need, holders, len);
	may = acct_policy_job_runnable_post_select(job_ptr, need.tres, true);
	auc_unspare_nodes(holders, len);
	auc_limits_unlock();
	auc_need_free(&need);
	return may;
}

extern bool auc_limits_allow(const auc_snapshot_t *s, job_record_t *job_ptr,
			     const auc_request_t *request)
{
	told_t told;
	bool may;

	if (!auc_limits_enforced())
		return true;
	told = _keep_told(job_ptr);
	may = _post_select(s, job_ptr, request);
	_restore_told(job_ptr, &told);
	return may;
}

/* ---- verdicts ---- */

static bool _same_limits_set(const job_record_t *a, const job_record_t *b)
{
	return (a->limit_set.time == b->limit_set.time) &&
		a->limit_set.tres && b->limit_set.tres &&
		!memcmp(a->limit_set.tres, b->limit_set.tres,
			slurmctld_tres_cnt * sizeof(*a->limit_set.tres));
}

/* Whether the same limits are theirs. */
static bool _same_limits(const job_record_t *a, const job_record_t *b)
{
	return (a->assoc_ptr == b->assoc_ptr) && (a->qos_ptr == b->qos_ptr) &&
		(a->part_ptr == b->part_ptr) && (a->user_id == b->user_id);
}

/* A limit on the number of jobs is met by one like by the other. */
static bool _counts_jobs(uint32_t reason)
{
	switch (reason) {
	case WAIT_ASSOC_GRP_JOB:
	case WAIT_ASSOC_MAX_JOBS:
	case WAIT_QOS_GRP_JOB:
	case WAIT_QOS_MAX_JOB_PER_USER:
	case WAIT_QOS_MAX_JOB_PER_ACCT:
		return true;
	}
	return false;
}

/* Whether all that limits and nodes go by is the same: a queue's jobs are mostly alike. */
static bool _alike(const job_record_t *a, const job_record_t *b)
{
	return _same_limits(a, b) && (a->time_limit == b->time_limit) &&
		(a->details->pn_min_memory == b->details->pn_min_memory) &&
		(a->details->num_tasks == b->details->num_tasks) &&
		!((a->bit_flags ^ b->bit_flags) & JOB_MEM_SET) &&
		!a->details->exc_node_bitmap && !b->details->exc_node_bitmap &&
		!xstrcmp(a->details->features, b->details->features) &&
		!xstrcmp(a->licenses, b->licenses) &&
		a->tres_req_cnt && b->tres_req_cnt &&
		!memcmp(a->tres_req_cnt, b->tres_req_cnt,
			slurmctld_tres_cnt * sizeof(*a->tres_req_cnt)) &&
		_same_limits_set(a, b);
}

static auc_verdict_t *_find(auc_verdicts_t *verdicts,
			    const job_record_t *job_ptr,
			    const auc_request_t *request)
{
	for (int i = 0; i < AUC_VERDICTS; i++) {
		auc_verdict_t *verdict = &verdicts->kept[i];

		if (!verdict->job_ptr)
			continue;
		if (!verdict->may && _counts_jobs(verdict->reason) &&
		    _same_limits(verdict->job_ptr, job_ptr))
			return verdict;
		if (!memcmp(&verdict->request, request, sizeof(*request)) &&
		    _alike(verdict->job_ptr, job_ptr))
			return verdict;
	}
	return NULL;
}

/* Asks Slurm, who tells the job the reason. */
static auc_verdict_t *_judge(auc_verdicts_t *verdicts, const auc_snapshot_t *s,
			     job_record_t *job_ptr,
			     const auc_request_t *request)
{
	auc_verdict_t *verdict =
		&verdicts->kept[verdicts->next++ % AUC_VERDICTS];

	memset(verdict, 0, sizeof(*verdict));
	verdict->job_ptr = job_ptr;
	memcpy(&verdict->request, request, sizeof(*request));
	verdict->may = acct_policy_job_runnable_pre_select(job_ptr, false) &&
		_post_select(s, job_ptr, request);
	verdict->reason = job_ptr->state_reason;
	verdict->blocking = job_ptr->qos_blocking_ptr;
	return verdict;
}

/* Tells a job what one like it was told. */
static void _tell_alike(job_record_t *job_ptr, const auc_verdict_t *verdict)
{
	if (verdict->may)
		return;
	job_ptr->state_reason = verdict->reason;
	xfree(job_ptr->state_desc);
	job_ptr->qos_blocking_ptr = verdict->blocking;
}

extern auc_verdict_t *auc_within_limits(auc_verdicts_t *verdicts,
					const auc_snapshot_t *s,
					job_record_t *job_ptr,
					const auc_request_t *request,
					uint32_t *limit)
{
	uint32_t before = job_ptr->state_reason;
	bool limited = auc_waits_for_limit(job_ptr);
	auc_verdict_t *verdict;

	*limit = limited ? before : WAIT_NO_REASON;
	if (!auc_limits_enforced()) {
		verdict = &verdicts->unlimited;
		verdict->may = true;
	} else if ((verdict = _find(verdicts, job_ptr, request)))
		_tell_alike(job_ptr, verdict);
	else
		verdict = _judge(verdicts, s, job_ptr, request);
	/*
	 * As if the select plug-in had been asked: Slurm's own schedulers, who are told that the
	 * nodes are busy, then find the same limit.
	 */
	if (auc_limits_enforced())
		job_ptr->total_cpus = _cpus(request);
	/* It has none any more, and it is its turn among others now. */
	if (verdict->may && limited) {
		job_ptr->state_reason = WAIT_PRIORITY;
		xfree(job_ptr->state_desc);
	}
	if (job_ptr->state_reason != before)
		last_job_update = time(NULL);
	return verdict->may ? verdict : NULL;
}
