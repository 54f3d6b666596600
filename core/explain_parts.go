// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// blameParts says which part of a job finds no place on what is free: one that would find none
// alone, or else the first that those before it, placed one after the other, leave none.
func (e *inquiry) blameParts() {
	e.normal.read(e.job)
	s := e.normal.specs[0]
	if s.Parts == nil { // the request is not valid, and an alternative is
		return
	}
	if s.Parts.Within > 0 && e.blameAllWithin(&s) {
		return
	}
	for k := range s.Parts.Specs {
		if _, ok := e.placePart(e.s.Nodes, &s, k); !ok {
			e.x.OfPart, e.x.Part, e.x.Shortage = true, k, e.shortageOfPart(e.s.Nodes, k)
			return
		}
	}
	t := new(nodeset.Table)
	t.CopyFrom(e.s.Nodes)
	for k := range s.Parts.Specs {
		segs, ok := e.placePart(t, &s, k)
		if !ok {
			e.x.OfPart, e.x.Part, e.x.Shortage = true, k, e.shortageOfPart(t, k)
			return
		}
		must(t.AllocateWith(segs, s.Parts.Specs[k].More()))
		e.x.Beside = append(e.x.Beside, k)
	}
}

// blameAllWithin reports whether all parts would have places if they need not be below one switch.
// Then that is what they lack.
func (e *inquiry) blameAllWithin(s *place.Spec) bool {
	anywhere := *s
	anywhere.Parts = s.Parts.Clone()
	anywhere.Parts.Within = 0
	segs, ok := e.placer.PlaceParts(nil, e.s.Nodes, &anywhere, place.PartsOptions{}, nil, 0)
	if !ok {
		return false
	}
	nodes := nodeset.Nodes(byNode(segs))
	e.x.Shortage = &Shortage{Resource: "all_within", Need: int64(nodes), Have: e.mostBelowOne(s.Parts, byNode(segs)),
		Eligible: nodes, WithGPUs: nodes, WithCores: nodes, CoresPerNode: 1}
	return true
}

// mostBelowOne is how many nodes of segs are below one switch at most.
func (e *inquiry) mostBelowOne(parts *place.Parts, segs []nodeset.Segment) (most int64) {
	of, count := parts.Tree.SwitchOf(min(int(parts.Within), parts.Tree.Levels())), make(map[int32]int64)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			count[of[n]]++
			most = max(most, count[of[n]])
		}
	}
	return most
}

// placePart is a place for one part of s on t.
func (e *inquiry) placePart(t *nodeset.Table, s *place.Spec, k int) ([]nodeset.Segment, bool) {
	part := s.Parts.Specs[k]
	part.Contiguous = part.Contiguous || s.Contiguous
	return e.placer.Place(nil, e.limited.Of(t, &part), &part, part.GPUs.PerNode.Min)
}

// shortageOfPart is what one part of the job lacks on t.
func (e *inquiry) shortageOfPart(t *nodeset.Table, k int) *Shortage {
	alone := *e.job
	alone.Request = *e.job.Part(k)
	alone.Components, alone.AllWithin, alone.Alternatives = nil, 0, nil
	if s := shortageOf(t, &alone.Request); s != nil {
		return s
	}
	about := &inquiry{e.Explainer, e.x, &alone}
	return about.shortageBelow(nil)
}

// byNode is an allocation as it takes from nodes, ascending, whatever the parts of the job.
func byNode(segs []nodeset.Segment) (all []nodeset.Segment) {
	if len(segs) == 0 || segs[len(segs)-1].Part == 0 {
		return segs
	}
	taken := make(map[int32]nodeset.Segment)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			has := taken[n]
			taken[n] = nodeset.Segment{First: n, Last: n, Cores: has.Cores + s.Cores, GPUs: has.GPUs + s.GPUs}
		}
	}
	for _, s := range taken {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	single := all
	all = nil
	for _, s := range single {
		all = nodeset.Append(all, s)
	}
	return all
}

// overlapOfParts is overlap for a job of several parts.
func overlapOfParts(a, b []nodeset.Segment) (both []nodeset.Segment) {
	for len(a) > 0 {
		var part []nodeset.Segment
		part, a = place.CutPart(a)
		plain := slices.Clone(part)
		for i := range plain {
			plain[i].Part = 0
		}
		for _, s := range overlap(plain, b) {
			s.Part = part[0].Part
			both = append(both, s)
		}
	}
	return both
}
