// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aucsched/aucsched/core"
)

// ListOptions say in which order a [List] goes through the queue. Begin with [DefaultList].
type ListOptions struct {
	// Behind is the order in which jobs behind the head are tried.
	Behind Order
	// Backfill is what it has in common with Slurm's backfill. Test must be 0.
	Backfill BackfillOptions
}

// DefaultList is EASY in the order of the queue. Places are reserved however far ahead, or else
// jobs might delay a head that waits for long.
func DefaultList() ListOptions {
	o := ListOptions{Backfill: DefaultBackfill()}
	o.Backfill.Window = 1 << 40
	return o
}

// List is a list scheduler with one reservation, as EASY has it (Lifka, "The ANL/IBM SP scheduling
// system", JSSPP'95; Mu'alem and Feitelson, TPDS 12(6), 2001). Jobs start in queue order up to the
// first that cannot, the head, whose earliest start is kept free. Of the others, in an order of
// their own, all start that do not delay it.
//
// In all else it is [Backfill]: jobs get the nodes that Slurm would choose, and MaxJobTest bounds
// how many it looks at. Reservations are of whole nodes and bf_resolution wide. Only the head's
// start is exact. Slurm lets running jobs end in groups that widen with time, and a reservation may
// move back from one cycle to the next.
type List struct {
	Backfill
	order   Order         // behind the head
	pending []*core.Job   // as the snapshot has them
	queue   []*core.Job   // the same as they are tried
	ranks   []ranked      // of these
	view    core.Snapshot // the snapshot with them
}

// NewList returns the policy "easy", "easy-sjf" and so on, by the order behind the head.
func NewList(o ListOptions) (*List, error) {
	if o.Behind >= orders {
		return nil, errors.New("a list in an order that there is not")
	}
	if o.Backfill.Test != 0 {
		return nil, errors.New("a list takes no time to look at a job")
	}
	b, err := NewBackfill(o.Backfill)
	if err != nil {
		return nil, err
	}
	l := &List{Backfill: *b, order: o.Behind}
	l.behind = func(first int, now int64) { l.arrange(first+1, l.order, now) }
	return l, nil
}

// Name tells the order.
func (l *List) Name() string {
	if l.order != QueueOrder {
		return "easy-" + l.order.String()
	}
	return "easy"
}

// Decide implements [core.Policy].
func (l *List) Decide(ctx context.Context, s *core.Snapshot, limits core.Limits, p *core.Plan) error {
	l.pending, l.queue, l.ranks = s.Pending, append(l.queue[:0], s.Pending...), l.ranks[:0]
	for i := range s.Pending {
		l.ranks = append(l.ranks, ranked{place: i})
	}
	l.view = *s
	l.view.Pending = l.queue
	err := l.Backfill.Decide(ctx, &l.view, limits, p)
	l.pending, l.view = nil, core.Snapshot{}
	for i := range p.Decisions {
		p.Decisions[i].Job = l.ranks[p.Decisions[i].Job].place
	}
	slices.SortFunc(p.Decisions, func(a, b core.Decision) int { return cmp.Compare(a.Job, b.Job) })
	return err
}

// arrange puts the queue from place from on into an order.
func (l *List) arrange(from int, o Order, now int64) {
	rest := l.ranks[min(from, len(l.ranks)):]
	for i := range rest {
		rest[i].key = o.key(l.pending[rest[i].place], now)
	}
	sortRanked(rest)
	for i := range rest {
		l.queue[from+i] = l.pending[rest[i].place]
	}
}

var _ core.Policy = (*List)(nil)
