/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The numbers of a job's record into the shape of its request: how many cores, on how many
 * nodes, how many on each. See shape.h. Arithmetic alone: no record, no lock.
 *
 * Users may set most of the numbers to whatever they like (scontrol update), so that all is
 * reckoned in 64 bits, and what the library would refuse is left to Slurm.
 */
#include <string.h>

#include "compat.h"
#include "shape.h"

/* The shape while it is worked out. max_nodes and per_node: 0: any. */
typedef struct {
	uint64_t cores, min_nodes, max_nodes, per_node;
	bool approximate;
} shape_t;

static uint64_t _divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/*
 * Whole nodes: all cores of each, which only an idle node has. What the job asks for beyond
 * the number of nodes is met by any node, or is Slurm's to judge.
 */
static const char *_shape_whole(const auc_numbers_t *n, shape_t *shape)
{
	uint64_t cpus = (uint64_t) n->node_cores * n->threads;
	uint64_t nodes;

	if (!cpus || (n->tasks_per_node && !n->tasks))
		return "exclusive";
	nodes = MAX(shape->min_nodes, _divide_up(n->min_cpus, cpus));
	if (n->tasks_per_node)
		nodes = MAX(nodes, _divide_up(n->tasks, n->tasks_per_node));
	if (shape->max_nodes && (nodes > shape->max_nodes))
		return "exclusive";
	if (n->node_range)
		return "exclusive";
	shape->approximate = shape->min_nodes != shape->max_nodes;
	shape->min_nodes = shape->max_nodes = nodes;
	shape->per_node = n->node_cores;
	shape->cores = nodes * n->node_cores;
	return NULL;
}

/* So many CPUs on each of so many nodes. */
static const char *_set_per_node(shape_t *shape, uint64_t nodes, uint64_t cpus)
{
	if (shape->max_nodes && (nodes > shape->max_nodes))
		return "layout";
	shape->min_nodes = shape->max_nodes = nodes;
	shape->per_node = cpus;
	shape->cores = nodes * cpus;
	return NULL;
}

/* One task, which is on one node: -c 8, with -n 1 or without. */
static bool _is_one_task(const auc_numbers_t *n)
{
	return !n->node_range && !n->tasks_per_node && (n->cpus_per_task > 1) &&
		((n->tasks == 1) ||
		 (!n->tasks && (n->min_cpus == n->cpus_per_task)));
}

/* CPUs, and the number of nodes. */
static const char *_shape_cpus(const auc_numbers_t *n, shape_t *shape)
{
	uint64_t per_task = n->cpus_per_task ? n->cpus_per_task : 1;
	uint64_t per_node = n->tasks_per_node;
	uint64_t nodes = (shape->min_nodes == shape->max_nodes) ?
		shape->min_nodes : 0;

	shape->cores = MAX(n->min_cpus, MAX(shape->min_nodes, 1));
	if (n->node_min_cpus > MAX(per_task, per_task * per_node))
		return "layout";	/* --mincpus */
	if (n->max_cpus && (n->max_cpus != n->min_cpus))
		return "layout";
	if (!nodes && (shape->min_nodes <= 1) && _is_one_task(n))
		nodes = shape->min_nodes = shape->max_nodes = 1;
	if (nodes == 1) {
		shape->cores = MAX(shape->cores, n->tasks * per_task);
		return NULL;
	}
	if (per_node) {
		if (!nodes) {
			if (!n->tasks || (n->tasks % per_node))
				return "layout";
			nodes = n->tasks / per_node;
			shape->approximate = true;
		} else if (n->tasks && (n->tasks != nodes * per_node))
			return "layout";
		return _set_per_node(shape, nodes, per_node * per_task);
	}
	if (per_task > 1) {
		if (!nodes || !n->tasks || (n->tasks % nodes))
			return "layout";
		shape->approximate = true;
		return _set_per_node(shape, nodes, n->tasks / nodes * per_task);
	}
	if (n->node_range && (n->min_cpus <= n->asked_nodes))
		return "layout";	/* and no -n */
	return NULL;
}

/* CPUs into cores, on nodes with several threads a core. */
static void _to_cores(const auc_numbers_t *n, shape_t *shape)
{
	if (n->threads <= 1)
		return;
	/* Whether tasks share a core is not said anywhere. */
	if ((n->cpus_per_task > 1) && (n->cpus_per_task % n->threads))
		shape->approximate = true;
	if (shape->per_node) {
		shape->per_node = _divide_up(shape->per_node, n->threads);
		shape->cores = shape->min_nodes * shape->per_node;
	} else
		shape->cores = MAX(_divide_up(shape->cores, n->threads),
				   MAX(shape->min_nodes, 1));
}

/* The library refuses what contradicts itself, or is beyond its limits. */
static bool _is_sound(const shape_t *shape)
{
	uint64_t nodes;

	if (!shape->cores || (shape->cores > AUCSCHED_MAX_CORES) ||
	    (shape->min_nodes > AUCSCHED_MAX_NODES) ||
	    (shape->max_nodes > UINT32_MAX) ||
	    (shape->cores < shape->min_nodes) ||
	    (shape->max_nodes && (shape->max_nodes < shape->min_nodes)))
		return false;
	if (!shape->per_node)
		return true;
	nodes = shape->cores / shape->per_node;
	return (shape->per_node <= AUCSCHED_MAX_CORES_PER_NODE) &&
		!(shape->cores % shape->per_node) &&
		(nodes >= shape->min_nodes) &&
		(!shape->max_nodes || (nodes <= shape->max_nodes));
}

static uint32_t _seconds(uint32_t minutes)
{
	if ((minutes == INFINITE) || (minutes == NO_VAL) ||
	    (minutes >= (AUCSCHED_NO_LIMIT - 1) / 60))
		return AUCSCHED_NO_LIMIT;
	return MAX(minutes, 1) * 60;
}

extern const char *auc_shape(const auc_numbers_t *n, auc_request_t *request)
{
	shape_t shape = { .min_nodes = n->min_nodes, .max_nodes = n->max_nodes };
	struct aucsched_job *job = &request->job;
	const char *why;

	if (!n->threads)
		return "threads";
	if ((why = n->whole ? _shape_whole(n, &shape) : _shape_cpus(n, &shape)))
		return why;
	if (!n->whole)
		_to_cores(n, &shape);
	if (!_is_sound(&shape) || (n->min_gpus > n->max_gpus) ||
	    (n->max_gpus > AUCSCHED_MAX_GPUS))
		return "record";
	job->cores = shape.cores;
	job->min_nodes = shape.min_nodes;
	job->max_nodes = shape.max_nodes;
	job->cores_per_node = shape.per_node;
	job->min_gpus = n->min_gpus;
	job->max_gpus = n->max_gpus;
	job->time_limit = _seconds(n->minutes);
	request->threads = n->threads;
	request->approximate |= shape.approximate;
	return NULL;
}
