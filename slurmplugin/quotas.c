/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "aucsched.h"
#include "common.h"
#include "model.h"
#include "quotas.h"
#include "status.h"

/*
 * Limits of associations and QOS, looked at before a job becomes a row.
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

/* More CPUs than any job counts: a number that nobody can overflow. */
#define MAX_CPUS (1u << 30)

/*
 * What a job counts against limits, by what the auction would give it: never more than
 * Slurm will count when it starts. An array of slurmctld_tres_cnt.
 */
typedef struct {
	uint64_t *tres;		/* owned */
	uint64_t seconds;	/* that it may run */
} auc_need_t;

typedef enum {
	AUC_ASSOC,
	AUC_QOS,
	AUC_QOS_ACCOUNT,	/* what an account has of a QOS; sub: its association */
	AUC_QOS_USER,		/* what a user has; sub: the user */
	AUC_LICENCE,		/* nobody: all may use them; id: which in the list of all */
} auc_holder_kind_t;

/* Whose limits count for a job, and where Slurm counts what is used of them. */
typedef struct {
	auc_holder_kind_t kind;
	uint32_t id, sub;
	uint64_t *tres, *run_secs; /* run_secs: NULL if nobody asks for them */
	uint32_t *jobs;
	/* The limits; INFINITE64 and INFINITE: none. */
	const uint64_t *tres_limits, *run_limits; /* these in minutes */
	uint32_t jobs_limit;
	uint32_t own_jobs_limit; /* of the job's own association alone */
	bitstr_t *nodes;	/* that are used; NULL: none, or nodes are not limited */
	uint64_t spared;	/* of nodes, by quotas.c */
	bool narrowed;		/* the job gets none but nodes */
} auc_holder_t;

#define AUC_HOLDERS_MAX 32

static assoc_mgr_lock_t write_locks = {
	.assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK
};

/* Whether AccountingStorageEnforce has limits. */
static bool _limits_enforced(void)
{
	return accounting_enforce & ACCOUNTING_ENFORCE_LIMITS;
}

/* assoc_mgr's write locks of associations and QOS, and its read lock of TRES. */
static void _limits_lock(void)
{
	assoc_mgr_lock(&write_locks);
}

static void _limits_unlock(void)
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

/* With _limits_lock(). Free with _need_free(). */
static void _need_count(job_record_t *job_ptr, const auc_request_t *request,
			auc_need_t *need)
{
	uint32_t nodes = MAX(request->job.min_nodes, 1);
	uint32_t cpus = _cpus(request);

	need->seconds = _seconds(job_ptr);
	need->tres = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
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
}

static void _need_free(auc_need_t *need)
{
	xfree(need->tres);
}

/* The job's request for GPUs; NULL if there is none, or one for each of several types. */
static gres_job_state_t *_only_gpus(const job_record_t *job_ptr)
{
	gres_state_t *gres;
	int requests = 0;

	AUC_EACH(gres, job_ptr->gres_list_req)
		requests += auc_gres_is_gpu(gres->plugin_id);
	return (requests == 1) ? auc_gpu_request(job_ptr) : NULL;
}

