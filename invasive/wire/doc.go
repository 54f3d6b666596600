// SPDX-License-Identifier: BSD-3-Clause

// Package wire carries the messages of package invasive over a stream: figure 3 of Nagendra, "A
// Protocol for the Integration of Invasive Resource Management into Standard Batch Schedulers", as
// protobuf (directory pb).
//
// A frame is a header of 8 bytes and a pb.Packet:
//
//	0  'i' 'R'   so that a stranger is noticed
//	2  1         the version of the framing; that of the protocol is agreed on by INITIALISE
//	3  kind      invasive.Kind, the same as the field of the Packet
//	4  length    of the Packet in bytes, big endian
//
// A [Reader] believes nothing: it holds the length against its limit before it reads, the kind
// against the side that sends (figure 3), the number of elements against a bound before it
// decodes, and then every field against its range. It reuses one buffer that is never longer than
// the limit. What it rejects it counts by [Fault]. It doesn't know whose turn it is; the machines
// of package invasive do.
package wire
