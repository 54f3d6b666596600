// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
)

// awards is the last stage of a cycle: it turns the winners into decisions.
type awards struct{ left leftovers }

// decide turns the winners into decisions, gives what is left over to jobs that
// lost, and checks the whole by allocating it.
func (a *awards) decide(s *Snapshot, in *stages, c *clock, p *Plan) error {
	a.left.reset(in, c)
	if err := a.takeWinners(in); err != nil {
		return err
	}
	m, result, book := &in.model, &in.winners.result, &in.bidding.book
	x := &in.preemption
	x.open(&a.left.rest, in.reservations.before)
	if err := a.decideJobs(s, in, p); err != nil {
		return err
	}
	if err := cmp.Or(a.decideOthers(s, in, p), a.left.fillKept(s, p)); err != nil {
		return err
	}
	p.Objective, p.Bound = m.Objective(result.Value)-x.loss+a.left.added, m.Objective(result.Bound)+a.left.added
	p.Stats.Jobs, p.Stats.Bids, p.Stats.BidClasses = len(in.window.jobs), len(book.Bids), book.NodeSets
	p.Stats.Rows, p.Stats.Entries = m.Groups()+len(m.Cap), len(m.Row)
	p.Stats.Status, p.Stats.Work = result.Status.String(), result.Work
	return nil
}

// decideJobs decides on the jobs of the window that wait, again if others gave up what they had.
func (a *awards) decideJobs(s *Snapshot, in *stages, p *Plan) error {
	for pass := 0; pass == 0 || pass == 1 && in.preemption.moved; pass++ {
		for j := range in.window.jobs {
			if err := a.decideJob(s, j, in, p); err != nil {
				return err
			}
		}
	}
	freed, err := a.left.fillFewer(s, p)
	if err != nil || !freed {
		return err
	}
	return a.decideJobs(s, in, p)
}

// takeWinners notes the winners, and takes what they get from what is left.
func (a *awards) takeWinners(in *stages) error {
	won := in.preemption.won[:0]
	for range in.window.jobs {
		won = append(won, -1)
	}
	in.preemption.won = won
	for i, b := range in.winners.result.Chosen {
		bid := &in.bidding.book.Bids[b]
		j := in.window.jobOf(bid)
		won[j] = int32(i)
		v := &in.window.variants[bid.Job]
		if err := a.left.rest.Take(&v.Spec, in.winners.by.Allocation(i), v.Crosses); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", in.window.jobs[j].ID, err)
		}
		if in.reservations.guarded[j].reserved {
			in.reservations.waive(&in.window, j)
		}
	}
	return nil
}

// decideJob decides on job j of the window, or once more if it waits.
func (a *awards) decideJob(s *Snapshot, j int, in *stages, p *Plan) error {
	w, kept := &in.window, in.reservations.guarded[j]
	d := &p.Decisions[w.index[j]] // so far these are in queue order, an element a job
	if d.Start {
		return nil
	}
	if k := in.preemption.won[j]; k >= 0 {
		a.decideWinner(int(k), in, d, p)
		return nil
	}
	*d = Decision{Job: d.Job}
	if !kept.reserved && w.opts.Drafts > 0 {
		if err := a.left.fill(w.jobs[j], int(w.variantStart[j]), int(w.variantStart[j+1]), d, p); err != nil {
			return err
		}
	}
	untried := d.Why == TimedOut
	if err := in.preemption.serve(s, j, d, &a.left, in, p); err != nil || d.Start {
		return err
	}
	d.Kept, d.Expected = kept.reserved, kept.start
	d.waits(a.whyNot(s, j, in, untried))
	return nil
}

