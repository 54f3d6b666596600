/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "quotas.h"

/*
 * Slurm checks limits on TRES (GrpTRES, MaxTRESPerUser, GrpTRESMins and so on) when it has
 * chosen a job's nodes. A job that one of them holds back would win nodes for nothing, so
 * Slurm's own functions are asked here first, with the least that the job will count: a
 * job close to a limit may still be refused at its start, but none is kept out that Slurm
 * would start.
 *
 * A question about other usage than there is changes the usage for as long as it takes, under
 * assoc_mgr's write locks, so that nobody else sees it.
 */

/* More CPUs than any job counts: a number that nobody can overflow. */
#define MAX_CPUS (1u << 30)

#define HOLDERS_MAX 32

/* Rows may ask for so many times what is left: more would take rows from others without success. */
#define SEATS 4

typedef enum {
	ASSOC,
	QOS,
	QOS_ACCOUNT,		/* what an account has of a QOS; sub: its association */
	QOS_USER,		/* what a user has; sub: the user */
	LICENCE,		/* nobody: all may use them; id: which in the list of all */
} kind_t;

/* Whose limits count for a job, and where Slurm counts what is used of them. */
typedef struct {
	kind_t kind;
	uint32_t id, sub;
	uint64_t *tres, *run_secs; /* run_secs: NULL if nobody asks for them */
	uint32_t *jobs;
	/* The limits; INFINITE64 and INFINITE: none. */
	const uint64_t *tres_limits, *run_limits; /* these in minutes */
	uint32_t jobs_limit;
	uint32_t own_jobs_limit; /* of the job's own association alone */
	bitstr_t *nodes;	/* that are used; NULL: none, or nodes are not limited */
	uint64_t spared;	/* of nodes, while the job may share them */
	bool narrowed;		/* the job gets none but nodes */
} holder_t;

static assoc_mgr_lock_t write_locks = {
	.assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK
};

/* ---- what a job counts ---- */

/* That it may run, as acct_policy.c has it; INFINITE without a limit. */
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

static bool _is_gpu(int tres)
{
	const slurmdb_tres_rec_t *rec = assoc_mgr_tres_array[tres];

	return !xstrcmp(rec->type, "gres") && rec->name &&
		!xstrncmp(rec->name, "gpu", 3) &&
		(!rec->name[3] || (rec->name[3] == ':'));
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
		if (_is_gpu(i) && !assoc_mgr_tres_array[i]->name[3])
			tres[i] = MAX(tres[i], gpus);
}

/*
 * Never more than Slurm will count when the job starts with what the auction gives it. The job is as it
 * was. With assoc_mgr's locks.
 * IN gpus - on each node, if they are not of several types; -1: as asked
 * OUT tres - slurmctld_tres_cnt numbers
 */
static void _need(job_record_t *job_ptr, const auc_request_t *request, int gpus,
		  uint64_t *tres)
{
	gres_job_state_t *asked = (gpus >= 0) ? auc_only_gpus(job_ptr) : NULL;
	uint32_t nodes = MAX(request->job.min_nodes, 1);
	uint32_t cpus = _cpus(request);
	uint64_t total = asked ? asked->total_gres : 0;

	memset(tres, 0, slurmctld_tres_cnt * sizeof(uint64_t));
	if (job_ptr->tres_req_cnt)
		memcpy(tres, job_ptr->tres_req_cnt,
		       slurmctld_tres_cnt * sizeof(uint64_t));
	if (asked)
		asked->total_gres = (uint64_t) gpus * nodes;
	tres[TRES_ARRAY_CPU] = cpus;
	/* Where it is not consumed Slurm counts none. */
	tres[TRES_ARRAY_MEM] = !auc_consumes_memory(job_ptr->part_ptr) ? 0 :
		job_get_tres_mem(NULL, job_ptr->details->pn_min_memory, cpus,
				 nodes, job_ptr->part_ptr,
				 job_ptr->gres_list_req,
				 job_ptr->bit_flags & JOB_MEM_SET,
				 job_get_sockets_per_node(job_ptr),
				 job_ptr->details->num_tasks);
	tres[TRES_ARRAY_NODE] = nodes;
	auc_set_job_tres_cnt(job_ptr->gres_list_req, nodes, tres, true);
	_count_whole_nodes(job_ptr, nodes, tres);
	tres[TRES_ARRAY_BILLING] = assoc_mgr_tres_weighted(
		tres, job_ptr->part_ptr->billing_weights,
		slurm_conf.priority_flags, true);
	if (asked)
		asked->total_gres = total;
}

