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

// now is the process's monotonic clock, whatever its libc says that is: only differences of
// it mean anything. Go's own clock asks the kernel, past libc, so that a library that stands
// in for libc's clock would reach the caller and not us: a deadline would be one of another time
// than the caller's, and what the caller measures could not be compared with cycle_us.
func now() time.Time { return time.Unix(0, int64(C.monotonic_ns())) }
