/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Memory where the library does not count it, as its policy is a paper's (see resources.c), or a job
 * takes all that its nodes have: the mask of a job has the nodes that have enough for it, but not
 * what others that start with it take there. See job_memory.h.
 *
 * Of the winners those that have no room beside the ones before them are put off to the next
 * cycle, which sees what is left. They haven't missed a start, and don't become Slurm's for it.
 *
 * Rows and arrays are the snapshot's, and the agent's thread alone looks at them: no lock.
 */
#include <string.h>

#include "aucsched.h"
#include "job_memory.h"

extern bool auc_consumes_memory(const part_record_t *part_ptr)
{
	return (part_ptr->cr_type ? part_ptr->cr_type :
		slurm_conf.select_type_param) & SELECT_MEMORY;
}

extern uint64_t auc_all_memory(int n)
{
	const node_record_t *node_ptr = node_record_table_ptr[n];

	return node_ptr->real_memory -
		MIN(node_ptr->mem_spec_limit, node_ptr->real_memory);
}

/*
 * What Slurm will take of each of the segment's nodes, MB. What it takes of a node as a whole was
 * free to the last MB: see masks.c.
 * IN all - what was free of the node
 */
static uint64_t _taken(const auc_row_t *row,
		       const struct aucsched_segment *segment, uint64_t all)
{
	uint64_t memory = row->memory & ~MEM_PER_CPU;

	if (row->all_memory)
		return all;
	if (row->memory & MEM_PER_CPU)
		memory *= segment->cores * row->threads;
	/* Slurm looks for the one, and takes the other. */
	return MAX(memory, row->gpu_memory * segment->gpus);
}

static bool _fits(const auc_snapshot_t *s, const auc_row_t *row,
		  const struct aucsched_segment *segments, uint32_t len,
		  const uint64_t *free_memory)
{
	for (uint32_t i = 0; i < len; i++)
		for (uint32_t n = segments[i].first; n <= segments[i].last; n++)
			if (_taken(row, &segments[i], s->free_memory[n]) >
			    free_memory[n])
				return false;
	return true;
}

static void _take(const auc_snapshot_t *s, const auc_row_t *row,
		  const struct aucsched_segment *segments, uint32_t len,
		  uint64_t *free_memory)
{
	for (uint32_t i = 0; i < len; i++)
		for (uint32_t n = segments[i].first; n <= segments[i].last; n++)
			free_memory[n] -= _taken(row, &segments[i],
						 s->free_memory[n]);
}

extern uint32_t auc_put_off(auc_snapshot_t *s,
			    const struct aucsched_output *out)
{
	size_t size = s->in.nodes_len * sizeof(*s->free_memory);
	uint64_t *free_memory = xmalloc(size);
	uint32_t put_off = 0;

	memcpy(free_memory, s->free_memory, size);
	for (uint32_t i = 0; i < s->in.jobs_len; i++) {
		const struct aucsched_decision *decision = &out->decisions[i];
		const struct aucsched_segment *segments =
			out->segments + decision->first_segment;
		auc_row_t *row = &s->rows[i];

		if ((decision->why != AUCSCHED_STARTS) ||
		    !(row->memory || row->gpu_memory || row->all_memory))
			continue;
		row->put_off = !_fits(s, row, segments, decision->segments,
				      free_memory);
		if (row->put_off)
			put_off++;
		else
			_take(s, row, segments, decision->segments,
			      free_memory);
	}
	xfree(free_memory);
	return put_off;
}