/* ---- whose limits ---- */

static bool _is_limited(const uint64_t *tres, const uint64_t *run, uint32_t jobs)
{
	for (int i = 0; i < slurmctld_tres_cnt; i++)
		if ((tres && (tres[i] != INFINITE64)) ||
		    (run && (run[i] != INFINITE64)))
			return true;
	return jobs != INFINITE;
}

/* RET how many there are, with this one if it has limits */
static int _add_holder(holder_t *holders, int len, holder_t holder)
{
	if ((len == HOLDERS_MAX) ||
	    !_is_limited(holder.tres_limits, holder.run_limits,
			 MIN(holder.jobs_limit, holder.own_jobs_limit)))
		return len;
	if (!holder.tres_limits ||
	    (holder.tres_limits[TRES_ARRAY_NODE] == INFINITE64))
		holder.nodes = NULL;
	holders[len] = holder;
	return len + 1;
}

/* What somebody has of a QOS, if that is limited. Slurm's function USED notes whom it is asked about. */
#define ADD_PART(KIND, SUB, USED, of)					\
	if (_is_limited(qos->max_tres_##of##_ctld,			\
			qos->max_tres_run_mins_##of##_ctld,		\
			qos->max_jobs_##of)) {				\
		slurmdb_used_limits_t *used = USED;			\
									\
		len = _add_holder(holders, len, (holder_t) {		\
			.kind = KIND, .id = qos->id, .sub = SUB,	\
			.tres = used->tres, .jobs = &used->jobs,	\
			.run_secs = auc_used_run_secs(used),		\
			.tres_limits = qos->max_tres_##of##_ctld,	\
			.run_limits = qos->max_tres_run_mins_##of##_ctld, \
			.jobs_limit = qos->max_jobs_##of,		\
			.own_jobs_limit = INFINITE,			\
			.nodes = used->node_bitmap });			\
	}

static int _add_qos(holder_t *holders, int len, const job_record_t *job_ptr,
		    slurmdb_qos_rec_t *qos)
{
	slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;
	slurmdb_assoc_rec_t *above = assoc->usage ?
		assoc->usage->parent_assoc_ptr : NULL;
	slurmdb_qos_usage_t *usage = qos ? qos->usage : NULL;

	if (!usage)
		return len;
	len = _add_holder(holders, len, (holder_t) {
		.kind = QOS, .id = qos->id,
		.tres = usage->grp_used_tres,
		.run_secs = usage->grp_used_tres_run_secs,
		.jobs = &usage->grp_used_jobs,
		.tres_limits = qos->grp_tres_ctld,
		.run_limits = qos->grp_tres_run_mins_ctld,
		.jobs_limit = qos->grp_jobs, .own_jobs_limit = INFINITE,
		.nodes = usage->grp_node_bitmap });
	ADD_PART(QOS_ACCOUNT, above ? above->id : assoc->id,
		 acct_policy_get_acct_used_limits(&usage->acct_limit_list, assoc->acct), pa)
	ADD_PART(QOS_USER, job_ptr->user_id,
		 acct_policy_get_user_used_limits(&usage->user_limit_list, job_ptr->user_id), pu)
	return len;
}

/*
 * Those who have limits, in the order in which they count. With assoc_mgr's locks, which holders don't
 * outlive; -1 for a job without a valid association, which Slurm's check finds.
 * OUT factor - LimitFactor of the first QOS that has one; -1: none has
 */
static int _holders(job_record_t *job_ptr, holder_t *holders, double *factor)
{
	slurmdb_assoc_rec_t *assoc = job_ptr->assoc_ptr;
	slurmdb_qos_rec_t *qos[2];
	int len = 0;

	*factor = -1;
	if (!assoc || (assoc->id != job_ptr->assoc_id) ||
	    (assoc->uid != job_ptr->user_id))
		return -1;
	acct_policy_set_qos_order(job_ptr, &qos[0], &qos[1]);
	for (int i = 0; i < 2; i++) {
		len = _add_qos(holders, len, job_ptr, qos[i]);
		if (qos[i] && (*factor == -1) &&
		    !fuzzy_equal(qos[i]->limit_factor, INFINITE))
			*factor = qos[i]->limit_factor;
	}
	for (; assoc && assoc->usage; assoc = assoc->usage->parent_assoc_ptr)
		len = _add_holder(holders, len, (holder_t) {
			.kind = ASSOC, .id = assoc->id,
			.tres = assoc->usage->grp_used_tres,
			.run_secs = assoc->usage->grp_used_tres_run_secs,
			.jobs = &assoc->usage->used_jobs,
			.tres_limits = assoc->grp_tres_ctld,
			.run_limits = assoc->grp_tres_run_mins_ctld,
			.jobs_limit = assoc->grp_jobs,
			.own_jobs_limit = (assoc == job_ptr->assoc_ptr) ?
				assoc->max_jobs : INFINITE,
			.nodes = assoc->usage->grp_node_bitmap });
	return len;
}

/* ---- questions ---- */

/*
 * Takes nodes off usage that the job may share; _unspare() puts them back.
 *
 * A limit on nodes counts each node once, however many jobs are on it. At best the job gets
 * such as the holder has, and that have room: they are taken off its usage.
 */
static void _spare(const auc_snapshot_t *s, const auc_request_t *request,
		   const uint64_t *need, holder_t *holders, int len)
{
	uint16_t cores = MAX(request->job.cores_per_node, 1);

	for (int i = 0; i < len; i++) {
		holder_t *holder = &holders[i];
		uint64_t open = 0;

		for (int n = 0; holder->nodes && (n < s->in.nodes_len); n++)
			if (bit_test(holder->nodes, n) &&
			    (s->nodes[n].free_cores >= cores))
				open++;
		open = MIN(open, need[TRES_ARRAY_NODE]);
		holder->spared = MIN(open, holder->tres[TRES_ARRAY_NODE]);
		holder->tres[TRES_ARRAY_NODE] -= holder->spared;
	}
}

static void _unspare(holder_t *holders, int len)
{
	for (int i = 0; i < len; i++)
		holders[i].tres[TRES_ARRAY_NODE] += holders[i].spared;
}

/* Whether Slurm would start the job by the usage as it is now, which may be another; the job is as it was. */
static bool _may(job_record_t *job_ptr, uint64_t *need)
{
	slurmdb_qos_rec_t *blocking = job_ptr->qos_blocking_ptr;
	uint32_t reason = job_ptr->state_reason;
	char *desc = job_ptr->state_desc;
	bool may;

	job_ptr->state_desc = NULL;
	may = acct_policy_job_runnable_pre_select(job_ptr, true) &&
		acct_policy_job_runnable_post_select(job_ptr, need, true);
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = desc;
	job_ptr->state_reason = reason;
	job_ptr->qos_blocking_ptr = blocking;
	return may;
}

/* Asks Slurm. IN tells - the job the reason, if it may not; or it is as it was */
static bool _ask(const auc_snapshot_t *s, job_record_t *job_ptr,
		 const auc_request_t *request, bool tells)
{
	uint64_t need[slurmctld_tres_cnt];
	holder_t holders[HOLDERS_MAX];
	double factor;
	bool may = false;
	int len;

	assoc_mgr_lock(&write_locks);
	if (!tells || acct_policy_job_runnable_pre_select(job_ptr, true)) {
		len = _holders(job_ptr, holders, &factor);
		_need(job_ptr, request, -1, need);
		_spare(s, request, need, holders, len);
		may = tells ? acct_policy_job_runnable_post_select(
			job_ptr, need, true) : _may(job_ptr, need);
		_unspare(holders, len);
	}
	assoc_mgr_unlock(&write_locks);
	return may;
}

extern bool auc_limits_allow(const auc_snapshot_t *s, job_record_t *job_ptr,
			     const auc_request_t *request)
{
	return !(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) ||
		_ask(s, job_ptr, request, false);
}

/* ---- verdicts ---- */

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

/* Whether the same limits are theirs. */
static bool _same_limits(const job_record_t *a, const job_record_t *b)
{
	return (a->assoc_ptr == b->assoc_ptr) && (a->qos_ptr == b->qos_ptr) &&
		(a->part_ptr == b->part_ptr) && (a->user_id == b->user_id);
}

/* Whether all that limits and nodes go by is the same: a queue's jobs are mostly alike. */
static bool _alike(const job_record_t *a, const job_record_t *b)
{
	return _same_limits(a, b) && auc_are_alike(a, b) &&
		(a->time_limit == b->time_limit) &&
		!((a->bit_flags ^ b->bit_flags) & JOB_MEM_SET) &&
		!a->details->exc_node_bitmap && !b->details->exc_node_bitmap &&
		!xstrcmp(a->licenses, b->licenses) &&
		(a->limit_set.time == b->limit_set.time) &&
		a->limit_set.tres && b->limit_set.tres &&
		!memcmp(a->limit_set.tres, b->limit_set.tres,
			slurmctld_tres_cnt * sizeof(*a->limit_set.tres));
}

static auc_verdict_t *_find(auc_verdicts_t *verdicts,
			    const job_record_t *job_ptr,
			    const auc_request_t *request)
{
	for (int i = 0; i < AUC_VERDICTS; i++) {
		auc_verdict_t *verdict = &verdicts->kept[i];

		if (verdict->job_ptr &&
		    ((!verdict->may && _counts_jobs(verdict->reason) &&
		      _same_limits(verdict->job_ptr, job_ptr)) ||
		     (!memcmp(&verdict->request, request, sizeof(*request)) &&
		      _alike(verdict->job_ptr, job_ptr))))
			return verdict;
	}
	return NULL;
}

static auc_verdict_t *_judge(auc_verdicts_t *verdicts, const auc_snapshot_t *s,
			     job_record_t *job_ptr,
			     const auc_request_t *request)
{
	auc_verdict_t *verdict =
		&verdicts->kept[verdicts->next++ % AUC_VERDICTS];

	memset(verdict, 0, sizeof(*verdict));
	verdict->job_ptr = job_ptr;
	memcpy(&verdict->request, request, sizeof(*request));
	verdict->may = _ask(s, job_ptr, request, true);
	verdict->reason = job_ptr->state_reason;
	verdict->blocking = job_ptr->qos_blocking_ptr;
	return verdict;
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
	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS)) {
		verdict = &verdicts->unlimited;
		verdict->may = true;
	} else {
		if (!(verdict = _find(verdicts, job_ptr, request))) {
			verdict = _judge(verdicts, s, job_ptr, request);
		} else if (!verdict->may) {	/* it is told what one like it was */
			job_ptr->state_reason = verdict->reason;
			xfree(job_ptr->state_desc);
			job_ptr->qos_blocking_ptr = verdict->blocking;
		}
		/*
		 * As if the select plug-in had been asked: Slurm's own schedulers, who are told
		 * that the nodes are busy, then find the same limit.
		 */
		job_ptr->total_cpus = _cpus(request);
	}
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
 * Limits and licences as quotas: what jobs count of which. A job becomes a row while its licences are
 * free; whoever waits for one is told so by Slurm, who is asked when the others have started.
 *
 * Each limit that somebody has, on TRES i, on its minutes or on jobs, is a quota. Which of them bind a
 * job is as in src/slurmctld/acct_policy.c: of two QOS the first that has a limit on TRES i counts, and
 * an association's only if neither has; those of the associations above count beside each other.
 *
 * Slurm is asked before a job becomes a row, and again when it starts: what is counted wrongly here costs
 * a start at most, and what can't be counted is left out: nodes that several jobs share count at their
 * least, minutes that have been used are Slurm's alone, and a job whose own limit is overridden is not
 * seen by others'.
 */

