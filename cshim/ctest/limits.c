/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a process can't have any more: once the library is loaded no thread can be started, and cycles go on all the
 * same. A cycle that may take more memory than memory_mb allows is refused, and the process lives.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aucsched.h"

#define NODES 200
#define JOBS 3000
#define CALLERS 4

static int deny, denied, made;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (__atomic_load_n(&deny, __ATOMIC_SEQ_CST)) {
		__atomic_add_fetch(&denied, 1, __ATOMIC_SEQ_CST);
		return EAGAIN;
	}
	__atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST);
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, arg);
}

static struct aucsched_node nodes[NODES];
static struct aucsched_job jobs[JOBS];

static int cycle(int64_t handle, const char *settings, struct aucsched_output *out)
{
	struct aucsched_input in;

	memset(&in, 0, sizeof(in));
	memset(out, 0, sizeof(*out));
	in.abi = out->abi = AUCSCHED_ABI;
	in.size = sizeof(in);
	out->size = sizeof(*out);
	in.now = 1000;
	in.nodes = nodes;
	in.nodes_len = NODES;
	in.jobs = jobs;
	in.jobs_len = JOBS;
	if (aucsched_configure(handle, settings) != AUCSCHED_OK)
		return 1;
	return aucsched_cycle(handle, &in, out);
}

/* A caller's thread, which is there before no other can be: some cycles on a handle of its own. */
static void *call(void *arg)
{
	struct aucsched_output out;
	char error[300] = "";
	int64_t handle;

	(void)arg;
	while (!__atomic_load_n(&deny, __ATOMIC_SEQ_CST))
		sched_yield();
	handle = aucsched_open("", error, sizeof(error));
	for (int i = 0; i < 4; i++) {
		int code = cycle(handle, "work=3000000 deadline_ms=400", &out);

		if (code != AUCSCHED_OK || out.starts == 0) {
			aucsched_last_error(handle, error, sizeof(error));
			printf("cycle %d: %d, %u start: %s\n", i, code, out.starts, error);
			return "failed";
		}
	}
	return aucsched_close(handle) == AUCSCHED_OK ? NULL : "failed";
}

int main(void)
{
	pthread_t callers[CALLERS];
	char error[300] = "";
	void *failed;
	struct aucsched_output out;
	int64_t handle;
	int code;

	for (int i = 0; i < NODES; i++) {
		nodes[i].cores = nodes[i].free_cores = 64;
		nodes[i].up = 1;
	}
	for (int i = 0; i < JOBS; i++) {
		jobs[i].cores = 8 + i % 300 * 3;
		jobs[i].time_limit = 3600 + i;
		jobs[i].mask = -1;
		jobs[i].priority = 10000 - i;
	}
	aucsched_abi(); /* the library is loaded */
	sleep(2);       /* on a busy machine its threads come to rest late, and can't be used before */
	for (int i = 0; i < CALLERS; i++)
		if (pthread_create(&callers[i], NULL, call, NULL) != 0)
			return 1;
	__atomic_store_n(&deny, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < CALLERS; i++)
		if (pthread_join(callers[i], &failed) != 0 || failed != NULL)
			return 1;
	handle = aucsched_open("", error, sizeof(error));
	code = cycle(handle, "memory_mb=8", &out);
	aucsched_last_error(handle, error, sizeof(error));
	if (code != AUCSCHED_EINVAL || strncmp(error, "memory_mb: 8: arrays of these lengths may take ", 47) != 0) {
		printf("memory: %d: %s\n", code, error);
		return 1;
	}
	if (cycle(handle, "memory_mb=0", &out) != AUCSCHED_OK)
		return 1;
	printf("all is well: %d threads were made, %d denied\n", made, denied);
	return aucsched_close(handle) != AUCSCHED_OK;
}
