/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A slurmctld that is slow while a file is there. $AUCSCHED_LATE: it waits until that is gone before it
 * connects to srun or salloc, whose ports are those that the system gives out.
 * $AUCSCHED_LATE_CONF: it waits 0.3 s before it opens slurm.conf, and its agents wait 40 ms before they begin
 * to send.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	static int (*real)(int, const struct sockaddr *, socklen_t);
	const char *file = getenv("AUCSCHED_LATE");

	if (!real)
		real = (int (*)(int, const struct sockaddr *, socklen_t)) dlsym(RTLD_NEXT, "connect");
	if (file && (addr->sa_family == AF_INET) &&
	    (ntohs(((const struct sockaddr_in *) addr)->sin_port) >= 32768))
		while (!access(file, F_OK))
			usleep(10000);
	return real(fd, addr, len);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
	static FILE *(*real)(const char *, const char *);
	const char *file = getenv("AUCSCHED_LATE_CONF"), *name = strrchr(path, '/');

	if (!real)
		real = (FILE *(*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
	if (file && name && !strcmp(name, "/slurm.conf") && !access(file, F_OK))
		usleep(300000);
	return real(path, mode);
}

int sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
{
	static int (*real)(int, const struct sigaction *, struct sigaction *);
	const char *file = getenv("AUCSCHED_LATE_CONF");

	if (!real)
		real = (int (*)(int, const struct sigaction *, struct sigaction *)) dlsym(RTLD_NEXT, "sigaction");
	if (file && (number == SIGUSR1) && !access(file, F_OK))	/* the first thing that an agent does */
		usleep(40000);
	return real(number, new, old);
}
