// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// leftovers gives out what the winners leave, job after job.
type leftovers struct {
	in    *stages // of this cycle
	clock *clock
	rest  place.Residual // what is left
	seeker
	failed map[equalKey]bool // requests that found nothing, nor will
	rooms  map[equalKey]int  // what requests had without others: see room
	grace  int               // vain attempts to place a job that the cycle has, however late it is
	over   bool              // the time to place jobs
	added  float64           // to the objective; the bound has to be raised by as much
	own    place.Held        // scratch
}

// maxGrace is how often a late cycle tries without success to start a job, before it gives up. With fewer,
// a few jobs that find no place would keep those behind them from starting for ever.
const maxGrace = 64

// reset begins with all that the winners and those behind them may take.
func (f *leftovers) reset(in *stages, c *clock) {
	f.in, f.clock = in, c
	space := &in.reservations.space
	f.rest.Reset(space.Now, space.Left)
	f.rest.Limit(&space.Quotas)
	f.grace, f.over, f.added = maxGrace, in.window.opts.off.Leftovers, 0
	if len(in.reservations.claims.reserved) > 0 { // the walk over the queue has decided on a job
		f.grace = 0
	}
	if f.failed == nil {
		f.failed, f.rooms = make(map[equalKey]bool), make(map[equalKey]int)
	}
	clear(f.failed)
	clear(f.rooms)
}

// noTime reports whether it is too late to try one more job on what the winners left. A cycle that
// has started none has its grace first.
func (f *leftovers) noTime() bool {
	f.over = f.over || f.grace <= 0 && f.clock.past(late)
	return f.over
}

// fill starts a job on what the winners left, in the first possible way from the given one on. Or it
// says that there is no time to try.
func (f *leftovers) fill(job *Job, from, to int, d *Decision, p *Plan) error {
	w := &f.in.window
	for k := from; k < to; k++ {
		v := &w.variants[k]
		key := equalKey{v.Spec, job.TimeLimit}
		key.spec.Tiers = nil // wherever it would rather be
		if !v.Spec.Valid() || f.failed[key] {
			continue
		}
		if f.noTime() {
			d.waits(undecided)
			break
		}
		n, ok := len(p.segs), false
		f.placer.By(f.in.bidding.prices, job.TimeLimit)
		if p.segs, ok = f.find(&f.rest, p.segs, v); !ok {
			f.failed[key] = true
			f.grace--
			continue
		}
		d.Alternative = int(v.Alternative)
		return f.give(job, v, n, d, p)
	}
	return nil
}

// find appends to dst a place for a way to meet a job on rest, if there is one.
func (k *seeker) find(rest *place.Residual, dst []nodeset.Segment, v *market.Variant) (segs []nodeset.Segment, ok bool) {
	if k.placer.Lacks(rest.View(v.Crosses), &v.Spec) {
		return dst, false
	}
	if v.Spec.Parts == nil {
		return k.placer.PlaceMost(dst, rest.For(&v.Spec, v.Crosses), &v.Spec, v.Spec.GPUs.PerNode.Max, rest.Quotas(), v.Crosses)
	}
	for _, most := range [...]bool{true, false} {
		o := place.PartsOptions{Layout: place.Level, MostGPUs: most}
		if dst, ok = k.placer.PlaceParts(dst, rest.View(v.Crosses), &v.Spec, o, rest.Quotas(), v.Crosses); ok {
			break
		}
	}
	return dst, ok
}

// number gives GPUs that a start on segs has become shared numbers that no GPU has now. Who has such
// a number may be stopped for another job, and run on.
func number(now, view *nodeset.Table, segs []nodeset.Segment) {
	for i := range segs {
		s := &segs[i]
		used := func(t *nodeset.Table, bin uint8) bool { _, ok := t.BinFree(int(s.First), bin); return ok }
		for b := uint8(len(view.BinsLeft(int(s.First)))); b > 0 && s.Bin > 0 && !used(view, s.Bin) && used(now, s.Bin); b-- {
			if !used(view, b) && !used(now, b) {
				s.Bin = b
			}
		}
	}
}

// give starts a job on p.segs from the given one on.
func (f *leftovers) give(job *Job, v *market.Variant, from int, d *Decision, p *Plan) error {
	segs := p.segs[from:len(p.segs):len(p.segs)]
	if view := f.rest.View(v.Crosses); f.in.preemption.moved && place.ChooseBins(view, segs, v.Spec.More(), nil) {
		number(f.in.preemption.s.Nodes, view, segs)
	}
	if err := f.rest.Take(&v.Spec, segs, v.Crosses); err != nil {
		return fmt.Errorf("job %s: left-overs: %w", job.ID, err)
	}
	bid := f.in.bidding.gen.Describe(v, segs)
	d.Start, d.Class, d.Segs, d.Uses, d.PartUses, f.grace = true, bid.Class, segs, v.Spec.More(), p.keepUses(v.Spec.Parts), 0
	preference := f.in.model.build.Value(&market.Variant{}, &bid)
	f.added += f.in.window.weight(job) + f.in.model.Objective(preference)
	return nil
}

// full reports whether there is nothing left for a job: no core, and it may not do without or have
// somebody stopped.
func (f *leftovers) full(job *Job) bool {
	cores, _ := f.rest.View(0).SumFree()
	return cores == 0 && !job.mayBeCoreless() && job.Preempts&f.in.preemption.classes == 0
}

