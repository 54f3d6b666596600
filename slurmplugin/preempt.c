/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "reason.h"

/* ---- What is lost by preemption ---- */

/* What Slurm's order goes by before all else: _gen_job_prio() of the preempt plug-ins. */
static uint32_t _slurm_order(const job_record_t *job_ptr)
{
	if (xstrcasestr(slurm_conf.preempt_type, "qos"))
		return job_ptr->qos_ptr ? job_ptr->qos_ptr->priority : 0;
	return job_ptr->part_ptr ? job_ptr->part_ptr->priority_tier : 0;
}

/*
 * Who may preempt whom.
 *
 * Slurm is asked: slurm_find_preemptable_jobs(), with the preempt plug-in, knows tiers and QOS,
 * exemptions, and jobs on borrowed time of reservations. Its answer goes by few things of the job
 * that asks, so there are few different ones. Of these the library makes classes of running jobs.
 *
 * Not priced, and so Slurm's alone, are jobs that would be suspended, heterogeneous ones, those that
 * hold other amounts of memory or gres on some of their nodes, and those on nodes that are not
 * clean.
 */

#define KEYS 64
#define ASKED 256

/* What an answer goes by, and which it is. */
typedef struct {
	const part_record_t *part_ptr;
	const slurmdb_qos_rec_t *qos_ptr;
	const slurmctld_resv_t *resv_ptr;
	uint32_t priority;	/* with PreemptMode=WITHIN; else 0 */
	bool any;		/* there is somebody */
	uint64_t key;		/* 0: there was no room for it */
} asked_t;

/* Of the snapshot that is taken. */
static struct {
	asked_t asked[ASKED];
	int asked_len, keys_len;
	struct by_id {
		uint32_t job_id, running; /* running: index */
	} *by_id;		/* sorted */
	uint32_t by_id_len;
	size_t by_id_cap;
	bool *in_answer;	/* by running job: the last answer has it */
	size_t in_answer_cap;
} rights;

static int _by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct by_id *) x)->job_id;
	uint32_t b = ((const struct by_id *) y)->job_id;

	return (a > b) - (a < b);
}

extern void auc_rights_begin(auc_snapshot_t *s, bool priced)
{
	rights.asked_len = rights.keys_len = 0;
	rights.by_id_len = 0;
	AUC_GROW(rights.by_id, rights.by_id_cap, s->in.running_len + 1);
	AUC_GROW(rights.in_answer, rights.in_answer_cap, s->in.running_len + 1);
	for (uint32_t i = 0; priced && (i < s->in.running_len); i++)
		if (s->runners[i].job_id)
			rights.by_id[rights.by_id_len++] =
				(struct by_id) { s->runners[i].job_id, i };
	qsort(rights.by_id, rights.by_id_len, sizeof(*rights.by_id), _by_id);
}

/* On nodes that are busy with others' ends Slurm starts nobody. */
static bool _is_clean(const job_record_t *job_ptr)
{
	return job_ptr->node_bitmap &&
		bit_super_set(job_ptr->node_bitmap, avail_node_bitmap) &&
		!bit_overlap_any(job_ptr->node_bitmap, cg_node_bitmap) &&
		!bit_overlap_any(job_ptr->node_bitmap, rs_node_bitmap);
}

static bool _may_be_priced(job_record_t *job_ptr)
{
	uint16_t mode = slurm_job_preempt_mode(job_ptr);

	return ((mode == PREEMPT_MODE_REQUEUE) ||
		(mode == PREEMPT_MODE_CANCEL)) &&
		!job_ptr->het_job_id && !job_ptr->preempt_time &&
		IS_JOB_RUNNING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
		_is_clean(job_ptr);
}

