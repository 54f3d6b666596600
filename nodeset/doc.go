// Package nodeset keeps the availability of a machine's nodes and scans it for
// contiguous nodesets.
//
// A [Table] holds, for N nodes in the machine's one-dimensional order, the free
// cores in small integers and one bitmap a GPU level: bit n of level g is set
// while node n is usable, has at least one free core and at least g free GPUs.
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
