/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The shape of requests, and that the library takes whatever is modelled. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "../shape.h"
#include "aucsched.h"
#include "units.h"

/* ---- the shape of requests ---- */
static const struct {
	const char *what;
	auc_numbers_t numbers;
	const char *why;	/* NULL: it is modelled as follows */
	uint32_t cores, min_nodes, max_nodes, per_node;
	bool approximate;
} shapes[] = {
	{ "-n4", { .min_nodes = 1, .tasks = 4, .min_cpus = 4, .threads = 1 },
	  NULL, 4, 1, 0, 0 },
	{ "-c8", { .min_nodes = 1, .cpus_per_task = 8, .min_cpus = 8,
	  .threads = 1 }, NULL, 8, 1, 1, 0 },
	{ "-n1 -c8, two threads", { .min_nodes = 1, .max_nodes = 4, .tasks = 1,
	  .cpus_per_task = 8, .min_cpus = 8, .threads = 2 }, NULL, 4, 1, 1, 0 },
	{ "-n2 -c8", { .min_nodes = 1, .tasks = 2, .cpus_per_task = 8,
	  .min_cpus = 16, .most_nodes = 4, .most_cores = 8, .threads = 1 },
	  NULL, 16, 2, 2, 8, true },
	{ "-N1-2 -c8", { .min_nodes = 1, .max_nodes = 2, .node_range = true,
	  .asked_nodes = 1, .cpus_per_task = 8, .min_cpus = 8,
	  .most_nodes = 4, .most_cores = 8, .threads = 1 },
	  NULL, 8, 1, 1, 8 },
	{ "-n16 -c2, two threads", { .min_nodes = 1, .tasks = 16,
	  .cpus_per_task = 2, .min_cpus = 32, .threads = 2 },
	  NULL, 16, 1, 0, 0 },
	{ "-N4 -c4", { .min_nodes = 4, .max_nodes = 4, .asked_nodes = 4,
	  .cpus_per_task = 4, .min_cpus = 16, .threads = 2 },
	  NULL, 8, 4, 4, 2, true },
	{ "-N2 -n3 -c4", { .min_nodes = 2, .max_nodes = 2, .asked_nodes = 2,
	  .tasks = 3, .cpus_per_task = 4, .min_cpus = 12, .threads = 2 },
	  NULL, 8, 2, 2, 4, true },
	{ "-n4 --hint=nomultithread", { .min_nodes = 1, .tasks = 4,
	  .min_cpus = 4, .threads = 2, .use_threads = 1 }, NULL, 4, 1, 0, 0 },
	{ "-n4 --ntasks-per-socket=1", { .min_nodes = 1, .tasks = 4,
	  .min_cpus = 4, .socket_tasks = 1, .sockets = 2, .most_nodes = 4,
	  .most_cores = 8, .threads = 2 }, NULL, 4, 2, 2, 2, true },
	{ "-N1-1 -n2 -c3", { .min_nodes = 1, .max_nodes = 1, .tasks = 2,
	  .cpus_per_task = 3, .min_cpus = 6, .threads = 1 }, NULL, 6, 1, 1, 0 },
	{ "-N2 --ntasks-per-node=2 -c2", { .min_nodes = 2, .max_nodes = 2,
	  .tasks = 4, .tasks_per_node = 2, .cpus_per_task = 2, .min_cpus = 8,
	  .threads = 1 }, NULL, 8, 2, 2, 4 },
	{ "-n4 --ntasks-per-node=2", { .min_nodes = 1, .tasks = 4,
	  .tasks_per_node = 2, .min_cpus = 4, .threads = 1 },
	  NULL, 4, 2, 2, 2, true },
	{ "-n3 --ntasks-per-node=2", { .min_nodes = 1, .tasks = 3,
	  .tasks_per_node = 2, .min_cpus = 3, .threads = 1 },
	  NULL, 4, 2, 2, 2, true },
	{ "-n1 --ntasks-per-node=2 -N2", { .min_nodes = 2, .max_nodes = 2,
	  .tasks = 1, .tasks_per_node = 2, .min_cpus = 1, .threads = 1 },
	  "layout" },
	{ "-N2-4", { .min_nodes = 2, .max_nodes = 4, .asked_nodes = 2,
	  .node_range = true, .min_cpus = 2, .most_nodes = 8, .most_cores = 8,
	  .threads = 1 }, NULL, 4, 4, 4, 1, true },
	{ "--mincpus=4", { .min_nodes = 1, .tasks = 1, .min_cpus = 1,
	  .node_min_cpus = 4, .threads = 2 }, NULL, 2, 1, 1, 2 },
	{ "-N1 --gres=gpu:2 --cpus-per-gpu=4", { .min_nodes = 1, .max_nodes = 1,
	  .min_cpus = 1, .min_gpus = 2, .max_gpus = 2, .cpus_per_gpu = 4,
	  .threads = 2 }, NULL, 4, 1, 1, 0 },
	{ "-n5, two threads", { .min_nodes = 1, .tasks = 5, .min_cpus = 5,
	  .threads = 2 }, NULL, 3, 1, 0, 0 },
	{ "-N2 --exclusive", { .min_nodes = 2, .max_nodes = 2, .asked_nodes = 2,
	  .whole = true, .node_cores = 8, .min_cpus = 2, .threads = 1 },
	  NULL, 16, 2, 2, 8 },
	{ "--exclusive on nodes that differ", { .min_nodes = 1, .whole = true,
	  .min_cpus = 1, .threads = 1 }, "exclusive" },
	{ "--exclusive where MaxCPUsPerNode is less", { .min_nodes = 1,
	  .whole = true, .min_cpus = 1, .node_cores = 8, .most_cores = 4,
	  .threads = 1 }, "exclusive" },
	{ "threads that differ", { .min_nodes = 1, .min_cpus = 1 }, "threads" },
	/* What users can make of their jobs. */
	{ "NumTasks=3000000000", { .min_nodes = 1, .max_nodes = 1,
	  .tasks = 3000000000, .min_cpus = 1, .threads = 1 }, "record" },
	{ "NumTasks=2147483647", { .min_nodes = 1, .max_nodes = 1,
	  .tasks = 2147483647, .min_cpus = 1, .threads = 1 },
	  NULL, 2147483647, 1, 1, 0 },
	{ "2^31 CPUs", { .min_nodes = 1, .max_nodes = 1, .tasks = 1 << 29,
	  .cpus_per_task = 4, .min_cpus = 1, .threads = 1 }, "record" },
	{ "2^32 CPUs", { .min_nodes = 1, .max_nodes = 1, .tasks = 1 << 30,
	  .cpus_per_task = 4, .min_cpus = 1, .threads = 1 }, "record" },
	{ "80000 CPUs a node", { .min_nodes = 2, .max_nodes = 2,
	  .tasks = 80000, .tasks_per_node = 40000, .cpus_per_task = 2,
	  .min_cpus = 160000, .threads = 1 }, "record" },
	{ "more nodes than cores", { .min_nodes = 5, .max_nodes = 2,
	  .min_cpus = 1, .threads = 1 }, "record" },
	{ "too many GPUs", { .min_nodes = 1, .min_cpus = 1, .min_gpus = 16,
	  .max_gpus = 16, .threads = 1 }, "record" },
};

