/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "model.h"
#include "reason.h"
#include "snapshot.h"
#include "start.h"

/* ---- What running jobs hold of the nodes, and until when: job and node read locks ---- */

/*
 * Adds what a job has on node n, joined to its segment before where that is alike.
 * IN bin - the GPU in shared use that has the job's share; 0: none
 */
static void _add_segment(auc_snapshot_t *s, struct aucsched_running *running,
			 int n, uint16_t cores, uint8_t gpus, uint8_t bin)
{
	struct aucsched_segment *last = !running->segments ? NULL :
		&s->running_segments[s->in.running_segments_len - 1];

	if (last && (last->last + 1 == n) && (last->cores == cores) &&
	    (last->gpus == gpus) && !last->bin && !bin) {
		last->last = n;
		return;
	}
	AUC_ADD(s, running_segments, (struct aucsched_segment) { n, n, cores, gpus, bin });
	running->segments++;
}

/*
 * A job that holds nothing is not told of.
 * IN job_ptr, holding - NULL: it is no job
 */
static void _end_running(auc_snapshot_t *s,
			 const struct aucsched_running *running,
			 const job_record_t *job_ptr,
			 const auc_holding_t *holding)
{
	if (!running->segments)
		return;
	if (job_ptr)
		(void) auc_add_read(s, job_ptr, true);
	AUC_GROW(s->runners, s->runners_cap, s->in.running_len + 1);
	memset(&s->runners[s->in.running_len], 0, sizeof(*s->runners));
	AUC_ADD(s, running, *running);
	if (holding)
		auc_add_running_uses(s, holding);
}

/*
 * Takes what a job holds on node n off it.
 * IN at - the number of the node among the job's
 * IN cores - how many the job was given there
 * IN bin - the GPU of its share, 0: none
 */
static void _take_off(auc_snapshot_t *s, struct aucsched_running *running,
		      const job_record_t *job_ptr, int n, int at, int cores,
		      uint8_t bin)
{
	struct aucsched_node *node = &s->nodes[n];
	uint8_t gpus = auc_held_gpus(job_ptr, n, at);

	/* What is shared, or on its way out, is counted once. */
	cores = MIN(cores, node->free_cores);
	node->free_cores -= cores;
	gpus = MIN(gpus, s->spare_gpus[n]);
	s->spare_gpus[n] -= gpus;
	if (cores)
		_add_segment(s, running, n, cores, gpus, bin);
}

/*
 * Takes what a job holds off its nodes, and remembers until when. Where it holds other amounts of
 * further resources than on the nodes before, it goes on as another running job.
 */
static void _add_job(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	job_resources_t *held = job_ptr->job_resrcs;
	int first = 0, at = 0;
	auc_holding_t here, before = { { 0 } };
	uint32_t others = s->in.running_len;
	struct aucsched_running running = {
		.end = job_ptr->end_time,
		.first_segment = s->in.running_segments_len,
		.whole_leaves = auc_holds_leaves(job_ptr),
	};

	if (running.end <= s->in.now)
		running.end = s->in.now + 1;
	AUC_EACH_BIT(n, held->node_bitmap) {
		int cores = node_record_table_ptr[n]->tot_cores;
		int taken = bit_set_count_range(held->core_bitmap, first,
						first + cores);
		auc_share_t share;

		auc_take_holding(s, job_ptr, n, at, taken, &here);
		if (auc_gave_cores(job_ptr))
			taken = 0;
		share = auc_take_share(s, job_ptr, n, at);
		if (memcmp(&here, &before, sizeof(here)) ||
		    (share.share != running.share)) {
			_end_running(s, &running, job_ptr, &before);
			running.share = share.share;
			running.first_segment = s->in.running_segments_len;
			running.segments = 0;
			before = here;
		}
		_take_off(s, &running, job_ptr, n, at, taken, share.bin);
		first += cores;
		at++;
	}
	_end_running(s, &running, job_ptr, &before);
	/* In several parts it can't be preempted: the others would go on. */
	if (s->in.running_len == others + 1)
		s->runners[others].job_id = job_ptr->job_id;
}

/* One node of a place that is kept, as if its job ran there. */
static void _add_kept(auc_snapshot_t *s, const auc_hold_t *hold,
		      const auc_request_t *request,
		      const part_record_t *part_ptr, uint32_t n,
		      const struct aucsched_segment *segment)
{
	struct aucsched_node *node = &s->nodes[n];
	auc_holding_t holding;
	struct aucsched_running running = {
		.end = s->in.now + hold->s.rows[0].ways[0].job.time_limit,
		.first_segment = s->in.running_segments_len,
	};
	int cores = MIN(segment->cores, node->free_cores);
	int gpus = MIN(segment->gpus, s->spare_gpus[n]);

	node->free_cores -= cores;
	s->spare_gpus[n] -= gpus;
	auc_take_promise(s, request, part_ptr, segment, n, &holding);
	if (cores)
		_add_segment(s, &running, n, cores, gpus, 0);
	_end_running(s, &running, NULL, &holding);
}

