package core

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// decide turns the winners into decisions, gives what is left over to jobs that
// lost, and checks the whole by allocating it.
func (a *Auction) decide(s *Snapshot, p *Plan) error {
	a.chosen = a.chosen[:0]
	for range a.window {
		a.chosen = append(a.chosen, -1)
	}
	a.rest.Reset(&a.space)
	worth, bound := a.result.Worth, a.result.Bound
	for _, b := range a.result.Chosen {
		bid := &a.book.Bids[b]
		a.chosen[bid.Job] = b
		if err := a.rest.Take(a.book.Allocation(int(b)), a.asks[bid.Job].Crosses); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", a.jobs[bid.Job].ID, err)
		}
	}
	k := 0
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Reason != "" {
			continue
		}
		j := k
		k++
		if b := a.chosen[j]; b >= 0 {
			d.Start, d.Class = true, a.book.Bids[b].Class
			d.Segs = p.keep(a.book.Allocation(int(b)))
			continue
		}
		if added := a.fill(s, j, d, p); added > 0 {
			worth, bound = worth+added, bound+added
			continue
		}
		d.Expected = a.guarded[j].start
		d.Reason = a.whyNot(j)
	}
	p.Objective, p.Bound = a.model.Objective(worth), a.model.Objective(bound)
	p.Stats.Jobs, p.Stats.Bids, p.Stats.BidClasses = len(a.window), len(a.book.Bids), a.book.NodeSets
	p.Stats.Rows, p.Stats.Entries = a.model.Rows(), len(a.model.Row)
	p.Stats.Status, p.Stats.Work = a.result.Status.String(), a.result.Work
	return nil
}

// fill starts job j, which lost, on what the winners left, if that is possible. It
// returns the worth of the new bid, which the bound has to be raised by as well.
func (a *Auction) fill(s *Snapshot, j int, d *Decision, p *Plan) int64 {
	ask := &a.asks[j]
	if a.opts.Drafts == 0 || a.guarded[j].start > 0 || (a.late != nil && a.late()) {
		return 0
	}
	from := len(p.segs)
	for g := min(max(ask.MinGPUs, ask.MaxGPUs), s.Nodes.MaxGPUs()); g >= ask.MinGPUs; g-- {
		segs, ok := a.fillers.Place(p.segs, a.rest.View(ask.Crosses), ask.Request, g)
		if p.segs = segs; !ok {
			continue
		}
		d.Segs = p.segs[from:len(p.segs):len(p.segs)]
		must(a.rest.Take(d.Segs, ask.Crosses))
		d.Start = true
		bid := a.gen.Describe(j, d.Segs)
		d.Class = bid.Class
		return a.build.Worth(ask, &bid)
	}
	return 0
}

func (a *Auction) whyNot(j int) string {
	switch {
	case a.guarded[j].start > 0:
		return reasonReserved
	case len(a.book.Of(j)) == 0:
		return reasonNoNodes
	}
	return reasonLost
}

// keep copies segments into the plan's own memory.
func (p *Plan) keep(segs []nodeset.Segment) []nodeset.Segment {
	from := len(p.segs)
	p.segs = append(p.segs, segs...)
	return p.segs[from:len(p.segs):len(p.segs)]
}