static void _test_shapes(void)
{
	for (int i = 0; i < ARRAY_SIZE(shapes); i++) {
		auc_request_t request = { 0 };
		const struct aucsched_job *job = &request.job;
		const char *why = auc_shape(&shapes[i].numbers, &request);

		CHECK(!xstrcmp(why, shapes[i].why), "%s: %s", shapes[i].what,
		      why);
		if (why)
			continue;
		CHECK((job->cores == shapes[i].cores) &&
		      (job->min_nodes == shapes[i].min_nodes) &&
		      (job->max_nodes == shapes[i].max_nodes) &&
		      (job->cores_per_node == shapes[i].per_node) &&
		      (request.approximate == shapes[i].approximate),
		      "%s: %u cores on %u-%u nodes, %u a node", shapes[i].what,
		      job->cores, job->min_nodes, job->max_nodes,
		      job->cores_per_node);
	}
}

/* All layouts of a request, by number of nodes, cores and GPUs of each. */
static const struct {
	const char *what;
	auc_numbers_t numbers;
	int len;
	struct { uint32_t nodes, cores, gpus; } layouts[1 + AUC_LAYOUTS];
} layouts[] = {
	{ "-n8 -c4", { .min_nodes = 1, .tasks = 8, .cpus_per_task = 4,
	  .min_cpus = 32, .most_nodes = 100, .most_cores = 8, .threads = 2 },
	  3, { { 2, 8, 0 }, { 4, 4, 0 }, { 8, 2, 0 } } },
	{ "-N1-4 -n8 -c4", { .min_nodes = 1, .max_nodes = 4, .asked_nodes = 1,
	  .node_range = true, .tasks = 8, .cpus_per_task = 4, .min_cpus = 32,
	  .most_nodes = 100, .most_cores = 8, .threads = 2 },
	  2, { { 2, 8, 0 }, { 4, 4, 0 } } },
	{ "-N1-3", { .min_nodes = 1, .max_nodes = 3, .asked_nodes = 1,
	  .node_range = true, .min_cpus = 1, .most_nodes = 2, .most_cores = 8,
	  .threads = 2 }, 2, { { 2, 1, 0 }, { 1, 1, 0 } } },
	{ "--gpus=8", { .min_nodes = 1, .min_cpus = 1, .job_gpus = 8,
	  .most_nodes = 100, .most_cores = 8, .most_gpus = 4, .threads = 2 },
	  3, { { 2, 1, 4 }, { 4, 1, 2 }, { 8, 1, 1 } } },
	{ "-n4 --gpus-per-task=2 --cpus-per-gpu=3", { .min_nodes = 1,
	  .tasks = 4, .min_cpus = 4, .job_gpus = 8, .cpus_per_gpu = 3,
	  .most_nodes = 3, .most_cores = 8, .most_gpus = 8, .threads = 2 },
	  1, { { 2, 6, 4 } } },
	{ "--gpus=4 --ntasks-per-gpu=2", { .min_nodes = 1, .tasks = 8,
	  .min_cpus = 8, .job_gpus = 4, .tasks_go_by_gpus = true,
	  .most_nodes = 9, .most_cores = 8, .most_gpus = 4, .threads = 2 },
	  1, { { 1, 4, 4 } } },
	{ "-n12 -c2, more than are shown", { .min_nodes = 1, .tasks = 5040,
	  .cpus_per_task = 2, .min_cpus = 10080, .most_nodes = 100,
	  .most_cores = 65535, .threads = 1 },
	  9, { { 1, 10080 }, { 2, 5040 }, { 3, 3360 }, { 4, 2520 }, { 5, 2016 },
	       { 6, 1680 }, { 7, 1440 }, { 8, 1260 }, { 9, 1120 } } },
};

