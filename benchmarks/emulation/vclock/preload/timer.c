/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A timer of POSIX: see vclock.c. The kernel can't follow a rate that changes, so a timer goes
 * off when its moment may have come, and perhaps before that. Whoever has it must look at the
 * clock and set it again, as Slurm's conmgr does. What repeats does so at the rate at which it
 * was set.
 */
#include "inside.h"

static bool is_zero(const struct timespec *ts)
{
	return !ts->tv_sec && !ts->tv_nsec;
}

static bool is_span(const struct timespec *ts)
{
	return is_time(ts) && (ts->tv_sec >= 0);
}

static struct timespec scaled(const struct timespec *ts, int64_t by, int64_t from)
{
	__int128 ns = (__int128) time_ns(ts) * by / from;

	if (ns > INT64_MAX)
		ns = INT64_MAX;
	/* A timer of 0 would be off. */
	return ns_time((ns || is_zero(ts)) ? (int64_t) ns : 1);
}

PUBLIC int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict value,
			 struct itimerspec *restrict old)
{
	struct itimerspec real;
	instant_t now;
	int rc;

	if (!vclock_on() || !value || !is_span(&value->it_value) ||
	    !is_span(&value->it_interval))
		return libc.timer_settime(timer, flags, value, old);
	now = vclock_now();
	real.it_interval = scaled(&value->it_interval, 1000, now.rate_milli);
	real.it_value = value->it_value;
	if (!is_zero(&value->it_value)) {
		int64_t deadline = time_ns(&value->it_value), ns;

		if (!(flags & TIMER_ABSTIME))
			deadline = add_ns(now.virt, deadline);
		ns = vclock_part(&now, deadline);
		real.it_value = ns_time(ns ? ns : 1);
	}
	rc = libc.timer_settime(timer, flags & ~TIMER_ABSTIME, &real, old);
	if (!rc && old) {
		old->it_value = scaled(&old->it_value, now.rate_milli, 1000);
		old->it_interval = scaled(&old->it_interval, now.rate_milli, 1000);
	}
	return rc;
}
