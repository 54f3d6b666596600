// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

const (
	maxTries = 1 << 12 // bounds how often a cycle looks for places
	maxExact = 8       // of so many victims the cheapest are found for sure
)

// findStoppable finds out who may be stopped for any job of s.
func (x *preemption) findStoppable(s *Snapshot) {
	if x.byID == nil {
		x.byID, x.failed = make(map[string]int), make(map[failure]bool)
	}
	x.s, x.classes, x.tries, x.moved, x.loss = s, 0, 0, false, 0
	x.victims, x.spares, x.waits = x.victims[:0], x.spares[:0], x.waits[:0]
	x.memory.uses, x.memory.segs = x.memory.uses[:0], x.memory.segs[:0]
	if x.opts.Determiner != nil { // its program knows nothing of rights
		return
	}
	for i := range s.Running {
		if r := &s.Running[i]; r.Price > 0 && r.Exempt <= s.Now {
			x.classes |= 1 << r.Class
		}
	}
	rights := uint64(0)
	for i := 0; i < len(s.Pending) && rights&x.classes != x.classes; i++ {
		rights |= s.Pending[i].Preempts
	}
	if x.classes &= rights; x.classes != 0 {
		x.findVictims()
	}
}

// findVictims finds the running jobs that may be stopped.
func (x *preemption) findVictims() {
	clear(x.byID)
	s := x.s
	for i := range s.Running {
		if r := &s.Running[i]; r.Price > 0 && r.Exempt <= s.Now && x.classes>>r.Class&1 == 1 {
			x.byID[r.ID] = len(x.victims)
			x.victims = place.Resize(x.victims, len(x.victims)+1)
			v := &x.victims[len(x.victims)-1]
			*v = victim{running: i, parts: append(v.parts[:0], i), held: v.held[:0]}
		}
	}
	for i := range s.Running {
		if r := &s.Running[i]; r.ID != "" && r.Price == 0 {
			if k, ok := x.byID[r.ID]; ok {
				x.victims[k].parts = append(x.victims[k].parts, i)
			}
		}
	}
	clear(x.byID) // the ids are the caller's
	machine := totalsOf(s.Nodes)
	for i := range x.victims {
		v := &x.victims[i]
		var z place.Size
		for _, k := range v.parts {
			part := place.SizeOf(s.Running[k].Segs)
			z.Cores, z.GPUs = z.Cores+part.Cores, z.GPUs+part.GPUs
		}
		v.price, v.loss = s.Running[v.running].Price, x.opts.lossOf(machine, s, v.running, z)
		v.density = float64(v.price) / float64(max(z.Cores+z.GPUs, 1))
	}
	slices.SortFunc(x.victims, func(a, b victim) int {
		byClass := 0
		if x.s.StrictPreemption {
			byClass = cmp.Compare(s.Running[a.running].Class, s.Running[b.running].Class)
		}
		return cmp.Or(byClass, cmp.Compare(a.price, b.price), cmp.Compare(a.running, b.running))
	})
}

// lossOf is what is lost if a running job of that size is stopped, in the objective's unit.
func (o *AuctionOptions) lossOf(m totals, s *Snapshot, running int, z place.Size) float64 {
	r := &s.Running[running]
	loss := float64(r.Price)
	switch o.Objective {
	case BySize:
		loss *= float64(z.Cores)
	case ByRate:
		loss *= math.Ldexp(float64(rateOf(m.shareOf(uint64(z.Cores), uint64(z.GPUs)), r.End-s.Now)), -rateBits)
	}
	return loss
}

// onUp is what of an allocation is on nodes that are up: others give nothing.
func (x *preemption) onUp(segs []nodeset.Segment) []nodeset.Segment {
	m := &x.memory
	from := len(m.segs)
	m.segs = append(m.segs, cut(m.segs[from:], segs, x.s.Nodes.Up)...)
	return m.segs[from:len(m.segs):len(m.segs)]
}

// cut appends the part of an allocation on some nodes.
func cut(dst, segs []nodeset.Segment, on func(n int) bool) []nodeset.Segment {
	for _, s := range segs {
		for one := s; one.First <= s.Last; one.First++ {
			if one.Last = one.First; on(int(one.First)) {
				dst = nodeset.Append(dst, one)
			}
		}
	}
	return dst
}

