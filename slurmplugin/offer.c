/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "start.h"

/* ---- Claims ---- */

extern void auc_claims_add(auc_claims_t *claims, job_record_t *job_ptr)
{
	bitstr_t *nodes = NULL;

	/* Backfill plans no nodes for jobs that the auction may start at once: see select_shim.c. */
	if ((claims->len == AUC_CLAIMS_MAX) || !job_ptr->start_time ||
	    !job_ptr->sched_nodes || !job_ptr->sched_nodes[0])
		return;
	if (auc_names_to_nodes(job_ptr->sched_nodes, &nodes) || !nodes) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	claims->claims[claims->len++] =
		(auc_claim_t) { job_ptr->start_time, nodes };
}

extern void auc_claims_exclude(const auc_claims_t *claims, int len, int64_t end,
			       bitstr_t *nodes)
{
	for (int i = 0; i < len; i++)
		if (claims->claims[i].start < end)
			bit_and_not(nodes, claims->claims[i].nodes);
}

extern void auc_claims_free(auc_claims_t *claims)
{
	for (int i = 0; i < claims->len; i++)
		FREE_NULL_BITMAP(claims->claims[i].nodes);
	claims->len = 0;
}

/*
 * Places that are kept for jobs until others have ended.
 *
 * A hold owns copies of what the start needs of the snapshot and of the decision. They are in
 * memory alone: after a restart of slurmctld the job bids again.
 */

static auc_hold_t *holds;
static uint32_t holds_len;
static size_t holds_cap;

static void *_copy(const void *from, size_t size)
{
	return memcpy(xmalloc(size), from, size);
}

/* The snapshot with its one row. */
static void _copy_row(auc_hold_t *hold, const auc_snapshot_t *s, uint32_t row)
{
	auc_row_t *r = _copy(&s->rows[row], sizeof(*r));

	hold->s.rows = r;
	r->job_id = hold->job_id;
	r->array = false;
	hold->s.in.jobs_len = 1;
	hold->s.in.nodes_len = s->in.nodes_len;
	hold->s.config = s->config;
}

static void _copy_decision(auc_hold_t *hold, const struct aucsched_output *out,
			   uint32_t row)
{
	struct aucsched_decision *decision =
		_copy(&out->decisions[row], sizeof(*decision));
	struct aucsched_segment *segments =
		_copy(&out->segments[decision->first_segment],
		      decision->segments * sizeof(*segments));

	hold->nodes = bit_alloc(node_record_count);
	for (uint32_t i = 0; i < decision->segments; i++)
		bit_nset(hold->nodes, segments[i].first, segments[i].last);
	decision->first_segment = 0;
	decision->first_victim = decision->victims = 0;
	hold->out.decisions = decision;
	hold->out.segments = segments;
	hold->out.decisions_len = 1;
	hold->out.segments_len = decision->segments;
}

extern void auc_hold_add(const auc_snapshot_t *s,
			 const struct aucsched_output *out, uint32_t row,
			 const job_record_t *job_ptr, const uint32_t *victims,
			 uint32_t len, time_t until)
{
	auc_hold_t hold = {
		.job_id = job_ptr->job_id, .until = until,
		.victims = _copy(victims, len * sizeof(*victims)),
		.victims_len = len };

	_copy_row(&hold, s, row);
	_copy_decision(&hold, out, row);
	AUC_APPEND(holds, hold);
}

extern auc_hold_t *auc_holds(uint32_t *len)
{
	*len = holds_len;
	return holds;
}

static void _free(auc_hold_t *hold)
{
	struct aucsched_decision *decisions = (void *) hold->out.decisions;
	struct aucsched_segment *segments = (void *) hold->out.segments;

	xfree(decisions);
	xfree(segments);
	xfree(hold->s.rows);
	xfree(hold->victims);
	FREE_NULL_BITMAP(hold->nodes);
}

extern void auc_hold_drop(uint32_t i)
{
	_free(&holds[i]);
	holds[i] = holds[--holds_len];
}

extern bool auc_holds_any(uint32_t job_id)
{
	for (uint32_t i = 0; i < holds_len; i++)
		if (holds[i].job_id == job_id)
			return true;
	return false;
}

/* Other numbers of nodes are those of another configuration. */
extern void auc_holds_keep(const job_record_t *job_ptr, bitstr_t *nodes)
{
	for (uint32_t i = 0; i < holds_len; i++)
		if ((holds[i].job_id != job_ptr->job_id) &&
		    (bit_size(holds[i].nodes) == bit_size(nodes)))
			bit_and_not(nodes, holds[i].nodes);
}

extern void auc_holds_free(void)
{
	while (holds_len)
		auc_hold_drop(holds_len - 1);
	xfree(holds);
	holds_cap = 0;
}

/*
 * What stock Slurm would allocate to a job now. select_nodes() is asked to start it, with all that it
 * weighs; when the select plug-in has chosen, the shim notes that and says that the nodes are busy, so
 * that nothing is allocated.
 */

extern void auc_test_begin(auc_tested_t *kept, job_record_t *job_ptr)
{
	AUC_TESTED(AUC_KEEP_JOB, AUC_KEEP_DETAIL)
	job_ptr->state_desc = xstrdup(kept->state_desc);
	job_ptr->gres_list_req = kept->gres_list_req ?
		gres_job_state_list_dup(kept->gres_list_req) : NULL;
	job_ptr->gres_list_req_accum = NULL;
}

extern void auc_test_end(const auc_tested_t *kept, job_record_t *job_ptr)
{
	free_job_resources(&job_ptr->job_resrcs);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	xfree(job_ptr->state_desc);
	AUC_TESTED(AUC_BACK_JOB, AUC_BACK_DETAIL)
}

/*
 * Makes one task of an array a job of its own, as build_job_queue() does, so that nothing
 * that is set for the start gets into the record of the others.
 */
extern job_record_t *auc_split(job_record_t *job_ptr)
{
	job_record_t *rest;
	int task;

	if (!job_ptr->array_recs || !job_ptr->array_recs->task_id_bitmap ||
	    (job_ptr->array_task_id != NO_VAL))
		return job_ptr;
	if ((task = bit_ffs(job_ptr->array_recs->task_id_bitmap)) < 0)
		return NULL;
	job_ptr->array_task_id = task;
	if (job_ptr->array_recs->task_cnt <= 1)
		return auc_array_post_sched(job_ptr);
	if (!(rest = auc_array_split(job_ptr))) {
		job_ptr->array_task_id = NO_VAL;
		return NULL;
	}
	auc_set_pending(rest);
	rest->start_time = 0;
	return job_ptr;
}
