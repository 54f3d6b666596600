// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// severalParts reports whether any way to meet a job consists of several parts. For such a place is
// found part after part, and more that is free may lead that astray.
func severalParts(ways []market.Variant) bool {
	return slices.ContainsFunc(ways, func(v market.Variant) bool { return v.Spec.Parts != nil })
}

// startParts is start for a job of several parts.
func (p *planner) startParts(segs []nodeset.Segment, parts *place.Parts, end int64) error {
	if err := parts.Allocate(&p.now, segs); err != nil {
		return err
	}
	for len(segs) > 0 {
		var part []nodeset.Segment
		part, segs = place.CutPart(segs)
		p.ends = append(p.ends, held{end, part, parts.Specs[part[0].Part].More()})
	}
	p.sorted = false
	return nil
}

// unstart takes the last start back.
func (p *planner) unstart(segs []nodeset.Segment, uses nodeset.Uses, parts *place.Parts) {
	if parts == nil {
		must(p.now.ReleaseWith(segs, uses))
		p.ends = p.ends[:len(p.ends)-1]
		return
	}
	must(parts.Release(&p.now, segs))
	for len(segs) > 0 {
		_, segs = place.CutPart(segs)
		p.ends = p.ends[:len(p.ends)-1]
	}
}

// allocate takes the place off t.
func (r *reservation) allocate(t *nodeset.Table) error {
	if r.parts != nil {
		return r.parts.Allocate(t, r.Segs)
	}
	return t.AllocateWith(r.Segs, r.Uses)
}

// fits reports whether t has segs for spec. It leaves t as it is.
func fits(t *nodeset.Table, spec *place.Spec, segs []nodeset.Segment) bool {
	if spec.Parts != nil {
		return spec.Parts.Fits(t, segs)
	}
	return t.FitsWith(segs, spec.More())
}

// counts is what segs, an allocation for spec, count against quotas. It is the planner's until its
// next reset.
func (p *planner) counts(spec *place.Spec, segs []nodeset.Segment) (nodeset.Uses, place.Size) {
	if spec.Parts == nil || spec.Charges == nil {
		return spec.Counted(), place.SizeOf(segs)
	}
	from := len(p.amounts)
	p.amounts = spec.Parts.Amounts(p.amounts, segs)
	return p.amounts[from:len(p.amounts):len(p.amounts)], place.Size{}
}

// several reports whether the job that was read last consists of several parts, in any of its ways.
func (n *normal) several() bool {
	return slices.ContainsFunc(n.specs, func(s place.Spec) bool { return s.Parts != nil })
}
