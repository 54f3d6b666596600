// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
)

func (s *snapshot) loadJobs(jobs []Job) error {
	if len(jobs) > MaxJobs {
		return whole("jobs", len(jobs), "there must be at most %d", MaxJobs)
	}
	s.growIDs(len(jobs))
	if cap(s.jobs) < len(jobs) {
		s.jobs = make([]core.Job, len(jobs)+len(jobs)/4)
	}
	s.jobs = s.jobs[:cap(s.jobs)]
	s.faulty = s.faulty[:0]
	last := uint64(MaxPriority) // that of the job before
	for i := range jobs {
		s.faulty = append(s.faulty, false)
		if fault := jobs[i].fault(len(s.masks), s.shares.number >= 0); fault.array != "" {
			fault.index = i
			s.leaveOut(fault, i)
			continue
		}
		last = s.loadJob(i, &jobs[i], last)
	}
	return nil
}

func (s *snapshot) growIDs(n int) {
	for i := len(s.ids); i < n; i++ {
		s.ids = append(s.ids, strconv.Itoa(i))
	}
}

// loadJob sets job i, which is sound, and returns its priority, which is last, that of the job
// before, at most: the queue's order counts.
func (s *snapshot) loadJob(i int, j *Job, last uint64) uint64 {
	priority := min(j.Priority, last)
	if priority < j.Priority {
		s.faults.add(flawed("jobs", i, "priority", j.Priority, "is above %d, that of the job before it, and is taken as that", last), i)
	}
	s.jobs[i] = core.Job{
		ID: s.ids[i], Priority: int64(priority), TimeLimit: int64(min(j.TimeLimit, core.NoTimeLimit)),
		Request: s.request(j), Since: s.Now - int64(j.Waited), Preempts: j.Preempts,
	}
	return priority
}

// request is what a sound job asks for.
func (s *snapshot) request(j *Job) bids.Request {
	r := bids.Request{
		Cores: int(j.Cores), MinNodes: int(j.MinNodes), TasksPerNode: int(j.CoresPerNode),
		MinGPUs: int(j.MinGPUs), MaxGPUs: int(j.MaxGPUs), Contiguous: j.Flags&Contiguous != 0,
		Switches: int(j.Switches), Within: int(j.Within), Segment: int(j.Segment),
	}
	if int(j.MaxNodes) <= s.Nodes.Len() || j.Segment > 1 { // otherwise it is no restriction
		r.MaxNodes = min(int(j.MaxNodes), MaxNodes)
	} else if j.Cores == 0 { // it would have its least number of nodes
		r.MaxNodes = max(s.Nodes.Len(), r.MinNodes)
	}
	if j.Mask >= 0 {
		r.Eligible = s.masks[j.Mask]
	}
	return r
}

// fault is what is wrong with a job by itself; its array is "" if nothing is.
func (j *Job) fault(masks int, shared bool) (e flaw) {
	switch {
	case j.Priority < 1 || j.Priority > MaxPriority:
		e = flawed("jobs", 0, "priority", j.Priority, "must be 1 to %d", MaxPriority)
	case j.Cores > bids.MaxCores:
		e = flawed("jobs", 0, "cores", j.Cores, "must be at most %d", bids.MaxCores)
	case j.MinNodes > MaxNodes:
		e = flawed("jobs", 0, "min_nodes", j.MinNodes, "must be at most %d", MaxNodes)
	case j.MaxNodes != 0 && j.MaxNodes < j.MinNodes:
		e = flawed("jobs", 0, "max_nodes", j.MaxNodes, "is below min_nodes, %d", uint64(j.MinNodes))
	case j.Cores == 0 && j.CoresPerNode != 0:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "must be 0: the job takes no core")
	case j.Cores > 0 && j.Cores < j.MinNodes:
		e = flawed("jobs", 0, "cores", j.Cores, "is below min_nodes, %d", uint64(j.MinNodes))
	case j.CoresPerNode != 0:
		e = j.perNodeFault()
	}
	if e.array != "" {
		return e
	}
	switch {
	case j.TimeLimit < 1:
		e = flawed("jobs", 0, "time_limit", j.TimeLimit, "must be at least 1")
	case j.MaxGPUs < j.MinGPUs:
		e = flawed("jobs", 0, "max_gpus", j.MaxGPUs, "is below min_gpus, %d", uint64(j.MinGPUs))
	case j.Flags&^Contiguous != 0:
		e = flawed("jobs", 0, "flags", j.Flags, "has unknown bits")
	case j.Reserved != 0:
		e = flawed("jobs", 0, "reserved", j.Reserved, "must be 0")
	case j.Mask < -1 || int(j.Mask) >= masks:
		e = flawed("jobs", 0, "mask", uint64(int64(j.Mask)), "must be -1, or the index of one of the %d masks", uint64(masks))
		e.signed = true
	case j.Switches > MaxNodes:
		e = flawed("jobs", 0, "switches", j.Switches, "must be at most %d", MaxNodes)
	case j.Segment > 1 && j.segments() == 0:
		e = flawed("jobs", 0, "segment", j.Segment, "must divide its number of nodes, which has to be fixed")
	case j.Share != 0:
		e = j.shareFault(shared)
	}
	return e
}

