// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// auction has the product decide: each batch is the queue of a cycle of core.Auction.
type auction struct {
	x        *cluster
	policy   *core.Auction
	snapshot core.Snapshot
	plan     core.Plan
	kinds    []core.Job // by kind of request
	queue    []core.Job // scratch
	seats    []*seat    // of the queue
	bins     [][]uint8  // by node and bin: one more than the GPU that it is
	used     []Taken    // by node
}

// newAuction is on the nodes of x, in their order.
func newAuction(x *cluster) (*auction, error) {
	a := &auction{x: x, used: make([]Taken, len(x.nodes))}
	var err error
	if a.policy, err = core.NewAuction(core.Preset("default"), nil); err != nil {
		return nil, err
	}
	unit := 0
	for i := range x.kinds {
		unit = gcd(unit, int(x.kinds[i].CPU))
	}
	if unit == 0 { // no pod asks for cores: whole ones will do
		unit = 1000
	}
	total := make([]nodeset.Capacity, len(x.nodes))
	memory := make([]int64, len(x.nodes))
	for n := range x.nodes {
		s := &x.nodes[n]
		units := int(s.CPU) / unit
		if units > bids.MaxCoresPerNode {
			return nil, fmt.Errorf("node %d: %d thousandths of a core are %d units of %d: at most %d",
				n, s.CPU, units, unit, bids.MaxCoresPerNode)
		}
		total[n], memory[n] = nodeset.Capacity{Cores: uint16(units), GPUs: s.Count}, int64(s.Memory)
		a.bins = append(a.bins, make([]uint8, 1+nodeset.BinsOf(int(s.Count))))
	}
	if a.snapshot.Nodes, err = nodeset.New(total); err != nil {
		return nil, err
	}
	if _, err = a.snapshot.Nodes.AddResource("memory", memory); err != nil {
		return nil, err
	}
	if _, err = a.snapshot.Nodes.AddShares("gpu", slices.Repeat([]int64{Whole}, len(total))); err != nil {
		return nil, err
	}
	masks := map[uint64]nodeset.Mask{}
	for i := range x.kinds {
		a.kinds = append(a.kinds, a.jobOf(&x.kinds[i], unit, masks))
	}
	return a, nil
}

func (a *auction) jobOf(r *Request, unit int, masks map[uint64]nodeset.Mask) core.Job {
	share := int64(0)
	j := core.Job{Priority: 1, TimeLimit: core.NoTimeLimit}
	j.Request = bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: int(r.CPU) / unit, MinGPUs: int(r.GPUs)}
	if r.Shared() {
		share, j.MinGPUs = int64(r.Share), 0
	}
	j.Uses = usesOf(int64(r.Memory), share)
	if r.GPUs > 0 {
		if _, known := masks[r.Kinds]; !known {
			m := nodeset.NewMask(len(a.x.nodes))
			for n := range a.x.nodes {
				if r.On(a.x.nodes[n].Kind) {
					m.Set(n)
				}
			}
			masks[r.Kinds] = m
		}
		j.Eligible = masks[r.Kinds]
	}
	return j
}

// never is beyond all that counts.
const never = 1 << 50

// decide places a batch.
func (a *auction) decide(batch []seat) error {
	s := &a.snapshot
	a.queue, a.seats, s.Pending = a.queue[:0], a.seats[:0], s.Pending[:0]
	for i := range batch {
		b := &batch[i]
		if r := &a.x.kinds[b.kind]; r.CPU == 0 && r.Memory == 0 && r.GPUs == 0 { // no job asks for nothing
			b.node = 0
			continue
		}
		j := a.kinds[b.kind]
		j.ID, j.Since = fmt.Sprint(b.at), s.Now
		a.queue, a.seats = append(a.queue, j), append(a.seats, b)
	}
	for i := range a.queue {
		s.Pending = append(s.Pending, &a.queue[i])
	}
	if err := a.policy.Decide(context.Background(), s, core.Limits{}, &a.plan); err != nil {
		return err
	}
	starts, err := a.plan.Apply(s.Nodes)
	if err != nil {
		return err
	}
	for i := range starts {
		d := &starts[i]
		b := a.seats[d.Job]
		b.node = int(d.Segs[0].First)
		b.taken = a.gpus(b.node, d.Segs[0])
		r := core.Running{ID: a.queue[d.Job].ID, End: never, Segs: d.Segs, Uses: d.Uses, Eligible: a.queue[d.Job].Eligible}
		s.Running = append(s.Running, r)
	}
	return nil
}

// gpus says which GPUs a pod has been given.
func (a *auction) gpus(node int, s nodeset.Segment) (t Taken) {
	next := func() int {
		g := bits.TrailingZeros8(^uint8(a.used[node]))
		a.used[node] |= 1 << g
		return g
	}
	if s.Bin > 0 {
		at := &a.bins[node][s.Bin]
		if *at == 0 {
			*at = uint8(next() + 1)
		}
		return 1 << (*at - 1)
	}
	for range s.GPUs {
		t |= 1 << next()
	}
	return t
}
