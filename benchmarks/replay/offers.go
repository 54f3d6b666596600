// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/nodeset"
)

// Offers is a policy to which the first jobs of the queue come with an offer
// ([core.Job.Offer]): what Slurm's selection, the same as [sim.Backfill]'s, would give each in turn
// if those before it had started on theirs, by its first request. Auctions bid them: the "SLURM
// bids" of aucsched1, section 5.
type Offers struct {
	policy core.Policy
	window int
	sel    selection.Selector
	jobs   []core.Job  // copies with their offers
	queue  []*core.Job // these, and the rest of the queue
	segs   [][]nodeset.Segment
	failed map[offerKey]bool // requests that found no place since the last offer
}

// offerKey tells requests apart; a mask and uses are known by their addresses, within one cycle.
type offerKey struct {
	cores, minNodes, maxNodes, tasks, gpus int
	contiguous                             bool
	uses                                   *nodeset.Use
	eligible                               *uint64
}

func keyOf(r *bids.Request) offerKey {
	k := offerKey{r.Cores, r.MinNodes, r.MaxNodes, r.TasksPerNode, r.MinGPUs, r.Contiguous, nil, nil}
	if len(r.Uses) > 0 {
		k.uses = &r.Uses[0]
	}
	if len(r.Eligible) > 0 {
		k.eligible = &r.Eligible[0]
	}
	return k
}

// NewOffers returns policy with offers for the first window jobs of the queue, under policy's
// name.
func NewOffers(policy core.Policy, window int) *Offers {
	return &Offers{policy: policy, window: window, failed: map[offerKey]bool{}}
}

// Name is the policy's.
func (o *Offers) Name() string { return o.policy.Name() }

// Decide implements [core.Policy]. The time that the offers take is part of the cycle.
func (o *Offers) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	o.sel.Tree = s.Topology
	if err := o.offer(s); err != nil {
		return fmt.Errorf("offers: %w", err)
	}
	with := *s
	with.Pending = o.queue
	return o.policy.Decide(ctx, &with, l, p)
}

// offer fills o.queue. The nodes are as before when it returns.
func (o *Offers) offer(s *core.Snapshot) (err error) {
	n := min(o.window, len(s.Pending))
	if cap(o.jobs) < n {
		o.jobs = make([]core.Job, n)
	}
	o.jobs, o.queue = o.jobs[:n], o.queue[:0]
	for len(o.segs) < n {
		o.segs = append(o.segs, nil)
	}
	clear(o.failed)
	taken := 0
	defer func() {
		for i := range taken {
			if e := s.Nodes.Release(o.jobs[i].Offer, o.jobs[i].Uses...); e != nil && err == nil {
				err = e
			}
		}
	}()
	for i, job := range s.Pending[:n] {
		o.jobs[i] = *job
		if o.jobs[i].Offer, err = o.next(s.Nodes, job, &o.segs[i]); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		if err := s.Nodes.Allocate(o.jobs[i].Offer, job.Uses...); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		taken = i + 1
		o.queue = append(o.queue, &o.jobs[i])
	}
	o.queue = append(o.queue, s.Pending[n:]...)
	return nil
}

// next is what job gets of what is left, nil if nothing. The selection does not find all
// that would fit, so that a request which found no place may find one when less is left: what
// is known of it ends with the next offer.
func (o *Offers) next(left *nodeset.Table, job *core.Job, buf *[]nodeset.Segment) ([]nodeset.Segment, error) {
	least := place.LeastCores(&job.Request)
	if cores, _ := left.SumFree(); least == 0 || cores < least {
		return nil, nil
	}
	key := keyOf(&job.Request)
	if o.failed[key] {
		return nil, nil
	}
	segs, ok, err := o.sel.Select(left, &job.Request, nil, (*buf)[:0])
	*buf = segs
	switch {
	case err != nil:
		return nil, err
	case ok:
		clear(o.failed)
		return segs, nil
	case job.Eligible == nil || key.eligible != nil:
		o.failed[key] = true
	}
	return nil, nil
}

var _ core.Policy = (*Offers)(nil)
