// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// tests is the loop of _attempt_backfill over the jobs from index from up to to. It reports whether
// the pass has to end there: that many have been started, or the table of slots is full. first is
// the job that the main scheduler left.
func (b *Backfill) tests(ctx context.Context, first, from, to int) (over bool, err error) {
	for i := from; i < to; i++ {
		if b.hasBegun(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return true, err
		}
		j := b.s.Pending[i]
		nowOnly := j.Priority < b.opt.MinPrioReserve || (b.behind != nil && i > first)
		out, err := b.test(j, nowOnly)
		if err != nil {
			return true, fmt.Errorf("job %s: %w", j.ID, err)
		}
		switch out.what {
		case starting:
			if i == first { // it does not wait after all
				b.p.Decisions = slices.Delete(b.p.Decisions, b.head, b.head+1)
			}
			if err := b.start(i, b.scratch); err != nil {
				return true, err
			}
			clear(b.blocked)
			if b.pass.starts++; b.pass.starts == b.opt.MaxJobStart {
				return true, nil
			}
			continue
		case reserving:
			if b.space.records >= b.opt.NodeSpaceSize {
				return true, nil
			}
			b.space.add(out.from, out.to, b.opt.Resolution, b.chosen)
			clear(b.blocked)
		}
		if i == first {
			d := &b.p.Decisions[b.head]
			d.Kept, d.Expected = out.start > 0, out.start
			continue
		}
		d := core.Decision{Job: i, Kept: out.start > 0, Expected: out.start, Reason: ReasonPriority}
		if out.what == hopeless {
			why, err := b.never(j)
			if err != nil {
				return true, err
			}
			if why != nil {
				d.Reason = why.Error()
			}
		}
		b.decide(d)
	}
	return false, nil
}

type verdict int

const (
	starting  verdict = iota // now, on b.scratch
	reserving                // b.chosen, from start on
	waiting                  // without a reservation
	hopeless                 // no time was found at which it could start
)

// outcome is what the test of a job led to.
type outcome struct {
	what     verdict
	start    int64 // expected start of one that is reserving
	from, to int64 // its time slots
}

// test finds the earliest start of a job that delays no reservation; nowOnly: whether it can start.
func (b *Backfill) test(j *core.Job, nowOnly bool) (outcome, error) {
	if unknown(j) != nil {
		return outcome{what: hopeless}, nil
	}
	key := blockedKey{shape: keyOf(&j.Request), limit: j.TimeLimit, nowOnly: nowOnly, stops: b.mayStop(j)}
	if len(j.Eligible) > 0 {
		key.eligible = &j.Eligible[0]
	}
	remember := !b.opt.Plain && (j.Eligible == nil || key.eligible != nil)
	if _, ok := b.blocked[key]; ok && remember {
		return outcome{what: waiting}, nil
	}
	out, err := b.tryTimes(j, nowOnly)
	if err == nil && remember && out.what == waiting {
		b.blocked[key] = struct{}{}
	}
	return out, err
}

// tryTimes is the loop around TRY_LATER.
func (b *Backfill) tryTimes(j *core.Job, nowOnly bool) (outcome, error) {
	now, res := b.s.Now, b.opt.Resolution
	b.base = append(b.base[:0], b.up...)
	for w := range b.base {
		b.base[w] &= j.Eligible.Word(w)
	}
	giveUp := hopeless
	for later := now; ; {
		from := later
		later = b.space.free(from, from+j.TimeLimit, b.base, &b.avail)
		if nowOnly {
			later = 0
		}
		start, ok := int64(0), false
		if b.avail.Count() >= max(j.MinNodes, 1) && (b.opt.Plain || b.wouldHold(j)) {
			var err error
			if start, ok, err = b.willRun(j, nowOnly); err != nil {
				return outcome{}, err
			}
		}
		if !ok {
			if later != 0 {
				continue
			}
			if b.avail.Count() != b.base.Count() {
				giveUp = waiting
			}
			return outcome{what: giveUp}, nil
		}
		start = max(start, from)
		if start <= now {
			return outcome{what: starting}, nil
		}
		if later != 0 && start > later {
			continue
		}
		if start > now+b.opt.Window {
			return outcome{what: waiting}, nil
		}
		b.choose(b.scratch)
		slot, end := start/res*res, (start+j.TimeLimit)/res*res
		if b.space.overlaps(slot, end, b.chosen) {
			if later = start; start == from {
				later += res
			}
			continue
		}
		return outcome{reserving, start, slot, end}, nil
	}
}

