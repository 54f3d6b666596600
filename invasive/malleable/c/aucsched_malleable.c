/* SPDX-License-Identifier: BSD-3-Clause */

/* See aucsched_malleable.h. BSD-3-Clause. */
#define _GNU_SOURCE
#include "aucsched_malleable.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 1 << 20, MAX_CORES = 1 << 24, RETRY_MS = 500 };

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void lose(struct aucsched_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	job->len = 0;
	job->retry_ms = now_ms() + RETRY_MS;
}

/* say sends a line; a job that can't is connected again later. */
static void say(struct aucsched_job *job, const char *line)
{
	size_t len = strlen(line);

	if (job->fd >= 0 && send(job->fd, line, len, MSG_NOSIGNAL) != (ssize_t)len)
		lose(job);
}

static void say_number(struct aucsched_job *job, const char *verb, uint32_t number)
{
	char line[64];

	snprintf(line, sizeof line, "%s %lu\n", verb, (unsigned long)number);
	say(job, line);
}

/* address puts a path into a socket's address; a long one by way of its directory, which is left open in *dir. */
static int address(const char *path, struct sockaddr_un *a, int *dir)
{
	const char *slash = strrchr(path, '/');
	char parent[4096];

	*dir = -1;
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	if (strlen(path) < sizeof a->sun_path) {
		memcpy(a->sun_path, path, strlen(path));
		return 0;
	}
	if (slash == NULL || strlen(slash) > 64)
		return -1;
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = 0;
	if ((*dir = open(parent, O_DIRECTORY | O_RDONLY | O_CLOEXEC)) < 0)
		return -1;
	snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d%.65s", *dir, slash);
	return 0;
}