// mayStop reports whether there is anybody whom the job may have stopped.
func (x *preemption) mayStop(job *Job) bool { return job.Preempts&x.classes != 0 }

// open begins with what is left by the winners, or of all to claims. before says how many reservations
// begin before a second.
func (x *preemption) open(rest *place.Residual, before func(int64) int) {
	x.rest = rest
	clear(x.failed)
	until := func(running int) int { return 1 + before(max(x.s.Running[running].End, x.s.Now+1)) }
	for i := range x.victims {
		v := &x.victims[i]
		v.held = v.held[:0]
		for _, k := range v.parts {
			r := &x.s.Running[k]
			counts := comesBack(&x.memory.uses, rest.Quotas(), r)
			v.held = append(v.held, place.Held{Segs: x.onUp(r.Segs), Uses: r.Uses, Counts: counts, To: until(k)})
		}
	}
	for _, s := range x.spares {
		for k := range s.Counts {
			s.Counts[k].PerJob /= rest.Quotas().Unit[s.Counts[k].Row]
		}
	}
}

// heldBy is what a start holds.
func (x *preemption) heldBy(v *market.Variant, segs []nodeset.Segment) place.Held {
	h := heldBy(&x.memory.uses, x.rest.Quotas(), &v.Spec, segs)
	h.To = 1 + v.Crosses
	return h
}

func (x *preemption) give(r *rival) {
	for i := range r.held {
		x.rest.Give(&r.held[i])
	}
	r.out = true
}

// takeBack has r keep what it has. It reports false if the job needs any of it, which counts so much.
func (x *preemption) takeBack(r *rival, counts nodeset.Uses) bool {
	for i := range r.held {
		if !x.rest.Retake(&r.held[i], counts) {
			for i--; i >= 0; i-- {
				x.rest.Give(&r.held[i])
			}
			return false
		}
	}
	r.out = false
	return true
}

// fits finds a place for the job on what is left and given.
func (x *preemption) fits() (ok bool) {
	x.tries++
	for x.way = range x.ways {
		if v := &x.ways[x.way]; v.Spec.Valid() {
			if x.segs, ok = x.seeker.find(x.rest, x.segs[:0], v); ok { // it begins when others are gone
				view := x.rest.View(v.Crosses)
				ok = place.ChooseBins(view, x.segs, v.Spec.More(), x.s.Nodes)
				number(x.s.Nodes, view, x.segs)
				return ok
			}
		}
	}
	return false
}

// find finds a place for a job of that priority, and leaves out who has to go for it.
func (x *preemption) find(priority int64) bool {
	if x.fits() {
		return true
	}
	strict := x.s.StrictPreemption
	alone := x.choose() && (strict || x.priceOut(0, x.starts) < priority)
	if x.starts == len(x.rivals) {
		if !alone {
			x.only(nil)
		}
		return alone
	}
	x.only(nil)
	for i := x.starts; i < len(x.rivals); i++ {
		x.give(&x.rivals[i])
	}
	if x.fits() || x.choose() {
		x.letOff(x.starts, len(x.rivals))
		price := x.priceOut(0, x.starts)
		if alone || price > 0 && (strict || price+x.priceOut(x.starts, len(x.rivals)) < priority) {
			return true
		}
		x.only(nil)
	}
	for i := x.starts; i < len(x.rivals); i++ {
		if r := &x.rivals[i]; r.out {
			mustHold(x.takeBack(r, nil))
		}
	}
	return alone && x.choose()
}

// priceOut is the price of those of rivals first to last that are out.
func (x *preemption) priceOut(first, last int) (sum int64) {
	for i := first; i < last; i++ {
		if x.rivals[i].out {
			sum += x.rivals[i].price
		}
	}
	return sum
}

