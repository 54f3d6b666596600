// SPDX-License-Identifier: BSD-3-Clause

package locality

// Demand is what the cluster and the queue are like when a planning pass comes to a job.
type Demand struct {
	// Job is the job whose node is looked for.
	Job *Job
	// Load is the time in which its file is loaded, in seconds; 0 without a file.
	Load int64
	// BusyNodes is how many of Nodes run jobs, or will from now on by this pass.
	BusyNodes, Nodes int
	// IdleCores is how many of Cores this pass has left idle so far.
	IdleCores, Cores int
	// Queued is how many cores all waiting jobs ask for, Behind how many those behind the
	// job in the queue do.
	Queued, Behind int
}

// Keep is a rule between EFT's weights, 0, and LEA's, 1: it says how much files count to a
// job on nodes that are free now, and on those that are free later. EFT is 0, 0, LEO 0, 1
// and LEA 1, 1. What is not above 0 counts as 0. It depends on d alone, and may be asked
// twice of a job in a pass.
type Keep func(d Demand) (now, later float64)

// LEAD is LEO while up to roomyTo of the cores are busy, and may be LEA from scarceFrom on, if the
// jobs behind ask for enoughBehind of the cluster's cores. The three were chosen with days that
// benchmarks/results/locality-adaptive.md does not report.
const (
	roomyTo      = 0.7
	scarceFrom   = 0.9
	enoughBehind = 0.03
)

// keepByLoad is LEAD's rule. A job that waits for a node with its file, although another node is
// free, leaves that one to the jobs behind it, which costs the cluster nothing as long as there are
// such jobs, and as they have no other. The more there are, the longer the queue lasts too, and so
// the more others gain by each load that is saved. With nobody behind, or with cores for all, it is
// LEO: to wait would leave cores idle.
func keepByLoad(d Demand) (now, later float64) {
	behind := float64(d.Behind) / (enoughBehind * float64(d.Cores))
	busy := 1 - float64(d.IdleCores)/float64(d.Cores)
	scarce := (busy - roomyTo) / (scarceFrom - roomyTo)
	return min(1, behind) * max(0, min(1, scarce)), 1
}

// demand is the Demand of a job.
func (r *run) demand(j *job) Demand {
	d := Demand{Job: j.Job, BusyNodes: r.busy + r.newly, Nodes: len(r.nodes), IdleCores: r.passIdle, Cores: r.allCores,
		Queued: r.queued, Behind: r.behind}
	if j.hasFile {
		d.Load = r.load(j, r.fastest)
	}
	return d
}

// between are the weights that share of the way from EFT's to LEA's.
func between(share float64) weights {
	if !(share > 0) {
		return finishSoon
	}
	return weights{finishSoon.load + share*(keepFiles.load-finishSoon.load), finishSoon.evict + share*(keepFiles.evict-finishSoon.evict)}
}