static void _test_layouts(void)
{
	for (int i = 0; i < ARRAY_SIZE(layouts); i++) {
		auc_request_t request = { 0 };
		const char *why = auc_shape(&layouts[i].numbers, &request);

		CHECK(!why, "%s: %s", layouts[i].what, why);
		CHECK(request.layouts_len == layouts[i].len - 1,
		      "%s: %d more layouts", layouts[i].what,
		      request.layouts_len);
		for (int k = 0; !why && (k <= request.layouts_len); k++) {
			struct aucsched_job job;
			uint32_t nodes = layouts[i].layouts[k].nodes;

			auc_use_layout(&request, k, &job);
			CHECK((job.min_nodes == nodes) &&
			      (job.max_nodes == nodes) &&
			      (job.cores == nodes * layouts[i].layouts[k].cores) &&
			      (job.max_gpus == layouts[i].layouts[k].gpus) &&
			      (job.min_gpus == job.max_gpus),
			      "%s: %d: %u cores on %u nodes, %u GPUs each",
			      layouts[i].what, k, job.cores, job.min_nodes,
			      job.max_gpus);
		}
	}
}

/* Whether so many cores of each node have room for the tasks, none of which is on two nodes. */
static bool _has_room(const auc_numbers_t *n, const struct aucsched_job *job)
{
	uint64_t each = job->cores_per_node ? job->cores_per_node : job->cores;
	uint64_t used = n->use_threads ? n->use_threads : n->threads;
	uint64_t tasks = each * used / MAX(n->cpus_per_task, 1);
	uint64_t gpus = (uint64_t) job->min_gpus * job->min_nodes;

	if (!job->cores_per_node && (n->cpus_per_task > 1) && (job->max_nodes != 1))
		tasks = job->cores * (used / n->cpus_per_task);
	return (tasks * (job->cores_per_node ? job->min_nodes : 1) >= n->tasks) &&
		(gpus == n->job_gpus) &&
		(each * used >= (uint64_t) n->cpus_per_gpu * job->max_gpus);
}