/* On TRES, on minutes of them, on the number of jobs, and of the jobs of an association alone. */
typedef enum { ON_TRES, ON_MINUTES, ON_JOBS, ON_OWN_JOBS, MEASURES } measure_t;

/* A limit. Who has it may have it with several values, by QOS with a LimitFactor. */
typedef struct {
	uint32_t kind, id, sub, measure, tres, next; /* next: of its bucket, plus 1 */
	uint64_t limit;
	/* What rows ask for: of jobs that may start, and of those that found no place last time. */
	uint64_t asked[2];
} quota_t;

#define BUCKETS 256

/* Those that hold for all, within an account, and for a user: what a QOS has overrides others'. */
typedef enum { OF_ALL, OF_ACCOUNT, OF_USER, SCOPES } scope_t;

/* Of the snapshot that is taken: the agent's thread alone. */
static struct {
	bf_licenses_t *licences; /* what is left of each; NULL: there are none */
	quota_t *quotas;	/* as the snapshot's */
	uint32_t buckets[BUCKETS]; /* their first, plus 1 */
	struct aucsched_charge *counted; /* of requests, one after the other */
	uint32_t counted_len;
	size_t quotas_cap, counted_cap;
} cycle;

/* What is known while a request is counted. */
typedef struct {
	auc_snapshot_t *s;
	const job_record_t *job_ptr;
	const auc_request_t *request;
	uint64_t *need, seconds;
	bool own_nodes, asked;
	double factor;		/* of associations' limits on TRES; <= 0: 1 */
	bool *set;		/* [scope][measure][TRES], by a QOS */
	auc_counted_t counted;
} count_t;

