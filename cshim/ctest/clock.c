/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One cycle that nothing but its deadline ends. Prints the deadline, the time that the cycle took
 * by the library, by libc's clock and by the kernel's, in microseconds, and whether it was cut short.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "aucsched.h"

#define NODES 1000
#define JOBS 400
#define DEADLINE_MS 60000

static int64_t us(const struct timespec *t) { return t->tv_sec * 1000000LL + t->tv_nsec / 1000; }

static int64_t libc_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return us(&t);
}

static int64_t kernel_us(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return us(&t);
}

int main(void)
{
	static struct aucsched_node nodes[NODES];
	static struct aucsched_job jobs[JOBS];
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .nodes_len = NODES, .jobs_len = JOBS,
		.mask_words = (NODES + 63) / 64, .nodes = nodes, .jobs = jobs};
	struct aucsched_output out = {.abi = AUCSCHED_ABI, .size = sizeof out};
	char settings[200], err[200];
	int64_t h, libc, kernel;

	srand(1);
	for (int n = 0; n < NODES; n++)
		nodes[n] = (struct aucsched_node){.cores = 16, .free_cores = (uint16_t)(rand() % 16 + 1), .gpus = 2, .free_gpus = (uint8_t)(rand() % 3), .up = 1};
	for (int j = 0; j < JOBS; j++)
		jobs[j] = (struct aucsched_job){.priority = 2000 - j, .cores = 40 + 13 * (rand() % 9), .min_nodes = 10, .time_limit = 50, .min_gpus = (uint8_t)(j % 2), .max_gpus = 2, .mask = -1};
	snprintf(settings, sizeof settings, "preset=none deadline_ms=%d work=0 window=%d bids=100 reservations=0", DEADLINE_MS, JOBS);
	if ((h = aucsched_open(settings, err, sizeof err)) <= 0) {
		fprintf(stderr, "%s: %s\n", settings, err);
		return 1;
	}
	libc = libc_us();
	kernel = kernel_us();
	if (aucsched_cycle(h, &in, &out) != AUCSCHED_OK) {
		aucsched_last_error(h, err, sizeof err);
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	libc = libc_us() - libc;
	kernel = kernel_us() - kernel;
	printf("%d %u %lld %lld %d\n", 1000 * DEADLINE_MS, out.cycle_us, (long long)libc, (long long)kernel, out.late);
	return aucsched_close(h) != AUCSCHED_OK;
}
