// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// blame finds what is in the way of a job that waits.
func (e *inquiry) blame() {
	e.normal.read(e.job)
	if e.x.NeverWhy = cmp.Or(e.normal.never(&e.answers, e.job), e.neverInQuotas()); e.x.NeverWhy != "" {
		e.x.Why = Never
		return
	}
	if e.space.reset(e.s, nil); !e.suited() {
		lacks, ofQuota := e.lacked()
		if e.x.Why, e.x.Lacks = NoFit, lacks; ofQuota != nil {
			e.x.Why, e.x.Lacks = OverQuota, ofQuota
		}
		e.blameRunning()
		return
	}
	e.blameWindow()
	if e.x.Why = whyOf(e.x.Rivals); len(e.s.Quotas) == 0 || e.x.Why == Reserved && e.x.Rivals[0].Job < 0 {
		return
	}
	e.begin()
	if lacks, _ := e.lacked(); slices.ContainsFunc(lacks, Lack.ofQuota) {
		e.x.Why, e.x.Lacks = OverQuota, lacks // beside what starts
	}
}

// hasRoom reports whether the job could start now in e.space.
func (e *inquiry) hasRoom() bool {
	_, _, ok := e.space.place(nil, e.variantsOf(e.job), e.job.TimeLimit, e.s.Now)
	return ok
}

// suited reports whether the job could start now in e.space, except for reservations.
func (e *inquiry) suited() (ok bool) {
	e.normal.booked.off = closed
	ok = e.hasRoom()
	e.normal.booked.off = 0
	return ok || e.hasRoom()
}

// lacked is what the job lacks in e.space now: the first of its ways that this machine could ever meet,
// and the first that lacks a quota. With a way that lacks nothing it is nothing.
func (e *inquiry) lacked() (first, ofQuota []Lack) {
	for _, way := range e.variantsOf(e.job) {
		if !way.Spec.Valid() || e.answers.Never(&way.Spec) != "" {
			continue
		}
		lacks := e.lacks(&e.space.now, way.Spec)
		if len(lacks) == 0 {
			return nil, nil
		}
		if first == nil {
			first = lacks
		}
		if ofQuota == nil && slices.ContainsFunc(lacks, Lack.ofQuota) {
			ofQuota = lacks
		}
	}
	return first, ofQuota
}

// whyOf is what keeps a job from starting that would have room without rivals, reservations first; 0 without any.
func whyOf(rivals []Rival) (why Why) {
	for _, r := range rivals {
		if r.Role == roleStarts {
			return Lost
		}
		if why = Reserved; r.Job < 0 { // which nobody can win
			return why
		}
	}
	return why
}

// blameRunning finds the running jobs that have to end for a job to have room. They end by the first
// moment at which it has room, and each is needed. Those that end last are let off first.
func (e *inquiry) blameRunning() {
	at, ok := e.space.reserve(0, e.variantsOf(e.job), e.job.TimeLimit)
	if !ok {
		return
	}
	var suspects []Rival
	gone := make(map[int]bool)
	for i, r := range e.s.Running {
		if end := max(r.End, e.s.Now+1); end <= at.Start {
			gone[i] = true
			suspects = append(suspects, Rival{Role: roleRuns, Job: i, Segs: r.Segs, Uses: r.Uses, At: end})
		}
	}
	slices.SortStableFunc(suspects, func(a, b Rival) int { return cmp.Compare(b.At, a.At) })
	e.x.Rivals, e.x.Place = e.needed(e.s.without(func(i int) bool { return gone[i] }), suspects)
	e.cutToPlace()
}

// without is the snapshot when some running jobs have ended.
func (s *Snapshot) without(gone func(running int) bool) *Snapshot {
	after := *s
	after.Nodes, after.Quotas, after.Running = new(nodeset.Table), slices.Clone(s.Quotas), nil
	after.Nodes.CopyFrom(s.Nodes)
	for i := range s.Running {
		r := &s.Running[i]
		if !gone(i) {
			after.Running = append(after.Running, *r)
			continue
		}
		must(after.Nodes.Release(r.Segs, r.Uses...)) // it has worked before
		for _, c := range r.Charges {
			after.Quotas[c.Row].Left += place.Count(&c, place.SizeOf(r.Segs))
		}
	}
	return &after
}

