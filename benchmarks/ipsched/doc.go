// SPDX-License-Identifier: BSD-3-Clause

// Package ipsched holds the integer program of Soner and Özturan, "Integer Programming
// Based Heterogeneous CPU-GPU Cluster Scheduler for SLURM Resource Manager" (ipsched),
// section III, and what solves it.
//
// A [Problem] is a window of jobs and the free cores and GPUs of every node. Each job that is
// selected gets its cores in any parts from any nodes, and its GPUs on each of these; it is
// worth p_j (1 - c_j), c_j being its nodes over twice the machine's. All worths here are
// whole numbers, in units of 1/2N.
//
// [Direct] writes the program down as the paper has it, with a variable for each job on each
// node, for other solvers and small windows. [Solver] answers for whole machines: nodes with
// the same free cores and GPUs are counted, not listed, and an answer comes with a bound.
package ipsched
