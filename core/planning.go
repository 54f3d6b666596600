// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/timeline"
	"github.com/aucsched/aucsched/nodeset"
)

// planning is the stage that says in which order the first jobs of the window get their places, if
// that is planned: see [Goal].
type planning struct {
	opts   *AuctionOptions
	search timeline.Search
	kinds  []kind
	jobs   []int32 // of the window, by number in the search
	order  []int32 // of the window
	masks  place.Pool[*nodeset.Mask, []uint64]
}

// kind is a resource of the search: cores, GPUs, or a further one.
type kind struct {
	resource int         // of the table, or less than 0
	use      nodeset.Use // what is given of cores and GPUs, if it is these
	unit     int64       // that a lane counts in
	has      []int64
}

// on reports whether there is a plan.
func (x *planning) on() bool { return x.opts.Goal != settings.NoGoal }

// arrange plans the first jobs, and returns in which order jobs of the window get places. Jobs that
// a promise binds come first, then the first by AuctionOptions.Patience. That order is also the plan
// that others are measured against. Jobs that wait for a quota come before all: they have no place
// in the plan, but part of the quota. When stop says so, the order is that of the best plan so far.
func (x *planning) arrange(s *Snapshot, w *window, r *reservations, seed uint64, stop func() bool) []int32 {
	x.order, x.jobs = x.order[:0], x.jobs[:0]
	goal := goals[x.opts.Goal]
	if goal.search.Off = x.opts.off; goal.search.Off.Planned {
		goal.jobs /= 4
	}
	ranked := r.inRankOrder(s, w)
	for j := range w.jobs {
		if x.promised(s, w.jobs[j]) {
			x.take(w, r, int32(j), goal.jobs)
		}
	}
	fixed := len(x.jobs)
	for _, j := range ranked {
		if !x.promised(s, w.jobs[j]) {
			x.take(w, r, j, goal.jobs)
		}
	}
	goal.search.Pace = s.Pace.ratio()
	x.begin(s, w)
	x.free(s, &r.claims)
	for _, j := range x.jobs {
		x.add(s, w, int(j))
	}
	for _, i := range x.search.Order(fixed, goal.search, seed, stop) {
		x.order = append(x.order, x.jobs[i])
	}
	return x.order
}

// promised reports whether a job has waited for longer than is promised.
func (x *planning) promised(s *Snapshot, job *Job) bool {
	return x.opts.Promise > 0 && s.Now-job.Since > x.opts.Promise
}

// take has the search plan job j of the window, unless it has most jobs. One that waits for a quota
// gets its part of it.
func (x *planning) take(w *window, r *reservations, j int32, most int) {
	switch {
	case lackingOf(&r.space.Quotas, w.variantsOf(int(j))) >= 0, w.jobs[j].Reservation != "": // its nodes are nobody else's
		x.order = append(x.order, j)
	case len(x.jobs) < most:
		x.jobs = append(x.jobs, j)
	}
}

// begin says what kinds of resources the jobs ask for. Those that the search has no room for it
// does not know.
func (x *planning) begin(s *Snapshot, w *window) {
	x.kinds = x.kinds[:0]
	x.masks.Reset()
	x.addKind(s, -1, nodeset.Use{PerCore: 1})
	if w.machine.gpus > 0 {
		x.addKind(s, -1, nodeset.Use{PerGPU: 1})
	}
	for _, j := range x.jobs {
		for _, u := range w.planned(int(j)).More() {
			known := slices.ContainsFunc(x.kinds, func(k kind) bool { return k.resource == u.Row })
			if !known && len(x.kinds) < timeline.MaxKinds {
				x.addKind(s, u.Row, nodeset.Use{})
			}
		}
	}
	x.search.Begin(s.Now, s.Nodes.Len(), len(x.kinds))
}

// planned is the variant by which the search has a job met: the first.
func (w *window) planned(j int) *place.Spec { return &w.variants[w.variantStart[j]].Spec }

func (x *planning) addKind(s *Snapshot, resource int, use nodeset.Use) {
	n := len(x.kinds)
	x.kinds = place.Resize(x.kinds, n+1)
	k := &x.kinds[n]
	k.resource, k.use, k.has = resource, use, place.Resize(k.has, s.Nodes.Len())
	most := int64(1)
	for n := range k.has {
		most = max(most, k.on(n, s.Nodes.Total(n), s.Nodes.TotalOf))
	}
	k.unit = (most + timeline.Top - 1) / timeline.Top
}