/* The same with so many GPUs on each node, if they are not of several types. The job is as it was. */
static void _need_with_gpus(job_record_t *job_ptr,
			    const auc_request_t *request, uint8_t gpus,
			    auc_need_t *need)
{
	gres_job_state_t *asked = _only_gpus(job_ptr);
	uint64_t total;

	if (!asked) {
		_need_count(job_ptr, request, need);
		return;
	}
	total = asked->total_gres;
	asked->total_gres = (uint64_t) gpus * MAX(request->job.min_nodes, 1);
	_need_count(job_ptr, request, need);
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
static bool _has_association(const job_record_t *job_ptr)
{
	const slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;

	return assoc && (assoc->id == job_ptr->assoc_id) &&
		(assoc->uid == job_ptr->user_id);
}

/*
 * Those who have limits. With _limits_lock(), which holders don't outlive; 0 for a job without
 * a valid association.
 */
static int _holders(job_record_t *job_ptr, auc_holder_t *holders)
{
	slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;
	slurmdb_qos_rec_t *first, *second;
	int len;

	if (!_has_association(job_ptr))
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
 * Takes nodes off usage that the job may share; _unspare_nodes() puts them back. With _limits_lock().
 *
 * A limit on nodes counts each node once, however many jobs are on it. At best the job gets
 * such as the holder has, and that have room: they are taken off its usage.
 */
static void _spare_nodes(const auc_snapshot_t *s,
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

static void _unspare_nodes(auc_holder_t *holders, int len)
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

/*
 * Whether Slurm would start the job, as far as limits go. The job is as it was afterwards. With
 * _limits_lock(), and only if _has_association().
 */
static bool _limits_ask(job_record_t *job_ptr, const auc_need_t *need)
{
	told_t told = _keep_told(job_ptr);
	bool may = acct_policy_job_runnable_pre_select(job_ptr, true) &&
		acct_policy_job_runnable_post_select(job_ptr, need->tres, true);

	_restore_told(job_ptr, &told);
	return may;
}

/*
 * Where a holder may have no node more than it has, the job has to get one of these. A job of
 * several nodes may need some of either: that is left to the start. Between the two above.
 */
static void _narrow_nodes(job_record_t *job_ptr, const auc_need_t *need,
			  auc_holder_t *holders, int len, bitstr_t *nodes)
{
	for (int i = 0; i < len; i++) {
		auc_holder_t *holder = &holders[i];

		if (!holder->nodes || !holder->spared ||
		    (holder->spared < need->tres[TRES_ARRAY_NODE]))
			continue;
		holder->tres[TRES_ARRAY_NODE]++;
		holder->narrowed = !_limits_ask(job_ptr, need);
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

	_limits_lock();
	len = _holders(job_ptr, holders);
	_need_count(job_ptr, request, &need);
	_spare_nodes(s, request, &need, holders, len);
	may = acct_policy_job_runnable_post_select(job_ptr, need.tres, true);
	_unspare_nodes(holders, len);
	_limits_unlock();
	_need_free(&need);
	return may;
}

extern bool auc_limits_allow(const auc_snapshot_t *s, job_record_t *job_ptr,
			     const auc_request_t *request)
{
	told_t told;
	bool may;

	if (!_limits_enforced())
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
	if (!_limits_enforced()) {
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
	if (_limits_enforced())
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

/*
 * Limits of associations and QOS, and licences, as quotas. The library keeps to them, and chooses who
 * gets what is left: a row that finds no nodes keeps its licences from nobody. A job becomes a row
 * while its licences are free; whoever waits for one is told so by Slurm, who is asked when the
 * others have started. auc_limit_quotas_t is its caller's, for one snapshot; under the locks.
 */

/* On TRES, on minutes of them, or on the number of jobs. */
typedef enum { AUC_ON_TRES, AUC_ON_MINUTES, AUC_ON_JOBS } auc_measure_t;

/* A limit. Who has it may have it with several values, by QOS with a LimitFactor. */
typedef struct {
	auc_holder_kind_t kind;
	uint32_t id, sub;
	auc_measure_t measure;
	int tres;
	uint64_t limit;
} auc_limit_t;

#define BUCKETS 256

/* Rows may ask for so many times what is left: more would take rows from others in vain. */
#define SEATS 4

typedef struct entry {
	struct entry *next;
	auc_limit_t limit;
	uint32_t quota;
} entry_t;

/* What rows ask for: of jobs that may start, and of those that found no place last time. */
typedef struct {
	uint64_t by[2];
} asked_t;

struct auc_limit_quotas {
	bf_licenses_t *licences; /* what is left of each; NULL: there are none */
	entry_t *buckets[BUCKETS];
	struct aucsched_charge *counted; /* of requests, one after the other */
	size_t counted_cap;
	uint32_t counted_len;
	asked_t *asked;		/* [quota] */
	size_t asked_cap;
};

extern auc_limit_quotas_t *auc_limit_quotas_new(void)
{
	auc_limit_quotas_t *limits = xmalloc(sizeof(*limits));

	limits->licences = bf_licenses_initial(false);
	return limits;
}

extern void auc_limit_quotas_free(auc_limit_quotas_t *limits)
{
	for (int i = 0; i < BUCKETS; i++) {
		entry_t *entry = limits->buckets[i], *next;

		for (; entry; entry = next) {
			next = entry->next;
			xfree(entry);
		}
	}
	FREE_NULL_LIST(limits->licences);
	xfree(limits->counted);
	xfree(limits->asked);
	xfree(limits);
}

/* ---- quotas ---- */

static bool _is_same(const auc_limit_t *a, const auc_limit_t *b)
{
	return (a->kind == b->kind) && (a->id == b->id) && (a->sub == b->sub) &&
		(a->measure == b->measure) && (a->tres == b->tres) &&
		(a->limit == b->limit);
}

/* IN left - of the limit, if it is new */
static uint32_t _find_or_add_quota(auc_limit_quotas_t *limits,
				   auc_snapshot_t *s, const auc_limit_t *limit,
				   uint64_t left)
{
	uint32_t hash = (limit->id * 2654435761u) ^ (limit->sub * 2246822519u) ^
		((limit->tres * 3 + limit->measure) * 3266489917u) ^ limit->kind;
	entry_t **bucket = &limits->buckets[(hash >> 8) % BUCKETS];
	entry_t *entry = *bucket;

	while (entry && !_is_same(&entry->limit, limit))
		entry = entry->next;
	if (entry)
		return entry->quota;
	entry = xmalloc(sizeof(*entry));
	entry->limit = *limit;
	entry->quota = s->in.quotas_len;
	entry->next = *bucket;
	*bucket = entry;
	AUC_GROW(s->quotas, s->quotas_cap, s->in.quotas_len + 1);
	AUC_GROW(limits->asked, limits->asked_cap, s->in.quotas_len + 1);
	limits->asked[s->in.quotas_len] = (asked_t) { 0 };
	s->quotas[s->in.quotas_len++] = MIN(left, AUCSCHED_MAX_CHARGE);
	return entry->quota;
}

/* In the order of the quotas, when all of it is counted. */
static void _limit_quotas_charge(auc_limit_quotas_t *limits,
				 auc_snapshot_t *s, const auc_limit_t *limit,
				 uint64_t left,
				 const struct aucsched_charge *charge,
				 auc_counted_t *counted)
{
	AUC_GROW(limits->counted, limits->counted_cap, limits->counted_len + 1);
	if (!counted->len)
		counted->first = limits->counted_len;
	limits->counted[limits->counted_len] = *charge;
	limits->counted[limits->counted_len++].quota =
		_find_or_add_quota(limits, s, limit, left);
	counted->len++;
}

static int _by_quota(const void *a, const void *b)
{
	const struct aucsched_charge *x = a, *y = b;

	return (x->quota > y->quota) - (x->quota < y->quota);
}

static void _limit_quotas_sort(auc_limit_quotas_t *limits,
			       auc_counted_t counted)
{
	if (counted.len)
		qsort(limits->counted + counted.first, counted.len,
		      sizeof(*limits->counted), _by_quota);
}

/* ---- rows ---- */

/* rate x number; AUCSCHED_MAX_CHARGE at most. */
static uint64_t _charge_times(uint64_t rate, uint64_t number)
{
	if (number && (rate > AUCSCHED_MAX_CHARGE / number))
		return AUCSCHED_MAX_CHARGE;
	return rate * number;
}

/* What any start with the request counts at least. */
static uint64_t _least_charge(const struct aucsched_charge *charge,
			      const auc_request_t *request)
{
	const struct aucsched_job *job = &request->job;
	uint64_t nodes = MAX(job->min_nodes, 1);

	return charge->per_job + _charge_times(charge->per_node, nodes) +
		_charge_times(charge->per_core, job->cores) +
		_charge_times(charge->per_gpu, nodes * job->min_gpus);
}

extern uint32_t auc_limit_quotas_admit(auc_limit_quotas_t *limits,
				       const auc_snapshot_t *s,
				       const auc_request_t *request,
				       auc_counted_t counted, uint32_t most,
				       bool stuck)
{
	for (uint32_t i = 0; i < counted.len; i++) {
		const struct aucsched_charge *charge =
			&limits->counted[counted.first + i];
		uint64_t left = s->quotas[charge->quota];
		uint64_t least = _least_charge(charge, request);

		if (!least)
			continue;
		most = MIN(most, left / least);
		if (limits->asked[charge->quota].by[stuck] >= SEATS * left)
			most = 0;
	}
	for (uint32_t i = 0; i < counted.len; i++) {
		const struct aucsched_charge *charge =
			&limits->counted[counted.first + i];

		limits->asked[charge->quota].by[stuck] +=
			most * _least_charge(charge, request);
	}
	return most;
}

static void _add(const auc_limit_quotas_t *limits, auc_counted_t counted,
		 struct aucsched_charge **charges, size_t *cap, uint32_t *len,
		 uint32_t of)
{
	AUC_GROW(*charges, *cap, *len + counted.len);
	for (uint32_t i = 0; i < counted.len; i++) {
		(*charges)[*len] = limits->counted[counted.first + i];
		(*charges)[(*len)++].of = of;
	}
}

extern void auc_add_job_limits(const auc_limit_quotas_t *limits,
			       auc_snapshot_t *s, auc_counted_t counted)
{
	_add(limits, counted, &s->job_charges, &s->job_charges_cap,
	     &s->in.job_charges_len, s->in.jobs_len);
}

extern void auc_add_alternative_limits(const auc_limit_quotas_t *limits,
				       auc_snapshot_t *s, auc_counted_t counted)
{
	_add(limits, counted, &s->alternative_charges,
	     &s->alternative_charges_cap, &s->in.alternative_charges_len,
	     s->in.alternatives_len);
}

/*
 * What jobs count against limits of associations and QOS.
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
 * Locks as quotas.c.
 */

/* ---- charges ---- */

/* A charge as it is, but for so many minutes. */
static struct aucsched_charge _for_minutes(const struct aucsched_charge *charge,
					   uint64_t minutes)
{
	return (struct aucsched_charge) {
		.per_job = _charge_times(charge->per_job, minutes),
		.per_node = _charge_times(charge->per_node, minutes),
		.per_core = _charge_times(charge->per_core, minutes),
		.per_gpu = _charge_times(charge->per_gpu, minutes) };
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
	    (count->asked && (_least_charge(&charge, count->request) > left)))
		return;
	_limit_quotas_charge(count->limits, count->s, &of, left, &charge,
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

		_need_with_gpus(job_ptr, request, request->job.max_gpus,
				   &need);
		may = _limits_ask(job_ptr, &need);
		_need_free(&need);
		if (!may)
			request->job.max_gpus--;
	}
}

static void _count_all(count_t *count, job_record_t *job_ptr,
		       auc_request_t *request, bitstr_t *nodes)
{
	auc_holder_t holders[AUC_HOLDERS_MAX];
	int len = _holders(job_ptr, holders);
	bool *set = xcalloc(2 * SCOPES * slurmctld_tres_cnt, sizeof(bool));

	_need_with_gpus(job_ptr, request, request->job.min_gpus,
			   &count->need);
	_spare_nodes(count->s, request, &count->need, holders, len);
	_narrow_nodes(job_ptr, &count->need, holders, len, nodes);
	_cap_gpus(job_ptr, request);
	_unspare_nodes(holders, len);
	count->tres_set = set;
	count->minutes_set = set + SCOPES * slurmctld_tres_cnt;
	count->factor = _factor(job_ptr);
	for (int i = 0; i < len; i++)
		_count_holder(count, &holders[i]);
	_need_free(&count->need);
	xfree(set);
}

/* Those of one of several, or of certain nodes, are Slurm's to count. */
static void _count_licences(count_t *count)
{
	const licenses_t *want;

	AUC_EACH(want, count->job_ptr->license_list) {
		struct aucsched_charge charge = { .per_job = want->total };
		auc_limit_t of = { .kind = AUC_LICENCE };
		const bf_license_t *licence = NULL;

		AUC_EACH(licence, count->limits->licences) {
			if (auc_is_licence(licence, want))
				break;
			of.id++;
		}
		if (licence && want->total && !auc_is_odd_licence(want))
			_limit_quotas_charge(count->limits, count->s, &of, licence->remaining,
					     &charge, &count->counted);
	}
}

extern auc_counted_t auc_count_limits(auc_limit_quotas_t *limits,
				      auc_snapshot_t *s, job_record_t *job_ptr,
				      auc_request_t *request, bitstr_t *nodes,
				      bool asked)
{
	count_t count = {
		.limits = limits, .s = s, .job_ptr = job_ptr,
		.request = request, .asked = asked };

	_count_licences(&count);
	if (_limits_enforced() && _has_association(job_ptr)) {
		count.own_nodes = auc_is_whole(job_ptr, job_ptr->part_ptr);
		_limits_lock();
		_count_all(&count, job_ptr, request, nodes);
		_limits_unlock();
	}
	_limit_quotas_sort(limits, count.counted);
	return count.counted;
}
