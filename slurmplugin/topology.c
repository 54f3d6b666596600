/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where nodes stand: see topology.h. Slurm says of a node "top.middle.leaf.node", in all versions
 * and with each topology plug-in; the switches' own records are the plug-ins' and differ.
 */
#include <string.h>

#include "blocks.h"
#include "compat.h"
#include "grow.h"
#include "topology.h"

/* The agent's thread alone. */
static struct {
	time_t config;		/* slurm.conf's, of what follows */
	int nodes;
	struct aucsched_switch *switches;
	char **names;		/* [switch], from the root on: xfree() */
	uint32_t len, roots;
	size_t switches_cap, names_cap, leaves_cap;
	uint32_t *leaves;	/* [node] */
	uint32_t *sizes;	/* [switch], nodes right below it */
	uint32_t largest;	/* of these */
	bool blocks;		/* topology/block */
	bool other;		/* neither switches nor blocks: a ring, a torus */
	bool outside;		/* some nodes are of no block */
	auc_blocks_t joined;	/* how; nothing if Slurm does not tell */
} known;

static void _forget(void)
{
	for (uint32_t i = 0; i < known.len; i++)
		xfree(known.names[i]);
	known.len = known.roots = known.largest = 0;
	known.blocks = known.other = known.outside = false;
	xfree(known.sizes);
	auc_blocks_free(&known.joined);
}

/* The switch of a name from the root on. */
static uint32_t _switch_of(const char *name, uint32_t parent)
{
	for (uint32_t i = known.len; i > 0; i--)
		if (!xstrcmp(known.names[i - 1], name))
			return i - 1;
	AUC_GROW(known.switches, known.switches_cap, known.len + 1);
	AUC_GROW(known.names, known.names_cap, known.len + 1);
	known.switches[known.len] = (struct aucsched_switch) {
		.parent = parent };
	known.names[known.len] = xstrdup(name);
	known.roots += parent == AUCSCHED_NO_SWITCH;
	return known.len++;
}

/* The leaf of an address; a level where the node has no switch is empty in it. */
static uint32_t _leaf_of(char *addr, const char *node_name)
{
	size_t len = strlen(addr), own = strlen(node_name);
	uint32_t leaf = AUCSCHED_NO_SWITCH;
	char *dot = addr;

	if ((len <= own) || strcmp(addr + len - own, node_name))
		return leaf;
	addr[len - own] = '\0';
	while ((dot = strchr(dot, '.'))) {
		bool empty = (dot == addr) || (dot[-1] == '.');

		*dot = '\0';
		if (!empty)
			leaf = _switch_of(addr, leaf);
		*dot++ = '.';
	}
	return leaf;
}

static void _read_node(int n)
{
	const node_record_t *node_ptr = node_record_table_ptr[n];
	char *addr = NULL, *pattern = NULL;

	known.leaves[n] = AUCSCHED_NO_SWITCH;
	if (node_ptr && node_ptr->name &&
	    !auc_node_addr(node_ptr->name, &addr, &pattern) && addr) {
		known.leaves[n] = _leaf_of(addr, node_ptr->name);
		if (pattern && !xstrncmp(pattern, "block.", 6))
			known.blocks = true;
		else if (pattern && xstrncmp(pattern, "switch.", 7) &&
			 xstrcmp(pattern, "node"))
			known.other = true;
	}
	xfree(addr);
	xfree(pattern);
}

/* What is above a block: what is joined of it and its neighbours, the largest first. */
static uint32_t _joined_above(const char *block, uint32_t root)
{
	uint32_t above = root, index = auc_block_of(&known.joined, block);

	for (int level = 31; level > 0; level--) {
		char *name;

		if (!(known.joined.levels & (1u << level)) ||
		    (((uint64_t) 1 << level) >= known.joined.count))
			continue;	/* there is none, or it is the root */
		name = xstrdup_printf(" %d.%u", level, index >> level);
		above = _switch_of(name, above);
		xfree(name);
	}
	return above;
}

/* Blocks are below what is joined of them, and all of these below one root. */
static void _join_blocks(void)
{
	uint32_t blocks = known.len, root;
	char *text = auc_topology_text();

	auc_blocks_read(&known.joined, text);
	xfree(text);
	root = _switch_of("", AUCSCHED_NO_SWITCH);
	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t above = _joined_above(known.names[i], root);

		known.switches[i].parent = above;
	}
	known.roots = 1;
}

