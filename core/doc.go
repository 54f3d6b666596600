// SPDX-License-Identifier: BSD-3-Clause

// Package core decides which jobs start on which nodes. It is the package that embedders call.
//
// It has two entry points. A [Cluster] keeps nodes, queue and running jobs for you, and is safe for
// concurrent use: begin with it. A [Policy] is a pure function from the state of the machine to a
// plan, for programs that keep the state themselves.
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
// Memory, GPUs of one type and anything else that nodes have are further resources, by name: see
// Node.Resources and JobSpec.Takes. Node.GPUShares and JobSpec.GPUShare let jobs share single GPUs.
// Node.Tier says which nodes are used first, Node.Leaf which switch a node is below.
// [Cluster.SetQuota] and JobSpec.Counts bound what jobs take together. [Cluster.SetReservation]
// keeps nodes for some jobs, or for a maintenance.
//
// A running job with a JobSpec.Price may be stopped for others: stop those of Cycle.Preempted, and
// say Ended or Requeue of them. The jobs that wait for that start in a later cycle.
//
// A job in Dropped needs nothing: the next cycle has it, unless it was cancelled. [Cluster.Explain]
// says why a job waits, and WriteWindow hands the state to "aucsched explain" and "aucsched plan"
// as well. ClusterOptions.Listen is called for each change and each cycle, for a log and for
// metrics. Event.Cycle.Stats has the times of cycles:
//
//	Listen: func(e core.Event) {
//		slog.Info(e.Kind, "job", e.Job, "node", e.Node)
//		counts.Add(e.Kind, 1) // an expvar.Map
//	}
//
// # Policy
//
// A [Policy] turns a [Snapshot] (machine, queue, running jobs) and [Limits] (deadline, seed) into a
// [Plan]. The plan says of each job of the window either on which nodes it starts now, with how
// many cores and GPUs of each, or why it does not start.
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
// To read how, go from Auction.Decide (auction.go) down its stages (stages.go). These open a window
// (open.go), plan, reserve (with claims, in timeline.go), bid and choose winners (awards). Then
// they give out left-overs and stop running jobs (leftovers, preempt). No file uses one that leads
// back to it.
//
// # Promises
//
// Nothing here does I/O. Deadlines are times of the policy's clock. At the deadline Decide returns
// the best plan that it knows; jobs that it had no time for are [TimedOut]. If its context ends,
// Decide returns the context's error and starts nothing.
//
// Decide rejects an invalid queue (unsorted, duplicate id, value out of range) with an [*Error]:
// see [Snapshot.Validate]. Decide is not reentrant: a concurrent call returns [ErrBusy]. A job
// whose request contradicts itself, or that the machine can never meet, is no error: it waits, with
// [Never] as its Why.
//
// A job may have alternative requests: see Job.Alternatives. Decision.Alternative says which one
// was met. An alternative that the machine can never meet, or that repeats an earlier one, is
// ignored.
//
// No job starves as long as jobs end by their time limits: the auction keeps the earliest start of
// the first blocked jobs free. See AuctionOptions.Reservations; 0 of them is the papers' auction.
//
// [Explainer] says why a job waits, and which change of its request would have started it. [Verify]
// checks a plan independently of the policies. A Cluster calls it before each start.
package core
