/* SPDX-License-Identifier: BSD-3-Clause */

//go:build highs

#include "native.h"

#include <math.h>
#include <stddef.h>

#include <lp_data/HighsCallbackStruct.h>

#include "_cgo_export.h"

extern HighsInt Highs_setCallback(void *, HighsCCallbackType, void *);
extern HighsInt Highs_startCallback(void *, HighsInt);
extern HighsInt Highs_setSolution(void *, const double *, const double *, const double *, const double *);
extern HighsInt Highs_getDoubleInfoValue(const void *, const char *, double *);
extern HighsInt Highs_getInt64InfoValue(const void *, const char *, int64_t *);

// kHighsCallbackMipImprovingSolution and kHighsCallbackMipInterrupt.
enum { improving_solution = 4, interrupt = 6 };

static void watch(int type, const char *message, const HighsCallbackDataOut *out, HighsCallbackDataIn *in, void *self) {
	(void)message;
	int stop = 0;
	if (type == improving_solution && out->mip_solution != NULL)
		stop = aucschedImproved((uintptr_t)self, out->mip_solution);
	else if (type == interrupt)
		stop = aucschedProgress((uintptr_t)self, out->mip_dual_bound, out->mip_node_count, out->mip_total_lp_iterations);
	// Only the interrupt callback may ask for an end.
	if (stop && type == interrupt && in != NULL)
		in->user_interrupt = 1;
}

int aucsched_watch(void *highs, uintptr_t self) {
	if (Highs_setCallback(highs, watch, (void *)self) < 0)
		return -1;
	if (Highs_startCallback(highs, improving_solution) < 0)
		return -1;
	return Highs_startCallback(highs, interrupt) < 0 ? -1 : 0;
}

int aucsched_start(void *highs, const double *values) {
	return (int)Highs_setSolution(highs, values, NULL, NULL, NULL);
}

void aucsched_get(void *highs, aucsched_info *info) {
	info->bound = -INFINITY;
	info->nodes = 0;
	if (Highs_getDoubleInfoValue(highs, "mip_dual_bound", &info->bound) < 0)
		info->bound = -INFINITY;
	Highs_getInt64InfoValue(highs, "mip_node_count", &info->nodes);
}
