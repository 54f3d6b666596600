/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Places that are kept for jobs until others have ended: see holds.h.
 *
 * A hold owns copies of what the start needs of the snapshot and of the decision. They are in
 * memory alone: after a restart of slurmctld the job bids anew.
 */
#include <string.h>

#include "grow.h"
#include "holds.h"

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
	hold->s.jobs = _copy(&s->jobs[row], sizeof(*s->jobs));
	if (r->alternatives)
		hold->s.alternatives = _copy(
			&s->alternatives[r->first_alternative],
			r->alternatives * sizeof(*s->alternatives));
	r->first_alternative = 0;
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
	auc_hold_t *hold;

	AUC_GROW(holds, holds_cap, holds_len + 1);
	hold = &holds[holds_len++];
	memset(hold, 0, sizeof(*hold));
	hold->job_id = job_ptr->job_id;
	hold->until = until;
	hold->victims = _copy(victims, len * sizeof(*victims));
	hold->victims_len = len;
	_copy_row(hold, s, row);
	_copy_decision(hold, out, row);
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
	xfree(hold->s.jobs);
	xfree(hold->s.alternatives);
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
