// SPDX-License-Identifier: BSD-3-Clause

// Package nodeset keeps the availability of a machine's nodes and scans it for
// contiguous nodesets.
//
// A [Table] holds, for N nodes in the machine's one-dimensional order, one bitmap a
// GPU level, where bit n of level g is set while node n is usable, has at least one
// free core and at least g free GPUs; and the free cores in bit planes, where bit n of
// plane b is bit b of the free cores of node n. Which of 64 nodes have k free cores,
// and how many cores some of them have together, is then a few operations on words.
// [Table.Scan] finds the maximal nodesets (n_i, n_j, c, g) of Soner and Özturan,
// "An Auction Based SLURM Scheduler for Heterogeneous Supercomputers", section 4:
// runs of nodes that all have a free core and g free GPUs, c being the total of
// their free cores.
//
// An allocation is a list of [Segment]s, runs of neighbouring nodes that give the
// same cores and GPUs, so that a job on 500 equal nodes costs one element.
// [Table.Allocate] and [Table.Release] cost time in the size of the job, not of
// the machine. Neither they nor Scan allocate memory in steady state.
//
// A Table is not safe for concurrent use; distinct Tables are independent.
package nodeset