extern void auc_limits_begin(void)
{
	cycle.licences = bf_licenses_initial(false);
}

extern void auc_limits_end(void)
{
	FREE_NULL_LIST(cycle.licences);
	xfree(cycle.quotas);
	xfree(cycle.counted);
	memset(&cycle, 0, sizeof(cycle));
}

/* ---- charges ---- */

/* rate x number; AUCSCHED_MAX_CHARGE at most. */
static uint64_t _times(uint64_t rate, uint64_t number)
{
	if (number && (rate > AUCSCHED_MAX_CHARGE / number))
		return AUCSCHED_MAX_CHARGE;
	return rate * number;
}

/* A charge as it is, but so many times. */
static struct aucsched_charge _charge_times(struct aucsched_charge charge,
					    uint64_t number)
{
	return (struct aucsched_charge) {
		.per_job = _times(charge.per_job, number),
		.per_node = _times(charge.per_node, number),
		.per_core = _times(charge.per_core, number),
		.per_gpu = _times(charge.per_gpu, number) };
}

/* What any start with the request counts at least. */
static uint64_t _least(const struct aucsched_charge *charge,
		       const auc_request_t *request)
{
	const struct aucsched_job *job = &request->job;
	uint64_t nodes = MAX(job->min_nodes, 1);

	return charge->per_job + _times(charge->per_node, nodes) +
		_times(charge->per_core, job->cores) +
		_times(charge->per_gpu, nodes * job->min_gpus);
}