/* Against this dumb one, for numbers as users have them. */
static void _test_room(unsigned seed)
{
	int modelled = 0;

	srand(seed);
	for (int i = 0; i < 20000; i++) {
		auc_numbers_t n = {
			.min_nodes = 1 + rand() % 4, .tasks = rand() % 20,
			.cpus_per_task = rand() % 6, .most_nodes = 10,
			.most_cores = 1 + rand() % 64, .most_gpus = 4,
			.job_gpus = (rand() % 2) ? 0 : rand() % 9,
			.cpus_per_gpu = (rand() % 3) ? 0 : rand() % 9,
			.threads = 1 + rand() % 3,
		};
		auc_request_t request = { 0 };

		n.asked_nodes = n.min_nodes;
		n.max_nodes = (rand() % 3) ? 0 : n.min_nodes + rand() % 2;
		n.node_range = n.max_nodes > n.min_nodes;
		n.use_threads = 1 + rand() % n.threads;
		n.tasks = n.tasks ? MAX(n.tasks, n.min_nodes) : 0;
		n.min_cpus = MAX(n.tasks, n.min_nodes) *
			MAX(n.cpus_per_task, 1);
		if (auc_shape(&n, &request))
			continue;
		modelled++;
		for (int k = 0; k <= request.layouts_len; k++) {
			struct aucsched_job job;

			auc_use_layout(&request, k, &job);
			CHECK(_has_room(&n, &job), "seed %u, %d: %u tasks of %u CPUs, %u of %u threads, %u GPUs: %u cores on %u nodes, %u each",
			      seed, i, n.tasks, n.cpus_per_task, n.use_threads,
			      n.threads, n.job_gpus, job.cores, job.min_nodes,
			      job.cores_per_node);
		}
	}
	CHECK(modelled > 10000, "%d of 20000 are modelled", modelled);
}

/* ---- the library takes whatever is modelled ---- */
static const uint32_t odd[] = {
	0, 1, 2, 3, 4, 8, 16, 64, 255, 256, 32767, 32768, 65533, 65534, 65535,
	65536, 500000, 1 << 20, (1 << 20) + 1, INT32_MAX, (uint32_t) INT32_MAX + 1,
	3000000000, UINT32_MAX - 3, NO_VAL, UINT32_MAX,
};

static uint32_t _odd(void)
{
	return (rand() % 3) ? rand() % 9 : odd[rand() % ARRAY_SIZE(odd)];
}

