/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "shape.h"

/* ---- A choice of features, as users write it ---- */

extern uint8_t auc_one_of_features(const char *features)
{
	size_t len = features ? strlen(features) : 0;
	int names = 1;

	if ((len < 5) || (features[0] != '[') || (features[len - 1] != ']'))
		return 0;
	for (size_t i = 1; i < len - 1; i++) {
		if (strchr("[]()*!&,", features[i]))
			return 0;
		if (features[i] == '|') {
			if ((features[i - 1] == '|') || (i == 1) || (i == len - 2))
				return 0;
			names++;
		}
	}
	return ((names > 1) && (names <= UINT8_MAX)) ? names : 0;
}

/*
 * Blocks of topology/block: a job is held to what the library says of its number of nodes. With
 * --segment each segment is in one block, wherever the others are.
 */
extern const char *auc_block_demand(const struct aucsched_topology *blocks,
				    uint32_t nodes, uint32_t segment,
				    const struct aucsched_demand *demand,
				    struct aucsched_job *job)
{
	if (segment && ((segment > blocks->base) || (nodes % segment)))
		return "segment";	/* Slurm will refuse it */
	if (segment && (segment != nodes)) {
		if ((job->min_nodes != nodes) || (job->max_nodes != nodes))
			return "segment";	/* of how many nodes there are to be segments? */
		job->segment = (segment > 1) ? segment : 0;
		return NULL;
	}
	job->switches = demand->switches;
	job->within = demand->within;
	return demand->unsaid ? "blocks" : NULL;
}

/*
 * The numbers of a job's record into the shape of its request.
 *
 * Users may set most of the numbers to whatever they like (scontrol update), so that all is
 * reckoned in 64 bits, and what the library would refuse is left to Slurm.
 */

static uint64_t _divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* All layouts of a request. */
typedef struct {
	auc_layout_t shapes[1 + AUC_LAYOUTS];
	int len;
	bool approximate, loose;
} plan_t;

static auc_layout_t *_add(plan_t *plan, const auc_numbers_t *n, auc_layout_t shape)
{
	auc_layout_t *added = &plan->shapes[plan->len++];

	*added = shape;
	if (!shape.max_gpus) {
		added->min_gpus = n->min_gpus;
		added->max_gpus = n->max_gpus;
	}
	return added;
}

/*
 * Whole nodes: all cores of each, which only an idle node has. What the job asks for beyond
 * the number of nodes is met by any node, or is Slurm's to judge.
 */
static const char *_shape_whole(const auc_numbers_t *n, plan_t *plan)
{
	uint64_t cpus = (uint64_t) n->node_cores * n->threads;
	uint64_t nodes;

	if (!cpus || (n->tasks_per_node && !n->tasks) || n->job_gpus ||
	    n->socket_tasks || (n->most_cores && (n->most_cores < n->node_cores)))
		return "exclusive";
	nodes = MAX(n->min_nodes, _divide_up(n->min_cpus, cpus));
	if (n->tasks_per_node)
		nodes = MAX(nodes, _divide_up(n->tasks, n->tasks_per_node));
	if (n->max_nodes && (nodes > n->max_nodes))
		return "exclusive";
	if (n->node_range)
		return "exclusive";
	plan->approximate = n->min_nodes != n->max_nodes;
	_add(plan, n, (auc_layout_t) {
		.cores = nodes * n->node_cores, .min_nodes = nodes,
		.max_nodes = nodes, .per_node = n->node_cores });
	return NULL;
}

/* ---- CPUs, and the number of nodes ---- */

static uint64_t _per_task(const auc_numbers_t *n)
{
	return n->cpus_per_task ? n->cpus_per_task : 1;
}

/* CPUs of a core that the job uses. */
static uint64_t _used_threads(const auc_numbers_t *n)
{
	return n->use_threads ? MIN(n->use_threads, n->threads) : n->threads;
}

/* --mincpus; Slurm's record has what the tasks need at least if the job does not say. */
static uint64_t _min_cpus(const auc_numbers_t *n)
{
	uint64_t tasks = n->tasks_per_node ? n->tasks_per_node : 1;

	return (n->node_min_cpus > tasks * _per_task(n)) ? n->node_min_cpus : 0;
}

/* CPUs that each node must give, whatever its tasks need. */
static uint64_t _least_cpus(const auc_numbers_t *n, uint64_t gpus)
{
	return MAX(_min_cpus(n), gpus * n->cpus_per_gpu);
}

/* The cores of a node with so many tasks, for which this many CPUs would do. */
static uint64_t _cores_for(const auc_numbers_t *n, uint64_t tasks, uint64_t cpus,
			   uint64_t gpus)
{
	uint64_t cores;

	cpus = MAX(cpus, _least_cpus(n, gpus));
	cores = _divide_up(cpus, _used_threads(n));
	/* No core is shared across sockets. */
	if (n->socket_tasks && tasks)
		cores = MAX(cores, _divide_up(tasks, n->socket_tasks) *
			    _divide_up(MIN(tasks, n->socket_tasks) *
				       _per_task(n), _used_threads(n)));
	return cores;
}

