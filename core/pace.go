// SPDX-License-Identifier: BSD-3-Clause

package core

import "hash/maphash"

const (
	paceHorizon = 4 * 24 * 3600 // after which what came before counts half
	paceEvery   = 60            // seconds at least from one look at the running jobs to the next
	paceGap     = 900           // after which a look doesn't say when jobs have ended
)

// pacing is the stage that learns the Pace from the running jobs of one snapshot and a later one.
type pacing struct {
	seed      maphash.Seed
	at        int64
	was, runs []stint
	number    map[uint64]int // in runs
}

// stint is a running job at a look: the seconds that its limit leaves it, and its shares of the machine.
type stint struct {
	job   uint64
	left  int64
	share float64
}

// look returns the Pace for the next snapshot after s.
func (x *pacing) look(s *Snapshot, m totals) Pace {
	pace, after := s.Pace, s.Now-x.at
	if x.number == nil {
		x.seed, x.number = maphash.MakeSeed(), map[uint64]int{}
	} else if 0 <= after && after < paceEvery {
		return pace
	}
	x.was, x.runs, x.at = x.runs, x.was[:0], s.Now
	clear(x.number)
	for i := range s.Running {
		r := &s.Running[i]
		now := stint{left: max(r.End-s.Now, 0)}
		if r.ID == "" || len(r.Segs) == 0 || now.left >= endless {
			continue
		}
		for _, seg := range r.Segs {
			shares := m.sharesOf(uint64(seg.Len())*uint64(seg.Cores), uint64(seg.Len())*uint64(seg.GPUs))
			now.share += shares.cores + shares.gpus
		}
		now.job = maphash.String(x.seed, r.ID) + uint64(r.Segs[0].First) // a part of several has its own
		x.number[now.job], x.runs = len(x.runs), append(x.runs, now)
	}
	for i := range x.was {
		if after < 0 || after > paceGap {
			break
		}
		was, left := &x.was[i], int64(0)
		if k, ok := x.number[was.job]; ok {
			left = x.runs[k].left
		}
		pace.Ran += was.share * float64(min(after, was.left))
		pace.Limits += was.share * float64(max(was.left-left, 0))
	}
	if pace.Limits = min(pace.Limits, NoTimeLimit); pace.Ran > 2*paceHorizon {
		pace.Ran, pace.Limits = pace.Ran/2, pace.Limits/2
	}
	return pace
}
