/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "model.h"

/*
 * Where nodes stand. Slurm says of a node "top.middle.leaf.node", in all versions and with each
 * topology plug-in, which the library reads; the switches' own records are the plug-ins' and differ.
 */

/* Changed by the agent's thread under the locks. */
static struct {
	time_t config;		/* slurm.conf's, of what follows */
	int nodes;
	bool blocks;		/* it is topology/block */
} known;

static void _tell(auc_library_t *library)
{
	char *places = NULL, *end = NULL, *sizes = auc_topology_text();
	int rc;

	for (int n = 0; n < node_record_count; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		char *addr = NULL, *pattern = NULL;

		if (node_ptr && node_ptr->name)
			(void) auc_node_addr(node_ptr->name, &addr, &pattern);
		xstrfmtcatat(places, &end, "%s %s %s\n",
			     (node_ptr && node_ptr->name) ? node_ptr->name : "",
			     addr ? addr : "", pattern ? pattern : "");
		xfree(addr);
		xfree(pattern);
	}
	memset(&known, 0, sizeof(known));
	rc = auc_library_topology(library, places, node_record_count, sizes);
	if (rc >= 0) {
		known.config = slurm_conf.last_update;
		known.nodes = node_record_count;
		known.blocks = rc;
	}
	xfree(places);
	xfree(sizes);
}

extern void auc_tell_topology(auc_library_t *library)
{
	if ((known.config != slurm_conf.last_update) ||
	    (known.nodes != node_record_count))
		_tell(library);
}

extern bool auc_holds_leaves(const job_record_t *job_ptr)
{
	return known.blocks && job_ptr->details &&
		auc_has_own_blocks(job_ptr, job_ptr->part_ptr);
}

extern void auc_topology_free(void)
{
	memset(&known, 0, sizeof(known));
}

/* ---- Cores ---- */

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

extern void auc_cores_mark(const job_resources_t *held, bitstr_t **nodes,
			   bool set)
{
	int first = 0;

	AUC_EACH_BIT(n, held->node_bitmap) {
		int cores = node_record_table_ptr[n]->tot_cores;

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

extern bitstr_t **auc_idle_cores(const bitstr_t *want)
{
	bitstr_t **idle = xcalloc(node_record_count, sizeof(*idle));
	job_record_t *job_ptr;

	AUC_EACH_BIT(n, want)
		if (node_record_table_ptr[n])
			idle[n] = _usable_cores(node_record_table_ptr[n]);
	AUC_EACH(job_ptr, job_list)
		if (auc_holds_nodes(job_ptr) && !auc_gave_cores(job_ptr) &&
		    bit_overlap_any(job_ptr->job_resrcs->node_bitmap,
				    (bitstr_t *) want))
			auc_cores_mark(job_ptr->job_resrcs, idle, false);
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

/* ---- Who may be on which nodes, by partitions' rules ---- */

extern bool auc_wants_own_nodes(const job_record_t *job_ptr,
				const part_record_t *part_ptr)
{
	return (job_ptr->details->whole_node == WHOLE_NODE_USER) ||
		(part_ptr->flags & PART_FLAG_EXCLUSIVE_USER);
}

/* Whether some node is a user's own, as the cycle began. Job write lock. */
static bool has_owners;

extern bool auc_may_meet_owners(const job_record_t *job_ptr,
				const part_record_t *part_ptr)
{
	return auc_wants_own_nodes(job_ptr, part_ptr) || has_owners;
}

extern void auc_part_rules_refresh(void)
{
	has_owners = false;
	for (int n = 0; n < node_record_count; n++)
		has_owners |= node_record_table_ptr[n] &&
			(node_record_table_ptr[n]->owner != NO_VAL);
}

extern bool auc_has_partition(const job_record_t *job_ptr,
			      const part_record_t *part_ptr)
{
	return (job_ptr->part_ptr == part_ptr) ||
		(job_ptr->part_ptr_list &&
		 list_find_first(job_ptr->part_ptr_list, auc_is_same,
				 (void *) part_ptr));
}
