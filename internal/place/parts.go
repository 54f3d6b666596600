// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// MaxParts is how many requests a job may consist of.
const MaxParts = 16

// Sum is the Spec of the job: what its parts ask for together at least, for those who bound, and of
// their quotas. Where that fits is up to the parts.
func (x *Parts) Sum() Spec {
	s := Spec{
		Cores: Amount{PerNode: Range{1, 1<<16 - 1}}, NodesGiven: true, Parts: x,
	}
	shared := 0
	for k := range x.Specs {
		p := &x.Specs[k]
		if x.Apart>>k&1 == 1 {
			s.Nodes.Min += p.Nodes.Min
		} else {
			shared = max(shared, p.Nodes.Min)
		}
		s.Nodes.Max = min(s.Nodes.Max+p.Nodes.Max, nodeset.MaxNodes)
		s.Cores.Total += int(p.LeastCores())
		s.GPUs.Total += int(p.LeastGPUs())
	}
	if s.Cores.Total == 0 { // no part takes any
		s.Cores.PerNode.Min = 0
	}
	s.Nodes.Min += shared
	s.Nodes.Max = max(s.Nodes.Max, s.Nodes.Min)
	x.countLeast()
	if len(x.least) > 0 {
		s.Charges = &x.least
	}
	return s
}

// countLeast sets what the job counts at least.
func (x *Parts) countLeast() {
	x.least = x.least[:0]
	for k := range x.Specs {
		p := &x.Specs[k]
		for i := range p.Counted() {
			c := &(*p.Charges)[i]
			x.least = AddAmount(x.least, c.Row, Count(c, p.LeastSize()))
		}
	}
}

// AddAmount adds what is counted against a quota to amounts, which ascend by quota.
func AddAmount(amounts nodeset.Uses, quota int, amount int64) nodeset.Uses {
	i := 0
	for i < len(amounts) && amounts[i].Row < quota {
		i++
	}
	if i == len(amounts) || amounts[i].Row > quota {
		amounts = append(amounts, nodeset.Use{})
		copy(amounts[i+1:], amounts[i:])
		amounts[i] = nodeset.Use{Row: quota}
	}
	amounts[i].PerJob = min(amounts[i].PerJob+amount, mostCharged)
	return amounts
}

// PartName is how users know a part of a job.
func PartName(k int) string {
	if k == 0 {
		return "its own request"
	}
	return fmt.Sprintf("components[%d]", k-1)
}

// Allocate takes segs, an allocation for s, off t. If t lacks any of it, t is as it was.
func (s *Spec) Allocate(t *nodeset.Table, segs []nodeset.Segment) error {
	if s.Parts == nil {
		return t.Allocate(segs, s.More()...)
	}
	return AllocateParts(t, segs, s.Parts.usesOf)
}

// Release gives segs, an allocation for s, back to t.
func (s *Spec) Release(t *nodeset.Table, segs []nodeset.Segment) error {
	if s.Parts == nil {
		return t.Release(segs, s.More()...)
	}
	return ReleaseParts(t, segs, s.Parts.usesOf)
}

// usesOf is what part k takes of further resources on each node.
func (x *Parts) usesOf(k int) nodeset.Uses { return x.Specs[k].More() }

// AllocateParts takes segs off t, part after part, each with its uses. On an error t is as it was.
func AllocateParts(t *nodeset.Table, segs []nodeset.Segment, uses func(part int) nodeset.Uses) error {
	for rest := segs; len(rest) > 0; {
		var part []nodeset.Segment
		done := segs[:len(segs)-len(rest)]
		part, rest = CutPart(rest)
		k := int(part[0].Part)
		if err := t.Allocate(part, uses(k)...); err != nil {
			must(ReleaseParts(t, done, uses))
			if len(part) < len(segs) {
				err = fmt.Errorf("%s: %w", PartName(k), err)
			}
			return err
		}
	}
	return nil
}

// ReleaseParts gives back what AllocateParts takes.
func ReleaseParts(t *nodeset.Table, segs []nodeset.Segment, uses func(part int) nodeset.Uses) error {
	for len(segs) > 0 {
		var part []nodeset.Segment
		part, segs = CutPart(segs)
		k := int(part[0].Part)
		if err := t.Release(part, uses(k)...); err != nil {
			return fmt.Errorf("%s: %w", PartName(k), err)
		}
	}
	return nil
}

// Fits reports whether t has segs, an allocation for the job; t is as it was.
func (x *Parts) Fits(t *nodeset.Table, segs []nodeset.Segment) bool {
	ok, rest := true, segs
	for ok && len(rest) > 0 {
		part, more := CutPart(rest)
		uses := x.usesOf(int(part[0].Part))
		if ok = t.FitsWith(part, uses); ok {
			must(t.Allocate(part, uses...))
			rest = more
		}
	}
	must(ReleaseParts(t, segs[:len(segs)-len(rest)], x.usesOf))
	return ok
}

// Clone is x in memory of its own, save what its Specs point to.
func (x *Parts) Clone() *Parts {
	if x == nil {
		return nil
	}
	own := *x
	own.Specs = append([]Spec(nil), x.Specs...)
	own.least = slices.Clone(x.least)
	return &own
}

// OfParts is the pointer of what a job consists of. specs are compared as they are, and copied.
func (m *Masks) OfParts(specs []Spec, apart uint32, within int32, tree *nodeset.Topology) *Parts {
	var all *[]Spec
	isNew := false
	for i := range specs {
		if all, isNew = m.specs.Of(specsKey{all, specs[i]}); isNew {
			*all = append((*all)[:0], specs[:i+1]...)
		}
	}
	if within == 0 {
		tree = nil
	}
	p, isNew := m.parts.Of(partsKey{all, apart, within, tree})
	if isNew {
		p.Specs, p.Apart, p.Within, p.Tree = append(p.Specs[:0], specs...), apart, within, tree
	}
	return p
}
