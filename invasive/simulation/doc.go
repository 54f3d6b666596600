// SPDX-License-Identifier: BSD-3-Clause

// Package simulation runs both machines of package invasive in simulated time, with what decides
// for them: package queue for the iScheduler, package place for the iHypervisor. It measures
// what malleability is worth: the same jobs, of which a share is malleable and the rest rigid,
// on the same partition.
//
// # Model
//
// A job has an amount of work. On c cores it does S(c) = 1 / (f + (1-f)/c) of it a second (Amdahl's
// law), f being its serial fraction; with f = 0 its speed is the number of its cores. Its work is
// what it does in its duration on the cores that it asks for. Suspended jobs do nothing, and after
// every change of its cores a job does nothing for Config.ResizeCost. A job lets go of cores
// Config.Release after it is asked, be it to shrink or to be suspended.
//
// An evolving job asks for another number of cores when parts of its work are done ([Wish]), and
// gets it as far as nobody waits for the cores; it never waits for its wish, but goes on with what
// it has. A moldable one runs on what its mapping gave it.
//
// A malleable job can use from a quarter of the cores that it asks for to twice as many
// ([Flexibility]); whether a job is one is drawn for each, so that those of a share are
// malleable at each greater share too. Urgent jobs are rigid. Time limits are estimates, and
// end no job: a rigid job's is its duration times a factor, a malleable job's what that becomes
// on its fewest cores.
//
// Messages take Config.Latency, a decision of the iScheduler Config.Think of simulated time.
// Launching takes none.
//
// # Referee
//
// An independent ledger is kept of what the iHypervisor has done, and the run fails if a core has
// two owners, a job more cores than it can use or fewer than it needs, is launched twice or never,
// or doesn't end; if a job's end isn't told to the iScheduler; or if the work that a job has done,
// by the times at which its cores changed, isn't the work that it had.
package simulation
