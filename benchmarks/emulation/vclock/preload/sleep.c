/* SPDX-License-Identifier: BSD-3-Clause */

/* Sleeps: see vclock.c. */
#include "inside.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static int nap(void *arg, const struct timespec *mono)
{
	int rc = libc.clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, mono, NULL);

	(void) arg;
	return rc ? rc : ETIMEDOUT;
}

/* RET 0, or EINTR with what is left of the time */
static int sleep_until(int64_t deadline, int64_t *left)
{
	int rc = vclock_wait(deadline, nap, NULL);

	*left = 0;
	if (rc == ETIMEDOUT)
		return 0;
	*left = deadline - vclock_now().virt;
	if (*left < 0)
		*left = 0;
	return rc;
}

/* RET 0, or EINTR with what is left of the nanoseconds */
static int sleep_ns(int64_t ns, int64_t *left)
{
	return sleep_until(add_ns(vclock_now().virt, ns), left);
}

/* RET 0, or -1 and errno */
static int with_errno(int rc)
{
	if (!rc)
		return 0;
	errno = rc;
	return -1;
}

/* The clocks whose sleeps are not ours: libc sleeps, or says why not. */
static bool is_cpu_time(clockid_t clock)
{
	return (clock < 0) || (clock == CLOCK_PROCESS_CPUTIME_ID) ||
		(clock == CLOCK_THREAD_CPUTIME_ID);
}

PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rest)
{
	int64_t left;
	int rc;

	if (!vclock_on() || is_cpu_time(clock) || !is_time(time) || (time->tv_sec < 0))
		return libc.clock_nanosleep(clock, flags, time, rest);
	if (flags & TIMER_ABSTIME)
		return sleep_until(time_ns(time), &left);
	rc = sleep_ns(time_ns(time), &left);
	if (rc && rest)
		*rest = ns_time(left);
	return rc;
}

/* libc's own nanosleep is one of CLOCK_REALTIME, which Linux measures as the monotonic. */
PUBLIC int nanosleep(const struct timespec *time, struct timespec *rest)
{
	return with_errno(clock_nanosleep(CLOCK_REALTIME, 0, time, rest));
}

PUBLIC int usleep(useconds_t us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	return nanosleep(&ts, NULL);
}

PUBLIC unsigned sleep(unsigned seconds)
{
	struct timespec left = { seconds, 0 };
	int saved = errno;

	if (!clock_nanosleep(CLOCK_REALTIME, 0, &left, &left)) {
		errno = saved;
		return 0;
	}
	return left.tv_sec + (left.tv_nsec ? 1 : 0);
}

PUBLIC int poll(struct pollfd *fds, nfds_t n, int ms)
{
	int64_t left;

	if (n || (ms <= 0) || !vclock_on())
		return libc.poll(fds, n, ms);
	return with_errno(sleep_ns(ms * 1000000LL, &left));
}

PUBLIC int select(int n, fd_set *restrict read, fd_set *restrict write,
		  fd_set *restrict except, struct timeval *restrict time)
{
	struct timespec ts;
	int64_t left;
	int rc;

	if (n || !time || (time->tv_sec < 0) || (time->tv_usec < 0) || !vclock_on())
		return libc.select(n, read, write, except, time);
	ts = (struct timespec) { time->tv_sec, 0 };
	rc = sleep_ns(add_ns(time_ns(&ts), time->tv_usec * 1000LL), &left);
	*time = (struct timeval) { left / SECOND, left % SECOND / 1000 };
	return with_errno(rc);
}