/* What a job counts of TRES i. Nodes of its own are as many as it has. */
static struct aucsched_charge _charge(const count_t *count, int i, bool own_nodes)
{
	const auc_request_t *request = count->request;
	uint64_t least = count->need[i], memory = request->memory & ~MEM_PER_CPU;

	if ((i == TRES_ARRAY_ENERGY) || (least == NO_CONSUME_VAL64))
		return (struct aucsched_charge) { 0 };
	if (i == TRES_ARRAY_CPU)
		return (struct aucsched_charge) { .per_core = request->threads };
	if ((i == TRES_ARRAY_MEM) && least && request->gpu_memory)
		return (struct aucsched_charge) { .per_gpu = request->gpu_memory };
	if ((i == TRES_ARRAY_MEM) && least && (request->memory & MEM_PER_CPU))
		return (struct aucsched_charge) { .per_core =
			memory * request->threads };
	if ((i == TRES_ARRAY_MEM) && least && memory)
		return (struct aucsched_charge) { .per_node = memory };
	if ((i == TRES_ARRAY_NODE) && own_nodes)
		return (struct aucsched_charge) { .per_node = 1 };
	if (least && _is_gpu(i) && (least == (uint64_t) request->job.min_gpus *
				    MAX(request->job.min_nodes, 1)))
		return (struct aucsched_charge) { .per_gpu = 1 };
	return (struct aucsched_charge) { .per_job = least };
}

