/* SPDX-License-Identifier: BSD-3-Clause */

/* What time it is: see vclock.c. */
#include "inside.h"

#include <stddef.h>
#include <sys/time.h>

static bool is_scaled(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return true;
	default:
		return false;
	}
}

static struct timespec now(void)
{
	struct timespec ts;

	if (vclock_on())
		return ns_time(vclock_now().virt);
	libc.clock_gettime(CLOCK_REALTIME, &ts);
	return ts;
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!vclock_on() || !is_scaled(clock))
		return libc.clock_gettime(clock, ts);
	*ts = ns_time(vclock_now().virt);
	return 0;
}

PUBLIC int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts = now();

	if (zone)
		*(struct timezone *) zone = (struct timezone) { 0 };
	*tv = (struct timeval) { ts.tv_sec, ts.tv_nsec / 1000 };
	return 0;
}

PUBLIC time_t time(time_t *seconds)
{
	struct timespec ts = now();

	if (seconds)
		*seconds = ts.tv_sec;
	return ts.tv_sec;
}
