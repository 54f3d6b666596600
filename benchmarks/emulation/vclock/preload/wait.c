/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long a wait for a virtual moment is to take in real time, when the rate may change
 * meanwhile: see inside.h.
 *
 * A wait is cut so that no part ends after the moment, were the rate from now on the
 * most that it will ever be; but parts shorter than LEAST_NS are not made, and by so
 * much a wait may be late after the rate has risen. At the most of rates there is one part.
 */
#include "inside.h"

#include <errno.h>

#define LEAST_NS 1000000

/* Rounded up: a wait that is short by a nanosecond would be followed by another. */
static int64_t real_ns(int64_t virt, int64_t rate_milli)
{
	__int128 ns = ((__int128) virt * 1000 + rate_milli - 1) / rate_milli;

	return (ns > INT64_MAX) ? INT64_MAX : (int64_t) ns;
}

int64_t vclock_part(const instant_t *now, int64_t deadline)
{
	int64_t left, whole, safe;

	if (deadline <= now->virt)
		return 0;
	left = deadline - now->virt;
	whole = real_ns(left, now->rate_milli);
	safe = real_ns(left, now->most_milli);
	if (safe < LEAST_NS)
		safe = LEAST_NS;
	return (whole < safe) ? whole : safe;
}

int vclock_wait(int64_t deadline, wait_until_t wait, void *arg)
{
	instant_t now = vclock_now();
	struct timespec until;
	int rc;

	do {
		int64_t left = vclock_part(&now, deadline);

		until = ns_time(add_ns(now.mono, left));
		rc = wait(arg, &until);
		if (rc != ETIMEDOUT)
			return rc;
		now = vclock_now();
	} while (now.virt < deadline);
	return ETIMEDOUT;
}
