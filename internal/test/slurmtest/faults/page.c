/* SPDX-License-Identifier: BSD-3-Clause */

/* The page that the test shares with this process: see faults.h. */
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static page_t *page;

/* What a daemon starts, a script for instance, inherits the variables and has no faults. */
static bool is_daemon(void)
{
	const char *name = program_invocation_short_name;

	return !strcmp(name, "slurmctld") || !strcmp(name, "slurmd") ||
		!strcmp(name, "slurmstepd");
}

__attribute__((constructor)) static void map_page(void)
{
	const char *path = getenv("AUCSCHED_FAULTS");
	void *memory;
	int fd;

	if (!path || !is_daemon() || ((fd = open(path, O_RDWR | O_CLOEXEC)) < 0))
		return;
	memory = mmap(NULL, sizeof(page_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory != MAP_FAILED)
		page = memory;
}

page_t *faults_page(void)
{
	return page;
}

void *faults_real(const char *name, const char *version)
{
	void *call = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	if (!call)
		call = dlsym(RTLD_NEXT, name);
	if (!call)
		abort();
	return call;
}
