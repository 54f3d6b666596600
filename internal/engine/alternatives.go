// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"github.com/aucsched/aucsched/bids"
)

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
