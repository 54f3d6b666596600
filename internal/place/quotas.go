// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math/bits"
	"sort"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// mostCharged is what greater charges count as. Four of them, and sums of what fits, are in range.
const mostCharged = 1 << 60

// MostCharged is the most that a job counts against a quota.
var MostCharged = nodeset.Use{PerJob: bids.MaxRate, PerNode: bids.MaxRate, PerCore: bids.MaxRate, PerGPU: bids.MaxRate}

// Size is how many nodes, cores and GPUs an allocation has.
type Size struct{ Nodes, Cores, GPUs int64 }

// SizeOf is the size of an allocation.
func SizeOf(segs []nodeset.Segment) (z Size) {
	for _, s := range segs {
		n := int64(s.Len())
		z.Nodes, z.Cores, z.GPUs = z.Nodes+n, z.Cores+n*int64(s.Cores), z.GPUs+n*int64(s.GPUs)
	}
	return z
}

// LeastSize is the least size of any allocation for s.
func (s *Spec) LeastSize() Size { return s.sizeOn(s.Nodes.Min, s.GPUs.PerNode.Min) }

// sizeOn is that of an allocation for s with so many nodes, each with that many GPUs.
func (s *Spec) sizeOn(nodes, gpus int) Size {
	return Size{int64(nodes), int64(s.Cores.On(nodes)), int64(nodes) * int64(gpus)}
}

// Count is what an allocation of size z counts by c. 2^60 and more is 2^60.
func Count(c *nodeset.Use, z Size) int64 {
	sum := min(c.PerJob, mostCharged)
	for _, x := range [...][2]int64{{c.PerNode, z.Nodes}, {c.PerCore, z.Cores}, {c.PerGPU, z.GPUs}} {
		high, low := bits.Mul64(uint64(x[0]), uint64(x[1]))
		if high > 0 || low > mostCharged {
			return mostCharged
		}
		sum += int64(low)
	}
	return min(sum, mostCharged)
}

// Counted is what s counts against quotas.
func (s *Spec) Counted() nodeset.Uses {
	if s.Charges == nil {
		return nil
	}
	return *s.Charges
}

// Quotas are what is left of quotas to jobs that start now. The zero Quotas has none.
type Quotas struct {
	// Unit is, by quota, in which amounts it is counted: what an allocation counts is rounded up.
	Unit []int64
	// Left is what is left, in units: Left[0] now, by quota, and Left[k] at the moment when
	// reservation k-1 begins. It is less than 0 where what runs counts more than is allowed.
	Left [][]int64
}

// CostOf is what an allocation of that size counts by c, in units.
func (q *Quotas) CostOf(c *nodeset.Use, z Size) int64 { return q.units(c, Count(c, z)) }

// CostFor is what an allocation for s counts by the i-th of its Charges, in units.
func (q *Quotas) CostFor(s *Spec, i int, segs []nodeset.Segment) int64 {
	c := &(*s.Charges)[i]
	if s.Parts != nil {
		return q.units(c, s.Parts.amount(c.Row, segs))
	}
	return q.CostOf(c, SizeOf(segs))
}

// amount is what segs count against one quota.
func (x *Parts) amount(quota int, segs []nodeset.Segment) (sum int64) {
	for len(segs) > 0 {
		var part []nodeset.Segment
		part, segs = CutPart(segs)
		p := &x.Specs[part[0].Part]
		for i := range p.Counted() {
			if c := &(*p.Charges)[i]; c.Row == quota {
				sum = min(sum+Count(c, SizeOf(part)), mostCharged)
			}
		}
	}
	return sum
}

func (q *Quotas) units(c *nodeset.Use, amount int64) int64 {
	if u := q.Unit[c.Row]; u > 1 {
		return (amount + u - 1) / u
	}
	return amount
}

// Least is what any allocation that s asks for counts by c at least, in units.
func (q *Quotas) Least(c *nodeset.Use, s *Spec) int64 { return q.CostOf(c, s.LeastSize()) }

// Lacks is the first quota that has too little left, now or at one of the first crosses
// reservations, for any allocation that s asks for; -1 if none has.
func (q *Quotas) Lacks(s *Spec, crosses int) int {
	return q.lacksOn(s, crosses, s.Nodes.Min, s.GPUs.PerNode.Min)
}

// lacksOn is Lacks for an allocation of so many nodes, each with that many GPUs.
func (q *Quotas) lacksOn(s *Spec, crosses, nodes, gpus int) int {
	for i := range s.Counted() {
		c := &(*s.Charges)[i]
		if q.CostOf(c, s.sizeOn(nodes, gpus)) > q.least(c.Row, crosses) {
			return c.Row
		}
	}
	return -1
}

// least is what is left of a quota to a job that runs into the first crosses reservations; 0 where more
// is counted than it allows.
func (q *Quotas) least(quota, crosses int) int64 {
	least := q.Left[0][quota]
	for _, left := range q.Left[1 : crosses+1] {
		least = min(least, left[quota])
	}
	return max(least, 0)
}

// Room reports whether an allocation for s is within all quotas.
func (q *Quotas) Room(s *Spec, segs []nodeset.Segment, crosses int) bool {
	return q.LacksFor(s, segs, crosses) < 0
}

// LacksFor is the first quota that has too little left for an allocation; -1 if none has.
func (q *Quotas) LacksFor(s *Spec, segs []nodeset.Segment, crosses int) int {
	for i := range s.Counted() {
		if c := &(*s.Charges)[i]; q.CostFor(s, i, segs) > q.least(c.Row, crosses) {
			return c.Row
		}
	}
	return -1
}

// Narrow has s ask for no more nodes than any allocation with that many GPUs a node may have within
// the quotas. It reports false if none may be.
func (q *Quotas) Narrow(s *Spec, crosses, gpus int) bool {
	if q.lacksOn(s, crosses, s.Nodes.Min, gpus) >= 0 {
		return false
	}
	if s.Charges != nil { // what is counted grows with the nodes
		s.Nodes.Max = s.Nodes.Min + sort.Search(s.Nodes.Max-s.Nodes.Min, func(more int) bool {
			return q.lacksOn(s, crosses, s.Nodes.Min+more+1, gpus) >= 0
		})
	}
	return true
}

// MostGPUs is the greatest number of GPUs a node, of those that s asks for, with which some
// allocation is within the quotas; less than the least if none is.
func (q *Quotas) MostGPUs(s *Spec, crosses int) int {
	g := s.GPUs.PerNode.Max
	for g >= s.GPUs.PerNode.Min && q.lacksOn(s, crosses, s.Nodes.Min, g) >= 0 {
		g--
	}
	return g
}

// take takes what an allocation counts, which there is room for; with sign -1 it gives it back.
func (q *Quotas) take(s *Spec, segs []nodeset.Segment, crosses int, sign int64) {
	for i := range s.Counted() {
		c := &(*s.Charges)[i]
		cost := sign * q.CostFor(s, i, segs)
		for _, left := range q.Left[:crosses+1] {
			left[c.Row] -= cost
		}
	}
}

// copyFrom makes q a copy of o, in its own memory.
func (q *Quotas) copyFrom(o *Quotas) {
	q.Unit = append(q.Unit[:0], o.Unit...)
	q.Left = Resize(q.Left, len(o.Left))
	for k, left := range o.Left {
		q.Left[k] = append(q.Left[k][:0], left...)
	}
}
