// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// fits reports whether the job could be on t in any of its ways, with the fewest GPUs that
// will do.
func (e *Explainer) fits(t *nodeset.Table, job *Job) ([]nodeset.Segment, bool) {
	for _, v := range e.variantsOf(job) {
		segs, ok := e.placer.Place(nil, e.limited.Of(t, &v.Spec), &v.Spec, v.Spec.GPUs.PerNode.Min)
		if ok && place.ChooseBins(t, segs, v.Spec.More(), nil) {
			return segs, true
		}
	}
	return nil, false
}

// variantsOf are the ways to meet a job, for claims.
func (e *Explainer) variantsOf(job *Job) []market.Variant {
	e.normal.read(job)
	variants := make([]market.Variant, len(e.normal.specs))
	for k, spec := range e.normal.specs {
		variants[k] = market.Variant{Spec: spec, Rank: k, Of: len(variants)}
	}
	return variants
}

// canEverRun is why the machine can never meet a job in any of its ways: what its first lacks.
func (e *Explainer) canEverRun(job *Job) (err error) {
	e.normal.read(job)
	for k := range 1 + len(job.Alternatives) {
		r, _ := job.Way(k)
		why := place.CanEverRun(e.s.Nodes, &r)
		if why == nil && k < len(e.normal.specs) && e.normal.specs[k].Valid() {
			why = place.CanEverRunAs(e.s.Nodes, &e.normal.specs[k])
		}
		if why == nil {
			return nil
		}
		if k == 0 {
			err = why
		}
	}
	return err
}

// inquiry is about one job: what is in its way, and what it could do without.
type inquiry struct {
	*Explainer
	x   *Explanation
	job *Job // it, or what the policy takes it for
}

// about begins an inquiry, whose findings are x's.
func (e *Explainer) about(x *Explanation, job *Job) *inquiry { return &inquiry{e, x, job} }

// blame finds what is in the way of a job that waits.
func (e *inquiry) blame() {
	if err := e.canEverRun(e.job); err != nil {
		e.x.Why, e.x.NeverWhy = Never, err.Error()
		return
	}
	if len(e.s.Quotas) > 0 && e.blameQuota() {
		return
	}
	if _, ok := e.fits(e.s.Nodes, e.job); !ok {
		if e.x.Why = NoFit; len(e.job.Components) > 0 {
			e.blameParts()
		} else {
			e.x.Shortage = e.shortageBelow(shortageOf(e.s.Nodes, &e.job.Request))
		}
		e.blameRunning()
		return
	}
	e.blameWindow()
	if e.x.Why = whyOf(e.x.Rivals); len(e.s.Quotas) > 0 {
		e.blameQuotaBeside()
	}
}

// whyOf is what keeps a job from starting that has room but for rivals; 0 without any.
func whyOf(rivals []Rival) (why Why) {
	for _, r := range rivals {
		if r.Role == Wins {
			return Lost
		}
		why = Reserved
	}
	return why
}

// blameRunning finds the running jobs that have to end for a job to have room: of
// those that end by the first moment at which it has, each one that is needed. Those
// that end last are let off first.
func (e *inquiry) blameRunning() {
	at, ok := e.roomFrom()
	if !ok {
		return
	}
	t := new(nodeset.Table)
	t.CopyFrom(e.s.Nodes)
	var suspects []Rival
	for i, r := range e.s.Running {
		if end := max(r.End, e.s.Now+1); end <= at {
			segs := e.onUpNodes(r.Segs)
			must(t.ReleaseWith(segs, r.Uses))
			suspects = append(suspects, Rival{Role: Holds, Job: i, Segs: segs, Uses: r.Uses, At: end})
		}
	}
	slices.SortStableFunc(suspects, func(a, b Rival) int { return cmp.Compare(b.At, a.At) })
	for _, r := range suspects {
		must(t.AllocateWith(r.Segs, r.Uses))
		if _, ok := e.fits(t, e.job); !ok {
			must(t.ReleaseWith(r.Segs, r.Uses))
			e.x.Rivals = append(e.x.Rivals, r)
		}
	}
	e.x.Place, _ = e.fits(t, e.job)
	e.x.cutToPlace()
	e.x.nameFreedGPU(t)
}

// begin has e.space hold what a job that starts holds.
func (e *Explainer) begin(job int) {
	d := e.decisionOf(job)
	e.normal.read(e.s.Pending[job])
	must(e.space.start(e.space.claimOf(job, &e.normal.specs[d.Alternative], d.Segs, e.s.Now, e.s.Pending[job].TimeLimit)))
}

// partsOf are the parts of a job that starts; nil if it is one.
func (e *Explainer) partsOf(job int) *place.Parts {
	e.normal.read(e.s.Pending[job])
	return e.normal.specs[e.decisionOf(job).Alternative].Parts
}

// roomFrom is the first moment at which a job has room if nothing starts any more.
func (e *inquiry) roomFrom() (int64, bool) {
	must(e.space.reset(e.s, nil)) // it has worked before
	r, ok := e.space.reserve(0, e.variantsOf(e.job), e.job.TimeLimit)
	return r.Start, ok
}

// onUpNodes leaves out nodes that are down, which give nothing when a job ends.
func (e *Explainer) onUpNodes(segs []nodeset.Segment) []nodeset.Segment {
	var up []nodeset.Segment
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if e.s.Nodes.Up(int(n)) {
				up = nodeset.Append(up, nodeset.Segment{First: n, Last: n, Cores: s.Cores, GPUs: s.GPUs, Bin: s.Bin})
			}
		}
	}
	return up
}