/* ---- quotas ---- */

/* RET which quota the limit is; if it is new, so much is left of it */
static uint32_t _quota(auc_snapshot_t *s, const quota_t *limit, uint64_t left)
{
	uint32_t hash = (limit->id * 2654435761u) ^ (limit->sub * 2246822519u) ^
		((limit->tres * MEASURES + limit->measure) * 3266489917u) ^
		limit->kind;
	uint32_t *bucket = &cycle.buckets[(hash >> 8) % BUCKETS];
	uint32_t at = *bucket, quota = s->in.quotas_len;

	for (; at; at = cycle.quotas[at - 1].next) {
		const quota_t *other = &cycle.quotas[at - 1];

		if (!memcmp(other, limit, offsetof(quota_t, next)) &&
		    (other->limit == limit->limit))
			return at - 1;
	}
	AUC_GROW(cycle.quotas, cycle.quotas_cap, quota + 1);
	cycle.quotas[quota] = *limit;
	cycle.quotas[quota].next = *bucket;
	AUC_ADD(s, quotas, MIN(left, AUCSCHED_MAX_CHARGE));
	*bucket = s->in.quotas_len;
	return quota;
}

/* Counts a charge against a limit of which so much is used. */
static void _count(count_t *count, const quota_t *limit, uint64_t used,
		   struct aucsched_charge charge)
{
	uint64_t left = (limit->limit > used) ? limit->limit - used : 0;

	charge = _charge_times(charge, 1);	/* no more than a charge may be */
	if (!(charge.per_job | charge.per_node | charge.per_core |
	      charge.per_gpu) ||
	    (count->asked && (limit->kind != LICENCE) &&
	     (_least(&charge, count->request) > left)))
		return;
	charge.quota = _quota(count->s, limit, left);
	AUC_APPEND(cycle.counted, charge);
	count->counted.len++;
}

/* ---- limits that bind ---- */

/* RET whether one does that a holder has, and no QOS before overrides */
static bool _binds(count_t *count, const holder_t *holder, measure_t measure, int i)
{
	scope_t scope = (holder->kind == QOS_ACCOUNT) ? OF_ACCOUNT :
		(holder->kind == QOS_USER) ? OF_USER : OF_ALL;
	bool *set = &count->set[(scope * MEASURES + measure) *
				slurmctld_tres_cnt + i];

	if (*set)
		return false;
	*set = holder->kind != ASSOC;
	return true;
}

