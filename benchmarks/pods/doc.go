// SPDX-License-Identifier: BSD-3-Clause

// Package pods is the experiment of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing
// Workloads with Fragmentation Gradient Descent", USENIX ATC'23, section 6: how many of a
// cluster's GPUs can be given out before pods find no more place.
//
// [ReadNodes] and [ReadPods] read the lists of Alibaba's cluster-trace-gpu-v2023. [Arrivals] draws
// the order in which pods come. [Run] places them, in batches that are decided together, by one of
// the [Policies], which are the paper's six, or by the [Auction], whose cycles have the batches as
// queues. A pod never ends, and never moves once its batch is decided. One that finds no place is
// dropped; one that fits is never refused. [Verify] replays the outcome, and shares no code with what
// placed the pods.
//
// A [State] is what a node has free. [Mix.Unusable] says how much of its idle GPUs the next request
// can't use, on average: F of section 4, by which FGD places.
//
// The lists name CPUs and GPUs in thousandths, memory in MiB. The same seed gives the same
// placement, bit for bit.
package pods