static void _read(void)
{
	_forget();
	AUC_GROW(known.leaves, known.leaves_cap, (size_t) node_record_count);
	for (int n = 0; n < node_record_count; n++)
		_read_node(n);
	if (known.blocks)
		_join_blocks();
	known.sizes = xcalloc(known.len + 1, sizeof(*known.sizes));
	for (int n = 0; n < node_record_count; n++)
		if (known.leaves[n] != AUCSCHED_NO_SWITCH)
			known.sizes[known.leaves[n]]++;
		else
			known.outside = true;
	for (uint32_t i = 0; i < known.len; i++)
		known.largest = MAX(known.largest, known.sizes[i]);
	known.config = slurm_conf.last_update;
	known.nodes = node_record_count;
}

extern void auc_add_topology(auc_snapshot_t *s)
{
	if ((known.config != slurm_conf.last_update) ||
	    (known.nodes != node_record_count))
		_read();
	if (!known.len || known.other)
		return;
	s->in.switches = known.switches;
	s->in.switches_len = known.len;
	s->in.leaves = known.leaves;
	s->in.leaves_len = node_record_count;
}

/* Since when the job waits for few switches. */
static time_t _waits_since(const job_record_t *job_ptr)
{
	if (job_ptr->wait4switch_start)
		return job_ptr->wait4switch_start;
	return MAX(job_ptr->details->begin_time,
		   job_ptr->details->submit_time);
}

/* What topology/block holds jobs to. It goes by the fewest nodes that a job would take. */
static const char *_model_blocks(const job_record_t *job_ptr,
				 const part_record_t *part_ptr,
				 struct aucsched_job *job)
{
	uint32_t nodes = MAX(job_ptr->details->min_nodes, 1);
	uint32_t segment = auc_segment(job_ptr);
	const char *why;

	if (auc_has_own_blocks(job_ptr, part_ptr))
		return "exclusive";
	if (auc_arranges_segments(job_ptr))
		return "segment";
	if (segment && (segment != nodes) &&
	    (!known.joined.count || job_ptr->details->req_node_bitmap))
		return "segment";	/* Slurm takes no nodes that are named for it */
	if (known.joined.count) {
		why = auc_block_demand(&known.joined, nodes, segment, job);
		if (known.outside && !job->within)
			job->within = AUCSCHED_ROOT;
		return why;
	}
	if (nodes > known.largest)
		return "blocks";	/* of sizes that Slurm does not tell */
	job->within = 1;
	return NULL;
}

extern const char *auc_model_switches(const job_record_t *job_ptr,
				      const part_record_t *part_ptr,
				      struct aucsched_job *job)
{
	if (known.other || auc_has_other_topology(part_ptr))
		return "topology";
	if (!known.len)
		return NULL;
	if (known.blocks)
		return _model_blocks(job_ptr, part_ptr, job);
	if (job_ptr->details->contiguous)
		return NULL;	/* Slurm looks at no switches then */
	if (known.roots > 1)
		job->within = AUCSCHED_ROOT;
	if (job_ptr->req_switch &&
	    (time(NULL) - _waits_since(job_ptr) < job_ptr->wait4switch))
		job->switches = job_ptr->req_switch;
	return NULL;
}

extern bitstr_t *auc_own_blocks(const job_record_t *job_ptr)
{
	bitstr_t *held = job_ptr->job_resrcs->node_bitmap, *nodes;
	bool *own;

	if (!known.blocks || !job_ptr->details ||
	    !auc_has_own_blocks(job_ptr, job_ptr->part_ptr))
		return NULL;
	nodes = bit_copy(held);
	own = xcalloc(known.len, sizeof(*own));
	for (int n = 0; n < known.nodes; n++)
		if ((known.leaves[n] != AUCSCHED_NO_SWITCH) && bit_test(held, n))
			own[known.leaves[n]] = true;
	for (int n = 0; n < known.nodes; n++)
		if ((known.leaves[n] != AUCSCHED_NO_SWITCH) &&
		    own[known.leaves[n]])
			bit_set(nodes, n);
	xfree(own);
	return nodes;
}

/* Of numbers that 0 stands for any of, the smaller demands more. */
static bool _is_less(uint32_t a, uint32_t b)
{
	return a && (!b || (a < b));
}

extern bool auc_demands_more(const struct aucsched_job *job,
			     const struct aucsched_job *than)
{
	return _is_less(job->switches, than->switches) ||
		_is_less(job->within, than->within) ||
		(job->segment && (job->segment != than->segment));
}

extern void auc_note_switch_wait(job_record_t *job_ptr)
{
	if (job_ptr->req_switch && !job_ptr->wait4switch_start)
		job_ptr->wait4switch_start = _waits_since(job_ptr);
}

extern void auc_topology_free(void)
{
	_forget();
	xfree(known.switches);
	xfree(known.names);
	xfree(known.leaves);
	memset(&known, 0, sizeof(known));
}
