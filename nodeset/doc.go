// SPDX-License-Identifier: BSD-3-Clause

// Package nodeset keeps the availability of a machine's nodes and scans it for contiguous nodesets.
//
// A Table holds N nodes in the machine's one-dimensional order. It has a bitmap for each GPU level:
// bit n of level g is set while node n is usable, has a free core and at least g free GPUs. Free
// cores are in bit planes: bit n of plane b is bit b of the free cores of node n. A few operations
// on words then tell which of 64 nodes have k free cores, or how many cores some of them have
// together. Table.Scan finds the maximal nodesets (n_i, n_j, c, g) of Soner and Özturan, "An
// Auction Based SLURM Scheduler for Heterogeneous Supercomputers", section 4. A nodeset is a run of
// nodes that all have a free core and g free GPUs; c is the total of their free cores.
//
// An allocation is a list of [Segment]s, runs of neighbouring nodes that give the
// same cores and GPUs, so that a job on 500 equal nodes costs one element.
// [Table.Allocate] and [Table.Release] cost time in the size of the job, not of
// the machine. Neither they nor Scan allocate memory in steady state.
//
// A Table is not safe for concurrent use; distinct Tables are independent.
package nodeset