// begin has e.space be as it is when all jobs have started that start now.
func (e *Explainer) begin() {
	e.space.reset(e.after, nil)
	for _, job := range e.started {
		e.start(job)
	}
}

// start has e.space hold what a job that starts holds.
func (e *Explainer) start(job int) {
	d := e.decisionOf(job)
	e.normal.read(e.s.Pending[job])
	must(e.space.start(e.space.claimOf(job, &e.normal.specs[d.Alternative], d.Segs, e.s.Now, e.s.Pending[job].TimeLimit)))
}

// blameWindow finds the jobs that start now, and the reservations, without which a job would have
// room. Of two sets it takes the cheaper: one lets off reservations first, one jobs that start. If
// there is room as it is, the policy may have heeded reservations whose place is not known.
func (e *inquiry) blameWindow() {
	var suspects []Rival
	for _, i := range e.started {
		d, end := e.decisionOf(i), e.s.Now+e.s.Pending[i].TimeLimit
		suspects = append(suspects, Rival{Role: roleStarts, Job: i, Segs: d.Segs, Uses: d.Uses, Worth: e.worthOf(i), At: end})
	}
	for _, r := range e.reserved {
		if r.Job != e.x.Decision.Job && r.Start < e.s.Now+e.job.TimeLimit {
			suspects = append(suspects, Rival{Role: roleKept, Job: r.Job, Segs: r.Segs, Uses: r.Uses, Worth: e.worthOf(r.Job), At: r.Start})
		}
	}
	least := math.Inf(1)
	for _, sign := range []int{-1, 1} { // reservations first, or jobs that start
		slices.SortStableFunc(suspects, func(a, b Rival) int {
			return cmp.Or(sign*cmp.Compare(slices.Index(roles[:], a.Role), slices.Index(roles[:], b.Role)), cmp.Compare(b.Worth, a.Worth))
		})
		rivals, place := e.needed(e.after, suspects)
		sum := 0.0
		for _, r := range rivals {
			sum += r.Worth
		}
		if sum < least {
			e.x.Rivals, e.x.Place, least = rivals, place, sum
		}
	}
	e.cutToPlace()
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

// needed returns a minimal set of suspects without which the job would have room from now on, and
// that room. The suspects are not in s, and are let off in their order.
func (e *inquiry) needed(s *Snapshot, suspects []Rival) ([]Rival, []nodeset.Segment) {
	p, b := &e.space, &e.normal.booked
	p.reset(s, nil)
	var guilty []Rival
	b.off = closed
	for i, c := range b.claims {
		if b.off &^= 1 << i; !e.hasRoom() {
			b.off |= 1 << i
			guilty = append(guilty, Rival{Role: roleKept, Job: -1, ID: c.Reservation, Segs: c.Segs, At: c.From})
		}
	}
	for _, r := range suspects {
		switch r.Role {
		case roleStarts:
			e.start(r.Job)
		case roleRuns:
			run := &e.s.Running[r.Job]
			must(p.start(claim{Start: e.s.Now, End: r.At, Held: place.Held{
				Segs: cut(nil, run.Segs, e.s.Nodes.Up), // others give nothing back
				Uses: run.Uses, Counts: comesBack(&p.counts, &p.room, run)}}))
		default:
			for _, o := range e.reserved {
				if o.Job == r.Job {
					p.keep(o)
				}
			}
		}
		if e.hasRoom() {
			continue
		}
		guilty = append(guilty, r)
		if r.Role == roleKept {
			p.reserved = slices.DeleteFunc(p.reserved, func(o claim) bool { return o.Job == r.Job })
			p.forget(false)
		} else {
			p.unstart()
		}
	}
	place, _, _ := p.place(nil, e.variantsOf(e.job), e.job.TimeLimit, e.s.Now)
	b.off = 0
	return guilty, place
}

// cutToPlace leaves of what rivals have the nodes that the job would be on.
func (e *inquiry) cutToPlace() {
	on := maskUnder(e.x.Place, e.s.Nodes.Len())
	for i := range e.x.Rivals {
		e.x.Rivals[i].Segs = cut(nil, e.x.Rivals[i].Segs, on.Has)
	}
}

// expect says when a job that waits will have room.
func (e *inquiry) expect() {
	if e.x.Decision.Kept {
		e.x.Foreseen, e.x.Expected, e.x.Kept = true, e.x.Decision.Expected, true
		return
	}
	e.begin()
	for _, r := range e.reserved {
		e.space.keep(r)
	}
	if e.hasRoom() {
		e.x.Foreseen, e.x.Expected = true, e.s.Now
	} else if r, ok := e.space.reserve(e.x.Decision.Job, e.variantsOf(e.job), e.job.TimeLimit); ok {
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
			(&inquiry{e, other, e.asked(e.s.Pending[d.Job])}).blame()
			for _, r := range other.Rivals {
				if r.Role == roleStarts {
					e.waiting[r.Job] = append(e.waiting[r.Job],
						Rival{Role: roleWaits, Job: d.Job, Segs: r.Segs, Uses: r.Uses, Worth: e.worthOf(d.Job)})
				}
			}
		}
	}
	for _, r := range e.waiting[x.Decision.Job] {
		r.Segs = slices.Clone(r.Segs)
		x.Rivals = append(x.Rivals, r)
	}
}

