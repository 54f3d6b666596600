// SPDX-License-Identifier: BSD-3-Clause

// Package ipmodel holds the auction's choice of bids as an integer program, and what solvers of it
// have in common. [github.com/aucsched/aucsched/ipmodel/native] is one in pure Go; programs that
// are built with HiGHS have another.
//
// A [Model] is a sparse 0-1 packing problem in integers: choose at most one
// column (bid) of each group (job) so that no row (cores or GPUs of a node) is
// exceeded and the total worth is greatest. The AUCSCHED2 model of Soner, Özturan
// and Karac, "Extending SLURM with Support for GPU Ranges", equations 1-4, is one; package core
// makes it from a window's bids, and hands it to the solver that it was given.
//
// A [Solver] answers by its deadline with the best choice that it has and an
// upper bound on every choice's worth. All worths are integers, so that answers
// of different solvers can be compared to the last unit.
package ipmodel
