// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"cmp"
	"context"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/timeline"
	"github.com/aucsched/aucsched/nodeset"
)

// planOptions are those of a [Planned]: the sum that it anneals, and for how long: 100 changes, or
// less on a large machine, as long as the auction's goals.
var planOptions = timeline.Options{
	Weights: timeline.Values{timeline.Squares: 1, timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
	Moves:   100, Work: 40_000_000,
}

// plannedJobs is how many jobs of the queue are in the plan.
const plannedJobs = 60

// Planned is plan-based scheduling (Klusacek et al., HPDC'15; Kopanski and Rzadca, Euro-Par'21):
// the first jobs of the queue are in a plan whose order is annealed, anew in every cycle, so that a
// sum of waits, squared, by width and by area, the longest wait and the end is least; those behind
// have the order smallest first. Then all have their places in that order, reservations as by
// [sim.Backfill]. Nothing bounds how long a job may wait.
//
// The plan knows cores and GPUs of nodes, and time limits.
type Planned struct {
	*sim.Backfill
	search timeline.Search
	ends   []ending
	has    [2][]uint16 // free cores and GPUs, by node
	masks  [][]uint64
	places []int // in the queue, as they are tried
	queue  []*core.Job

	cores, gpus int // of the machine
}

// ending is when a running job is to end, and what it then gives back.
type ending struct {
	at   int64
	segs []nodeset.Segment
}

// NewPlanned returns the policy "plan". Without limits of its own it begins passes of backfill after
// interval seconds, and with estimates says when jobs are expected to start.
func NewPlanned(estimates bool, interval int64) (*Planned, error) {
	o := sim.DefaultList().Backfill
	o.Estimates, o.Interval = estimates, interval
	b, err := sim.NewBackfill(o)
	return &Planned{Backfill: b}, err
}

// Name is "plan".
func (x *Planned) Name() string { return "plan" }

// Decide implements [core.Policy].
func (x *Planned) Decide(ctx context.Context, s *core.Snapshot, limits core.Limits, p *core.Plan) error {
	first := min(plannedJobs, len(s.Pending))
	x.open(s)
	x.places = x.places[:0]
	for i := range s.Pending {
		x.places = append(x.places, i)
		if i < first {
			x.add(s, i, s.Pending[i])
		}
	}
	for place, i := range x.search.Order(0, planOptions, limits.Seed, nil) {
		x.places[place] = int(i)
	}
	size := func(i int) float64 {
		return float64(s.Pending[i].TimeLimit) * float64(place.LeastCores(&s.Pending[i].Request))
	}
	slices.SortStableFunc(x.places[first:], func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	view := *s
	x.queue = x.queue[:0]
	for _, i := range x.places {
		x.queue = append(x.queue, s.Pending[i])
	}
	view.Pending = x.queue
	err := x.Backfill.Decide(ctx, &view, limits, p)
	for i := range p.Decisions {
		p.Decisions[i].Job = x.places[p.Decisions[i].Job]
	}
	slices.SortFunc(p.Decisions, func(a, b core.Decision) int { return cmp.Compare(a.Job, b.Job) })
	return err
}

// open has the search know what is free, now and when running jobs have ended.
func (x *Planned) open(s *core.Snapshot) {
	x.search.Begin(s.Now, s.Nodes.Len(), len(x.has))
	x.has[0], x.has[1], x.cores, x.gpus = x.has[0][:0], x.has[1][:0], 0, 0
	for n := range s.Nodes.Len() {
		free, total := s.Nodes.Free(n), s.Nodes.Total(n)
		x.cores, x.gpus = x.cores+int(total.Cores), x.gpus+int(total.GPUs)
		x.has[0], x.has[1] = append(x.has[0], free.Cores), append(x.has[1], uint16(free.GPUs))
		x.tell(s, n)
	}
	x.ends = x.ends[:0]
	for i := range s.Running {
		x.ends = append(x.ends, ending{max(s.Running[i].End, s.Now+1), s.Running[i].Segs})
	}
	slices.SortFunc(x.ends, func(a, b ending) int { return cmp.Compare(a.at, b.at) })
	for _, h := range x.ends {
		x.search.At(h.at)
		for _, seg := range h.segs {
			x.release(s, seg)
		}
	}
}

func (x *Planned) release(s *core.Snapshot, seg nodeset.Segment) {
	for n := int(seg.First); n <= int(seg.Last); n++ {
		x.has[0][n] += seg.Cores
		x.has[1][n] += uint16(seg.GPUs)
		x.tell(s, n)
	}
}

// tell has the search know what a node has.
func (x *Planned) tell(s *core.Snapshot, n int) {
	if s.Nodes.Up(n) {
		x.search.Free(n, 0, min(x.has[0][n], timeline.Top))
		x.search.Free(n, 1, x.has[1][n])
	}
}

// add has the search know the i-th job of the queue. One that is not valid never runs.
func (x *Planned) add(s *core.Snapshot, i int, j *core.Job) {
	spec, err := place.SpecOf(&j.Request)
	cores, gpus := spec.Cores.PerNode, spec.GPUs.PerNode.Min
	t := timeline.Job{
		Nodes: max(spec.Nodes.Min, 1), Contiguous: spec.Contiguous, Length: j.TimeLimit,
		Waited: max(s.Now-j.Since, 0), Weight: 1,
	}
	if err != nil {
		t.Nodes = s.Nodes.Len() + 1
	}
	t.Per[0], t.Per[1] = uint16(min(cores.Min, timeline.Top)), uint16(gpus)
	if total := spec.Cores.Total; total > spec.Nodes.Min*cores.Min {
		t.All, t.Most = total, uint16(min(cores.Max, timeline.Top))
		t.Per[0] = max(t.Per[0], uint16(min((total+spec.Nodes.Max-1)/spec.Nodes.Max, timeline.Top)))
	}
	if mask := j.Request.Eligible; mask != nil {
		for len(x.masks) <= i {
			x.masks = append(x.masks, nil)
		}
		x.masks[i] = timeline.Lanes(x.masks[i], s.Nodes.Len(), mask.Has)
		t.Mask = x.masks[i]
	}
	ofCores := float64(place.LeastCores(&j.Request)) / float64(max(x.cores, 1))
	ofGPUs := float64(t.Nodes*gpus) / float64(max(x.gpus, 1))
	t.Width, t.Size = max(ofCores, ofGPUs), ofCores+ofGPUs
	x.search.Jobs = append(x.search.Jobs, t)
}

var _ core.Policy = (*Planned)(nil)