// preempted reports whether the plan preempts a running job.
func (e *Explainer) preempted(running int) bool {
	return slices.ContainsFunc(e.plan.Preempted, func(x Preemption) bool {
		return slices.Contains(slices.Collect(e.s.together(x.Running)), running)
	})
}

// stops finds whom a job that starts preempts.
func (e *Explainer) stops(x *Explanation) {
	for _, p := range e.plan.Preempted {
		if r := &e.s.Running[p.Running]; slices.Contains(p.For, x.Decision.Job) {
			x.Stops = append(x.Stops, Rival{Role: roleRuns, Job: p.Running, Segs: slices.Clone(r.Segs), Uses: r.Uses,
				At: max(r.End, e.s.Now+1)})
		}
	}
	e.markPreemptable(x.Stops, e.s.Pending[x.Decision.Job])
}

// markPreemptable says which of a job's rivals it may preempt.
func (e *Explainer) markPreemptable(rivals []Rival, job *Job) {
	for i := range rivals {
		if r := &rivals[i]; r.Role == roleRuns {
			run := &e.s.Running[r.Job]
			r.Preempted = e.preempted(r.Job)
			if r.Preemptable = run.Price > 0 && job.Preempts>>run.Class&1 == 1; r.Preemptable {
				r.Worth = e.priceOf(r.Job)
			}
		}
	}
}

// priceOf is what is lost if a running job is stopped, in the objective's unit.
func (e *Explainer) priceOf(running int) float64 {
	r := &e.s.Running[running]
	if e.auction == nil {
		return float64(r.Price)
	}
	return e.auction.opts.lossOf(e.auction.window.machine, e.s, running, place.SizeOf(r.Segs))
}

// neverInQuotas says which quota keeps a job from ever starting: all of it is less than the job
// counts even when nothing counts any more. "" if none does.
func (e *inquiry) neverInQuotas() string {
	idle := e.s.without(func(int) bool { return true })
	idle.Nodes = place.Idle(e.s.Nodes)
	if e.space.reset(idle, nil); e.suited() {
		return ""
	}
	first, _ := e.lacked()
	for _, l := range first {
		if l.ofQuota() {
			return fmt.Sprintf("can never run: counts %d against %s, of which there are %d in all", l.Needs, l.Row, l.Has)
		}
	}
	return ""
}
