/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The page that all processes of an emulation share: what time it is there.
 *
 *	virtual = virt0 + (CLOCK_MONOTONIC - mono0) * rate_milli / 1000
 *
 * Times are nanoseconds, virtual ones since 1970. The page has one writer, which makes seq
 * odd while it changes the rest (clock.go, (*Clock).SetRate); readers try again.
 */
#ifndef AUCSCHED_VCLOCK_H
#define AUCSCHED_VCLOCK_H

#include <stdint.h>

#define VCLOCK_MAGIC 0x6b636f6c63637561ULL	/* "auccclok", little end first */
#define VCLOCK_PAGE 4096

struct vclock_page {
	uint64_t magic;
	uint64_t seq;
	int64_t mono0, virt0;
	int64_t rate_milli;	/* virtual seconds in a real one, times 1000 */
	int64_t most_milli;	/* that rate_milli will ever be */
};

#endif