/* As acct_policy.c has it. */
static uint64_t _by_factor(const count_t *count, const holder_t *holder,
			   uint64_t limit)
{
	int64_t product;

	if ((holder->kind != ASSOC) || (count->factor <= 0))
		return limit;
	product = (int64_t) limit * count->factor;
	return (product < 0) ? INFINITE64 : product;
}

static void _count_tres(count_t *count, const holder_t *holder, quota_t limit)
{
	int i = limit.tres;
	struct aucsched_charge charge = _charge(count, i, count->own_nodes);

	if (!_binds(count, holder, ON_TRES, i))
		return;
	limit.limit = _by_factor(count, holder, limit.limit);
	if (i == TRES_ARRAY_NODE) {
		if (holder->narrowed)
			return;	/* it has the nodes already */
		/* The job may share some that it has. */
		if (!count->own_nodes &&
		    (limit.limit < charge.per_job + holder->tres[i]))
			charge.per_job -= MIN(charge.per_job, holder->spared);
	}
	_count(count, &limit, holder->tres[i], charge);
}

static void _count_holder(count_t *count, const holder_t *holder)
{
	const uint16_t *lifted = count->job_ptr->limit_set.tres;
	quota_t limit = { .kind = holder->kind, .id = holder->id,
			  .sub = holder->sub };
	bool *jobs = &count->set[ON_JOBS * slurmctld_tres_cnt];
	int scope = MEASURES * slurmctld_tres_cnt;

	for (int i = 0; i < slurmctld_tres_cnt; i++) {
		limit.tres = i;
		limit.measure = ON_TRES;
		if (holder->tres_limits &&
		    ((limit.limit = holder->tres_limits[i]) != INFINITE64) &&
		    !(lifted && (lifted[i] == ADMIN_SET_LIMIT)))
			_count_tres(count, holder, limit);
		limit.measure = ON_MINUTES;
		if (holder->run_limits && holder->run_secs &&
		    ((limit.limit = holder->run_limits[i]) != INFINITE64) &&
		    _binds(count, holder, ON_MINUTES, i))
			_count(count, &limit, holder->run_secs[i] / 60,
			       _charge_times(_charge(count, i, true),
					     count->seconds / 60));
	}
	limit.tres = 0;
	limit.measure = ON_OWN_JOBS;
	limit.limit = holder->own_jobs_limit;
	if ((limit.limit != INFINITE) && !jobs[OF_ACCOUNT * scope] &&
	    !jobs[OF_USER * scope])
		_count(count, &limit, *holder->jobs,
		       (struct aucsched_charge) { .per_job = 1 });
	limit.measure = ON_JOBS;
	limit.limit = holder->jobs_limit;
	if ((limit.limit != INFINITE) && _binds(count, holder, ON_JOBS, 0))
		_count(count, &limit, *holder->jobs,
		       (struct aucsched_charge) { .per_job = 1 });
}

/*
 * Where a holder may have no node more than it has, the job has to get one of these. A job of
 * several nodes may need some of either: that is left to the start. While nodes are spared.
 */
static void _narrow(job_record_t *job_ptr, uint64_t *need, holder_t *holders,
		    int len, bitstr_t *nodes)
{
	for (int i = 0; i < len; i++) {
		holder_t *holder = &holders[i];

		if (!holder->nodes || !holder->spared ||
		    (holder->spared < need[TRES_ARRAY_NODE]))
			continue;
		holder->tres[TRES_ARRAY_NODE]++;
		holder->narrowed = !_may(job_ptr, need);
		holder->tres[TRES_ARRAY_NODE]--;
		if (holder->narrowed)
			bit_and(nodes, holder->nodes);
	}
}

/* A range of GPUs goes no further than one job may have. */
static void _cap_gpus(job_record_t *job_ptr, auc_request_t *request)
{
	uint64_t need[slurmctld_tres_cnt];

	for (; request->job.max_gpus > request->job.min_gpus;
	     request->job.max_gpus--) {
		_need(job_ptr, request, request->job.max_gpus, need);
		if (_may(job_ptr, need))
			return;
	}
}

