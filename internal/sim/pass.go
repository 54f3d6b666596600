// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"time"
)

// Slurm's defaults: how long a pass of backfill holds the locks, and gives them away.
const (
	yieldInterval = 2 * time.Second
	yieldSleep    = 500 * time.Millisecond
)

// pass is how far a pass of backfill has come that has given the locks away.
type pass struct {
	under bool
	began int64
	took  time.Duration // since then
	// jobs in the queue: the next to look at, and the last that may be started by it, plus 1
	next, end int
	reach     int // and the last that it looks at, plus 1
	starts    int
	// pending and running are how many jobs there will be if none comes or goes.
	pending, running int
}

// proceed begins a pass of backfill behind the job at index first, or goes on with one unless
// jobs have come or gone.
func (b *Backfill) proceed(ctx context.Context, first int) error {
	p := &b.pass
	if p.under && (p.pending != len(b.s.Pending) || p.running != len(b.s.Running)) {
		p.under = false
		b.due += b.opt.Interval
		if b.waiting = b.s.Now < b.due; b.waiting {
			return nil
		}
	}
	if !p.under {
		b.begin(first)
	}
	return b.backfill(ctx, first)
}

// begin makes ready for a pass from the job at index first on.
func (b *Backfill) begin(first int) {
	reach := min(len(b.s.Pending), first+b.opt.MaxJobTest)
	for _, i := range b.begun { // in order
		if i < reach && reach < len(b.s.Pending) {
			reach++
		}
	}
	end := reach
	b.fit.ready = false
	if !b.opt.Estimates && !b.opt.Plain {
		for end > first && (b.hasBegun(end-1) || !b.mayStart(b.s.Pending[end-1])) {
			end-- // no start depends on what is reserved from here on
		}
	}
	b.pass = pass{began: b.s.Now, next: first, end: end, reach: reach}
	if end > first {
		b.upNodes()
		b.space.reset(b.s.Now, b.opt.Resolution, b.opt.Window, b.up)
	}
}

// backfill is _attempt_backfill, as far as it goes before it gives the locks away.
func (b *Backfill) backfill(ctx context.Context, first int) error {
	p := &b.pass
	to := p.reach
	if b.opt.Test > 0 {
		to = min(to, p.next+int((yieldInterval+b.opt.Test-1)/b.opt.Test))
	}
	b.fit.ready = false
	clear(b.blocked)
	over, err := b.tests(ctx, first, p.next, min(to, p.end))
	if err != nil {
		return err
	}
	p.took += time.Duration(to-p.next) * b.opt.Test
	if p.under = !over && to < p.reach && p.took < time.Duration(b.opt.Interval)*time.Second; p.under {
		p.took += yieldSleep
		p.next, p.end, p.reach = to-b.startedBefore(to), p.end-b.startedBefore(p.end), p.reach-b.startedBefore(p.reach)
		p.pending, p.running = len(b.s.Pending)-len(b.started), len(b.s.Running)+len(b.started)
	}
	b.due = p.began + int64((p.took+time.Second-1)/time.Second)
	if b.waiting = p.under; !p.under {
		b.due += b.opt.Interval
	}
	return nil
}

// startedBefore is how many jobs before index i have been started, by the main scheduler too: they
// leave the queue.
func (b *Backfill) startedBefore(i int) (n int) {
	for k := range b.p.Decisions {
		if d := &b.p.Decisions[k]; d.Start && d.Job < i {
			n++
		}
	}
	return n
}
