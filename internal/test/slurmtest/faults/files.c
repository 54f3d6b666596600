/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls on files that are slow, or fail: see faults.h. */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t get(const int64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

/* The fault of a kind of calls; NULL if there is none now. */
static op_t *op_of(int kind)
{
	page_t *page = faults_page();

	if (!page || !get(&page->ops[kind].on))
		return NULL;
	return &page->ops[kind];
}

static bool is_meant(const op_t *op, const char *path)
{
	const char *dir = faults_page()->dir;

	return path && !strncmp(path, dir, strlen(dir)) &&
		strstr(path + strlen(dir), op->name);
}

static bool fd_is_meant(const op_t *op, int fd)
{
	char link[64], path[PATH_MAX + 1];
	int saved = errno;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX);
	errno = saved;
	if (len < 0)
		return false;
	path[len] = '\0';
	return is_meant(op, path);
}

/* Takes the fault's time; it is over as soon as the fault is. */
static void pause_for(const op_t *op, int64_t us)
{
	const int64_t slice_us = 50000;

	while ((us > 0) && get(&op->on)) {
		int64_t part = (us < slice_us) ? us : slice_us;
		struct timespec left = { 0, part * 1000 };

		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
			;
		us -= part;
	}
}

/* A call that the fault is for. RET whether it is to fail; errno says how */
static bool strike(op_t *op)
{
	int64_t call = __atomic_fetch_add(&op->calls, 1, __ATOMIC_SEQ_CST);
	int64_t skip = get(&op->skip), times = get(&op->times);
	int64_t delay_us = get(&op->delay_us), error = get(&op->error);
	int saved = errno;

	if ((call < skip) || (times && (call >= skip + times)))
		return false;
	__atomic_fetch_add(&op->hits, 1, __ATOMIC_SEQ_CST);
	if (delay_us)
		pause_for(op, delay_us);
	errno = error ? (int) error : saved;
	return error != 0;
}

static bool path_fails(int kind, const char *path)
{
	op_t *op = op_of(kind);

	return op && is_meant(op, path) && strike(op);
}

static bool fd_fails(int kind, int fd)
{
	op_t *op = op_of(kind);

	return op && fd_is_meant(op, fd) && strike(op);
}

static mode_t mode_of(int flags, va_list rest)
{
	return (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)							\
	PUBLIC int name(const char *path, int flags, ...)		\
	{								\
		va_list rest;						\
		mode_t mode;						\
									\
		REAL(name, NULL);					\
		va_start(rest, flags);					\
		mode = mode_of(flags, rest);				\
		va_end(rest);						\
		return path_fails(OP_OPEN, path) ? -1 : real(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

#define CREAT(name)							\
	PUBLIC int name(const char *path, mode_t mode)			\
	{								\
		REAL(name, NULL);					\
		return path_fails(OP_OPEN, path) ? -1 : real(path, mode); \
	}
CREAT(creat)
CREAT(creat64)

#define FOPEN(name)							\
	PUBLIC FILE *name(const char *restrict path, const char *restrict mode) \
	{								\
		REAL(name, NULL);					\
		return path_fails(OP_OPEN, path) ? NULL : real(path, mode); \
	}
FOPEN(fopen)
FOPEN(fopen64)

PUBLIC ssize_t write(int fd, const void *data, size_t len)
{
	op_t *op = op_of(OP_WRITE);
	int64_t part;

	REAL(write, NULL);
	if (!op || !fd_is_meant(op, fd) || !strike(op))
		return real(fd, data, len);
	part = get(&op->part);
	return ((part > 0) && ((size_t) part < len)) ? real(fd, data, part) : -1;
}

PUBLIC int fsync(int fd)
{
	REAL(fsync, NULL);
	return fd_fails(OP_FSYNC, fd) ? -1 : real(fd);
}

PUBLIC int fdatasync(int fd)
{
	REAL(fdatasync, NULL);
	return fd_fails(OP_FSYNC, fd) ? -1 : real(fd);
}

PUBLIC int link(const char *from, const char *to)
{
	REAL(link, NULL);
	return path_fails(OP_LINK, to) ? -1 : real(from, to);
}

PUBLIC int unlink(const char *path)
{
	REAL(unlink, NULL);
	return path_fails(OP_UNLINK, path) ? -1 : real(path);
}

PUBLIC int rename(const char *from, const char *to)
{
	REAL(rename, NULL);
	return path_fails(OP_RENAME, to) ? -1 : real(from, to);
}

#define STAT(name, type)						\
	PUBLIC int name(const char *restrict path, struct type *restrict to) \
	{								\
		REAL(name, NULL);					\
		return path_fails(OP_STAT, path) ? -1 : real(path, to);	\
	}
STAT(stat, stat)
STAT(stat64, stat64)

#define FSTAT(name, type)						\
	PUBLIC int name(int fd, struct type *to)			\
	{								\
		REAL(name, NULL);					\
		return fd_fails(OP_STAT, fd) ? -1 : real(fd, to);	\
	}
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

PUBLIC int access(const char *path, int mode)
{
	REAL(access, NULL);
	return path_fails(OP_STAT, path) ? -1 : real(path, mode);
}