// decideOthers gives what is left over to jobs outside of the window, in queue order: those whose
// quotas kept them out, and those behind it. It ends when Depth of these, each with another request,
// have found no place. Of so many jobs the plan says why they wait.
func (a *awards) decideOthers(s *Snapshot, in *stages, p *Plan) error {
	f, w, o := &a.left, &in.window, in.window.opts
	for _, at := range w.passed {
		if err := a.decideOther(s, &p.Decisions[at], in, p); err != nil {
			return err
		}
	}
	failed, looked := 0, 0
	coresAlone := s.Nodes.Resources() == 0 && s.Nodes.MaxGPUs() == 0
	for i := w.next; i < len(s.Pending) && failed < max(o.Depth, 1); i++ {
		d, told, wanted := Decision{Job: i}, i < w.next+o.Depth, i < w.next+w.wanting
		switch full := f.full(s.Pending[i]); {
		case f.noTime(), wanted && (full || o.Depth == 0):
			d.waits(undecided)
		case o.Depth == 0, full && in.preemption.classes == 0 && (coresAlone || s.cores && !told), looked == mostLooked*o.Depth:
			return nil
		case full && !told:
			continue
		default:
			looked++
			before := len(f.failed)
			if err := a.decideOther(s, &d, in, p); err != nil {
				return err
			}
			if !d.Start && len(f.failed) > before {
				failed++
			}
		}
		if told || wanted || d.Start || d.Why == TimedOut {
			p.Decisions = append(p.Decisions, d)
		}
		if d.Why == TimedOut && !told && !wanted {
			break
		}
	}
	return nil
}

// decideOther decides on the job that d is on, which takes no part in the window.
func (a *awards) decideOther(s *Snapshot, d *Decision, in *stages, p *Plan) error {
	w := &in.window
	job := w.asks(s.Pending[d.Job], false)
	w.normal.read(job)
	if why := w.normal.never(&w.answers, job); why != "" {
		d.waits(verdict{why: Never, reason: why})
		a.left.grace--
		return nil
	}
	err := a.left.fillRead(s, job, d, p)
	if asked := s.Pending[d.Job]; err == nil && !d.Start && job != asked {
		*d, job = Decision{Job: d.Job}, w.widen(asked, math.Inf(1))
		w.normal.read(job)
		err = a.left.fillRead(s, job, d, p)
	}
	if err != nil {
		return err
	}
	return in.preemption.serve(s, len(w.jobs), d, &a.left, in, p)
}

// decideWinner starts the w-th winner's job. A layout that the program has chosen for an offer need
// not be the offer's: then it is a bid like others.
func (a *awards) decideWinner(w int, in *stages, d *Decision, p *Plan) {
	b := in.winners.result.Chosen[w]
	bid := &in.bidding.book.Bids[b]
	d.Start, d.Class, d.Alternative = true, bid.Class, int(in.window.variants[bid.Job].Alternative)
	a.left.grace = 0
	spec := &in.window.variants[bid.Job].Spec
	d.Segs, d.Uses, d.PartUses = p.keep(in.winners.by.Allocation(w)), spec.More(), p.keepUses(spec.Parts)
	if bid.Class == market.ClassS && !slices.Equal(d.Segs, in.bidding.book.Allocation(int(b))) {
		d.Class = in.bidding.gen.Describe(&in.window.variants[bid.Job], d.Segs).Class
	}
}

// whyNot is why job j of the window waits. untried: there was no time to try what the winners left.
func (a *awards) whyNot(s *Snapshot, j int, in *stages, untried bool) verdict {
	w, guard := &in.window, &in.reservations.guarded[j]
	quota := guard.quota - 1
	if quota < 0 {
		quota = lackingOf(a.left.rest.Quotas(), w.variantsOf(j))
	}
	switch {
	case quota >= 0:
		return w.quotas.verdict(quota)
	case guard.reserved:
		return blocked
	case untried, in.bidding.unasked(w, j), in.winners.unproven && w.opts.Drafts == 0:
		// without drafts left-overs are not given out
		return undecided
	}
	return a.left.why(s, s.Pending[w.index[j]], w.variantsOf(j))
}