static void _count_all(count_t *count, job_record_t *job_ptr,
		       auc_request_t *request, bitstr_t *nodes)
{
	holder_t holders[HOLDERS_MAX];
	uint64_t need[slurmctld_tres_cnt];
	bool set[SCOPES * MEASURES * slurmctld_tres_cnt];
	int len = _holders(job_ptr, holders, &count->factor);

	if (len < 0)
		return;
	memset(set, 0, sizeof(set));
	_need(job_ptr, request, request->job.min_gpus, need);
	_spare(count->s, request, need, holders, len);
	_narrow(job_ptr, need, holders, len, nodes);
	_cap_gpus(job_ptr, request);
	_unspare(holders, len);
	count->need = need;
	count->set = set;
	count->seconds = _seconds(job_ptr);
	for (int i = 0; i < len; i++)
		_count_holder(count, &holders[i]);
}

/* Those of one of several, or of certain nodes, are Slurm's to count. */
static void _count_licences(count_t *count)
{
	const licenses_t *want;

	AUC_EACH(want, count->job_ptr->license_list) {
		const bf_license_t *licence = NULL;
		quota_t limit = { .kind = LICENCE };

		AUC_EACH(licence, cycle.licences) {
			if (auc_is_licence(licence, want))
				break;
			limit.id++;
		}
		if (!licence || auc_is_odd_licence(want))
			continue;
		limit.limit = licence->remaining;
		_count(count, &limit, 0,
		       (struct aucsched_charge) { .per_job = want->total });
	}
}

static int _by_quota(const void *a, const void *b)
{
	const struct aucsched_charge *x = a, *y = b;

	return (x->quota > y->quota) - (x->quota < y->quota);
}

/* ---- rows ---- */

static uint32_t _admit(const count_t *count, bool stuck, uint32_t most)
{
	const struct aucsched_charge *charges =
		cycle.counted + count->counted.first;

	for (uint32_t i = 0; i < count->counted.len; i++) {
		uint64_t left = count->s->quotas[charges[i].quota];
		uint64_t least = _least(&charges[i], count->request);

		if (!least)
			continue;
		most = MIN(most, left / least);
		if (cycle.quotas[charges[i].quota].asked[stuck] >= SEATS * left)
			most = 0;
	}
	for (uint32_t i = 0; i < count->counted.len; i++)
		cycle.quotas[charges[i].quota].asked[stuck] +=
			most * _least(&charges[i], count->request);
	return most;
}

extern auc_counted_t auc_count_limits(auc_snapshot_t *s, job_record_t *job_ptr,
				      auc_request_t *request, bitstr_t *nodes,
				      bool asked, bool stuck, uint32_t *rows)
{
	count_t count = { .s = s, .job_ptr = job_ptr, .request = request,
			  .asked = asked, .counted.first = cycle.counted_len,
			  .own_nodes = auc_is_whole(job_ptr, job_ptr->part_ptr) };

	_count_licences(&count);
	if (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) {
		assoc_mgr_lock(&write_locks);
		_count_all(&count, job_ptr, request, nodes);
		assoc_mgr_unlock(&write_locks);
	}
	if (count.counted.len)
		qsort(cycle.counted + count.counted.first, count.counted.len,
		      sizeof(*cycle.counted), _by_quota);
	if (rows)
		*rows = _admit(&count, stuck, *rows);
	return count.counted;
}

extern void auc_add_limits(auc_snapshot_t *s, bool alternative,
			   auc_counted_t counted)
{
	for (uint32_t i = 0; i < counted.len; i++) {
		struct aucsched_charge charge = cycle.counted[counted.first + i];

		charge.of = alternative ? s->in.alternatives_len : s->in.jobs_len;
		if (alternative)
			AUC_ADD(s, alternative_charges, charge);
		else
			AUC_ADD(s, job_charges, charge);
	}
}
