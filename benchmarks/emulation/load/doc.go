// SPDX-License-Identifier: BSD-3-Clause

// Package load measures what a long queue costs a real slurmctld: how long its schedulers take, and
// how long its clients wait meanwhile. The nodes are played by one process (see package
// emulation), the clock is the world's.
//
// The jobs of a queue are submitted once, to a slurmctld that starts none of them, and its
// state is kept ([Prepare]). Each scheduler then gets a cluster of its own that begins with that
// state ([Measure]): all of them have the same jobs, records and priorities before them.
package load
