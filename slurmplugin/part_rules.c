/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who may be on which nodes, by partitions' rules: see part_rules.h.
 *
 * Bitmaps are the caller's.
 */
#include <string.h>

#include "cores.h"
#include "part_rules.h"

static uint64_t _default_in(list_t *defaults, uint16_t type)
{
	job_defaults_t *found;
	list_itr_t *iter;
	uint64_t value = 0;

	if (!defaults)
		return 0;
	iter = list_iterator_create(defaults);
	while ((found = list_next(iter)))
		if (found->type == type)
			value = found->value;
	list_iterator_destroy(iter);
	return value;
}

extern uint64_t auc_default_per_gpu(const part_record_t *part_ptr, uint16_t type)
{
	uint64_t value = _default_in(part_ptr->job_defaults_list, type);

	return value ? value : _default_in(slurm_conf.job_defaults_list, type);
}

static bool _is_limit(uint32_t most)
{
	return (most != INFINITE) && (most != NO_VAL);
}

/* The fewest sockets that a node of the partition has. */
static uint32_t _least_sockets(const part_record_t *part_ptr)
{
	uint32_t least = UINT16_MAX;

	for (int n = 0; part_ptr->node_bitmap && (n < node_record_count); n++)
		if (node_record_table_ptr[n] &&
		    bit_test(part_ptr->node_bitmap, n))
			least = MIN(least,
				    node_record_table_ptr[n]->tot_sockets);
	return MAX(least, 1);
}

extern uint32_t auc_most_cpus(const part_record_t *part_ptr)
{
	uint32_t most = part_ptr->max_cpus_per_node;
	uint32_t of_socket = auc_most_of_socket(part_ptr);

	if (!_is_limit(most))
		most = 0;
	if (_is_limit(of_socket)) {
		uint64_t cpus = (uint64_t) of_socket * _least_sockets(part_ptr);

		most = most ? MIN(most, cpus) : MIN(cpus, INT32_MAX);
	}
	return most;
}

extern bool auc_wants_own_nodes(const job_record_t *job_ptr,
				const part_record_t *part_ptr)
{
	return (job_ptr->details->whole_node == WHOLE_NODE_USER) ||
		(part_ptr->flags & PART_FLAG_EXCLUSIVE_USER);
}

/* Whether some node is a user's own, as the cycle began. Job write lock. */
static enum { UNKNOWN, NONE, SOME } owners;

static bool _has_owners(void)
{
	for (int n = 0; (owners == UNKNOWN) && (n < node_record_count); n++)
		if (node_record_table_ptr[n] &&
		    (node_record_table_ptr[n]->owner != NO_VAL))
			owners = SOME;
	if (owners == UNKNOWN)
		owners = NONE;
	return owners == SOME;
}

extern bool auc_may_meet_owners(const job_record_t *job_ptr,
				const part_record_t *part_ptr)
{
	return auc_wants_own_nodes(job_ptr, part_ptr) || _has_owners();
}

extern void auc_and_owners(job_record_t *job_ptr, bitstr_t *nodes)
{
	filter_by_node_owner(job_ptr, nodes);
}

/* CPUs of each node that jobs of the partition hold. */
static void _hold_cpus(const part_record_t *part_ptr, uint32_t *cpus)
{
	job_record_t *job_ptr;
	list_itr_t *iter = list_iterator_create(job_list);

	while ((job_ptr = list_next(iter))) {
		const job_resources_t *held = job_ptr->job_resrcs;
		int first = 0, last;

		if ((job_ptr->part_ptr != part_ptr) || !auc_holds_nodes(job_ptr))
			continue;
		last = bit_fls(held->node_bitmap);
		for (int n = bit_ffs(held->node_bitmap); n >= 0 && n <= last; n++) {
			const node_record_t *node_ptr = node_record_table_ptr[n];

			if (!bit_test(held->node_bitmap, n))
				continue;
			cpus[n] += bit_set_count_range(held->core_bitmap, first,
						       first + node_ptr->tot_cores) *
				node_ptr->tpc;
			first += node_ptr->tot_cores;
		}
	}
	list_iterator_destroy(iter);
}

/* The same, of the partition that was looked at last in this cycle. Job write lock. */
static struct {
	const part_record_t *part_ptr;
	uint32_t *cpus;		/* [node]; owned */
} held;

static void _forget_held(void)
{
	held.part_ptr = NULL;
	xfree(held.cpus);
}

static const uint32_t *_held_cpus(const part_record_t *part_ptr)
{
	if (held.part_ptr == part_ptr)
		return held.cpus;
	_forget_held();
	held.cpus = xcalloc(node_record_count + 1, sizeof(*held.cpus));
	held.part_ptr = part_ptr;
	_hold_cpus(part_ptr, held.cpus);
	return held.cpus;
}

extern void auc_part_rules_refresh(void)
{
	_forget_held();
	owners = UNKNOWN;
}

extern void auc_and_most_cpus(const part_record_t *part_ptr,
			      const auc_request_t *request, bitstr_t *nodes)
{
	uint32_t most = auc_most_cpus(part_ptr);
	const uint32_t *cpus;
	const struct aucsched_job *job = &request->job;
	uint64_t want = job->cores_per_node ? job->cores_per_node : job->cores;

	if (!most)
		return;
	cpus = _held_cpus(part_ptr);
	for (int n = 0; n < node_record_count; n++)
		if (bit_test(nodes, n) &&
		    (cpus[n] + want * request->threads > most))
			bit_clear(nodes, n);
}

static int _is_same(void *x, void *key)
{
	return x == key;
}

extern bool auc_has_partition(const job_record_t *job_ptr,
			      const part_record_t *part_ptr)
{
	return (job_ptr->part_ptr == part_ptr) ||
		(job_ptr->part_ptr_list &&
		 list_find_first(job_ptr->part_ptr_list, _is_same,
				 (void *) part_ptr));
}
