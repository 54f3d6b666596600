// SPDX-License-Identifier: BSD-3-Clause

// Package ipmodel has the auction's choice of bids as an integer program, and the interface of its
// solvers. Package ipmodel/native is a solver in pure Go; programs that are built with HiGHS have a
// second one.
//
// A Model is a sparse 0-1 packing problem in integers. At most one column (bid) of each group (job)
// is chosen, no row (cores or GPUs of a node) is exceeded, and the total value is greatest. Package
// core makes such a model from a window's bids: equations 1-4 of Soner, Özturan and Karac,
// "Extending SLURM with Support for GPU Ranges".
//
// A Solver returns by its deadline the best choice that it knows and an upper bound on the value of
// all choices. Values are integers, so that answers of different solvers can be compared exactly.
package ipmodel
