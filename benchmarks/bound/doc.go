// SPDX-License-Identifier: BSD-3-Clause

// Package bound says how soon a workload can be done at all: lower bounds on its
// runtime (makespan) on a machine, which no policy can undercut.
//
// [Runtime] has bounds for each resource by itself, and a stronger one that knows
// that cores and GPUs come in nodes: two jobs that want 5 of a node's 8 cores cannot
// share it, however many cores are idle in all.
//
// That one is a linear program over patterns. At any moment a node works on a set of
// pieces, what single jobs have of it, that fits its cores and GPUs; the program asks
// for the least time in which patterns of pieces add up to all jobs. Its dual
// gives a price to every piece: if no pattern of a node is worth more than V a
// second, then N nodes earn at most N x V a second, and all pieces together, at
// these prices, take at least their worth / (N x V) seconds. That holds for any prices. So the
// program is solved in floating point, by column generation; its prices are then rounded to
// whole numbers, V is found by an exact knapsack, and the bound follows from these
// by whole numbers alone.
//
// What is left out, and makes the bound lower than the optimum: that a job starts on all
// of its nodes at once and is not interrupted, that nodes are to be consecutive or of certain
// names, and when jobs are submitted, but for one time t: everything that is
// submitted at t or later is worked on after t, and the best t is taken.
package bound
