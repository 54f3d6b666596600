/* SPDX-License-Identifier: BSD-3-Clause */

// What this package calls of HiGHS's C interface itself. HiGHS's own header is not
// included: some versions define constants in it, which can be done only once.

#ifndef AUCSCHED_NATIVE_H
#define AUCSCHED_NATIVE_H

#include <stdint.h>

typedef struct {
	double bound;
	int64_t nodes;
} aucsched_info;

// aucsched_watch has improving solutions and progress of the search reported to self, a
// cgo.Handle. Not 0: failed.
int aucsched_watch(void *highs, uintptr_t self);

// aucsched_start hands over a solution to begin with, of one value a column.
int aucsched_start(void *highs, const double *values);

// aucsched_get fills info with the bound and the nodes of a search that has ended.
// The bound is -infinity where there is none.
void aucsched_get(void *highs, aucsched_info *info);

#endif