/* What a record may hold: 16 bits of some, and node counts that get_node_cnts() lets pass. */
static auc_numbers_t _odd_numbers(void)
{
	auc_numbers_t n = {
		.min_nodes = _odd() % 500001, .max_nodes = _odd() % 500001,
		.asked_nodes = _odd(), .node_range = rand() % 2,
		.tasks = _odd(), .cpus_per_task = (uint16_t) _odd(),
		.tasks_per_node = (uint16_t) _odd(), .min_cpus = _odd(),
		.max_cpus = _odd(), .node_min_cpus = _odd(),
		.whole = !(rand() % 3), .node_cores = (uint16_t) _odd(),
		.min_gpus = _odd(), .max_gpus = _odd(), .minutes = _odd(),
		.job_gpus = (rand() % 3) ? 0 : _odd(),
		.cpus_per_gpu = (rand() % 3) ? 0 : (uint16_t) _odd(),
		.socket_tasks = (rand() % 3) ? 0 : (uint16_t) _odd(),
		.sockets = rand() % 5,
		.tasks_go_by_gpus = !(rand() % 4),
		.most_nodes = _odd() % 5000, .most_cores = (uint16_t) _odd(),
		.most_gpus = rand() % 17,
		.threads = 1 + rand() % 4, .use_threads = rand() % 6,
	};

	if (rand() % 2)
		n.max_cpus = 0;
	if (rand() % 2)
		n.max_nodes = n.min_nodes;
	if (rand() % 2)
		n.min_gpus = n.max_gpus = 0;
	if (!(rand() % 4) && n.tasks_per_node)
		n.tasks = n.tasks_per_node * n.min_nodes;
	return n;
}

static void *_symbol(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	CHECK(symbol, "%s: %s", name, dlerror());
	return symbol;
}

#define BATCH 500

static void _fuzz_shapes(unsigned seed, int rounds, const char *path)
{
	static struct aucsched_job jobs[BATCH];
	struct aucsched_node node = { .cores = 8, .free_cores = 8, .up = 1 };
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int64_t (*open)(const char *, char *, size_t);
	int (*cycle)(int64_t, const struct aucsched_input *,
		     struct aucsched_output *);
	size_t (*last_error)(int64_t, char *, size_t);
	int (*close)(int64_t);
	int64_t handle;
	int tried = 0;

	CHECK(library, "%s", dlerror());
	if (!library)
		return;
	open = _symbol(library, "aucsched_open");
	cycle = _symbol(library, "aucsched_cycle");
	last_error = _symbol(library, "aucsched_last_error");
	close = _symbol(library, "aucsched_close");
	handle = open("window=1 depth=0 bids=1 drafts=0 deadline_ms=1000", NULL, 0);
	CHECK(handle > 0, "%lld", (long long) handle);
	srand(seed);
	for (int round = 0; round < rounds; round++) {
		struct aucsched_input in = { .abi = AUCSCHED_ABI,
			.size = sizeof(in), .now = 1000, .nodes_len = 1,
			.nodes = &node, .jobs = jobs };
		struct aucsched_output out = { .abi = AUCSCHED_ABI,
			.size = sizeof(out) };
		char text[512] = "";

		while (in.jobs_len < BATCH) {
			auc_numbers_t numbers = _odd_numbers();
			auc_request_t request = { .job.mask = -1,
				.job.priority = 1 };

			tried++;
			if (!auc_shape(&numbers, &request))
				auc_use_layout(&request, rand() %
					       (request.layouts_len + 1),
					       &jobs[in.jobs_len++]);
		}
		if (cycle(handle, &in, &out) || out.faults)
			last_error(handle, text, sizeof(text));
		CHECK((out.decisions_len == BATCH) && !out.faults, "seed %u, round %d: %s", seed,
		      round, text);
	}
	CHECK(!close(handle), "%s", path);
	CHECK(tried > rounds * BATCH * 2, "%d odd records, which leave no doubt",
	      tried);
}

extern void test_shapes(unsigned seed, const char *library)
{
	_test_shapes();
	_test_layouts();
	_test_room(seed);
	_fuzz_shapes(seed, 200, library);
}
