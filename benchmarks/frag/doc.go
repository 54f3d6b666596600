// SPDX-License-Identifier: BSD-3-Clause

// Package frag says what a start makes useless: how much of a node's idle GPUs the usual requests
// will not be able to use, and what the start takes from the cluster beside that.
//
// A [State] is what a node has free. Two measures say how much of its idle GPUs is lost, in
// thousandths of a GPU; what a start costs is the loss after it less the loss before.
//
//   - [Mix.Unusable]: what the next request can't use, on average. This is F of Weng et al.,
//     "Beware of Fragmentation", USENIX ATC'23, section 4, whose policy FGD starts a pod where F
//     grows least.
//   - [Fill.After]: what is left over after random requests have come to the node. It looks as far
//     ahead as the node lasts. It is a mean over sequences of requests that are drawn once, so
//     that two states are compared on the same future.
//
// Three prices say what no single node shows. [Prices] is of models of GPU: it is high where those
// who need a model will ask for all of it. [Holes] is of places for several GPUs: it is high where
// no more of them are left than will be asked for. [Shares] is of what is idle beside shares: a
// hole is worth what the shares that come can make of it.
//
// The package imports Go's library alone. The same requests and seed give the same figures.
package frag
