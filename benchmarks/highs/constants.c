/* SPDX-License-Identifier: BSD-3-Clause */

//go:build highs

// lanl/highs v1.0.0 takes HiGHS's constants for external ones. Before 1.11 or so they are; since, the header
// makes them static, and these stand in. A definition that is not weak wins over them.

#include <stdint.h>

#define CONSTANT(name, value)                               \
	extern const int32_t name;                          \
	__attribute__((weak)) const int32_t name = (value)

CONSTANT(kHighsStatusError, -1);
CONSTANT(kHighsStatusOk, 0);
CONSTANT(kHighsStatusWarning, 1);
CONSTANT(kHighsVarTypeContinuous, 0);
CONSTANT(kHighsVarTypeInteger, 1);
CONSTANT(kHighsVarTypeSemiContinuous, 2);
CONSTANT(kHighsVarTypeSemiInteger, 3);
CONSTANT(kHighsVarTypeImplicitInteger, 4);
CONSTANT(kHighsObjSenseMinimize, 1);
CONSTANT(kHighsObjSenseMaximize, -1);
CONSTANT(kHighsMatrixFormatColwise, 1);
CONSTANT(kHighsMatrixFormatRowwise, 2);
CONSTANT(kHighsHessianFormatTriangular, 1);
CONSTANT(kHighsHessianFormatSquare, 2);
CONSTANT(kHighsSolutionStatusNone, 0);
CONSTANT(kHighsSolutionStatusInfeasible, 1);
CONSTANT(kHighsSolutionStatusFeasible, 2);
CONSTANT(kHighsModelStatusNotset, 0);
CONSTANT(kHighsModelStatusLoadError, 1);
CONSTANT(kHighsModelStatusModelError, 2);
CONSTANT(kHighsModelStatusPresolveError, 3);
CONSTANT(kHighsModelStatusSolveError, 4);
CONSTANT(kHighsModelStatusPostsolveError, 5);
CONSTANT(kHighsModelStatusModelEmpty, 6);
CONSTANT(kHighsModelStatusOptimal, 7);
CONSTANT(kHighsModelStatusInfeasible, 8);
CONSTANT(kHighsModelStatusUnboundedOrInfeasible, 9);
CONSTANT(kHighsModelStatusUnbounded, 10);
CONSTANT(kHighsModelStatusObjectiveBound, 11);
CONSTANT(kHighsModelStatusObjectiveTarget, 12);
CONSTANT(kHighsModelStatusTimeLimit, 13);
CONSTANT(kHighsModelStatusIterationLimit, 14);
CONSTANT(kHighsModelStatusUnknown, 15);
CONSTANT(kHighsBasisStatusLower, 0);
CONSTANT(kHighsBasisStatusBasic, 1);
CONSTANT(kHighsBasisStatusUpper, 2);
CONSTANT(kHighsBasisStatusZero, 3);
CONSTANT(kHighsBasisStatusNonbasic, 4);
CONSTANT(kHighsBasisValidityValid, 1);
