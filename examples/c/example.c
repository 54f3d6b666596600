/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Table I of ipsched: three jobs that fit on 1024 nodes of 8 cores and 2 GPUs together,
 * but not one after another.
 *
 *   cc example.c $(pkg-config --cflags --libs aucsched) && ./a.out
 */
#include <stdio.h>

#include "aucsched.h"

#define NODES 1024
#define JOBS 3

static struct aucsched_node nodes[NODES];

int main(void)
{
	static const struct aucsched_job jobs[JOBS] = {
		{.priority = 30, .cores = 4096, .time_limit = 1000, .mask = -1},
		{.priority = 20, .cores = 2048, .min_nodes = 512, .max_nodes = 512,
		 .time_limit = 1000, .min_gpus = 2, .max_gpus = 2, .mask = -1},
		{.priority = 10, .cores = 2048, .min_nodes = 512, .max_nodes = 512,
		 .time_limit = 1000, .min_gpus = 2, .max_gpus = 2, .mask = -1},
	};
	char text[256];
	int64_t handle;

	if (aucsched_abi() != AUCSCHED_ABI) {
		fprintf(stderr, "the library has ABI %d, this program %d\n", aucsched_abi(), AUCSCHED_ABI);
		return 1;
	}
	if ((handle = aucsched_open("deadline_ms=1000", text, sizeof text)) < 0) {
		fprintf(stderr, "aucsched_open: %s\n", text);
		return 1;
	}
	for (int n = 0; n < NODES; n++)
		nodes[n] = (struct aucsched_node){.cores = 8, .free_cores = 8, .gpus = 2, .free_gpus = 2, .up = 1};

	struct aucsched_input in = {
		.abi = AUCSCHED_ABI, .size = sizeof in, .seed = 1,
		.nodes = nodes, .nodes_len = NODES, .jobs = jobs, .jobs_len = JOBS,
	};
	struct aucsched_output out = {.abi = AUCSCHED_ABI, .size = sizeof out};

	if (aucsched_cycle(handle, &in, &out) != AUCSCHED_OK) {
		aucsched_last_error(handle, text, sizeof text);
		fprintf(stderr, "aucsched_cycle: %s\n", text);
		return 1;
	}
	for (uint32_t j = 0; j < out.decisions_len; j++) {
		const struct aucsched_decision *d = &out.decisions[j];

		if (d->why != AUCSCHED_STARTS) {
			printf("J%u waits (why %d in aucsched.h)\n", (unsigned)j + 1, d->why);
			continue;
		}
		printf("J%u starts:", (unsigned)j + 1);
		for (uint32_t k = 0; k < d->segments; k++) {
			const struct aucsched_segment *s = &out.segments[d->first_segment + k];

			printf(" %u cores and %u GPUs on each of n%u-n%u", (unsigned)s->cores, (unsigned)s->gpus,
			       (unsigned)s->first + 1, (unsigned)s->last + 1);
		}
		printf("\n");
	}
	return aucsched_close(handle) == AUCSCHED_OK ? 0 : 1;
}
