/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The cluster as flat arrays: takes the snapshot, and owns its memory. See snapshot.h.
 *
 * Under the locks, but for auc_snapshot_free().
 */
#include <string.h>

#include "asleep.h"
#include "files.h"
#include "gpu_shares.h"
#include "memo.h"
#include "model.h"
#include "nodes.h"
#include "preempt_rights.h"
#include "queue.h"
#include "request_swap.h"
#include "resources.h"
#include "running.h"
#include "shared_gpus.h"
#include "snapshot.h"
#include "tiers.h"
#include "topology.h"
#include "verdict.h"

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
	s->in.nodes = s->nodes;
	s->in.running = s->running;
	s->in.running_segments = s->segments;
	s->in.jobs = s->jobs;
	s->in.masks = s->masks;
	s->in.offers = s->offers;
	s->in.offer_segments = s->offer_segments;
	s->in.alternatives = s->alternatives;
	s->in.stores = s->stores;
	s->in.job_reads = s->job_reads;
	s->in.running_reads = s->running_reads;
	s->in.amounts = s->amounts;
	s->in.job_uses = s->job_uses;
	s->in.alternative_uses = s->alternative_uses;
	s->in.running_uses = s->running_uses;
	s->in.quotas = s->quotas;
	s->in.job_charges = s->job_charges;
	s->in.alternative_charges = s->alternative_charges;
	s->in.share_sizes = s->share_sizes;
	s->in.shared_gpus = s->shared_gpus;
}

/* Something else has the job wait: Slurm's reason says it. */
static void _drop_verdict(uint32_t job_id)
{
	job_record_t *job_ptr = find_job_record(job_id);

	if (job_ptr && IS_JOB_PENDING(job_ptr))
		auc_verdict_drop(job_ptr);
}

extern void auc_snapshot_take(auc_snapshot_t *s, const auc_settings_t *settings,
			      auc_select_hooks_t *hooks, uint32_t cycle)
{
	_clear(s, cycle);
	auc_model_refresh();
	auc_shares_refresh(settings);
	auc_requests_restore();
	auc_add_nodes(s);
	auc_add_shares(s);
	auc_add_tiers(s);
	auc_add_topology(s);
	auc_add_asleep(s);
	auc_add_stores(s, settings);
	auc_begin_resources(s, settings);
	auc_add_running(s);
	auc_end_resources(s);
	auc_add_loads(s);
	auc_rights_begin(s, settings->preempt && settings->counts);
	auc_add_queue(s, settings, hooks, cycle);
	auc_rights_end(s);
	auc_memo_sweep(cycle, _drop_verdict);
	_point_to_arrays(s);
}

extern void auc_snapshot_free(auc_snapshot_t *s)
{
	auc_claims_free(&s->claims);
	auc_claims_free(&s->first);
	xfree(s->nodes);
	xfree(s->running);
	xfree(s->segments);
	xfree(s->jobs);
	xfree(s->masks);
	xfree(s->rows);
	xfree(s->runners);
	xfree(s->offers);
	xfree(s->offer_segments);
	xfree(s->alternatives);
	xfree(s->stores);
	xfree(s->job_reads);
	xfree(s->running_reads);
	xfree(s->amounts);
	xfree(s->unheld);
	xfree(s->job_uses);
	xfree(s->alternative_uses);
	xfree(s->running_uses);
	xfree(s->quotas);
	xfree(s->job_charges);
	xfree(s->alternative_charges);
	xfree(s->free_memory);
	xfree(s->gpu_type);
	xfree(s->spare_gpus);
	xfree(s->share_sizes);
	xfree(s->shared_gpus);
	xfree(s->first_shared);
	xfree(s->unheld_shares);
	xfree(s->devices);
	FREE_NULL_BITMAP(s->asleep);
	xfree(s->held);
	memset(s, 0, sizeof(*s));
}
