/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Jobs that ask for the same: see alike.h. Job read lock. */
#include <string.h>

#include "alike.h"

static bool _same_cores(const multi_core_data_t *a, const multi_core_data_t *b)
{
	return (a && b) ? !memcmp(a, b, sizeof(*a)) : (a == b);
}

extern bool auc_are_alike(const job_record_t *a, const job_record_t *b)
{
	__typeof__(a->details) of_a = a->details, of_b = b->details;

	return (a->part_ptr == b->part_ptr) &&
		!xstrcmp(a->partition, b->partition) &&
		(a->user_id == b->user_id) && (a->assoc_id == b->assoc_id) && (a->qos_id == b->qos_id) &&
		(of_a->min_cpus == of_b->min_cpus) &&
		(of_a->min_nodes == of_b->min_nodes) &&
		(of_a->max_nodes == of_b->max_nodes) &&
		(of_a->num_tasks == of_b->num_tasks) &&
		(of_a->cpus_per_task == of_b->cpus_per_task) &&
		(of_a->ntasks_per_node == of_b->ntasks_per_node) &&
		(of_a->pn_min_memory == of_b->pn_min_memory) &&
		(of_a->contiguous == of_b->contiguous) &&
		(a->req_switch == b->req_switch) &&
		(auc_segment(a) == auc_segment(b)) &&
		(of_a->whole_node == of_b->whole_node) &&
		!xstrcmp(a->tres_per_node, b->tres_per_node) &&
		!xstrcmp(a->tres_per_job, b->tres_per_job) &&
		!xstrcmp(a->tres_per_task, b->tres_per_task) &&
		!xstrcmp(a->cpus_per_tres, b->cpus_per_tres) &&
		!xstrcmp(a->mem_per_tres, b->mem_per_tres) &&
		!xstrcmp(a->resv_name, b->resv_name) &&
		!xstrcmp(auc_extra(a), auc_extra(b)) &&
		(of_a->pn_min_cpus == of_b->pn_min_cpus) &&
		(of_a->pn_min_tmp_disk == of_b->pn_min_tmp_disk) &&
		!xstrcmp(of_a->req_nodes, of_b->req_nodes) &&
		_same_cores(of_a->mc_ptr, of_b->mc_ptr) &&
		!xstrcmp(of_a->features, of_b->features) &&
		!xstrcmp(of_a->exc_nodes, of_b->exc_nodes);
}
