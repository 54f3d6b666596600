// SPDX-License-Identifier: BSD-3-Clause

// Package queue decides for the iScheduler: it keeps a bounded queue of invasive jobs, maps
// jobs onto the offers of the iHypervisor by the auction of package core, and judges offers
// by the iScheduler's own metrics: throughput, waiting times, deadlines and priorities
// (Nagendra 2015, section 2.3).
//
// A [Mapper] answers the AskDecision of an [invasive.Agent]. It has no goroutine, and no clock
// unless a deadline is given; equal queues, offers and times give equal mappings.
//
// # Mapping
//
// The nodes of an offer are the machine of a core.Snapshot. Parts that are there now, or within
// Options.Soon, are free; later ones are held by a running job that ends then, so that core's
// reservations keep a place for the first job that doesn't fit. A job that can use several numbers
// of cores offers core alternatives: the most that it can use, half of that, and so on down to the
// fewest. At most one wins, and more cores are liked better. What is left over in the end goes to
// jobs of the mapping that can use more, first to those that can't grow later.
//
// What a job is worth to the auction are points: see [Metrics].
//
// # Judging
//
// An offer is accepted if the mapping has the first job of the queue or all that wait, or if it
// fills the offer and the first job hasn't waited for too long. Otherwise it is rejected, in the
// hope that the next one is better, up to the agreed number of attempts: the last one must be
// accepted, with what mapping there is. Then, too, the first job is protected by its reservation,
// since the last offers tell when cores become free.
package queue
