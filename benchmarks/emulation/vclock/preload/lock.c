/* SPDX-License-Identifier: BSD-3-Clause */

/* Waits for other threads: see vclock.c. */
#include "inside.h"

#include <errno.h>

/*
 * How often conditions have been signalled, by their address. A wait that is cut into
 * parts is no waiter between two of them, and a signal is lost on it then; so after a part it
 * looks here, and if there was one, it is a wake-up, perhaps a spurious one. What is left:
 * a signal sent without the lock, just while the wait goes from one part to the
 * next, is noticed only at the end of the next part, a second later at most.
 */
#define SIGNALS 16384
#define LOST_NS SECOND
static uint32_t signals[SIGNALS];

static uint32_t *signals_of(const pthread_cond_t *cond)
{
	return &signals[((uintptr_t) cond / 16) % SIGNALS];
}

PUBLIC int pthread_cond_signal(pthread_cond_t *cond)
{
	if (vclock_on())
		__atomic_add_fetch(signals_of(cond), 1, __ATOMIC_SEQ_CST);
	return libc.cond_signal(cond);
}

PUBLIC int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (vclock_on())
		__atomic_add_fetch(signals_of(cond), 1, __ATOMIC_SEQ_CST);
	return libc.cond_broadcast(cond);
}

typedef struct {
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	uint32_t seen;		/* signals at the beginning */
	bool again;		/* not the first part */
} cond_wait_t;

static int wait_cond(void *arg, const struct timespec *mono)
{
	cond_wait_t *w = arg;
	struct timespec until = *mono, soon;
	int rc;

	if (w->again) {
		libc.clock_gettime(CLOCK_MONOTONIC, &soon);
		soon.tv_sec += LOST_NS / SECOND;
		if ((soon.tv_sec < until.tv_sec) ||
		    ((soon.tv_sec == until.tv_sec) && (soon.tv_nsec < until.tv_nsec)))
			until = soon;
	}
	w->again = true;
	rc = libc.cond_clockwait(w->cond, w->mutex, CLOCK_MONOTONIC, &until);
	if ((rc == ETIMEDOUT) &&
	    (__atomic_load_n(signals_of(w->cond), __ATOMIC_SEQ_CST) != w->seen))
		return 0;
	return rc;
}

static int cond_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline)
{
	cond_wait_t w = {
		.cond = cond,
		.mutex = mutex,
		.seen = __atomic_load_n(signals_of(cond), __ATOMIC_SEQ_CST),
	};

	return vclock_wait(deadline, wait_cond, &w);
}

PUBLIC int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict time)
{
	if (!vclock_on() || !is_time(time))
		return libc.cond_timedwait(cond, mutex, time);
	return cond_until(cond, mutex, time_ns(time));
}

PUBLIC int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  clockid_t clock, const struct timespec *restrict time)
{
	if (!vclock_on() || !is_time(time) ||
	    ((clock != CLOCK_REALTIME) && (clock != CLOCK_MONOTONIC)))
		return libc.cond_clockwait(cond, mutex, clock, time);
	return cond_until(cond, mutex, time_ns(time));
}

static int wait_mutex(void *mutex, const struct timespec *mono)
{
	return libc.mutex_clocklock(mutex, CLOCK_MONOTONIC, mono);
}

PUBLIC int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				   const struct timespec *restrict time)
{
	if (!vclock_on() || !is_time(time))
		return libc.mutex_timedlock(mutex, time);
	return vclock_wait(time_ns(time), wait_mutex, mutex);
}

typedef struct {
	pthread_t thread;
	void **result;
} join_t;

static int wait_join(void *arg, const struct timespec *mono)
{
	join_t *join = arg;

	return libc.clockjoin(join->thread, join->result, CLOCK_MONOTONIC, mono);
}

PUBLIC int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
	join_t join = { thread, result };

	/* Without a time it is pthread_join(). */
	if (!vclock_on() || !is_time(time))
		return libc.timedjoin(thread, result, time);
	return vclock_wait(time_ns(time), wait_join, &join);
}

static int wait_sem(void *sem, const struct timespec *mono)
{
	return libc.sem_clockwait(sem, CLOCK_MONOTONIC, mono) ? errno : 0;
}

PUBLIC int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict time)
{
	int saved = errno, rc;

	if (!vclock_on() || !is_time(time))
		return libc.sem_timedwait(sem, time);
	if ((rc = vclock_wait(time_ns(time), wait_sem, sem))) {
		errno = rc;
		return -1;
	}
	errno = saved;
	return 0;
}
