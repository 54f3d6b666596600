/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A wall clock that was set: see faults.h. The monotonic clock goes on, and so do
 * CLOCK_TAI and the times of files, which are the kernel's.
 *
 * Who waits until a moment of the wall clock waits as under a kernel whose clock is set
 * meanwhile: an hour longer if it was set back by one. If it was set forward, the wait
 * that is under way goes on to its end.
 */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

/* Bit of a condition's references, in glibc: its clock is the monotonic one. */
#define COND_MONOTONIC 2

static int64_t shift(void)
{
	page_t *page = faults_page();

	return page ? __atomic_load_n(&page->shift_s, __ATOMIC_ACQUIRE) : 0;
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc;

	REAL(clock_gettime, NULL);
	rc = real(clock, ts);
	if (!rc && ((clock == CLOCK_REALTIME) || (clock == CLOCK_REALTIME_COARSE)))
		ts->tv_sec += shift();
	return rc;
}

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (zone)
		*(struct timezone *) zone = (struct timezone) { 0 };
	*tv = (struct timeval) { ts.tv_sec, ts.tv_nsec / 1000 };
	return 0;
}

PUBLIC time_t time(time_t *seconds)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (seconds)
		*seconds = ts.tv_sec;
	return ts.tv_sec;
}

/* A moment of the shifted clock, by the kernel's. */
static struct timespec by_kernel(const struct timespec *moment)
{
	struct timespec ts = *moment;

	ts.tv_sec -= shift();
	return ts;
}

/* Whether a moment has come. */
static bool has_come(const struct timespec *moment)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec > moment->tv_sec) ||
		((now.tv_sec == moment->tv_sec) && (now.tv_nsec >= moment->tv_nsec));
}

PUBLIC int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict until)
{
	struct timespec kernel;
	int rc;

	REAL(pthread_cond_timedwait, "GLIBC_2.3.2");
	if (cond->__data.__wrefs & COND_MONOTONIC)
		return real(cond, mutex, until);
	do {
		kernel = by_kernel(until);
		rc = real(cond, mutex, &kernel);
	} while ((rc == ETIMEDOUT) && !has_come(until));
	return rc;
}

PUBLIC int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				   const struct timespec *restrict until)
{
	struct timespec kernel;
	int rc;

	REAL(pthread_mutex_timedlock, NULL);
	do {
		kernel = by_kernel(until);
		rc = real(mutex, &kernel);
	} while ((rc == ETIMEDOUT) && !has_come(until));
	return rc;
}

PUBLIC int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
	struct timespec kernel;
	int rc;

	REAL(sem_timedwait, NULL);
	do {
		kernel = by_kernel(until);
		rc = real(sem, &kernel);
	} while (rc && (errno == ETIMEDOUT) && !has_come(until));
	return rc;
}
