/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which nodes are to be used first: see tiers.h. The library knows places in this order, not
 * weights.
 *
 * Node read lock.
 */
#include <stdlib.h>

#include "aucsched.h"
#include "compat.h"
#include "tier.h"
#include "tiers.h"

static int _compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

static int _add_weight(void *x, void *arg)
{
	uint32_t **next = arg;

	*(*next)++ = ((const config_record_t *) x)->weight;
	return 0;
}

/* The weights of slurm.conf's lines of nodes, ascending, each once. xfree() */
static uint32_t *_weights(int *len)
{
	int all = list_count(config_list), kept = 0;
	uint32_t *weights = xcalloc(all + 1, sizeof(*weights)), *next = weights;

	list_for_each(config_list, _add_weight, &next);
	all = next - weights;
	qsort(weights, all, sizeof(*weights), _compare);
	for (int i = 0; i < all; i++)
		if (!kept || (weights[i] != weights[kept - 1]))
			weights[kept++] = weights[i];
	*len = kept;
	return weights;
}

static bool _sleeps(const node_record_t *node_ptr)
{
	return IS_NODE_POWERED_DOWN(node_ptr) ||
		IS_NODE_POWERING_DOWN(node_ptr);
}

extern void auc_add_tiers(auc_snapshot_t *s)
{
	int len;
	uint32_t *weights = _weights(&len);

	for (int n = 0; n < node_record_count; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		const uint32_t *at;

		if (!node_ptr || !node_ptr->config_ptr)
			continue;
		at = bsearch(&node_ptr->config_ptr->weight, weights, len,
			     sizeof(*weights), _compare);
		if (at)
			s->nodes[n].tier = auc_tier(at - weights, len,
						    _sleeps(node_ptr),
						    s->nodes[n].gpus > 0,
						    AUC_TIERS);
	}
	xfree(weights);
}

/* Whether the least loaded of the partition's nodes come first. */
static bool _is_lln(const part_record_t *part_ptr)
{
	return (part_ptr->flags & PART_FLAG_LLN) ||
		(slurm_conf.select_type_param & SELECT_LLN);
}

extern void auc_add_loads(auc_snapshot_t *s)
{
	part_record_t *part_ptr;
	list_itr_t *iter = list_iterator_create(part_list);
	bitstr_t *nodes = bit_alloc(node_record_count);
	uint8_t highest = 0;

	while ((part_ptr = list_next(iter)))
		if (part_ptr->node_bitmap && _is_lln(part_ptr))
			bit_or(nodes, part_ptr->node_bitmap);
	list_iterator_destroy(iter);
	for (int n = 0; n < node_record_count; n++)
		highest = MAX(highest, s->nodes[n].tier);
	for (int n = 0; n < node_record_count; n++) {
		struct aucsched_node *node = &s->nodes[n];

		/* As with Slurm, load counts more than any weight. */
		if (node->cores && bit_test(nodes, n))
			node->tier = auc_loaded_tier(node->tier, highest,
						     node->cores,
						     node->free_cores);
	}
	FREE_NULL_BITMAP(nodes);
}
