// SPDX-License-Identifier: BSD-3-Clause

// Package crew has a job of an unmodified Slurm take more nodes while it runs, and give them back.
//
// Each node that a job takes more is a companion: a job of the same user's, of one node, that Slurm
// starts, accounts, limits and preempts as any other. So what a job has is in Slurm's own books at
// every moment, and who takes a node away from it is whoever preempts the companion. Slurm's own
// way, to resize a job, counts the cores of added nodes as free (invasive/docs/resize.md), and is
// not used.
//
// The job itself has a [Lead]. A [Member] on each node, one of the job's own or a companion's,
// joins it, starts processes there as it is told, and says when Slurm wants the node. On top of
// that are a [Bag] of tasks, and a [Program] that hears of places as invasive jobs hear of cores.
//
// Members find the lead by an invitation (package lines), which Slurm carries in the companion's
// environment: the lead's address, the hash of a certificate that is made for this run, and a
// secret. What is said is TLS 1.3 between the two. Who has not the invitation, which only its user
// and root can read, can neither listen nor join.
package crew
