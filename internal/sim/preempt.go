// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/nodeset"
)

// start allocates segs, for the rest of the cycle, to the job at index i.
func (b *Backfill) start(i int, segs []nodeset.Segment) error {
	j := b.s.Pending[i]
	err := b.stopChosen()
	if err == nil {
		err = b.s.Nodes.Allocate(segs, j.Uses...)
	}
	if err == nil && b.stop.any() {
		err = b.stop.wide.Allocate(segs, j.Uses...)
	}
	if err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	d := b.decide(core.Decision{Job: i, Start: true, Segs: segs, Uses: j.Uses, Class: market.ClassS})
	h := held{b.s.Now + j.TimeLimit, j.ID, d.Segs, j.Uses, false}
	b.started = append(b.started, h)
	if b.sorted {
		at, _ := slices.BinarySearchFunc(b.held, h, compareHeld)
		b.held = slices.Insert(b.held, at, h)
	}
	return nil
}

// begin finds them. As with preempt_youngest_first those go first that came last, except for those
// that are being stopped, whose price is 1.
func (p *stoppable) begin(s *core.Snapshot) error {
	p.order, p.chosen, p.gone, p.nodes, p.fit.ready = p.order[:0], p.chosen[:0], p.gone[:0], p.nodes[:0], false
	for i := range s.Running {
		if s.Running[i].Price > 0 {
			p.order = append(p.order, i)
		}
	}
	if len(p.order) == 0 {
		return nil
	}
	p.wide.CopyFrom(s.Nodes)
	for _, i := range p.order {
		if err := p.wide.Release(s.Running[i].Segs, s.Running[i].Uses...); err != nil {
			return err
		}
	}
	slices.SortFunc(p.order, func(a, b int) int {
		x, y := &s.Running[a], &s.Running[b]
		return cmp.Or(cmp.Compare(min(x.Price, 2), min(y.Price, 2)), cmp.Compare(y.End, x.End),
			slices.CompareFunc(x.Segs, y.Segs, compareSegments), cmp.Compare(x.ID, y.ID))
	})
	return nil
}

// mayStop reports whether a job may have some stopped.
func (b *Backfill) mayStop(j *core.Job) bool { return j.Preempts != 0 && b.stop.any() }

// tryNow is trySelect on what is free now. A job that finds no place and may have others stopped
// has them out of the way, one after the other, until it fits, as in _run_now of select/cons_tres.
// If the job starts, those on its nodes go.
func (b *Backfill) tryNow(j *core.Job, avail nodeset.Mask) ([]nodeset.Segment, bool, error) {
	p := &b.stop
	p.chosen = p.chosen[:0]
	if len(p.gone) > 0 && j.Preempts == 0 {
		avail = b.spared(avail)
	}
	segs, ok, err := b.trySelect(b.s.Nodes, j, avail)
	if ok || err != nil || j.Preempts == 0 || len(p.order) == 0 {
		return segs, ok, err
	}
	if segs, ok, err = b.trySelect(&p.wide, j, avail); !ok || err != nil {
		return segs, ok, err
	}
	low, high := 1, len(p.order)
	for low < high {
		k := (low + high) / 2
		if _, ok, err = b.tryWithout(k, j, avail); err != nil {
			return nil, false, err
		} else if ok {
			high = k
		} else {
			low = k + 1
		}
	}
	if segs, ok, err = b.tryWithout(high, j, avail); !ok || err != nil {
		return segs, ok, err
	}
	b.choose(segs)
	for at, i := range p.order[:high] {
		if overlapAny(b.s.Running[i].Segs, b.chosen) {
			p.chosen = append(p.chosen, at)
		}
	}
	return segs, true, nil
}

// tryWithout is trySelect as if the first k were gone.
func (b *Backfill) tryWithout(k int, j *core.Job, avail nodeset.Mask) ([]nodeset.Segment, bool, error) {
	p := &b.stop
	p.trial.CopyFrom(b.s.Nodes)
	for _, i := range p.order[:k] {
		if err := p.trial.Release(b.s.Running[i].Segs, b.s.Running[i].Uses...); err != nil {
			return nil, false, err
		}
	}
	return b.trySelect(&p.trial, j, avail)
}

// spared are the nodes of avail, nil for all, on which nobody goes.
func (b *Backfill) spared(avail nodeset.Mask) nodeset.Mask {
	p := &b.stop
	if avail == nil {
		avail = b.up
	}
	p.open = append(p.open[:0], avail...)
	for w := range p.open {
		p.open[w] &^= p.nodes[w]
	}
	return p.open
}

// stopChosen has those go that were chosen for the job that starts now. Their places are free from
// now on, for the rest of the cycle.
func (b *Backfill) stopChosen() error {
	p := &b.stop
	if len(p.chosen) == 0 {
		return nil
	}
	if len(p.gone) == 0 {
		p.nodes = append(p.nodes[:0], b.up...)
		clear(p.nodes)
	}
	for k := len(p.chosen) - 1; k >= 0; k-- {
		// from the back, so that those in front stay where they are
		i := p.order[p.chosen[k]]
		r := &b.s.Running[i]
		if err := b.s.Nodes.Release(r.Segs, r.Uses...); err != nil {
			return err
		}
		for _, s := range r.Segs {
			for n := s.First; n <= s.Last; n++ {
				p.nodes.Set(int(n))
			}
		}
		if b.sorted {
			b.held = slices.DeleteFunc(b.held, func(h held) bool { return h.stoppable && h.id == r.ID })
		}
		p.order = slices.Delete(p.order, p.chosen[k], p.chosen[k]+1)
		p.gone = append(p.gone, i)
	}
	p.chosen = p.chosen[:0]
	return nil
}

// freeFor is what is free for a job, with what those have that it may have stopped.
func (b *Backfill) freeFor(j *core.Job) *nodeset.Table {
	if b.mayStop(j) {
		return &b.stop.wide
	}
	return b.s.Nodes
}

// heldFor are the jobs that a job waits for.
func (b *Backfill) heldFor(j *core.Job) []held {
	if !b.mayStop(j) {
		return b.held
	}
	b.stop.firm = b.stop.firm[:0]
	for _, h := range b.held {
		if !h.stoppable {
			b.stop.firm = append(b.stop.firm, h)
		}
	}
	return b.stop.firm
}

// tellGone says in the plan who goes, and gives them their places back.
func (b *Backfill) tellGone() error {
	b.p.Preempted = b.p.Preempted[:0]
	slices.Sort(b.stop.gone)
	for _, i := range b.stop.gone {
		r := &b.s.Running[i]
		if err := b.s.Nodes.Allocate(r.Segs, r.Uses...); err != nil {
			return err
		}
		b.choose(r.Segs)
		gone := core.Preemption{Running: i}
		for k := range b.p.Decisions {
			if d := &b.p.Decisions[k]; d.Start && b.s.Pending[d.Job].Preempts != 0 && overlapAny(d.Segs, b.chosen) {
				gone.For = append(gone.For, d.Job)
			}
		}
		b.p.Preempted = append(b.p.Preempted, gone)
	}
	return nil
}