// choose has the cheapest victims be out that will do, given what else is. It reports false, and none
// is, if not even all would do.
func (x *preemption) choose() bool {
	x.order = x.order[:0]
	for i := range x.starts {
		x.order = append(x.order, int32(i))
	}
	if x.only(x.order); len(x.order) == 0 || x.tries > maxTries || !x.fits() {
		x.only(nil)
		return false
	}
	x.greedy()
	x.isBest()
	if !x.s.StrictPreemption {
		// those that hold much for what they are worth may be cheaper
		slices.SortStableFunc(x.order, func(a, b int32) int {
			return cmp.Compare(x.victims[x.rivals[a].number].density, x.victims[x.rivals[b].number].density)
		})
		if x.greedy(); x.priceOf(x.found) < x.priceOf(x.best) {
			x.isBest()
		}
		x.exact()
	}
	x.only(x.best)
	x.spot.copyFrom(&x.least)
	return true
}

// isBest says that the victims and the place that were found last are the best.
func (x *preemption) isBest() {
	x.best = append(x.best[:0], x.found...)
	x.least.copyFrom(&x.spot)
}

func (x *preemption) priceOf(list []int32) (sum int64) {
	for _, i := range list {
		sum += x.rivals[i].price
	}
	return sum
}

// only has those victims be out that are in the list.
func (x *preemption) only(list []int32) {
	for _, i := range list {
		x.rivals[i].asked = true
	}
	for i := range x.rivals[:x.starts] {
		r := &x.rivals[i]
		if r.out && !r.asked {
			mustHold(x.takeBack(r, nil))
		} else if r.asked && !r.out {
			x.give(r)
		}
		r.asked = false
	}
}

func (x *preemption) onlyFits(list []int32) bool {
	x.only(list)
	return x.fits()
}

