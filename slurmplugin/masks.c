/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Masks: which nodes a pending job may use, by its partition, features, memory, GPUs, the
 * reservations and the claims before it. See masks.h.
 *
 * Under the locks. Bitmaps are the caller's until auc_add_mask() takes them over.
 */
#include <string.h>

#include "aucsched.h"
#include "cores.h"
#include "features.h"
#include "grow.h"
#include "job_memory.h"
#include "masks.h"
#include "model.h"
#include "nodes.h"
#include "resources.h"
#include "part_rules.h"

/* The nodes that have a feature now. FREE_NULL_BITMAP() */
static bitstr_t *_having(char *name)
{
	node_feature_t *feature = list_find_first(active_feature_list,
						  list_find_feature, name);

	return feature ? bit_copy(feature->node_bitmap) :
		bit_alloc(node_record_count);
}

static void _and_feature(const job_record_t *job_ptr, int i, bitstr_t *nodes)
{
	char *name = auc_feature_of(job_ptr->details->features, i);
	bitstr_t *have = _having(name);

	bit_and(nodes, have);
	FREE_NULL_BITMAP(have);
	xfree(name);
}

static void _and_features(job_record_t *job_ptr, bitstr_t *nodes)
{
	char *names = job_ptr->details->features, *copy, *save = NULL, *name;
	bool any = names && strchr(names, '|');
	bitstr_t *fit;

	if (!names || !names[0])
		return;
	fit = bit_alloc(node_record_count);
	if (!any)
		bit_set_all(fit);
	copy = xstrdup(names);
	for (name = strtok_r(copy, "&|,", &save); name;
	     name = strtok_r(NULL, "&|,", &save)) {
		bitstr_t *have = _having(name);

		if (any)
			bit_or(fit, have);
		else
			bit_and(fit, have);
		FREE_NULL_BITMAP(have);
	}
	xfree(copy);
	bit_and(nodes, fit);
	FREE_NULL_BITMAP(fit);
}

/* Nodes whose memory does not limit the job more than their cores do. */
static bool _memory_fits(const auc_snapshot_t *s,
			 const auc_request_t *request, uint64_t have, int n)
{
	uint64_t memory = request->memory & ~MEM_PER_CPU, cpus;

	if (request->all_memory)
		return have == auc_all_memory(n);
	if (have < request->gpu_memory * request->job.max_gpus)
		return false;
	if (!memory)
		return true;
	if (!(request->memory & MEM_PER_CPU))
		return have >= memory;
	cpus = request->job.cores_per_node ? request->job.cores_per_node :
		MIN(s->nodes[n].free_cores, request->job.cores);
	return have / memory >= cpus * request->threads;
}

/*
 * Nodes with the job's type of GPU. Of those with several types the library counts each; one that
 * it can't count it is shown where there are enough of it.
 * OUT for_now - they will have
 */
static bool _gpus_fit(const auc_snapshot_t *s, auc_request_t *request, int n,
		      bool *for_now)
{
	gres_node_state_t *gpus;

	if (!request->gpu_type || (s->gpu_type[n] == request->gpu_type))
		return true;
	if (s->gpu_type[n] != AUC_GPU_TYPES)
		return false;
	/* Those who ask for no type may be given them in the same cycle. */
	request->loose = true;
	if (auc_counts_gres(s, gres_build_id("gpu"), request->gpu_type))
		return true;
	gpus = auc_node_gpus(node_record_table_ptr[n]);
	request->approximate = *for_now = true;
	return gpus && (auc_free_gres(gpus, request->gpu_type) >=
			request->job.max_gpus);
}

/*
 * Nodes with so much of further gres that the library does not count: as of now.
 * OUT for_now - they will have
 */
static bool _more_gres_fit(const auc_snapshot_t *s, auc_request_t *request,
			   int n, bool *for_now)
{
	for (int i = 0; i < request->more_len; i++) {
		const auc_gres_t *more = &request->more[i];
		gres_node_state_t *gres;

		if (auc_counts_gres(s, more->gres, more->type))
			continue;
		gres = auc_node_gres(node_record_table_ptr[n], more->gres);
		request->approximate = true;
		*for_now = gres;
		if (!gres || (auc_free_gres(gres, more->type) < more->count))
			return false;
	}
	return true;
}

