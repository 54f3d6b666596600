// SPDX-License-Identifier: BSD-3-Clause

// Package highs solves models with HiGHS (Huangfu and Hall, "Parallelizing the dual
// revised simplex method", 2018), through github.com/lanl/highs. It is built in
// with the build tag highs, which needs cgo and what scripts/highs.sh finds.
//
// HiGHS can abort a process and does not keep its time limit to the letter. A
// [Solver] therefore starts a process for each solve, the worker, hands it the
// model, collects every improving solution and bound as soon as it is found, and
// kills it at the deadline. What [Worker] does is that process's main.
//
// lanl/highs makes the model, sets the options and runs it. It loses the incumbent
// and the bound when a limit strikes, and takes neither a starting solution
// nor callbacks; for these, this package calls HiGHS's C interface on the same model.
//
// # What is exact
//
// Every choice that comes back is checked and added up in integers, by
// [ipmodel.Model.Check]. HiGHS's upper bound is a floating-point number; it is
// raised by more than HiGHS's tolerances and rounding can account for (see
// margin) before it counts, and [ipmodel.Optimal] is claimed only when the bound
// so raised still proves it in integers. Divided by their greatest common divisor,
// worths of 30 bits are exact to the last unit in windows of up to some hundred
// columns. For longer ones, a short search in integers follows, which settles
// windows of a few jobs; beyond these the answer is [ipmodel.Feasible], with a bound
// about a 2^-35th part of the worths above, even where HiGHS calls the choice optimal.
package highs