/* One task, which is on one node: -c 8, with -n 1 or without. */
static bool _is_one_task(const auc_numbers_t *n)
{
	return !n->node_range && !n->tasks_per_node && (n->cpus_per_task > 1) &&
		((n->tasks == 1) ||
		 (!n->tasks && (n->min_cpus == n->cpus_per_task)));
}

/* Slurm may give less of a node than it was made to have at least. */
static void _loosen(plan_t *plan, const auc_numbers_t *n)
{
	plan->loose |= _min_cpus(n) || n->cpus_per_gpu || n->job_gpus ||
		n->socket_tasks || (_used_threads(n) != n->threads);
	/* Whether tasks share a core is not said anywhere. */
	if ((_per_task(n) > 1) && (_per_task(n) % _used_threads(n)))
		plan->approximate = plan->loose = true;
}

static const char *_one_node(const auc_numbers_t *n, plan_t *plan)
{
	uint64_t cpus = MAX(MAX(n->min_cpus, 1),
			    (uint64_t) n->tasks * _per_task(n));
	uint64_t gpus = n->job_gpus ? n->job_gpus : n->max_gpus;

	if (n->socket_tasks && n->sockets &&
	    (n->tasks > (uint64_t) n->socket_tasks * n->sockets))
		return "layout";
	_add(plan, n, (auc_layout_t) {
		.cores = _cores_for(n, n->tasks, cpus, gpus),
		.min_nodes = 1, .max_nodes = 1,
		.min_gpus = n->job_gpus, .max_gpus = n->job_gpus });
	return NULL;
}

/* Tasks on each node: as many on all, or fewer on the last. */
static const char *_tasks_per_node(const auc_numbers_t *n, plan_t *plan,
				   uint64_t nodes)
{
	uint64_t tasks = n->tasks_per_node, gpus;

	if (!nodes) {
		if (!n->tasks)
			return "layout";
		nodes = _divide_up(n->tasks, tasks);
		plan->approximate = true;
	}
	if (n->tasks && (n->tasks != nodes * tasks)) {
		if ((n->tasks > nodes * tasks) || (n->tasks < nodes))
			return "layout";
		plan->approximate = plan->loose = true;
	}
	if ((nodes < n->min_nodes) ||
	    (n->max_nodes && (nodes > n->max_nodes)) ||
	    (n->job_gpus % nodes))
		return "layout";
	gpus = n->job_gpus / nodes;
	_add(plan, n, (auc_layout_t) {
		.per_node = _cores_for(n, tasks, tasks * _per_task(n),
				       gpus ? gpus : n->max_gpus),
		.min_nodes = nodes, .max_nodes = nodes,
		.min_gpus = gpus, .max_gpus = gpus });
	return NULL;
}

/* Any number of cores of any node will do. */
static bool _is_free(const auc_numbers_t *n, uint64_t tasks)
{
	if (_least_cpus(n, n->max_gpus) || n->job_gpus || n->socket_tasks)
		return false;
	if (_per_task(n) > 1)
		return tasks && (_per_task(n) <= _used_threads(n));
	return !n->node_range || (n->min_cpus > n->asked_nodes);
}

static void _free_shape(const auc_numbers_t *n, plan_t *plan, uint64_t tasks)
{
	uint64_t nodes = MAX(n->min_nodes, 1), each = _used_threads(n);
	uint64_t cores = _divide_up(MAX(n->min_cpus, nodes), each);

	if (_per_task(n) > 1)	/* no task is on two cores */
		cores = MAX(cores, _divide_up(tasks, each / _per_task(n)));
	_add(plan, n, (auc_layout_t) { .cores = MAX(cores, nodes),
		.min_nodes = n->min_nodes, .max_nodes = n->max_nodes });
}

/*
 * As much on each of so many nodes. RET false if it can't be: the tasks or the GPUs are not even
 * over the nodes, or no node has so much
 */
static bool _even(const auc_numbers_t *n, plan_t *plan, uint64_t nodes,
		  uint64_t tasks, bool fixed)
{
	uint64_t here = _divide_up(tasks, nodes), gpus = n->job_gpus / nodes;
	uint64_t cpus = tasks ? here * _per_task(n) :
		_divide_up(n->min_cpus, nodes);
	uint64_t cores;

	if ((tasks % nodes) && (!fixed || (tasks < nodes)))
		return false;
	if (n->job_gpus % nodes)
		return false;
	if (n->socket_tasks && n->sockets &&
	    (here > (uint64_t) n->socket_tasks * n->sockets))
		return false;
	cores = _cores_for(n, here, MAX(cpus, 1), gpus ? gpus : n->max_gpus);
	if (!fixed && ((n->most_cores && (cores > n->most_cores)) ||
		       (gpus > n->most_gpus)))
		return false;
	plan->loose |= tasks % nodes;
	_add(plan, n, (auc_layout_t) { .per_node = cores, .min_nodes = nodes,
		.max_nodes = nodes, .min_gpus = gpus, .max_gpus = gpus });
	return true;
}

