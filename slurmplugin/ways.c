/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Ways in which a job could start: see ways.h.
 *
 * The job's record is changed while another partition or a line of its script is looked at, and is
 * as it was afterwards. Under the locks.
 */
#include <string.h>

#include "asleep.h"
#include "assoc_limits.h"
#include "aucsched.h"
#include "limit_charges.h"
#include "model.h"
#include "request_swap.h"
#include "resources.h"
#include "topology.h"
#include "ways.h"

/* What all looks of a job share. */
typedef struct {
	auc_snapshot_t *s;
	const job_queue_rec_t *record;
	const auc_request_t *own;	/* its first request */
	const auc_claims_t *claims;
	auc_masks_t *masks;
	auc_limit_quotas_t *limits;
	bool may_wake;
	auc_ways_t *found;
} look_t;

/* RET NULL, or why nobody is shown this one */
static const char *_add(look_t *look, const job_queue_rec_t *record,
			const auc_request_t *request, auc_way_t way)
{
	auc_ways_t *found = look->found;
	auc_request_t narrowed = *request;
	bitstr_t *nodes = NULL;
	const char *why = NULL;

	if (found->len == AUC_ALTERNATIVES) {
		found->more = true;
		return NULL;
	}
	auc_use_layout(request, way.layout, &narrowed.job);
	if (!auc_eligible_nodes(look->s, record, &narrowed, way.feature,
				look->claims, &nodes, &why))
		return why ? why : "nodes";
	if (!look->may_wake)
		(void) auc_let_sleep(look->s, &narrowed.job, nodes);
	found->loose |= narrowed.loose;
	way.names_type = auc_names_type(request);
	/* Slurm has not been asked for each layout. */
	found->counted[found->len] = auc_count_limits(
		look->limits, look->s, record->job_ptr, &narrowed, nodes,
		!way.layout);
	found->given[found->len] = auc_as_alternative(&narrowed.job);
	found->given[found->len].mask = auc_add_mask(look->s, look->masks, nodes);
	found->requests[found->len] = narrowed;
	found->ways[found->len++] = way;
	return NULL;
}

/* All ways in one partition but the row's own. */
static void _add_own(look_t *look, const job_queue_rec_t *record,
		     const auc_request_t *request)
{
	bool first = record == look->record;

	for (int f = 0; f < MAX(request->features, 1); f++) {
		for (int i = 0; i <= request->layouts_len; i++) {
			if (!(first && !f && !i) &&
			    _add(look, record, request, (auc_way_t) {
				    .layout = i, .feature = f,
				    .part_ptr = record->part_ptr }))
				look->found->more = true;
		}
	}
}

/* RET NULL, or why the job can't start as its record is now */
static const char *_may_start(const auc_snapshot_t *s,
			      const job_queue_rec_t *record,
			      auc_request_t *request)
{
	job_record_t *job_ptr = record->job_ptr;
	const char *why = auc_model(job_ptr, record->part_ptr, request);

	if (why)
		return why;
	if (job_limits_check(&job_ptr, false) != WAIT_NO_REASON)
		return "limits";
	return auc_limits_allow(s, job_ptr, request) ? NULL : "limits";
}

static void _add_partitions(look_t *look, list_t *queue)
{
	job_record_t *job_ptr = look->record->job_ptr;
	part_record_t *part_ptr = job_ptr->part_ptr;
	job_queue_rec_t *record;
	list_itr_t *iter;

	if (!job_ptr->part_ptr_list || (list_count(job_ptr->part_ptr_list) < 2))
		return;
	iter = list_iterator_create(queue);
	while ((record = list_next(iter))) {
		auc_request_t request;

		if ((record->job_ptr != job_ptr) || record->resv_ptr)
			continue;
		job_ptr->part_ptr = record->part_ptr;
		if (_may_start(look->s, record, &request))
			look->found->more = true;
		else
			_add_own(look, record, &request);
	}
	list_iterator_destroy(iter);
	job_ptr->part_ptr = part_ptr;
}

static void _left_out(job_record_t *job_ptr, auc_memo_t *memo, int number,
		      const char *why)
{
	if (!(memo->unmodelled & (1 << (number - 1))))
		info("aucsched: %pJ: alternative %d is left out: %s", job_ptr,
		     number, why);
	memo->unmodelled |= 1 << (number - 1);
}

/* Only batch scripts have them: the environment of srun and salloc is not ours to set. */
static void _add_lines(look_t *look, auc_memo_t *memo)
{
	job_record_t *job_ptr = look->record->job_ptr;
	auc_alternative_t noted[AUC_ALTERNATIVES];
	int len = job_ptr->batch_flag ?
		auc_alternatives_find_note(job_ptr->admin_comment, noted) : 0;

	for (int i = 0; i < len; i++) {
		auc_request_t request;
		auc_kept_t kept;
		int rc = auc_swap(job_ptr, &noted[i], &kept);
		const char *why = (rc == ESLURM_TOO_MANY_REQUESTED_CPUS) ?
			"limits" : "gres";

		if (!rc) {
			why = _may_start(look->s, look->record, &request);
			if (!why && auc_demands_more(&request.job, &look->own->job))
				why = "switches";
			if (!why)
				why = _add(look, look->record, &request,
					   (auc_way_t) { .number = i + 1,
						.part_ptr = look->record->part_ptr });
			auc_swap_back(job_ptr, &kept);
		}
		if (why)
			_left_out(job_ptr, memo, i + 1, why);
	}
}

extern void auc_look_at_ways(auc_snapshot_t *s, const job_queue_rec_t *record,
			     const auc_request_t *request, list_t *queue,
			     auc_memo_t *memo, bool may_wake,
			     const auc_claims_t *claims, auc_masks_t *masks,
			     auc_limit_quotas_t *limits, auc_ways_t *found)
{
	look_t look = { s, record, request, claims, masks, limits, may_wake,
			found };

	memset(found, 0, sizeof(*found));
	/* What the user has written comes before what would do as well. */
	_add_lines(&look, memo);
	_add_own(&look, record, request);
	_add_partitions(&look, queue);
}