/*
 * Places that are kept are as taken. They come first: what is left of a node to those who are on their
 * way out is what is theirs alone.
 */
static void _add_holds(auc_snapshot_t *s)
{
	uint32_t len;
	const auc_hold_t *holds = auc_holds(&len);

	for (uint32_t i = 0; i < len; i++) {
		job_record_t *job_ptr = find_job_record(holds[i].job_id);
		part_record_t *part_ptr;
		auc_request_t request;

		if (!job_ptr || !(part_ptr = job_ptr->part_ptr) ||
		    auc_model(job_ptr, part_ptr, &request))
			continue;
		AUC_EACH_PLACE(n, segment, &holds[i].out, holds[i].out.decisions)
			if (n < s->in.nodes_len)
				_add_kept(s, &holds[i], &request, part_ptr, n,
					  segment);
	}
}

/*
 * Nodes that take no job for the moment are as if somebody had all that is free there for
 * another second: a job that needs them waits, which is not the same as that it
 * can never run.
 */
static void _add_busy(auc_snapshot_t *s)
{
	struct aucsched_running busy = {
		.end = s->in.now + 1,
		.first_segment = s->in.running_segments_len,
	};

	for (int n = 0; n < node_record_count; n++) {
		struct aucsched_node *node = &s->nodes[n];

		node->free_gpus = MIN(node->free_gpus, s->spare_gpus[n]);
		if (!node->up || auc_takes_jobs(n) || !node->free_cores)
			continue;
		_add_segment(s, &busy, n, node->free_cores, node->free_gpus, 0);
		node->free_cores = node->free_gpus = 0;
	}
	_end_running(s, &busy, NULL, NULL);
}

/* Takes what running jobs hold off the nodes, which must be there. */
static void _add_running(auc_snapshot_t *s)
{
	job_record_t *job_ptr;
	bool leave = false;	/* some are on their way out: they come last */

	_add_holds(s);
	for (int last = 0; last <= leave; last++)
		AUC_EACH(job_ptr, job_list)
			if (auc_holds_nodes(job_ptr)) {
				leave |= job_ptr->preempt_time != 0;
				if ((job_ptr->preempt_time != 0) == last)
					_add_job(s, job_ptr);
			}
	_add_busy(s);
}

/* ---- The snapshot: under the locks, except for auc_snapshot_free() ---- */

static void _clear(auc_snapshot_t *s, uint32_t cycle)
{
	memset(&s->in, 0, sizeof(s->in));
	s->in.abi = AUCSCHED_ABI;
	s->in.size = sizeof(s->in);
	s->in.now = time(NULL);
	s->in.seed = cycle;
	s->config = slurm_conf.last_update;
	s->queue = s->beyond = s->left_jobs = s->left_longest_s = 0;
	s->left_len = 0;
	s->held_len = 0;
}

/* The arrays have moved as they grew. */
static void _point_to_arrays(auc_snapshot_t *s)
{
#define POINT(type, name) s->in.name = s->name;
	AUC_SHOWN_ARRAYS(POINT)
}

/* Something else has the job wait: Slurm's reason says it. */
static void _drop_verdict(uint32_t job_id)
{
	job_record_t *job_ptr = find_job_record(job_id);

	if (job_ptr && IS_JOB_PENDING(job_ptr))
		auc_verdict_drop(job_ptr);
}

extern void auc_snapshot_take(auc_snapshot_t *s, const auc_settings_t *settings,
			      auc_library_t *library, uint32_t cycle)
{
	_clear(s, cycle);
	s->library = library;
	auc_model_refresh(library);
	auc_shares_refresh();
	auc_requests_restore();
	auc_add_nodes(s);
	auc_add_shares(s);
	auc_add_preferences(s);
	auc_tell_topology(library);
	auc_add_stores(s, settings);
	auc_add_resources(s);
	_add_running(s);
	auc_rights_begin(s, settings->preempt);
	auc_add_queue(s, settings, cycle);
	auc_rights_end(s);
	auc_memo_sweep(cycle, _drop_verdict);
	_point_to_arrays(s);
}

extern void auc_snapshot_free(auc_snapshot_t *s)
{
	auc_claims_free(&s->claims);
	auc_claims_free(&s->first);
#define FREE(type, name) xfree(s->name);
	AUC_SHOWN_ARRAYS(FREE)
	AUC_OWN_ARRAYS(FREE)
	memset(s, 0, sizeof(*s));
}