static void try_connect(struct aucsched_job *job)
{
	struct sockaddr_un a;
	int dir, ok;

	if ((job->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0) {
		lose(job);
		return;
	}
	ok = address(job->path, &a, &dir) == 0 && connect(job->fd, (struct sockaddr *)&a, sizeof a) == 0;
	if (dir >= 0)
		close(dir);
	if (!ok) {
		lose(job);
		return;
	}
	job->session++;
	say(job, "hello 1\n");
	if (job->want > 0)
		say_number(job, "want", job->want);
}

int aucsched_open(struct aucsched_job *job)
{
	const char *path = getenv("AUCSCHED_INVASIVE");

	memset(job, 0, sizeof *job);
	job->fd = -1;
	if (path == NULL || *path == 0) {
		errno = ENOENT;
		return -1;
	}
	if (strlen(path) >= sizeof job->path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(job->path, path, strlen(path) + 1);
	try_connect(job);
	return 0;
}

/* number reads digits; -1 if there are none, or they say more than most. */
static long number(const char **s, long most)
{
	long n = 0;

	if (!isdigit((unsigned char)**s))
		return -1;
	for (; isdigit((unsigned char)**s); (*s)++)
		if ((n = 10 * n + (**s - '0')) > most)
			return -1;
	return n;
}

/* list reads 0-3,6 up to the character end. It returns 0, -1 if it isn't a list, -2 without memory. */
static int list(const char **s, char end, int **out, size_t *n)
{
	size_t cap = 0;
	long from, to, last = -1;

	for (;; (*s)++) {
		from = to = number(s, MAX_CORES - 1);
		if (from >= 0 && **s == '-') {
			(*s)++;
			to = number(s, MAX_CORES - 1);
		}
		if (from <= last || to < from)
			return -1;
		if (*n + (size_t)(to - from + 1) > cap) {
			size_t want = 2 * (*n + (size_t)(to - from + 1));
			int *more = realloc(*out, want * sizeof **out);
			if (more == NULL)
				return -2;
			*out = more;
			cap = want;
		}
		for (; from <= to; from++)
			(*out)[(*n)++] = (int)from;
		last = to;
		if (**s == end)
			return 0;
		if (**s != ',')
			return -1;
	}
}

static int parse(const char *line, struct aucsched_change *c)
{
	long n;
	int err;

	memset(c, 0, sizeof *c);
	if (strncmp(line, "cores ", 6) != 0)
		return -1;
	line += 6;
	if ((n = number(&line, 4294967295L)) < 0 || *line++ != ' ')
		return -1;
	c->number = (uint32_t)n;
	if ((err = list(&line, ' ', &c->cores, &c->ncores)) == 0) {
		line++;
		err = list(&line, 0, &c->cpus, &c->ncpus);
	}
	if (err != 0)
		aucsched_free(c);
	return err;
}

/* take gives the newest of the lines that have come in: 1, 0 if there is none, -1 without memory. */
static int take(struct aucsched_job *job, struct aucsched_change *change)
{
	struct aucsched_change c;
	int got = 0;
	char *end;

	while (job->len > 0 && (end = memchr(job->buf, '\n', job->len)) != NULL) {
		int err;
		*end = 0;
		err = strlen(job->buf) == (size_t)(end - job->buf) ? parse(job->buf, &c) : -1;
		job->len -= (size_t)(end + 1 - job->buf);
		memmove(job->buf, end + 1, job->len);
		if (err == 0) {
			if (got)
				aucsched_free(change);
			*change = c;
			change->session = job->session;
			got = 1;
			continue;
		}
		if (got)
			aucsched_free(change);
		lose(job); /* bye, or something else */
		errno = ENOMEM;
		return err == -2 ? -1 : 0;
	}
	return got;
}

/* fill reads what there is. */
static int fill(struct aucsched_job *job)
{
	ssize_t n;

	if (job->cap - job->len < 4096) {
		char *more = job->cap >= MAX_LINE ? NULL : realloc(job->buf, 2 * job->cap + 8192);
		if (more == NULL) {
			int full = job->cap >= MAX_LINE;
			lose(job);
			errno = ENOMEM;
			return full ? 0 : -1;
		}
		job->buf = more;
		job->cap = 2 * job->cap + 8192;
	}
	n = recv(job->fd, job->buf + job->len, job->cap - job->len, MSG_DONTWAIT);
	if (n > 0)
		job->len += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		lose(job);
	return 0;
}

int aucsched_poll(struct aucsched_job *job, int timeout_ms, struct aucsched_change *change)
{
	int64_t until = timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;

	for (;;) {
		int64_t now = now_ms(), left;
		struct pollfd p;
		int got;

		if (job->fd < 0 && now >= job->retry_ms)
			try_connect(job);
		if (job->fd >= 0 && fill(job) < 0)
			return -1;
		if ((got = take(job, change)) != 0)
			return got;
		now = now_ms();
		if (now >= until)
			return 0;
		left = until - now < 60000 ? until - now : 60000;
		if (job->fd < 0 && job->retry_ms - now < left)
			left = job->retry_ms > now ? job->retry_ms - now : 0;
		p.fd = job->fd;
		p.events = POLLIN;
		p.revents = 0;
		poll(&p, 1, (int)left);
	}
}

void aucsched_done(struct aucsched_job *job, const struct aucsched_change *change)
{
	if (change->session == job->session)
		say_number(job, "done", change->number);
}

void aucsched_keep(struct aucsched_job *job, const struct aucsched_change *change, const char *why)
{
	char line[256];
	int i, n;

	if (change->session != job->session)
		return;
	n = snprintf(line, sizeof line, "keep %lu", (unsigned long)change->number);
	if (why != NULL && *why != 0) {
		line[n++] = ' ';
		for (i = 0; why[i] != 0 && i < 200; i++) /* plain ASCII, so that no character is cut in two */
			line[n++] = why[i] >= ' ' && why[i] < 127 ? why[i] : '?';
	}
	line[n++] = '\n';
	line[n] = 0;
	say(job, line);
}

void aucsched_want(struct aucsched_job *job, uint32_t cores)
{
	if (cores == 0 || cores > MAX_CORES)
		return;
	job->want = cores;
	say_number(job, "want", cores);
}

void aucsched_free(struct aucsched_change *change)
{
	free(change->cores);
	free(change->cpus);
	memset(change, 0, sizeof *change);
}

void aucsched_close(struct aucsched_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	free(job->buf);
	job->buf = NULL;
	job->len = job->cap = 0;
}
