// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import "time"

/*
#include <stdint.h>
#include <time.h>

static int64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}
*/
import "C"

// now is the process's monotonic clock by its libc; only differences mean anything. Go's own clock
// asks the kernel. A library that stands in for libc's clock would then reach the caller and not
// us: deadlines and cycle_us would be of different times.
func now() time.Time { return time.Unix(0, int64(C.monotonic_ns())) }
