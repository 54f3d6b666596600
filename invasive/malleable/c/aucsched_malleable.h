/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job's side of the lines between a running job and an iHypervisor of aucsched, for jobs in C. The lines are described
 * in package invasive/malleable of aucsched. This file and aucsched_malleable.c need nothing but POSIX (and Linux's /proc
 * for paths of more than 100 bytes): copy both into your programme.
 *
 *	struct aucsched_job job;
 *	struct aucsched_change change;
 *	if (aucsched_open(&job) == 0)          // else nobody runs us who could change our cores
 *		for (;;) {
 *			work_for_a_while();    // then, where it is safe:
 *			if (aucsched_poll(&job, 0, &change) == 1) {
 *				use_threads(change.ncores, change.cpus);
 *				aucsched_done(&job, &change);
 *				aucsched_free(&change);
 *			}
 *		}
 *
 * Nothing here is safe for concurrent use: one thread has to do it all, or all under one lock.
 * BSD-3-Clause, as aucsched is.
 */
#ifndef AUCSCHED_MALLEABLE_H
#define AUCSCHED_MALLEABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct aucsched_job {
	int fd;            /* -1 while there is no connection */
	unsigned session;  /* counts connections */
	uint32_t want;     /* the last aucsched_want, or 0 */
	int64_t retry_ms;  /* when to connect again, on the monotonic clock */
	char *buf;         /* what came in, up to the next end of a line */
	size_t len, cap;
	char path[4096];
};

struct aucsched_change {
	uint32_t number;
	unsigned session;
	size_t ncores, ncpus;
	int *cores; /* of the partition, ascending */
	int *cpus;  /* of this host, ascending; where cores are oversubscribed these are fewer */
};

/* Finds the iHypervisor by the environment, and connects. 0, or -1 with errno ENOENT if no iHypervisor runs this
 * programme, or ENAMETOOLONG. If it can't connect now, aucsched_poll does it later. */
int aucsched_open(struct aucsched_job *job);

/* Waits up to timeout_ms (-1: for ever) for a change. Returns 1 and fills change, of several the newest; 0 if there is none;
 * -1 with errno ENOMEM. It makes a broken connection again, not more often than every half a second. */
int aucsched_poll(struct aucsched_job *job, int timeout_ms, struct aucsched_change *change);

/* Answers a change: no other cores are used any more, or: the job keeps what it has (why may be NULL). An answer to
 * a connection that is gone is dropped: the next one begins with a change. */
void aucsched_done(struct aucsched_job *job, const struct aucsched_change *change);
void aucsched_keep(struct aucsched_job *job, const struct aucsched_change *change, const char *why);

/* Wishes to have this many cores in all, from 1. */
void aucsched_want(struct aucsched_job *job, uint32_t cores);

/* Frees what a change points to. */
void aucsched_free(struct aucsched_change *change);

/* Ends the connection, and frees what job points to. */
void aucsched_close(struct aucsched_job *job);

#ifdef __cplusplus
}
#endif
#endif