// fillRead is fill for the job that was read last and that d is on, in ways of its own.
func (f *leftovers) fillRead(s *Snapshot, job *Job, d *Decision, p *Plan) error {
	w := &f.in.window
	from := w.addRead(s, job, f.in.reservations.crosses(s, job))
	err := f.fill(job, from, len(w.variants), d, p)
	if !d.Start && d.Why != TimedOut {
		d.waits(f.why(s, s.Pending[d.Job], w.variants[from:]))
	}
	w.remove(from)
	return err
}

// fillKept starts jobs that have a place kept and have room now, since others start elsewhere than was
// thought when it was kept. They keep off the places that are kept for others.
func (f *leftovers) fillKept(s *Snapshot, p *Plan) (err error) {
	w := &f.in.window
	for j := 0; j < len(w.jobs) && err == nil; j++ {
		if d := &p.Decisions[w.index[j]]; !d.Start && !f.noTime() && !f.full(w.jobs[j]) && f.in.reservations.holds(j, &f.own) {
			_, err = f.fillAgain(s, j, w.jobs[j], d, p)
		}
	}
	return err
}

// fillAgain is fillRead for job j of the window, on which it is decided already. It has what is kept for
// that, too, and reports whether it gives that up.
func (f *leftovers) fillAgain(s *Snapshot, j int, job *Job, d *Decision, p *Plan) (freed bool, err error) {
	kept, start := f.in.reservations.holds(j, &f.own), Decision{Job: d.Job}
	if kept {
		f.rest.Give(&f.own)
		clear(f.failed)
	}
	f.in.window.normal.read(job)
	err = f.fillRead(s, job, &start, p)
	switch {
	case start.Start:
		*d = start
		if kept {
			f.in.reservations.release(j)
		}
	case kept:
		mustHold(f.rest.Retake(&f.own, nil))
	}
	return kept && start.Start, err
}

// why says why a job waits that found nothing in these ways. A quota has too little left, others take
// what it had room on before anything started, or nothing suits it.
func (f *leftovers) why(s *Snapshot, asked *Job, ways []market.Variant) verdict {
	w := &f.in.window
	void := len(ways) > 0 && !ways[0].Spec.Valid()   // its place was kept, and is another's now
	if void || w.scarce.ranges && asked.hasRange() { // not the number of GPUs that is best for all
		w.normal.read(asked)
		from := w.addRead(s, asked, 0)
		defer w.remove(from)
		ways = w.variants[from:]
	}
	quota := lackingOf(f.rest.Quotas(), ways)
	for k := 0; k < len(ways) && quota < 0; k++ {
		room := f.room(&ways[k])
		if room == hadRoom {
			return lost
		}
		quota = max(quota, room)
	}
	if quota >= 0 {
		return w.quotas.verdict(quota)
	}
	return noNodes
}

// What room says if no quota was in the way.
const (
	noRoom  = -1
	hadRoom = -2
)

// room is the quota without which a job could have started in that way before anything did, together or
// not; or hadRoom, or noRoom.
func (f *leftovers) room(v *market.Variant) int {
	key, now, book := equalKey{spec: v.Spec}, f.in.reservations.space.Now, &f.in.window.quotas.book
	key.spec.Blocks = 0
	room, known := f.rooms[key]
	if known {
		return room
	}
	ok := key.spec.Charges == nil && key.spec.Loose(now) && !f.placer.Lacks(now, &key.spec)
	if room = noRoom; ok {
		room = hadRoom
	} else if f.tried, ok = f.placer.PlaceFew(f.tried[:0], now, &key.spec, book, nil); ok {
		room = hadRoom
	} else if f.tried, ok = f.placer.PlaceFew(f.tried[:0], now, &key.spec, nil, nil); ok && key.spec.Charges != nil {
		room = book.LacksFor(&key.spec, f.tried, 0)
	}
	f.rooms[key] = room
	return room
}

// fillFewer starts jobs on what all others have left, with fewer GPUs than the window has them ask
// for. That is if they end no later than in their planned places, which they give up. They keep off
// the places that are kept for others. It reports whether any has given up its own.
func (f *leftovers) fillFewer(s *Snapshot, p *Plan) (freed bool, err error) {
	w, x := &f.in.window, &f.in.preemption
	for j, job := range w.jobs {
		d, asked := &p.Decisions[w.index[j]], s.Pending[w.index[j]]
		if d.Start || job == asked || f.noTime() {
			continue
		}
		latest, start := math.Inf(1), s.Now
		if i := slices.Index(f.in.planning.jobs, int32(j)); f.in.reservations.guarded[j].reserved {
			start = f.in.reservations.guarded[j].start
		} else if i >= 0 {
			start, _ = f.in.planning.search.Start(i)
		}
		if start > s.Now {
			latest = float64(start-s.Now) + w.opts.lengthWith(float64(asked.TimeLimit), asked.MinGPUs, job.MinGPUs)
		}
		given, err := f.fillAgain(s, j, w.widen(asked, latest), d, p)
		if err != nil {
			return freed, err
		}
		if freed = freed || given; given {
			clear(x.failed)
		}
	}
	return freed, nil
}
