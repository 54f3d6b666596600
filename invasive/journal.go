// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"cmp"
	"slices"
)

// A Record is what a machine saves, one after the other: its journal. A machine starts again from
// the state that Replay makes of it.
type Record struct {
	Op    Op
	Job   *Job   // of Add
	Parts []Part // of Add, by the Hypervisor: the nodes that were agreed on, none for an urgent job
	ID    JobID  // of the others
	Cores []uint32
	Exit  int32
}

// Op is the kind of a Record.
type Op uint8

const (
	// Add: the Agent has got a job, or the Hypervisor has accepted it.
	Add Op = 1 + iota
	// Own: from now on the job owns exactly Cores. The first one comes before its launch.
	Own
	// End: the job has ended with Exit, and owns nothing.
	End
	// Remove: the Agent has seen the job's end, or the job was cancelled; the Hypervisor
	// knows that the Agent has.
	Remove
)

// A Saved is what a journal says of a job.
type Saved struct {
	Job   *Job
	Parts []Part
	State JobState // Accepted, Running once it owned cores, Done
	Cores []uint32
	Exit  int32
}

// Replay adds a record to the jobs that a journal tells of, ascending by ID, and returns them. It
// changes jobs. Records that don't fit are left out.
func Replay(jobs []Saved, r Record) []Saved {
	id := r.ID
	if r.Op == Add {
		id = r.Job.ID
	}
	i, known := slices.BinarySearchFunc(jobs, id, func(s Saved, id JobID) int { return cmp.Compare(s.Job.ID, id) })
	switch {
	case r.Op == Add && !known:
		return slices.Insert(jobs, i, Saved{Job: r.Job, Parts: r.Parts, State: Accepted})
	case r.Op == Add || !known:
	case r.Op == Own:
		jobs[i].State, jobs[i].Cores = Running, r.Cores
	case r.Op == End:
		jobs[i].State, jobs[i].Cores, jobs[i].Exit = Done, nil, r.Exit
	case r.Op == Remove:
		return slices.Delete(jobs, i, i+1)
	}
	return jobs
}
