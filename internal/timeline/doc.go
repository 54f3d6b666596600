// SPDX-License-Identifier: BSD-3-Clause

// Package timeline searches for the order in which jobs that wait should get their places, now
// and later. It plans: a conservative list schedule has the jobs in an order, each at the earliest
// moment from which there is room for all of its time limit, on nodes that it keeps. A plan is
// worth what its waits are worth, all of them, and must not be worse in what it caps than the plan
// that serves the jobs first come, first served.
//
// Plan-based scheduling is known from Klusacek et al. (HPDC'15) and Kopanski and Rzadca (Euro-Par
// '21), who anneal a weighted sum. Here caps come first: without them some jobs pay for the mean
// of all (docs/explanation/presets.md).
//
// It knows of each node how much is free of each resource, in lanes of a word, four nodes at a
// time. It does not know topologies, quotas, the numbers of GPUs, or whether the caller's own
// selection would find the same place: an order is what it is for, and callers make the places.
// Lengths of jobs are rounded up to the end of another, by a sixteenth of the way ahead at most.
package timeline
