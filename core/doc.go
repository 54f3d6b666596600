// SPDX-License-Identifier: BSD-3-Clause

// Package core is the scheduling cycle and its vocabulary: what embedders call.
//
// There are two ways in. A [Cluster] keeps nodes, queue and running jobs for you, and is safe for
// goroutines: begin with it. A [Policy] is what is beneath: a pure function from the state of the
// machine to a plan, for those who keep the state themselves.
//
// # Cluster
//
//	cluster, err := core.NewCluster(core.ClusterOptions{Deadline: time.Second})
//	...
//	err = cluster.SetNode(core.Node{Name: "n1", Capacity: nodeset.Capacity{Cores: 64, GPUs: 4}})
//	err = cluster.Submit(core.JobSpec{ID: "J1", Request: bids.Request{Cores: 128},
//		Priority: 10, TimeLimit: time.Hour})
//
//	for range changed { // a channel of yours, or a ticker
//		cycle, err := cluster.Decide(ctx)
//		if err != nil {
//			return err
//		}
//		for _, start := range cycle.Starts {
//			launch(start.Job, start.Nodes) // then, some day, cluster.Ended(start.Job)
//		}
//	}
//
// The caller's duties, in this order:
//
//  1. Tell of every change: SetNode, RemoveNode, SetTopology, SetQuota, SetReservation, Submit, Update,
//     Cancel.
//  2. Call Decide when something has changed, or some time after a cycle whose Stats.TimedOut is
//     not 0.
//  3. Store the state with [Cluster.WriteWindow], then launch each of the cycle's Starts: the Cluster
//     counts them as running.
//  4. Say Ended when a job has ended; Requeue one that could not be launched, or is to run again.
//  5. After a restart, [ReadWindow] what was stored. Or SetTopology, SetNode all nodes in their order,
//     SetQuota, SetReservation, Adopt each job that runs already, and Submit the others with their
//     Since. A job that had nodes which were removed is adopted as Running had it, without these.
//
// Memory, GPUs of one type, and whatever else nodes have are further resources, by name: see
// Node.Resources and JobSpec.Takes. Node.GPUShares and JobSpec.GPUShare have jobs share single GPUs.
// Node.Tier says which nodes are used first, Node.Leaf where they stand. [Cluster.SetQuota] and
// JobSpec.Counts bound what jobs take together, wherever they run. [Cluster.SetReservation] keeps nodes
// for some jobs, or for a maintenance.
//
// A running job with a JobSpec.Price may be stopped for others: stop those of Cycle.Preempted, and
// say Ended or Requeue of them. Who waits for that starts in a later cycle.
//
// A job in Dropped needs nothing: the next cycle has it, unless it was cancelled.
// [Cluster.Explain] says why a job waits, and WriteWindow hands the state to "aucsched explain" and
// "aucsched plan" as well. ClusterOptions.Listen hears of all that happens, for a log and for metrics,
// the times of cycles among them (Event.Cycle.Stats):
//
//	Listen: func(e core.Event) {
//		slog.Info(e.Kind, "job", e.Job, "node", e.Node)
//		counts.Add(e.Kind, 1) // an expvar.Map
//	}
//
// # Policy
//
// A cycle is a pure function of a [Snapshot] (machine, queue, running jobs) and [Limits] (deadline,
// seed). A [Policy] turns them into a [Plan]. It says of each job of the window whether the job
// starts now: on exactly which nodes, with how many cores and GPUs of each, or in words why not.
//
//	policy, err := core.NewAuction(core.Preset(""), nil)
//	...
//	var plan core.Plan
//	for {
//		snapshot := &core.Snapshot{Now: now(), Nodes: table, Pending: queue, Running: running}
//		if err := policy.Decide(ctx, snapshot, core.Limits{}, &plan); err != nil {
//			return err
//		}
//		// with a Running.Price: stop those of plan.Preempted first, and decide again with plan.Claims
//		starts, err := plan.Apply(table)
//		if err != nil {
//			return err
//		}
//		for _, start := range starts {
//			launch(queue[start.Job], start.Segs)
//			running = append(running, core.Running{...})
//		}
//		queue = ... // without those that started
//		wait()      // for a change; table.Release for each job that ended
//	}
//
// The caller's duties, in this order:
//
//  1. Keep a nodeset.Table up to date: Allocate when a job starts, Release when it ends.
//  2. When something has changed, or some time after a plan whose Stats.TimedOut is not 0, fill a
//     Snapshot and call Decide.
//  3. Start the jobs whose Decision says so, and Allocate their segments. A Plan is used again by
//     the next call: [Plan.Apply] allocates, and returns what is to be kept.
//
// [Auction] is the policy of Soner, Özturan and Karac's AUCSCHED2:
//
//	snapshot -> nodesets -> bids -> model -> winners -> decisions
//
// To read how, go from Auction.Decide (auction.go) down its stages (stages.go), which open a window
// (open.go), plan, reserve (with claims, in timeline.go), bid, choose winners, give out left-overs
// and stop running jobs (awards, leftovers, preempt). No file uses one that leads back to it.
//
// # Promises
//
// Nothing here does I/O or keeps time; deadlines are held against the policy's clock. At it Decide
// answers with the best that it knows; jobs that it had no time for are TimedOut. If its context
// ends it answers with the context's error, and starts nothing.
//
// Decide refuses a queue that is none, by a [Error]: see [Snapshot.Validate]. It is one call at
// a time; a second one at once gets [ErrBusy]. A request that contradicts itself, or that the
// machine can never meet, is no such fault: its job waits, with Never as its Why.
//
// A job may be met in several ways: see Job.Alternatives, and Decision.Alternative for which it
// was. One that the machine can never meet, or that says the same as one before it, is as if it
// were not there.
//
// No job starves as long as jobs end by their time limits: the auction keeps the earliest start of
// the first blocked jobs free. See AuctionOptions.Reservations; 0 of them is the papers' auction.
//
// [Explainer] says of single jobs why they wait, and with which change of their request they would
// have started. [Verify] is the independent referee of a plan. A Cluster asks it before each start.
package core
