package engine

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
)

// loadAlternatives gives jobs their alternatives.
func (s *snapshot) loadAlternatives(in *Input) error {
	s.others = s.others[:0]
	if len(in.Alternatives) > len(in.Jobs)*MaxAlternatives {
		return whole("alternatives", len(in.Alternatives), "there must be at most %d a job", MaxAlternatives)
	}
	if len(in.Alternatives) > cap(s.others) {
		s.others = make([]bids.Request, 0, len(in.Alternatives)) // in one piece: jobs keep parts of it
	}
	least, from := uint32(0), 0 // the job that may come, and its first
	for i := range in.Alternatives {
		a := &in.Alternatives[i]
		fault := func(field string, value any, format string, args ...any) error {
			return &InputError{"alternatives", i, field, value, fmt.Sprintf(format, args...)}
		}
		switch {
		case a.Job < least:
			return fault("job", a.Job, "must be at least %d, that of the one before it", least)
		case uint64(a.Job) >= uint64(len(in.Jobs)):
			return fault("job", a.Job, "there are %d jobs", len(in.Jobs))
		case a.Job > least:
			least, from = a.Job, i
		}
		if i-from == MaxAlternatives {
			return fault("job", a.Job, "has more than %d alternatives", MaxAlternatives)
		}
		job := a.job(&in.Jobs[a.Job])
		if e := job.fault(MaxPriority, len(s.masks)); e.Array != "" {
			e.Array = "alternatives"
			return e.at(i)
		}
		s.others = append(s.others, s.request(&job))
		s.jobs[a.Job].Alternatives = s.others[from : i+1 : i+1]
	}
	return nil
}

// job is the job with a in place of its request.
func (a *Alternative) job(of *Job) Job {
	j := *of
	j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode = a.Cores, a.MinNodes, a.MaxNodes, a.CoresPerNode
	j.MinGPUs, j.MaxGPUs, j.Flags, j.Reserved, j.Mask = a.MinGPUs, a.MaxGPUs, a.Flags, a.Reserved, a.Mask
	return j
}