static bool _resources_fit(const auc_snapshot_t *s, auc_request_t *request,
			   bool consumed, int n, bool *for_now)
{
	uint64_t all = auc_all_memory(n);

	if (!_gpus_fit(s, request, n, for_now) ||
	    !_more_gres_fit(s, request, n, for_now))
		return false;
	if (consumed && s->counts_memory && !request->all_memory)
		return true;	/* the library knows */
	if (_memory_fits(s, request, consumed ? s->free_memory[n] : all, n))
		return true;
	/* What is planned may differ. */
	request->approximate = true;
	*for_now = _memory_fits(s, request, all, n);
	return false;
}

static void _and_resources(const auc_snapshot_t *s, auc_request_t *request,
			   const part_record_t *part_ptr, bitstr_t *nodes)
{
	bool consumed = auc_consumes_memory(part_ptr);

	if (!request->memory && !request->gpu_type && !request->gpu_memory &&
	    !request->all_memory && !request->more_len)
		return;
	for (int n = 0; n < node_record_count; n++) {
		bool for_now = false;

		if (!bit_test(nodes, n) ||
		    _resources_fit(s, request, consumed, n, &for_now))
			continue;
		request->narrowed |= for_now;
		bit_clear(nodes, n);
	}
}

/* The partition's nodes that reservations leave to the job. RET as auc_eligible_nodes() */
static bool _unreserved(const auc_snapshot_t *s, const job_queue_rec_t *record,
			bitstr_t **nodes, const char **why)
{
	time_t when = s->in.now;
	bool some_cores = false;
	int rc;

	*nodes = NULL;
	/* Which looks at a job's own reservation too. */
	if (!resv_list || !list_count(resv_list)) {
		*nodes = bit_copy(record->part_ptr->node_bitmap);
		return true;
	}
	rc = auc_test_resv(record->job_ptr, &when, nodes, &some_cores);
	if (some_cores)
		*why = "reservation";
	if (rc || *why) {
		FREE_NULL_BITMAP(*nodes);
		return false;
	}
	bit_and(*nodes, record->part_ptr->node_bitmap);
	return true;
}

/*
 * Takes off the nodes of claims.
 * RET false if it is only for them that there are too few: the job waits for its turn, which
 * the library would take for never
 */
static bool _unclaimed(const auc_snapshot_t *s, const auc_request_t *request,
		       const auc_claims_t *claims, bitstr_t *nodes)
{
	int64_t end = (request->job.time_limit == AUCSCHED_NO_LIMIT) ?
		INT64_MAX : s->in.now + request->job.time_limit;
	int least = request->layouts_len ? 1 : MAX(request->job.min_nodes, 1);
	bool enough = bit_set_count(nodes) >= least;

	auc_claims_exclude(claims, claims->len, end, nodes);
	return !enough || (bit_set_count(nodes) >= least);
}

/* --tmp */
static void _and_tmp_disk(uint32_t disk, bitstr_t *nodes)
{
	for (int n = 0; disk && (n < node_record_count); n++)
		if (bit_test(nodes, n) &&
		    (node_record_table_ptr[n]->config_ptr->tmp_disk < disk))
			bit_clear(nodes, n);
}

/* The fewest idle cores that a socket of the node has. */
static int _least_socket(const node_record_t *node_ptr, bitstr_t *idle)
{
	int least = node_ptr->cores;

	for (int first = 0; first + node_ptr->cores <= node_ptr->tot_cores;
	     first += node_ptr->cores)
		least = MIN(least, bit_set_count_range(idle, first, first +
						       node_ptr->cores));
	return least;
}

/* --ntasks-per-socket */
static void _and_sockets(uint16_t cores, bitstr_t *nodes)
{
	bitstr_t **idle;

	if (!cores)
		return;
	idle = auc_idle_cores(nodes);
	for (int n = 0; n < node_record_count; n++)
		if (bit_test(nodes, n) &&
		    (_least_socket(node_record_table_ptr[n], idle[n]) < cores))
			bit_clear(nodes, n);
	auc_cores_free(idle);
}

