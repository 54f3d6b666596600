// SPDX-License-Identifier: BSD-3-Clause

package core

const (
	paceHorizon = 4 * 24 * 3600 // after which what came before counts half
	paceEvery   = 60            // seconds at least from one look at the running jobs to the next
	paceGap     = 900           // after which a look doesn't say when jobs have ended
)

// pacing is the stage that learns the Pace from the running jobs of one snapshot and a later one.
type pacing struct {
	at        int64
	was, runs []stint
	moved     map[runner]int64 // what limits leave those that are elsewhere in was, or new
}

// runner is a running job, or a part of one, by its first node.
type runner struct {
	id    string
	first int32
}

// stint is a running job at a look: its shares of the machine, and what its limit leaves, also later.
type stint struct {
	runner
	left, later int64
	share       float64
}

// look returns the Pace for the next snapshot after s.
func (x *pacing) look(s *Snapshot, m totals) Pace {
	pace, after := s.Pace, s.Now-x.at
	if x.moved == nil {
		x.moved = map[runner]int64{}
	} else if 0 <= after && after < paceEvery {
		return pace
	}
	x.was, x.runs, x.at = x.runs, x.was[:0], s.Now
	clear(x.moved)
	for i := range s.Running {
		r := &s.Running[i]
		if r.ID == "" || len(r.Segs) == 0 || r.End-s.Now >= endless {
			continue
		}
		now := stint{runner: runner{r.ID, r.Segs[0].First}, left: max(r.End-s.Now, 0)}
		for _, seg := range r.Segs {
			shares := m.sharesOf(uint64(seg.Len())*uint64(seg.Cores), uint64(seg.Len())*uint64(seg.GPUs))
			now.share += shares.cores + shares.gpus
		}
		if k := len(x.runs); k < len(x.was) && x.was[k].runner == now.runner { // mostly
			x.was[k].later = now.left
		} else {
			x.moved[now.runner] = now.left
		}
		x.runs = append(x.runs, now)
	}
	for i := 0; i < len(x.was) && 0 <= after && after <= paceGap; i++ {
		was := &x.was[i]
		pace.Ran += was.share * float64(min(after, was.left))
		if was.later == 0 {
			was.later = x.moved[was.runner]
		}
		pace.Limits += was.share * float64(max(was.left-was.later, 0))
	}
	if pace.Limits = min(pace.Limits, NoTimeLimit); pace.Ran > 2*paceHorizon {
		pace.Ran, pace.Limits = pace.Ran/2, pace.Limits/2
	}
	return pace
}
