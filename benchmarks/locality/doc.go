// SPDX-License-Identifier: BSD-3-Clause

// Package locality schedules jobs with large input files on a cluster whose nodes keep files in
// memory, and simulates what comes of it: Gonthier, Marchal, Thibault, Larsson, Nettelblad,
// "Locality-aware batch scheduling of I/O intensive workloads", Inria RR-9497, 2023. Sections and
// algorithms in comments are the report's.
//
// A job runs on some cores of one node, and needs its file in the node's memory. Loading it takes
// the file's size divided by the bandwidth of the node's link, and counts as part of the job's wall
// time. A file may be used by jobs that run on the node together, or one after the other if no
// other job started there between them (section 3).
//
// # Policies
//
// There are six schedulers, each also with conservative backfilling ([Policies]). All go through
// the queue in the order of submission and give each job the node with the least
//
//	start + a x (time until the file is there) + b x (time to load evicted files again)
//
// and differ in a and b alone: FCFS 0, 0; EFT 1, 0; LEA 500, 1; LEO as EFT on nodes that are free
// now and as LEA on others; LEM as EFT while fewer than 80% of the nodes are busy, as LEA from
// there on. LEAD, which is not the report's, goes from LEO to LEA the more jobs wait and the fewer
// cores are idle; [Keep] is for rules of one's own. With backfilling a start may be in a gap before
// reservations of jobs that are earlier in the queue.
//
// # The authors' programme
//
// The programme with which the authors made their figures departs from the text in eight ways
// (benchmarks/locality/README.md, D1 to D8), and is much slower: it looks at all nodes for each job of each
// plan, and this package only at those that could win. Tests of this module also run it decision
// for decision ("reference mode"), as an oracle.
//
// # Time
//
// Times are whole seconds on the log's clock. In a second jobs end first, then jobs are submitted,
// then the queue is planned, then jobs start. Times of transfers are rounded up to seconds, in the
// reference mode cut.
package locality
