/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Memory where the library does not count it, as its policy is a paper's (see resources.c): the
 * mask of a job has the nodes that have enough for it, but not what others that start with it take
 * there. See job_memory.h.
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
		slurm_conf.select_type_param) & CR_MEMORY;
}

/* What Slurm will take of each of the segment's nodes, MB. */
static uint64_t _taken(const auc_row_t *row,
		       const struct aucsched_segment *segment)
{
	if (!(row->memory & MEM_PER_CPU))
		return row->memory;
	return (row->memory & ~MEM_PER_CPU) * segment->cores * row->threads;
}

static bool _fits(const auc_row_t *row,
		  const struct aucsched_segment *segments, uint32_t len,
		  const uint64_t *free_memory)
{
	for (uint32_t i = 0; i < len; i++)
		for (uint32_t n = segments[i].first; n <= segments[i].last; n++)
			if (_taken(row, &segments[i]) > free_memory[n])
				return false;
	return true;
}

static void _take(const auc_row_t *row, const struct aucsched_segment *segments,
		  uint32_t len, uint64_t *free_memory)
{
	for (uint32_t i = 0; i < len; i++)
		for (uint32_t n = segments[i].first; n <= segments[i].last; n++)
			free_memory[n] -= _taken(row, &segments[i]);
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

		if ((decision->why != AUCSCHED_STARTS) || !row->memory)
			continue;
		row->put_off = !_fits(row, segments, decision->segments,
				      free_memory);
		if (row->put_off)
			put_off++;
		else
			_take(row, segments, decision->segments, free_memory);
	}
	xfree(free_memory);
	return put_off;
}
