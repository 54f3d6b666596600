// SPDX-License-Identifier: BSD-3-Clause

// Package timeline searches for the order in which waiting jobs should get their places, now and
// later. It plans: a conservative list schedule gives each job, in that order, the earliest moment
// with room for all of its time limit, on nodes that it keeps. A plan is worth what its waits are
// worth. In what it caps it must not be worse than the plan that serves jobs in queue order.
//
// Plan-based scheduling is known from Klusacek et al. (HPDC'15) and Kopanski and Rzadca (Euro-Par
// '21), who anneal a weighted sum. Here caps come first: without them some jobs pay for the mean
// of all (docs/explanation/presets.md).
//
// It knows how much of each resource each node has free, in lanes of a word, four nodes at a time.
// It does not know topologies, quotas, the numbers of GPUs, or whether the caller would find the
// same place: it finds an order, and callers make the places. Lengths of jobs are rounded up to the
// end of another, by a sixteenth of the way ahead at most.
package timeline
