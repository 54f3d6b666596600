// SPDX-License-Identifier: BSD-3-Clause

// Package place is how an iHypervisor decides: what to offer, whether to take a mapping or an
// urgent job, and which cores a job gets, or gives back. It is pure: all is decided from a [View],
// and the same view gives the same answer.
//
// Sockets matter: a job is kept within one if it fits, in the one that it fills best, so that great
// holes stay whole. Whatever shrinks gives up the sockets first where it has least.
//
// Who waits is seated in an order: urgent jobs, then suspended ones, then the others, by priority
// and age. Who can't be seated yet has cores kept for it, so that later ones don't overtake it for
// ever. If that isn't enough, cores are taken: for an urgent job by the means of the [Policy]
// (section 3.2 of Nagendra, "A Protocol for the Integration of Invasive Resource Management into
// Standard Batch Schedulers": shrink, suspend, kill), for others only what malleable jobs have
// beyond their minimum.
//
// Nodes may be away. Nobody gets cores there, and jobs are made to leave those that are lost. A job
// whose first process is on a node keeps a core there.
//
// Cores are asked for only if the one who waits can have them then, by number, nodes and
// power, with all that is decided besides; what would be in the way of that, growth
// before all, isn't done.
package place
