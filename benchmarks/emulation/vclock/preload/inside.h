/* SPDX-License-Identifier: BSD-3-Clause */

/* What the files of vclock.so share: see vclock.c. */
#ifndef AUCSCHED_VCLOCK_INSIDE_H
#define AUCSCHED_VCLOCK_INSIDE_H

#define _GNU_SOURCE	/* so this header comes first */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>
#include <time.h>

#include "../vclock.h"

#define VCLOCK_VARIABLE "AUCSCHED_VCLOCK"
#define SECOND 1000000000LL
#define PUBLIC __attribute__((visibility("default")))

/* libc's own. The waits that take a clock stand for those that do not. */
typedef struct {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	int (*cond_signal)(pthread_cond_t *);
	int (*cond_broadcast)(pthread_cond_t *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
	int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*timedjoin)(pthread_t, void **, const struct timespec *);
	int (*clockjoin)(pthread_t, void **, clockid_t, const struct timespec *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
	int (*timer_settime)(timer_t, int, const struct itimerspec *, struct itimerspec *);
} libc_calls_t;

extern libc_calls_t libc;

/* Finds them; those that this libc has not stay as they are. */
void libc_find(libc_calls_t *calls);

/* One moment by both clocks, in nanoseconds, and the rate then. */
typedef struct {
	int64_t mono, virt;
	int64_t rate_milli, most_milli;
} instant_t;

/* Whether there is a page. Without, callers go to libc. */
bool vclock_on(void);

/* Async-signal-safe, allocates and locks nothing. Only if vclock_on(). */
instant_t vclock_now(void);

/*
 * RET the nanoseconds of real time that one may wait for a virtual moment before one has to
 * look again; 0 if it has come
 */
int64_t vclock_part(const instant_t *now, int64_t deadline);

/*
 * A wait until a moment of CLOCK_MONOTONIC, absolute. RET ETIMEDOUT when it has come, else
 * what ended the wait
 */
typedef int (*wait_until_t)(void *arg, const struct timespec *mono);

/*
 * Waits until the virtual time is deadline, or the wait ends for another reason. RET what the
 * wait says; never ETIMEDOUT before the deadline
 */
int vclock_wait(int64_t deadline, wait_until_t wait, void *arg);

/* RET whether the nanoseconds are within a second, as POSIX wants them */
static inline bool is_time(const struct timespec *ts)
{
	return ts && (ts->tv_nsec >= 0) && (ts->tv_nsec < SECOND);
}

/* In nanoseconds; what is too far away is as far as can be. */
static inline int64_t time_ns(const struct timespec *ts)
{
	if (ts->tv_sec >= INT64_MAX / SECOND)
		return INT64_MAX;
	if (ts->tv_sec <= INT64_MIN / SECOND)
		return INT64_MIN;
	return ts->tv_sec * SECOND + ts->tv_nsec;
}

static inline struct timespec ns_time(int64_t ns)
{
	return (struct timespec) { ns / SECOND, ns % SECOND };
}

/* Both at least 0. */
static inline int64_t add_ns(int64_t a, int64_t b)
{
	return (a > INT64_MAX - b) ? INT64_MAX : a + b;
}

#endif