// blameWindow finds the jobs that start now, and the reservations, without which a
// job would have room: the cheaper of two sets, one that lets off reservations first
// and one that lets off jobs that start. If there is room as it is, reservations of
// which no place is known may be what the policy has heeded.
func (e *inquiry) blameWindow() {
	winners := make([]Rival, 0, len(e.started))
	for _, i := range e.started {
		other, d := e.s.Pending[i], e.decisionOf(i)
		winners = append(winners, Rival{Role: Wins, Job: i, Segs: d.Segs, Uses: d.Uses, parts: e.partsOf(i),
			Worth: e.worth(e.asked(other)), At: e.s.Now + other.TimeLimit})
	}
	slices.SortStableFunc(winners, func(a, b Rival) int { return cmp.Compare(b.Worth, a.Worth) })
	var keepers []Rival
	for _, r := range e.reserved {
		if r.Job != e.x.Decision.Job && r.Start < e.s.Now+e.job.TimeLimit {
			keepers = append(keepers, Rival{Role: Keeps, Job: r.Job, Segs: r.Segs, Uses: r.Uses, parts: r.parts,
				Worth: e.worth(e.asked(e.s.Pending[r.Job])), At: r.Start})
		}
	}
	e.x.Rivals, e.x.Place = e.needed(slices.Concat(keepers, winners))
	if others, place := e.needed(slices.Concat(winners, keepers)); totalWorth(others) < totalWorth(e.x.Rivals) {
		e.x.Rivals, e.x.Place = others, place
	}
	e.x.cutToPlace()
	if len(e.x.Rivals) > 0 {
		return
	}
	e.x.Place = nil
	for _, r := range e.kept {
		if r.Job != e.x.Decision.Job && r.At < e.s.Now+e.job.TimeLimit {
			e.x.Rivals = append(e.x.Rivals, r)
		}
	}
}

// needed are those of suspects without which the job would have room from now on,
// none of which can be left out, and where that room is. Suspects are let off in
// their order.
func (e *inquiry) needed(suspects []Rival) ([]Rival, []nodeset.Segment) {
	p := &e.space
	must(p.reset(e.after, nil))
	ways := e.variantsOf(e.job)
	var guilty []Rival
	for _, r := range suspects {
		if r.Role == Wins {
			e.begin(r.Job)
		} else {
			e.reserveAgain(r)
		}
		if _, _, ok := p.place(nil, ways, e.job.TimeLimit, e.s.Now); ok {
			continue
		}
		guilty = append(guilty, r)
		if r.Role == Wins {
			p.unstart()
		} else {
			p.reserved = slices.DeleteFunc(p.reserved, func(o claim) bool { return o.Job == r.Job })
		}
	}
	place, _, _ := p.place(nil, ways, e.job.TimeLimit, e.s.Now)
	return guilty, place
}

// reserveAgain keeps a rival's place, in order of the starts.
func (e *inquiry) reserveAgain(r Rival) {
	for _, o := range e.reserved {
		if o.Job == r.Job {
			e.space.keep(o)
		}
	}
}

func totalWorth(rivals []Rival) (sum float64) {
	for _, r := range rivals {
		sum += r.Worth
	}
	return sum
}

// cutToPlace leaves of what rivals have the nodes that the job would be on.
func (x *Explanation) cutToPlace() {
	for i := range x.Rivals {
		x.Rivals[i].Segs = overlap(x.Rivals[i].Segs, x.Place)
	}
}

// overlap is the part of a on nodes of b; both ascend.
func overlap(a, b []nodeset.Segment) []nodeset.Segment {
	if b = byNode(b); len(a) > 0 && a[len(a)-1].Part > 0 {
		return overlapOfParts(a, b)
	}
	var both []nodeset.Segment
	for len(a) > 0 && len(b) > 0 {
		s := a[0]
		s.First, s.Last = max(s.First, b[0].First), min(s.Last, b[0].Last)
		if s.First <= s.Last {
			both = nodeset.Append(both, s)
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// expect says when a job that waits will have room.
func (e *inquiry) expect() {
	if e.x.Decision.Kept {
		e.x.Foreseen, e.x.Expected, e.x.Kept = true, e.x.Decision.Expected, true
		return
	}
	p := &e.space
	must(p.reset(e.after, nil))
	for _, i := range e.started {
		e.begin(i)
	}
	p.reserved = append(p.reserved, e.reserved...)
	if r, ok := p.reserve(e.x.Decision.Job, e.variantsOf(e.job), e.job.TimeLimit); ok {
		e.x.Foreseen, e.x.Expected = true, r.Start
	}
}

// against finds the jobs that have a job that starts among their rivals. They are found
// once for all jobs.
func (e *Explainer) against(x *Explanation) {
	if e.waiting == nil {
		e.waiting = make(map[int][]Rival)
		for _, d := range e.plan.Decisions {
			if d.Start {
				continue
			}
			other := &Explanation{Decision: d}
			job := e.asked(e.s.Pending[d.Job])
			e.about(other, job).blame()
			for _, r := range other.Rivals {
				if r.Role == Wins {
					e.waiting[r.Job] = append(e.waiting[r.Job],
						Rival{Role: Waits, Job: d.Job, Segs: r.Segs, Uses: r.Uses, Worth: e.worth(job), parts: r.parts})
				}
			}
		}
	}
	for _, r := range e.waiting[x.Decision.Job] {
		r.Segs = slices.Clone(r.Segs)
		x.Rivals = append(x.Rivals, r)
	}
}
