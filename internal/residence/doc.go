// SPDX-License-Identifier: BSD-3-Clause

// Package residence remembers which nodes of a machine hold which input files.
//
// A node that a job runs on holds the file that the job reads from then on. The file goes when
// others push it out, or when it has not been read for a while, as in a page cache or a cache on a
// local disk. In Gonthier, Marchal, Thibault, Larsson and Nettelblad, "Locality-aware batch
// scheduling of I/O intensive workloads" (locality), section 3, two jobs share a file on a node.
// They run there at the same time, or one after the other.
//
// A [State] is told of reads and asked for holders. It has no clock and no random choices: the same
// calls, the same answers. Its memory is bounded by [MaxPerNode] and [MaxCopies], and calls on a
// state that has been full once allocate nothing.
//
// [State.Append] and [State.Load] carry it over a restart of whoever keeps it. What is saved knows
// nodes by their IDs, so that nodes may have come, gone or changed places when it is loaded.
package residence
