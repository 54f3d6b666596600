// SPDX-License-Identifier: BSD-3-Clause

// Package ihypervisor is the invasive resource manager of Nagendra, "A Protocol for the Integration
// of Invasive Resource Management into Standard Batch Schedulers" (2015), on Linux: it owns the
// cores of a host, negotiates with an iScheduler for jobs, and runs them as processes that are
// pinned to their cores. The command is aucsched ihypervisor.
//
// It puts together what other packages do: the machine and its ledger (invasive), the connection
// and the journal (invasive/link), decisions (invasive/place), processes (invasive/launch), and the
// jobs that adapt (invasive/malleable).
//
// A [Hypervisor] may be killed at any time. When it is made again with the same directory, it finds
// its jobs, and puts them back onto the cores that the ledger says they own.
package ihypervisor