/* What the job itself says of single nodes. */
static void _and_asked(job_record_t *job_ptr, const auc_request_t *request,
		       int feature, bitstr_t *nodes)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	if (details->exc_node_bitmap)
		bit_and_not(nodes, details->exc_node_bitmap);
	if (details->req_node_bitmap)
		bit_and(nodes, details->req_node_bitmap);
	if (request->features)
		_and_feature(job_ptr, feature, nodes);
	else
		_and_features(job_ptr, nodes);
	_and_tmp_disk(details->pn_min_tmp_disk, nodes);
}

/* What is noted of nodes may change at any time. */
static void _and_extra(const job_record_t *job_ptr, auc_request_t *request,
		       bitstr_t *nodes)
{
	int before = bit_set_count(nodes);

	auc_and_extra(job_ptr, nodes);
	if (bit_set_count(nodes) < before)
		request->narrowed = request->approximate = true;
}

/* What others have on the nodes for now. */
static void _and_company(const job_queue_rec_t *record, auc_request_t *request,
			 bitstr_t *nodes)
{
	bool owners = auc_may_meet_owners(record->job_ptr, record->part_ptr);
	int before;

	if (!owners && !auc_most_cpus(record->part_ptr) &&
	    !request->socket_cores)
		return;
	before = bit_set_count(nodes);
	if (owners)
		auc_and_owners(record->job_ptr, nodes);
	auc_and_most_cpus(record->part_ptr, request, nodes);
	_and_sockets(request->socket_cores, nodes);
	if (bit_set_count(nodes) < before)
		request->narrowed = request->approximate = true;
}

extern bool auc_eligible_nodes(const auc_snapshot_t *s,
			       const job_queue_rec_t *record,
			       auc_request_t *request, int feature,
			       const auc_claims_t *claims, bitstr_t **nodes,
			       const char **why)
{
	job_record_t *job_ptr = record->job_ptr;

	if (!_unreserved(s, record, nodes, why))
		return false;
	_and_asked(job_ptr, request, feature, *nodes);
	_and_extra(job_ptr, request, *nodes);
	_and_resources(s, request, record->part_ptr, *nodes);
	_and_company(record, request, *nodes);
	if (_unclaimed(s, request, claims, *nodes))
		return true;
	FREE_NULL_BITMAP(*nodes);
	return false;
}

/* Words of a bitmap, one by one: no use is made of how Slurm keeps them. */
static void _to_words(const bitstr_t *nodes, uint64_t *words, uint32_t len)
{
	bitstr_t *from = (bitstr_t *) nodes;
	int last = bit_fls(from);

	memset(words, 0, len * sizeof(*words));
	for (int n = bit_ffs(from); n >= 0 && n <= last; n++)
		if (bit_test(from, n))
			words[n / 64] |= (uint64_t) 1 << (n % 64);
}

extern int32_t auc_add_mask(auc_snapshot_t *s, auc_masks_t *masks,
			    bitstr_t *nodes)
{
	uint32_t words = s->in.mask_words, len = s->in.masks_len;
	bitstr_t **slot;

	for (uint32_t m = len; m > 0 && m + AUC_RECENT_MASKS > len; m--) {
		if (bit_equal(masks->recent[(m - 1) % AUC_RECENT_MASKS], nodes)) {
			FREE_NULL_BITMAP(nodes);
			return m - 1;
		}
	}
	AUC_GROW(s->masks, s->masks_cap, (size_t) (len + 1) * words);
	_to_words(nodes, s->masks + (size_t) len * words, words);
	slot = &masks->recent[len % AUC_RECENT_MASKS];
	FREE_NULL_BITMAP(*slot);
	*slot = nodes;
	return s->in.masks_len++;
}

extern void auc_masks_free(auc_masks_t *masks)
{
	for (int i = 0; i < AUC_RECENT_MASKS; i++)
		FREE_NULL_BITMAP(masks->recent[i]);
}