// leaveOutInvalid leaves out jobs of which the request or an alternative is invalid, by the
// same rules as for whoever decides on it and judges the plan. Faults of a single field have been
// told before, in the header's terms: what is left is how uses go with the rest of the request.
func (s *snapshot) leaveOutInvalid(in *Input) {
	for i := range in.Jobs {
		if !s.faulty[i] {
			if fault := requestFault("jobs", i, &s.jobs[i].Request); fault.array != "" {
				s.leaveOut(fault, i)
			}
		}
	}
	for i, at := range s.otherAt {
		if of := in.Alternatives[i].Job; at >= 0 && !s.faulty[of] {
			if fault := requestFault("alternatives", i, &s.others[at]); fault.array != "" {
				s.leaveOut(fault, int(of))
			}
		}
	}
}

// requestFault is what is wrong with the request of element i of array; its array is "" if it is
// valid.
func requestFault(array string, i int, r *bids.Request) flaw {
	err := place.Validate(r)
	if err == nil {
		return flaw{}
	}
	var fault *bids.FieldError
	if !errors.As(err, &fault) {
		fault = &bids.FieldError{Field: "request", Why: err.Error()}
	}
	if fault.Field == "cores" && r.Cores == 0 {
		return flawed(array, i, "cores", uint32(0), "must be at least 1 for who takes nothing else of each node")
	}
	return flaw{array: array, index: i, request: fault}
}

// segments is how many segments the job has, 0 if its number of nodes is not fixed, or no multiple.
func (j *Job) segments() uint32 {
	nodes := j.MinNodes
	if j.CoresPerNode != 0 {
		nodes = j.Cores / j.CoresPerNode
	} else if j.MinNodes != j.MaxNodes {
		return 0
	}
	if nodes%uint32(j.Segment) != 0 {
		return 0
	}
	return nodes / uint32(j.Segment)
}

// perNodeFault is what is wrong with so many cores on each node.
func (j *Job) perNodeFault() (e flaw) {
	nodes := j.Cores / j.CoresPerNode
	switch {
	case j.CoresPerNode > bids.MaxCoresPerNode:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "must be at most %d", bids.MaxCoresPerNode)
	case j.Cores%j.CoresPerNode != 0:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "does not divide its %d cores", uint64(j.Cores))
	case nodes < j.MinNodes || (j.MaxNodes != 0 && nodes > j.MaxNodes):
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "puts its %d cores on %d nodes instead of %d to %d",
			uint64(j.Cores), uint64(nodes), uint64(j.MinNodes), uint64(j.MaxNodes))
	}
	return e
}

// loadAlternatives gives jobs their alternatives. A job that has one with a fault does not take
// part: it is not known what its user wants.
func (s *snapshot) loadAlternatives(in *Input) {
	s.others, s.otherAt = s.others[:0], s.otherAt[:0]
	if most := min(len(in.Alternatives), len(in.Jobs)*MaxAlternatives); most > cap(s.others) {
		s.others = make([]bids.Request, 0, most) // in one piece: jobs keep parts of it
	}
	least, from := uint32(0), 0 // the job that may come, and its first in others
	for i := range in.Alternatives {
		a := &in.Alternatives[i]
		s.otherAt = append(s.otherAt, -1)
		if uint64(a.Job) >= uint64(len(in.Jobs)) {
			s.faults.add(flawed("alternatives", i, "job", a.Job, "there are %d jobs", uint64(len(in.Jobs))), -1)
			continue
		}
		if a.Job > least {
			least, from = a.Job, len(s.others)
		}
		if s.faulty[a.Job] {
			continue
		}
		if fault := s.alternativeFault(in, i, least, len(s.others)-from); fault.array != "" {
			s.leaveOut(fault, int(a.Job))
			continue
		}
		job := a.job(&in.Jobs[a.Job])
		s.otherAt[i] = int32(len(s.others))
		s.others = append(s.others, s.request(&job))
		s.jobs[a.Job].Alternatives = s.others[from:len(s.others):len(s.others)]
	}
}

// alternativeFault is what is wrong with alternative i, whose job, a sound one, must be least and
// has so many before it. Its array is "" if nothing is.
func (s *snapshot) alternativeFault(in *Input, i int, least uint32, before int) flaw {
	a := &in.Alternatives[i]
	switch {
	case a.Job < least:
		return flawed("alternatives", i, "job", a.Job, "must be at least %d, that of the one before it", uint64(least))
	case before == MaxAlternatives:
		return flawed("alternatives", i, "job", a.Job, "has more than %d alternatives", uint64(MaxAlternatives))
	}
	job := a.job(&in.Jobs[a.Job])
	fault := job.fault(len(s.masks), s.shares.number >= 0)
	if fault.array != "" {
		fault.array, fault.index = "alternatives", i
	}
	return fault
}

// job is the job with a in place of its request.
func (a *Alternative) job(of *Job) Job {
	j := *of
	j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode = a.Cores, a.MinNodes, a.MaxNodes, a.CoresPerNode
	j.MinGPUs, j.MaxGPUs, j.Flags, j.Reserved, j.Mask = a.MinGPUs, a.MaxGPUs, a.Flags, a.Reserved, a.Mask
	j.Share = a.Share
	return j
}