// greedy sets x.found to victims that will do, of which none can be left out. It finds by halves how
// many of the first of x.order are needed, and lets off the dearest that are not.
func (x *preemption) greedy() {
	low, high := 0, len(x.order) // low are too few
	for n := 1; n < high; n *= 2 {
		if x.onlyFits(x.order[:n]) {
			high = n
		} else {
			low = n
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; x.onlyFits(x.order[:mid]) {
			high = mid
		} else {
			low = mid
		}
	}
	if !x.onlyFits(x.order[:high]) { // parts may find a place among fewer that they do not among more
		mustHold(x.onlyFits(x.order))
	}
	x.letOff(0, x.starts)
	x.found = x.found[:0]
	for i := range x.rivals[:x.starts] {
		if x.rivals[i].out {
			x.found = append(x.found, int32(i))
		}
	}
}

// letOff takes back what the job does not need of rivals first to last, the last ones first. It has a
// place, before and after.
func (x *preemption) letOff(first, last int) {
	v := &x.ways[x.way]
	must(x.rest.Take(&v.Spec, x.segs, v.Crosses))
	h := x.heldBy(v, x.segs)
	for i := last - 1; i >= first; i-- { // who is not in the way of this place
		if r := &x.rivals[i]; r.out {
			x.takeBack(r, h.Counts)
		}
	}
	x.rest.Give(&h)
	x.known.copyFrom(&x.spot)
	for i := last - 1; i >= first; i-- { // who is not in the way of another
		r := &x.rivals[i]
		if !r.out || !x.takeBack(r, nil) {
			continue
		}
		if x.fits() {
			x.known.copyFrom(&x.spot)
		} else {
			x.give(r)
		}
	}
	x.spot.copyFrom(&x.known)
}

// exact sets x.best to the cheapest victims of all, where few are cheaper than it.
func (x *preemption) exact() {
	most := x.priceOf(x.best)
	x.order = x.order[:0]
	for i := range x.rivals[:x.starts] {
		if x.rivals[i].price < most {
			x.order = append(x.order, int32(i))
		}
	}
	if len(x.order) > maxExact || x.tries+1<<len(x.order) > maxTries {
		return
	}
	for set := int32(1); set < 1<<len(x.order); set++ {
		if price := x.priceOf(x.setOf(set)); price < most && x.onlyFits(x.found) {
			most = price
			x.isBest()
		}
	}
}

// setOf are those of x.order whose bits are in the set, in x.found.
func (x *preemption) setOf(set int32) []int32 {
	x.found = x.found[:0]
	for k, i := range x.order {
		if set>>k&1 == 1 {
			x.found = append(x.found, i)
		}
	}
	return x.found
}

// serve starts the job that d is on, which has found no place, in place of running jobs or of what
// starts behind it, if it may. It is job j of the window, or behind all of that.
func (x *preemption) serve(s *Snapshot, j int, d *Decision, left *leftovers, in *stages, p *Plan) error {
	w, job := &in.window, s.Pending[d.Job] // by any number of its GPUs
	if d.Start || !x.mayStop(job) || x.tries > maxTries || left.noTime() {
		return nil
	}
	w.normal.read(job)
	first := w.addRead(s, job, in.reservations.crosses(s, job))
	x.ways = append(x.ways[:0], w.variants[first:]...)
	w.remove(first)
	x.seeker.placer.By(nil, job.TimeLimit)
	kept := in.reservations.holds(j, &x.own) // it is the job's to give up
	one := len(x.ways) == 1                  // others differ in more than the key says
	var key failure
	if one {
		key = failure{equalKey{x.ways[0].Spec, job.TimeLimit}, job.Preempts & x.classes}
	}
	if !kept && x.failed[key] {
		return nil
	}
	x.setRivals(j, in, job)
	if kept {
		x.rest.Give(&x.own)
	}
	x.offerSpares(job)
	if !x.find(job.Priority) {
		x.keepSpares()
		if kept {
			mustHold(x.rest.Retake(&x.own, nil))
		}
		if one {
			x.failed[key] = true
		}
		return nil
	}
	if kept {
		in.reservations.release(j)
	}
	from, v := len(p.segs), x.ways[x.way]
	p.segs = append(p.segs, x.segs...)
	*d = Decision{Job: d.Job, Alternative: int(v.Alternative)}
	x.moved = true
	if err := left.give(job, &v, from, d, p); err != nil {
		return err
	}
	for i := range x.rivals {
		r := &x.rivals[i]
		switch {
		case !r.out:
		case i < x.starts:
			x.loss += x.victims[r.number].loss
			x.stop(r.number, x.caller(d.Job))
		case r.kept:
			in.reservations.release(int(r.number))
		default:
			b := in.winners.result.Chosen[r.number]
			x.loss += in.model.Objective(in.model.Value[b])
			k := in.window.jobOf(&in.bidding.book.Bids[b])
			x.won[k] = -1
			p.Decisions[w.index[k]] = Decision{Job: p.Decisions[w.index[k]].Job}
		}
	}
	clear(x.failed)
	clear(left.failed)
	x.settle(x.caller(d.Job), d, &v)
	return nil
}

// ask sets the variants by which a job can be met, before anything is kept for anybody.
func (x *preemption) ask(w *window, job *Job) {
	w.normal.read(job)
	x.ways = x.ways[:0]
	for _, spec := range w.normal.specs {
		spec = w.normal.now(spec, job.TimeLimit)
		spec.Contiguous = spec.Valid() && (spec.Contiguous || w.opts.ContiguousOnly)
		x.ways = append(x.ways, market.Variant{Spec: spec})
	}
	x.seeker.placer.By(nil, job.TimeLimit)
}

// setVictims has the rivals be those whom a job may have stopped.
func (x *preemption) setVictims(job *Job) {
	x.rivals = x.rivals[:0]
	for i := range x.victims {
		if v := &x.victims[i]; !v.gone && job.Preempts>>x.s.Running[v.running].Class&1 == 1 {
			x.rivals = append(x.rivals, rival{number: int32(i), price: v.price, held: v.held})
		}
	}
	x.starts = len(x.rivals)
}

// setRivals finds who has what job j could have: jobs that it may have stopped, and jobs behind it
// that start or have a place kept.
func (x *preemption) setRivals(j int, in *stages, job *Job) {
	x.setVictims(job)
	x.wins = place.Resize(x.wins, len(x.won))
	for k := len(x.won) - 1; k > j; k-- {
		h := &x.wins[k]
		r := rival{number: x.won[k], price: in.window.jobs[k].Priority, held: x.wins[k : k+1]}
		if r.number >= 0 {
			bid := &in.bidding.book.Bids[in.winners.result.Chosen[r.number]]
			*h = x.heldBy(&in.window.variants[bid.Job], in.winners.by.Allocation(int(r.number)))
		} else if !in.reservations.guarded[k].reserved || !in.reservations.holds(k, h) {
			continue
		} else {
			r.number, r.kept, r.price = int32(k), true, 0
		}
		x.rivals = append(x.rivals, r)
	}
}

// stop has a victim stopped for a job.
func (x *preemption) stop(number int32, job int) {
	v := &x.victims[number]
	v.gone = true
	x.wait(number, job)
	for k := range v.held {
		h := &v.held[k]
		for _, s := range h.Segs {
			for n := s.First; n <= s.Last; n++ {
				x.addSpare(number, h, s, n)
			}
		}
		if len(h.Counts) > 0 {
			x.spares = append(x.spares, spare{place.Held{Counts: h.Counts, To: 1}, number, true})
		}
	}
}

// addSpare adds what a victim has freed on node n.
func (x *preemption) addSpare(number int32, h *place.Held, s nodeset.Segment, n int32) {
	s.First, s.Last, s.Part = n, n, 0
	m := &x.memory
	from, first := len(m.uses), len(m.segs)
	m.segs = append(m.segs, s)
	for _, u := range h.Uses {
		m.uses = append(m.uses, nodeset.Use{Row: u.Row, PerNode: u.Of(s.Cores, s.GPUs)})
	}
	x.spares = append(x.spares, spare{place.Held{Segs: m.segs[first : first+1 : first+1],
		Uses: m.uses[from:len(m.uses):len(m.uses)], To: 1}, number, true})
}

// wait notes that a job waits for the end of a victim.
func (x *preemption) wait(number int32, job int) {
	running := x.victims[number].running
	at := slices.IndexFunc(x.waits, func(w Preemption) bool { return w.Running == running })
	if at < 0 {
		at = len(x.waits)
		x.waits = place.Resize(x.waits, at+1)
		x.waits[at] = Preemption{running, x.waits[at].For[:0]}
	}
	if w := &x.waits[at]; !slices.Contains(w.For, job) {
		w.For = append(w.For, job)
	}
}

// offerSpares gives a job what is over of stops that it could have had done.
func (x *preemption) offerSpares(job *Job) {
	for i := range x.spares {
		s := &x.spares[i]
		if job.Preempts>>x.s.Running[x.victims[s.victim].running].Class&1 == 1 {
			x.rest.Give(&s.Held)
			s.out = true
		}
	}
}

// keepSpares takes back what nobody has taken of them: jobs that may preempt nobody must not get it.
func (x *preemption) keepSpares() {
	for i := range x.spares {
		s := &x.spares[i]
		mustHold(!s.out || x.rest.Retake(&s.Held, nil))
		s.out = false
	}
}

// settle has a start take spares first, of the highest class, and wait for those whom they are from.
func (x *preemption) settle(job int, d *Decision, v *market.Variant) {
	class := func(a spare) int { return x.s.Running[x.victims[a.victim].running].Class }
	slices.SortStableFunc(x.spares, func(a, b spare) int { return class(b) - class(a) })
	for k := range d.parts() {
		segs, uses := d.part(k)
		for _, s := range segs {
			for n := s.First; n <= s.Last; n++ {
				x.takeSpares(job, s, n, uses)
			}
		}
	}
	for _, c := range x.heldBy(v, d.Segs).Counts {
		for i := range x.spares {
			if s := &x.spares[i]; s.out {
				x.takeUses(job, s, s.Counts, c.Row, &c.PerJob)
			}
		}
	}
	x.keepSpares()
}

// sparesOn are those on node n that are given out.
func (x *preemption) sparesOn(n int32) iter.Seq[*spare] {
	return func(yield func(*spare) bool) {
		for i := range x.spares {
			if f := &x.spares[i]; f.out && len(f.Segs) > 0 && f.Segs[0].First == n && !yield(f) {
				return
			}
		}
	}
}

// takeSpares has a start take s of node n, with these uses, from the spares there. Shares of a GPU
// come from those who had shares of the same GPU, or else from a whole GPU, whose rest is a spare.
func (x *preemption) takeSpares(job int, s nodeset.Segment, n int32, uses nodeset.Uses) {
	cores, gpus, now := s.Cores, s.GPUs, x.rest.View(0)
	shares, _ := x.s.Nodes.Shares()
	begun, of := int64(0), int32(-1) // what is over of a GPU that it begins to share, and from whom that is
	if share := now.ShareOf(uses); s.Bin > 0 && !x.takeShares(job, n, s.Bin, share) {
		if free, _ := now.BinFree(int(n), s.Bin); free+share == now.TotalOf(shares)[n] {
			gpus, begun = gpus+1, free
		}
	}
	for f := range x.sparesOn(n) {
		has := &f.Segs[0]
		c, g := min(cores, has.Cores), min(gpus, has.GPUs)
		if gpus > g && has.Bin > 0 { // that one may be a whole GPU by now
			if _, inUse := now.BinFree(int(n), has.Bin); !inUse && x.takeShares(job, n, has.Bin, math.MaxInt64) {
				gpus, of = gpus-1, f.victim
			}
		}
		cores, gpus, has.Cores, has.GPUs = cores-c, gpus-g, has.Cores-c, has.GPUs-g
		if c > 0 || g > 0 {
			x.wait(f.victim, job)
		}
		if g > 0 {
			of = f.victim
		}
	}
	for _, u := range uses {
		amount := u.Of(s.Cores, s.GPUs)
		for f := range x.sparesOn(n) {
			if u.Row != shares {
				x.takeUses(job, f, f.Uses, u.Row, &amount)
			}
		}
	}
	if begun > 0 && of >= 0 {
		x.spares = append(x.spares, spare{place.Held{Segs: []nodeset.Segment{{First: n, Last: n, Bin: s.Bin}},
			Uses: nodeset.Uses{{Row: shares, PerNode: begun}}, To: 1}, of, true})
	}
}

// takeShares has a start take so many shares of a GPU of node n. It reports whether the spares have any.
func (x *preemption) takeShares(job int, n int32, bin uint8, amount int64) (any bool) {
	shares, _ := x.s.Nodes.Shares()
	for f := range x.sparesOn(n) {
		if f.Segs[0].Bin == bin && x.s.Nodes.ShareOf(f.Uses) > 0 {
			any = true
			x.takeUses(job, f, f.Uses, shares, &amount)
		}
	}
	return any
}

// takeUses takes as much of a row, of a node or in all, as there is of what amount still needs.
func (x *preemption) takeUses(job int, s *spare, uses nodeset.Uses, row int, amount *int64) {
	for k := range uses {
		has := &uses[k].PerNode
		if len(s.Segs) == 0 {
			has = &uses[k].PerJob
		}
		if taken := min(*has, *amount); uses[k].Row == row && taken > 0 {
			*has, *amount = *has-taken, *amount-taken
			x.wait(s.victim, job)
		}
	}
}

// claimSeconds is for how long a place is kept for a job for which running ones are stopped. When it is
// over those are chosen again.
const claimSeconds = 600

// begin is for a cycle on s. It serves claims, and returns the snapshot that is left to decide on: s if
// there are none.
func (x *preemption) begin(s *Snapshot, w *window, p *Plan) *Snapshot {
	x.findStoppable(s)
	f := &x.freed
	f.open, f.starts, f.lost = f.open[:0], f.starts[:0], 0
	for i := range s.Claims {
		if s.Claims[i].Until > s.Now && s.Claims[i].Reservation == "" {
			if job := slices.IndexFunc(s.Pending, func(j *Job) bool { return j.ID == s.Claims[i].For }); job >= 0 {
				f.open = append(f.open, claimed{&s.Claims[i], job})
			}
		}
	}
	if len(f.open) == 0 {
		return s
	}
	slices.SortStableFunc(f.open, func(a, b claimed) int { return a.job - b.job })
	f.open = slices.CompactFunc(f.open, func(a, b claimed) bool { return a.job == b.job })
	f.rest.Reset(s.Nodes, nil)
	f.quota[0] = f.quota[0][:0]
	var q place.Quotas
	for i := range s.Quotas {
		f.quota[0], q.Unit = append(f.quota[0], s.Quotas[i].Left), append(q.Unit, 1)
	}
	q.Left = f.quota[:]
	f.rest.Limit(&q)
	w.normal.reset(s)
	x.open(&f.rest, func(int64) int { return 0 })
	for _, serve := range [...]func(claimed, *window, *Plan) bool{x.claimFree, x.claimElsewhere, x.claimStopping} {
		f.open = slices.DeleteFunc(f.open, func(o claimed) bool { return serve(o, w, p) })
	}
	return x.afterClaims()
}

// claimFree has a job start on the place that it claims, if that is free.
func (x *preemption) claimFree(o claimed, w *window, p *Plan) bool {
	return x.askPlace(o, w) && x.claimStart(o.job, p)
}

// askPlace sets the variant by which a job is met on the place that it claims, and x.segs to that.
func (x *preemption) askPlace(o claimed, w *window) bool {
	job := x.s.Pending[o.job]
	r, ok := job.Way(o.Alternative)
	if !ok || place.CheckSegments(&r, o.Segs, x.s.Nodes.Len()) != nil || checkBelow(x.s.Topology, &r, o.Segs) != nil ||
		barred(x.s.Claims, x.s.Now, job, o.Segs) != nil {
		return false
	}
	x.ask(w, job)
	x.way = o.Alternative
	x.segs = append(x.segs[:0], o.Segs...)
	if x.s.Nodes.ShareOf(x.ways[x.way].Spec.More()) > 0 {
		x.segs[0].Bin = 0 // GPUs in shared use may have other numbers by now
	}
	return x.ways[x.way].Spec.Valid()
}

// claimStart has a job start on x.segs, if these are free.
func (x *preemption) claimStart(i int, p *Plan) bool {
	v := &x.ways[x.way]
	if x.rest.Take(&v.Spec, x.segs, 0) != nil {
		return false
	}
	d := Decision{Job: i, Start: true, Alternative: x.way, Segs: p.keep(x.segs), Uses: v.Spec.More(), PartUses: p.keepUses(v.Spec.Parts)}
	x.freed.starts = append(x.freed.starts, d)
	return true
}

// claimElsewhere has a job start anywhere else, where nobody has a claim.
func (x *preemption) claimElsewhere(o claimed, w *window, p *Plan) bool {
	x.ask(w, x.s.Pending[o.job])
	if !x.fits() || slices.ContainsFunc(x.freed.open, func(other claimed) bool { return other != o && inBoth(other.Segs, x.segs) > 0 }) {
		return false
	}
	return x.claimStart(o.job, p)
}

// claimStopping has a job start on the place that it claims when those have ended that still run there
// and may be stopped.
func (x *preemption) claimStopping(o claimed, w *window, p *Plan) bool {
	job := x.s.Pending[o.job]
	if !x.mayStop(job) || !x.askPlace(o, w) {
		return false
	}
	x.setVictims(job)
	for i := range x.rivals {
		x.give(&x.rivals[i])
	}
	x.offerSpares(job)
	ok, counts := x.claimStart(o.job, p), nodeset.Uses(nil)
	if ok {
		counts = x.heldBy(&x.ways[x.way], x.segs).Counts
	}
	for i := len(x.rivals) - 1; i >= 0; i-- {
		if r := &x.rivals[i]; !x.takeBack(r, counts) {
			x.stop(r.number, o.job)
			x.freed.lost += x.victims[r.number].loss
		}
	}
	if ok {
		x.settle(o.job, &x.freed.starts[len(x.freed.starts)-1], &x.ways[x.way])
	}
	x.keepSpares()
	return ok
}

// afterClaims is the snapshot in which those run that start, and nobody who is stopped. What is over of
// stops comes free when their jobs would have ended.
func (x *preemption) afterClaims() *Snapshot {
	f, s := &x.freed, x.s
	if len(f.starts) == 0 {
		return s
	}
	after := &f.snapshot
	pending, running, quotas := after.Pending[:0], after.Running[:0], after.Quotas[:0]
	*after = *s
	f.nodes.CopyFrom(f.rest.View(0))
	after.Nodes = &f.nodes
	for i, q := range s.Quotas {
		quotas = append(quotas, Quota{q.Name, f.rest.Quotas().Left[0][i]})
	}
	gone := make(map[int]bool)
	for i := range x.victims {
		for _, k := range x.victims[i].parts {
			gone[k] = x.victims[i].gone
		}
	}
	for i := range s.Running {
		if !gone[i] {
			running = append(running, s.Running[i])
		}
	}
	for i := range x.spares {
		o := &x.spares[i]
		of := &s.Running[x.victims[o.victim].running]
		running = append(running, Running{End: of.End, Segs: slices.Clone(o.Segs), Uses: slices.Clone(o.Uses),
			Charges: slices.Clone(o.Counts)})
	}
	for i := range f.starts {
		running = append(running, f.starts[i].running(s)...)
	}
	f.index = f.index[:0]
	for i, job := range s.Pending {
		if !slices.ContainsFunc(f.starts, func(d Decision) bool { return d.Job == i }) {
			pending, f.index = append(pending, job), append(f.index, i)
		}
	}
	after.Pending, after.Running, after.Quotas = pending, running, quotas
	return after
}

// running is a start as a running job, part by part.
func (d *Decision) running(s *Snapshot) (parts []Running) {
	job := s.Pending[d.Job]
	way, _ := job.Way(d.Alternative)
	for k := range d.parts() {
		segs, uses := d.part(k)
		r := place.PartOf(&way, k)
		parts = append(parts, Running{ID: job.ID, End: s.Now + job.TimeLimit, Segs: segs, Uses: uses,
			Eligible: r.Eligible, Charges: r.Charges})
	}
	return parts
}

// caller is the caller's index of a job of the snapshot without those who had claims.
func (x *preemption) caller(job int) int {
	if len(x.freed.starts) == 0 {
		return job
	}
	return x.freed.index[job]
}

// finish fills in the plan's preemptions and claims, and the starts of those who had claims.
func (x *preemption) finish(w *window, p *Plan) {
	f := &x.freed
	if len(f.starts) > 0 {
		for i := range p.Decisions {
			p.Decisions[i].Job = x.caller(p.Decisions[i].Job)
		}
		for i := range w.index {
			w.index[i] = x.caller(w.index[i])
		}
		p.Decisions = append(p.Decisions, f.starts...)
		slices.SortFunc(p.Decisions, func(a, b Decision) int { return a.Job - b.Job })
		for i := range f.starts {
			worth := w.weight(x.s.Pending[f.starts[i].Job])
			p.Objective, p.Bound = p.Objective+worth, p.Bound+worth
		}
		p.Objective -= f.lost
	}
	for _, wait := range x.waits {
		from := len(p.waits)
		p.waits = append(p.waits, wait.For...)
		slices.Sort(p.waits[from:])
		p.Preempted = append(p.Preempted, Preemption{wait.Running, p.waits[from:len(p.waits):len(p.waits)]})
	}
	slices.SortFunc(p.Preempted, func(a, b Preemption) int { return a.Running - b.Running })
	x.claim(p)
}

// claim has the plan claim the places of those who wait for a stop, and those that are claimed still.
func (x *preemption) claim(p *Plan) {
	waits := func(d *Decision) bool {
		return d.Start && slices.ContainsFunc(p.Preempted, func(q Preemption) bool { return slices.Contains(q.For, d.Job) })
	}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; waits(d) {
			p.Claims = append(p.Claims, Claim{For: x.s.Pending[d.Job].ID, Segs: slices.Clone(d.Segs),
				Alternative: d.Alternative, Until: x.s.Now + claimSeconds})
		}
	}
	for i := range x.s.Claims {
		old := x.s.Claims[i]
		at := slices.IndexFunc(p.Claims, func(c Claim) bool { return c.For == old.For })
		switch {
		case old.Until <= x.s.Now:
		case at >= 0:
			p.Claims[at].Until = min(p.Claims[at].Until, old.Until)
		case slices.ContainsFunc(x.freed.open, func(o claimed) bool { return o.Claim == &x.s.Claims[i] }):
			old.Segs = slices.Clone(old.Segs)
			p.Claims = append(p.Claims, old)
		}
	}
}