/* RET whether the answer has anybody; rights.in_answer has those that may be priced */
static bool _ask(const auc_snapshot_t *s, job_record_t *job_ptr)
{
	list_t *candidates = slurm_find_preemptable_jobs(job_ptr);
	job_record_t *candidate;
	bool any;

	memset(rights.in_answer, 0, s->in.running_len * sizeof(bool));
	if (!candidates)
		return false;
	any = list_count(candidates);
	AUC_EACH(candidate, candidates) {
		struct by_id key = { candidate->job_id }, *found =
			bsearch(&key, rights.by_id, rights.by_id_len,
				sizeof(key), _by_id);

		if (found && _may_be_priced(candidate))
			rights.in_answer[found->running] = true;
	}
	FREE_NULL_LIST(candidates);
	return any;
}

/* The bit of the answer; 0: there is no room for one more. */
static uint64_t _key(auc_snapshot_t *s)
{
	for (int k = 0; k < rights.keys_len; k++) {
		uint32_t i = 0;

		while ((i < s->in.running_len) &&
		       ((s->runners[i].keys >> k & 1) == rights.in_answer[i]))
			i++;
		if (i == s->in.running_len)
			return (uint64_t) 1 << k;
	}
	if (rights.keys_len == KEYS)
		return 0;
	for (uint32_t i = 0; i < s->in.running_len; i++)
		if (rights.in_answer[i])
			s->runners[i].keys |= (uint64_t) 1 << rights.keys_len;
	return (uint64_t) 1 << rights.keys_len++;
}

static bool _is_within(const job_record_t *job_ptr)
{
	return (slurm_conf.preempt_mode & PREEMPT_MODE_WITHIN) ||
		(job_ptr->qos_ptr &&
		 (job_ptr->qos_ptr->preempt_mode & PREEMPT_MODE_WITHIN));
}

static asked_t *_asked(auc_snapshot_t *s, job_record_t *job_ptr)
{
	asked_t now = {
		.part_ptr = job_ptr->part_ptr, .qos_ptr = job_ptr->qos_ptr,
		.resv_ptr = job_ptr->resv_ptr,
		.priority = _is_within(job_ptr) ? job_ptr->priority : 0,
	};
	asked_t *asked;

	for (int i = 0; i < rights.asked_len; i++) {
		asked = &rights.asked[i];
		if ((asked->part_ptr == now.part_ptr) &&
		    (asked->qos_ptr == now.qos_ptr) &&
		    (asked->resv_ptr == now.resv_ptr) &&
		    (asked->priority == now.priority))
			return asked;
	}
	now.any = _ask(s, job_ptr);
	now.key = _key(s);
	/* The last one takes turns. */
	rights.asked_len = MIN(rights.asked_len + 1, ASKED);
	asked = &rights.asked[rights.asked_len - 1];
	*asked = now;
	return asked;
}

extern bool auc_rights_of(auc_snapshot_t *s, job_record_t *job_ptr,
			  uint64_t *keys)
{
	const asked_t *asked;

	if (!slurm_preemption_enabled() &&
	    !job_uses_max_start_delay_resv(job_ptr))
		return false;
	asked = _asked(s, job_ptr);
	*keys = asked->key ? (*keys | asked->key) : 0;
	return asked->any;
}

extern void auc_rights_end(auc_snapshot_t *s)
{
	for (uint32_t i = 0; i < s->in.running_len; i++) {
		job_record_t *job_ptr = s->runners[i].keys ?
			find_job_record(s->runners[i].job_id) : NULL;

		if (!job_ptr)
			continue;
		AUC_ADD(s, stakes, (struct aucsched_stake) {
			.running = i, .order = _slurm_order(job_ptr),
			.answers = s->runners[i].keys,
			.cores = job_ptr->job_resrcs->core_bitmap ?
				bit_set_count(job_ptr->job_resrcs->core_bitmap) : 1,
			.ran = s->in.now - job_ptr->start_time -
				job_ptr->tot_sus_time,
			.cancelled = slurm_job_preempt_mode(job_ptr) ==
				PREEMPT_MODE_CANCEL,
		});
	}
}
