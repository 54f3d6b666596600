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
	  .min_cpus = 16, .threads = 1 }, "layout" },
	{ "-N1-2 -c8", { .min_nodes = 1, .max_nodes = 2, .node_range = true,
	  .asked_nodes = 1, .cpus_per_task = 8, .min_cpus = 8, .threads = 1 },
	  "layout" },
	{ "-N1-1 -n2 -c3", { .min_nodes = 1, .max_nodes = 1, .tasks = 2,
	  .cpus_per_task = 3, .min_cpus = 6, .threads = 1 }, NULL, 6, 1, 1, 0 },
	{ "-N2 --ntasks-per-node=2 -c2", { .min_nodes = 2, .max_nodes = 2,
	  .tasks = 4, .tasks_per_node = 2, .cpus_per_task = 2, .min_cpus = 8,
	  .threads = 1 }, NULL, 8, 2, 2, 4 },
	{ "-n4 --ntasks-per-node=2", { .min_nodes = 1, .tasks = 4,
	  .tasks_per_node = 2, .min_cpus = 4, .threads = 1 },
	  NULL, 4, 2, 2, 2, true },
	{ "-n3 --ntasks-per-node=2", { .min_nodes = 1, .tasks = 3,
	  .tasks_per_node = 2, .min_cpus = 3, .threads = 1 }, "layout" },
	{ "-N2-4", { .min_nodes = 2, .max_nodes = 4, .asked_nodes = 2,
	  .node_range = true, .min_cpus = 2, .threads = 1 }, "layout" },
	{ "--mincpus=4", { .min_nodes = 1, .min_cpus = 1, .node_min_cpus = 4,
	  .threads = 1 }, "layout" },
	{ "-n5, two threads", { .min_nodes = 1, .tasks = 5, .min_cpus = 5,
	  .threads = 2 }, NULL, 3, 1, 0, 0 },
	{ "-N2 --exclusive", { .min_nodes = 2, .max_nodes = 2, .asked_nodes = 2,
	  .whole = true, .node_cores = 8, .min_cpus = 2, .threads = 1 },
	  NULL, 16, 2, 2, 8 },
	{ "--exclusive on nodes that differ", { .min_nodes = 1, .whole = true,
	  .min_cpus = 1, .threads = 1 }, "exclusive" },
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
		.threads = 1 + rand() % 4,
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
				jobs[in.jobs_len++] = request.job;
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
	_fuzz_shapes(seed, 200, library);
}