/* Even over as many nodes as there may be: few nodes first, unless Slurm gives all it can. */
static const char *_even_shapes(const auc_numbers_t *n, plan_t *plan,
				uint64_t tasks)
{
	uint64_t low = MAX(n->min_nodes, 1);
	uint64_t high = n->max_nodes ? n->max_nodes : UINT32_MAX;
	bool many = !tasks && !n->job_gpus;

	high = MIN(high, MAX(n->most_nodes, low));
	if (tasks)
		high = MIN(high, MAX(tasks, low));
	if (n->job_gpus)
		high = MIN(high, n->job_gpus);
	if (n->tasks_go_by_gpus || (many && !n->node_range))
		high = MIN(high, low);
	for (uint64_t i = low; (i <= high) && (plan->len <= AUC_LAYOUTS); i++)
		(void) _even(n, plan, many ? high - (i - low) : i, tasks,
			     low == high);
	plan->approximate |= low != high;
	return plan->len ? NULL : "layout";
}

static const char *_shape_cpus(const auc_numbers_t *n, plan_t *plan)
{
	uint64_t fixed = (n->min_nodes == n->max_nodes) ? n->min_nodes : 0;
	uint64_t tasks = n->tasks;

	if (n->max_cpus && (n->max_cpus != n->min_cpus))
		return "layout";
	_loosen(plan, n);
	if (!tasks && (_per_task(n) > 1))
		tasks = _divide_up(n->min_cpus, _per_task(n));
	if ((fixed == 1) ||
	    (!fixed && (n->min_nodes <= 1) && _is_one_task(n)))
		return _one_node(n, plan);
	if (n->tasks_per_node)
		return _tasks_per_node(n, plan, fixed);
	if (_is_free(n, tasks)) {
		_free_shape(n, plan, tasks);
		return NULL;
	}
	if (fixed && (n->cpus_per_task > 1))
		plan->approximate = true;
	return _even_shapes(n, plan, tasks);
}

/* The library refuses what contradicts itself, or is beyond its limits. */
static bool _is_sound(auc_layout_t *shape)
{
	uint64_t nodes;

	if (shape->per_node && !shape->cores)
		shape->cores = (shape->per_node > AUCSCHED_MAX_CORES_PER_NODE) ?
			0 : shape->per_node * shape->min_nodes;
	if ((shape->min_gpus > shape->max_gpus) ||
	    (shape->max_gpus > AUCSCHED_MAX_GPUS))
		return false;
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

static void _set_layout(const auc_layout_t *layout, struct aucsched_job *job)
{
	job->cores = layout->cores;
	job->min_nodes = layout->min_nodes;
	job->max_nodes = layout->max_nodes;
	job->cores_per_node = layout->per_node;
	job->min_gpus = layout->min_gpus;
	job->max_gpus = layout->max_gpus;
}

extern void auc_use_layout(const auc_request_t *request, int i,
			   struct aucsched_job *job)
{
	*job = request->job;
	if (i)
		_set_layout(&request->layouts[i - 1], job);
}

/* Layouts that the library would refuse are left out. RET whether there is any */
static bool _set_layouts(plan_t *plan, auc_request_t *request)
{
	int sound = 0;

	for (int i = 0; i < plan->len; i++) {
		if (!_is_sound(&plan->shapes[i]))
			continue;
		if (!sound++)
			_set_layout(&plan->shapes[i], &request->job);
		else
			request->layouts[request->layouts_len++] =
				plan->shapes[i];
	}
	return sound;
}

extern const char *auc_shape(const auc_numbers_t *n, auc_request_t *request)
{
	plan_t plan = { 0 };
	const char *why;

	if (!n->threads)
		return "threads";
	if ((why = n->whole ? _shape_whole(n, &plan) : _shape_cpus(n, &plan)))
		return why;
	if (!_set_layouts(&plan, request))
		return "record";
	if (n->socket_tasks && !n->whole) {
		uint64_t here = MIN(n->socket_tasks, MAX(n->tasks, 1));

		/* Where a node has fewer tasks, less would do. */
		request->approximate = true;
		request->socket_cores = MIN(_divide_up(
			here * _per_task(n), _used_threads(n)), UINT16_MAX);
	}
	request->job.time_limit = _seconds(n->minutes);
	request->threads = n->threads;
	request->approximate |= plan.approximate;
	request->loose |= plan.loose;
	return NULL;
}
