package core

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// guard walks down the window in queue order, or by claim, on the draft that is worth most: jobs
// that can start there have to start, and the first that cannot get reservations,
// Reservations of them. It stops at the last of these; jobs behind it are free to
// win or lose, as long as they keep off what is reserved. It ends early when stop,
// which may be nil, says so, but never before it has looked at the first: a machine that
// has been drained for a wide job for an hour is not given away because one cycle had no
// time. Afterwards a.asks, a.guarded and a.space say what the auction has to respect. A job that can be met in several ways starts in the first that can
// start, or else has the earliest place of all reserved.
//
// The rule is EASY backfilling's (Lifka 1995) for the head of the queue, with the
// auction deciding everything behind it: the job at the head starts as early as
// running jobs' time limits allow, whatever comes after it, so that every job gets
// to the head in the end.
func (a *Auction) guard(s *Snapshot, stop func() bool) error {
	if err := a.plan.reset(s); err != nil {
		return err
	}
	a.plan.stop = stop
	a.kept = a.kept[:0]
	a.markDraft()
	first := -1
	for i, j := range a.byClaim(s) {
		if i > 0 && stop != nil && stop() {
			break
		}
		reserved, err := a.serve(s, int(j))
		if err != nil {
			return err
		}
		if reserved && first < 0 {
			first = int(j)
		}
		if len(a.plan.reserved) == a.opts.Reservations {
			break
		}
	}
	a.bind(s, first)
	return nil
}

// serve has job j start, or else keeps its earliest place. Jobs that stay together may lie anywhere if
// there never is a place otherwise, as with nodes down; if there is none even then, it does nothing.
func (a *Auction) serve(s *Snapshot, j int) (reserved bool, err error) {
	limit := a.jobs[j].TimeLimit
	for _, loose := range [...]bool{false, true} {
		if loose && !a.opts.Compact {
			break
		}
		a.plan.loose = loose
		if segs, ask, ok := a.startable(j); ok {
			a.asks[ask].Keep, a.guarded[j].must = segs, true
			return false, a.plan.start(segs, s.Now+limit)
		}
		if r, ok := a.plan.reserve(j, a.asksOf(j), limit); ok {
			a.guarded[j].start = r.Start
			return true, nil
		}
	}
	return false, nil
}

// markDraft sets a.chosen to the bids of the draft that is worth most.
func (a *Auction) markDraft() {
	a.chosen = a.chosen[:0]
	for range a.window {
		a.chosen = append(a.chosen, -1)
	}
	if len(a.book.Drafts) > 0 {
		for _, b := range a.book.Drafts[0] {
			a.chosen[a.jobOf(b)] = b
		}
	}
}

// startable finds a place where job j can start now: the draft's, if nothing that
// was reserved meanwhile is in the way, or another. ask is the one that it meets.
func (a *Auction) startable(j int) (place []nodeset.Segment, ask int, ok bool) {
	from, limit := len(a.kept), a.jobs[j].TimeLimit
	if b := a.chosen[j]; b >= 0 {
		a.kept = append(a.kept, a.book.Allocation(int(b))...)
		if segs := a.kept[from:len(a.kept):len(a.kept)]; a.plan.free(segs, limit) {
			return segs, int(a.book.Bids[b].Job), true
		}
		a.kept = a.kept[:from]
	}
	kept, k, ok := a.plan.place(a.kept, a.asksOf(j), limit, a.plan.clock)
	if !ok {
		return nil, 0, false
	}
	a.kept = kept
	return a.kept[from:len(a.kept):len(a.kept)], int(a.askStart[j]) + k, true
}

// free reports whether segs are free now and stay so for limit seconds.
func (p *planner) free(segs []nodeset.Segment, limit int64) bool {
	if !p.now.Fits(segs) {
		return false
	}
	for _, r := range p.reserved {
		if r.Start < p.clock+limit {
			p.freeAt(&p.later, r.Start)
			if !p.later.Fits(segs) {
				return false
			}
		}
	}
	return true
}

// bind tells the asks which reservations they would run into. The first job with a
// reservation is not bound by it; the others with one do not bid this time, so that
// they can't take each other's places.
func (a *Auction) bind(s *Snapshot, first int) {
	a.left = a.plan.left(a.left, s.Nodes, s.Running)
	a.space.Left = a.space.Left[:0]
	for k := range a.left {
		a.space.Left = append(a.space.Left, &a.left[k])
	}
	for k := range a.asks {
		ask, j := &a.asks[k], int(a.ways[k].job)
		ask.Crosses = a.crosses(s, a.jobs[j])
		switch {
		case j == first && len(a.plan.reserved) == 1:
			ask.Crosses = 0
		case a.guarded[j].start > 0:
			ask.Request = &noRequest
		}
	}
}

// crosses is how many reservations a job would run into if it started now.
func (a *Auction) crosses(s *Snapshot, job *Job) int {
	n := 0
	for n < len(a.space.Left) && a.plan.reserved[n].Start < s.Now+job.TimeLimit {
		n++
	}
	return n
}

// noRequest is not valid, so that its job makes no bid.
var noRequest bids.Request