// on is how much of the kind node n has, of which that many cores and GPUs are, and more by resource.
func (k *kind) on(n int, c nodeset.Capacity, more func(int) []int64) int64 {
	if k.resource < 0 {
		return k.use.Of(c.Cores, c.GPUs)
	}
	return more(k.resource)[n]
}

// lanes is an amount in the units of the search, 0 to Top, rounded down.
func (k *kind) lanes(amount int64) uint16 {
	if amount = max(amount, 0); k.unit > 1 { // divisions are slow
		amount /= k.unit
	}
	return uint16(min(amount, timeline.Top))
}

// need is the same, rounded up.
func (k *kind) need(amount int64) uint16 { return k.lanes(amount + k.unit - 1) }

// free has the search know what is free, now and when running jobs have ended.
func (x *planning) free(s *Snapshot, p *claims) {
	for k := range x.kinds {
		kind := &x.kinds[k]
		for n := range kind.has {
			kind.has[n] = kind.on(n, s.Nodes.Free(n), s.Nodes.FreeOf)
			if s.Nodes.Up(n) {
				x.search.Free(n, k, kind.lanes(kind.has[n]))
			}
		}
	}
	for i := range p.ends {
		x.search.At(p.endOf(i))
		x.release(s, &p.running[p.ends[i].of])
	}
}

// release has what a running job holds come back.
func (x *planning) release(s *Snapshot, h *Running) {
	for k := range x.kinds {
		kind := &x.kinds[k]
		for _, seg := range h.Segs {
			amount := kind.of(h.Uses, seg.Cores, seg.GPUs)
			for n := int(seg.First); n <= int(seg.Last) && amount > 0; n++ {
				if kind.has[n] += amount; s.Nodes.Up(n) {
					x.search.Free(n, k, kind.lanes(kind.has[n]))
				}
			}
		}
	}
}

// of is what a node that gives so many cores and GPUs gives of the kind.
func (k *kind) of(uses nodeset.Uses, cores uint16, gpus uint8) int64 {
	if k.resource < 0 {
		return k.use.Of(cores, gpus)
	}
	for _, u := range uses {
		if u.Row == k.resource {
			return u.Of(cores, gpus)
		}
	}
	return 0
}

// add has the search know job j of the window.
func (x *planning) add(s *Snapshot, w *window, j int) {
	job, spec := w.jobs[j], w.planned(j)
	t := timeline.Job{
		Nodes: spec.Nodes.Min, Contiguous: spec.Contiguous, Mask: x.lanes(w.normal.booked.key(spec.Eligible).mask, s.Nodes.Len()),
		Length: job.TimeLimit, Waited: max(s.Now-job.Since, 0),
		Weight: float64(max(job.Priority, 1)) / float64(max(w.jobs[0].Priority, 1)),
	}
	t.Weight *= t.Weight // or users get less than their fair shares: benchmarks/results/shares.md
	least := spec.Cores.PerNode.Min
	if total := spec.Cores.Total; total > spec.Nodes.Min*least {
		t.All = int((int64(total) + x.kinds[0].unit - 1) / x.kinds[0].unit)
		t.Most = x.kinds[0].lanes(int64(spec.Cores.PerNode.Max))
		least = max(least, (total+spec.Nodes.Max-1)/spec.Nodes.Max)
	}
	gpus := uint8(spec.GPUs.PerNode.Min)
	for k := range x.kinds {
		kind := &x.kinds[k]
		t.Per[k] = kind.need(kind.of(spec.More(), uint16(least), gpus))
		if kind.resource >= 0 && t.All > 0 {
			t.Rate[k] = kind.need(kind.of(spec.More(), uint16(least+1), gpus)) - t.Per[k]
		}
	}
	shares := w.machine.sharesOf(uint64(place.LeastCores(&job.Request)), uint64(leastGPUs(&job.Request)))
	t.Width, t.Size = max(shares.cores, shares.gpus, minWidth), shares.cores+shares.gpus
	x.search.Jobs = append(x.search.Jobs, t)
}

// minWidth is that of jobs that take no core and no GPU.
const minWidth = 1e-9

// lanes is a mask as the search has it; nil for all nodes.
func (x *planning) lanes(mask *nodeset.Mask, nodes int) []uint64 {
	if mask == nil {
		return nil
	}
	lanes, isNew := x.masks.Of(mask)
	if isNew {
		*lanes = timeline.Lanes(*lanes, nodes, mask.Has)
	}
	return *lanes
}