// wouldHold is false only if the nodes of b.avail could not hold the job even if they were idle.
func (b *Backfill) wouldHold(j *core.Job) bool {
	cores := place.LeastCores(&j.Request)
	for w, word := range b.avail {
		for ; word != 0 && cores > 0; word &= word - 1 {
			if c := b.s.Nodes.Total(w<<6 + bits.TrailingZeros64(word)); int(c.GPUs) >= j.MinGPUs {
				cores -= int64(c.Cores)
			}
		}
	}
	return cores <= 0
}

// willRun is _will_run_test: when the job could start on nodes of b.avail, given the expected ends
// of the running jobs. These end in groups that widen with time. It leaves the nodes in b.scratch.
func (b *Backfill) willRun(j *core.Job, nowOnly bool) (int64, bool, error) {
	if b.opt.Plain || b.mayStart(j) {
		if _, ok, err := b.tryNow(j, b.avail); ok || err != nil {
			return b.s.Now, ok, err
		}
	}
	if nowOnly {
		return 0, false, nil
	}
	b.sortHeld()
	b.future.CopyFrom(b.freeFor(j))
	held := b.heldFor(j)
	var window, barrier int64 = 30, 0
	last, tried := -1, -1 // of held, the last whose end has been let happen, and when the job was tried
	for i := range held {
		h := &held[i]
		if overlapAny(h.segs, b.avail) {
			if barrier == 0 {
				barrier = h.end/window*window + window
			}
			if err := b.future.Release(h.segs, h.uses...); err != nil {
				return 0, false, err
			}
			last = i
		} else if i+1 < len(held) && b.behind == nil { // though it is the last of a group
			continue
		}
		group := barrier + window // all that end by then, in one step
		if b.behind != nil {
			group = h.end
		}
		if i+1 < len(held) && held[i+1].end <= group {
			continue
		}
		if tried == last {
			continue
		}
		tried = last
		if _, ok, err := b.trySelect(&b.future, j, b.avail); ok || err != nil {
			return b.endOf(&held[last]), ok, err
		}
		for i+1 < len(held) && held[i+1].end > barrier+window {
			window *= 2
		}
	}
	return 0, false, nil
}

// endOf is when a running job is expected to end: for one that is over its limit,
// _guess_job_end with Slurm's default KillWait.
func (b *Backfill) endOf(h *held) int64 {
	const killWait = 30
	if h.end > b.s.Now {
		return h.end
	}
	return max(h.end+killWait, b.s.Now+1)
}

// sortHeld sets b.held, once a cycle.
func (b *Backfill) sortHeld() {
	if b.sorted {
		return
	}
	b.sorted = true
	b.held = append(b.held[:0], b.started...)
	for i := range b.s.Running {
		r := &b.s.Running[i]
		if slices.Contains(b.stop.gone, i) {
			continue
		}
		b.held = append(b.held, held{r.End, r.ID, r.Segs, r.Uses, r.Price > 0})
	}
	slices.SortFunc(b.held, compareHeld)
}

// mayStart is false only if the job cannot start on any choice of nodes. What has
// been started since the sums were made only makes it err on the safe side.
func (b *Backfill) mayStart(j *core.Job) bool {
	nodes, f := b.freeFor(j), &b.fit
	if b.mayStop(j) {
		f = &b.stop.fit
	}
	if cores, _ := nodes.SumFree(); cores == 0 {
		return false
	}
	if !f.ready {
		f.sum(nodes)
	}
	g := j.MinGPUs
	return g < len(f.nodes) && f.nodes[g] >= max(j.MinNodes, 1) && f.cores[g] >= place.LeastCores(&j.Request)
}

func (f *fitTest) sum(t *nodeset.Table) {
	f.ready, f.nodes, f.cores = true, f.nodes[:0], f.cores[:0]
	free := t.FreeCores()
	for g := range t.MaxGPUs() + 1 {
		cores, usable := int64(0), t.Usable(g)
		for w, word := range usable {
			for ; word != 0; word &= word - 1 {
				cores += int64(free[w<<6+bits.TrailingZeros64(word)])
			}
		}
		f.nodes, f.cores = append(f.nodes, usable.Count()), append(f.cores, cores)
	}
}

var _ core.Policy = (*Backfill)(nil)
