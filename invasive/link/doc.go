// SPDX-License-Identifier: BSD-3-Clause

// Package link runs a machine of package invasive over real connections: an invasive.Agent
// (iScheduler) or an invasive.Hypervisor (iHypervisor), after Nagendra, "A Protocol for the
// Integration of Invasive Resource Management into Standard Batch Schedulers" (2015).
//
// A [Runner] owns the machine, in one goroutine, and does what package invasive asks of a caller:
// actions in their order, records on the disk before what depends on them ([Journal]), one timer,
// one connection at a time, a pause before the next that grows from failure to failure, and of the
// answers to questions only those that are still asked for ([Runner.Answer]).
//
// What an iScheduler calls:
//
//	journal, err := link.OpenJournal(path)
//	agent := invasive.NewAgent(terms, journal.Saved())
//	runner := link.NewRunner(link.Config{
//		Side: invasive.IScheduler, Machine: agent, Journal: journal,
//		Dial: endpoint.Dial, Random: random, Do: do,
//	})
//	// from any goroutine
//	runner.Post(invasive.Event{Kind: invasive.Submit, Job: job})
//	// until ctx is done, or either side has finalised
//	err = runner.Run(ctx)
//
// and do gets AskDecision with a [Question], starts the auction in another goroutine, and comes
// back by runner.Answer(q, invasive.Event{Kind: invasive.Decided, ...}); it gets Ended and
// Cancelled too. The machine itself (Agent.Queue) may be looked at in do, and by [Runner.Call]
// only. Run returns nil after a finalisation, also one that the iHypervisor wished; call it again
// to connect again. A mapping has to fit into a frame: wire.MappingSize.
//
// # Who is let in
//
// An [Endpoint] is a Unix socket in a directory that is closed to others, where the kernel says
// which user connects, and a list says which may; or TCP with TLS 1.3 where both sides show a
// certificate. Strangers are counted ([Stats]), take one of a few slots for a limited time, and
// never reach the machine.
//
// A peer is cut off for a frame that is bad in any way, for a message out of turn, for more
// messages than [Limits] allows, for not reading what it is sent. Whoever doesn't answer in time is
// cut off by the machine. In no case does anything else suffer: jobs run on, and the next
// connection begins anew.
package link
