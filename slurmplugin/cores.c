/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The cores that jobs hold of nodes, and the idle ones, as bitmaps: see cores.h.
 *
 * Job and node read locks.
 */
#include "cores.h"

extern bool auc_holds_nodes(const job_record_t *job_ptr)
{
	const job_resources_t *held = job_ptr->job_resrcs;

	return held && held->core_bitmap && held->node_bitmap &&
		(IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) &&
		!IS_JOB_COMPLETING(job_ptr);
}

extern bool auc_gave_cores(const job_record_t *job_ptr)
{
	return IS_JOB_SUSPENDED(job_ptr) && !job_ptr->priority;
}

/* All cores of a node that jobs may have at all. */
static bitstr_t *_usable_cores(const node_record_t *node_ptr)
{
	bitstr_t *cores = bit_alloc(node_ptr->tot_cores);

	bit_set_all(cores);
	if (node_ptr->node_spec_bitmap &&
	    (bit_size(node_ptr->node_spec_bitmap) == bit_size(cores)))
		bit_and(cores, node_ptr->node_spec_bitmap);
	return cores;
}

/* Sets or clears the cores that a job holds, on nodes of which there are bitmaps. */
static void _mark(const job_resources_t *held, bitstr_t **nodes, bool set)
{
	int first = 0, last = bit_fls(held->node_bitmap);

	for (int n = bit_ffs(held->node_bitmap); n >= 0 && n <= last; n++) {
		int cores;

		if (!bit_test(held->node_bitmap, n))
			continue;
		cores = node_record_table_ptr[n]->tot_cores;
		for (int c = 0; nodes[n] && (c < cores); c++) {
			if (!bit_test(held->core_bitmap, first + c))
				continue;
			if (set)
				bit_set(nodes[n], c);
			else
				bit_clear(nodes[n], c);
		}
		first += cores;
	}
}

extern void auc_cores_take(const job_resources_t *held, bitstr_t **idle)
{
	_mark(held, idle, false);
}

extern void auc_cores_add(const job_resources_t *held, bitstr_t **nodes)
{
	_mark(held, nodes, true);
}

extern bitstr_t **auc_idle_cores(const bitstr_t *want)
{
	bitstr_t **idle = xcalloc(node_record_count, sizeof(*idle));
	job_record_t *job_ptr;
	list_itr_t *iter;

	for (int n = 0; n < node_record_count; n++)
		if (node_record_table_ptr[n] && bit_test((bitstr_t *) want, n))
			idle[n] = _usable_cores(node_record_table_ptr[n]);
	iter = list_iterator_create(job_list);
	while ((job_ptr = list_next(iter)))
		if (auc_holds_nodes(job_ptr) && !auc_gave_cores(job_ptr) &&
		    bit_overlap_any(job_ptr->job_resrcs->node_bitmap,
				    (bitstr_t *) want))
			auc_cores_take(job_ptr->job_resrcs, idle);
	list_iterator_destroy(iter);
	return idle;
}

extern void auc_cores_free(bitstr_t **cores)
{
	if (!cores)
		return;
	for (int n = 0; n < node_record_count; n++)
		FREE_NULL_BITMAP(cores[n]);
	xfree(cores);
}
