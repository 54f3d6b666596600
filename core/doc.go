// Package core is the scheduling cycle and its vocabulary: what embedders call.
//
// A cycle is a pure function of a [Snapshot] (machine, queue, running jobs) and
// [Limits] (deadline, seed). A [Policy] turns them into a [Plan]: for each job of
// the window whether it starts now, and on exactly which nodes, with how many cores and GPUs
// of each, or in words why not. [Auction] is the policy of Soner, Özturan and Karac's AUCSCHED2:
//
//	snapshot -> nodesets -> bids -> model -> winners -> decisions
//
// A [Determiner] may choose the winners in another way than by the model.
//
// The caller's duties, in this order:
//
//  1. Keep a nodeset.Table up to date: Allocate when a job starts, Release when it
//     ends.
//  2. When something has changed, or some interval after a plan whose Stats.TimedOut is not 0, fill a
//     Snapshot and call Decide. A Plan is reused from call to call; what is to be kept of it must be copied.
//  3. Start the jobs whose Decision says so and Allocate their segments.
//
// Nothing here does I/O or keeps time; the deadline is held against Limits.Now. At the deadline
// Decide answers with the best that it knows; jobs that it had no time for are TimedOut. If its context
// ends it answers with the context's error, and no plan.
//
// Decide refuses a queue that is none, by a [JobError]: see [Snapshot.Validate]. It is one call at a time; a
// second one at once gets [ErrBusy]. A request that contradicts itself, or that the machine can never meet, is
// no such fault: its job waits, with Never as its Why.
//
// A job may be met in several ways: see Job.Alternatives, and Decision.Alternative for
// which it was. Auction alone knows of them; other policies look at Job.Request. An alternative
// that the machine can never meet, or that says the same as one before it, is as if it were not there.
//
// A job may prefer nodes, those that hold its input for instance: see Job.Prefer and
// docs/locality-preference.md.
//
// No job starves as long as jobs end by their time limits: the auction keeps the earliest possible start of the
// first blocked jobs free of jobs that come after them (AuctionOptions.Reservations). The papers' auction
// has no such rule; set Reservations to 0 to match them.
//
// [Explainer] says of single jobs why they wait, and with which change of their
// request they would have started.
//
// [Verify] is the independent referee of a plan. Auction also checks each plan by
// allocating it before it is handed out.
package core
