// SPDX-License-Identifier: BSD-3-Clause

// Package place knows what a request asks for, and where that fits. [Spec] is the normal form of a
// request, and [Placer] finds one place for it. [Residual] is what jobs have left to others, and
// [Cache] remembers which requests the machine can never meet.
//
// A further kind of resource is a further [Amount] of a Spec, and a case of [Spec.Room].
package place

import (
	"github.com/aucsched/aucsched/nodeset"
)

// Spec is the normal form of a request: every default is filled in, and what follows from other
// fields is said. Within a window, equal Specs are those that ask for the same (see [Masks]). The
// zero Spec is of no valid request. Maps allocate for keys of more than 128 bytes: with what is
// counted beside a Spec in package core these are at most 128.
type Spec struct {
	// Nodes is how many nodes an allocation has.
	Nodes Range
	// Cores and GPUs are how many of them it has.
	Cores, GPUs Amount
	// MixedGPUs lets nodes give different numbers of GPUs. It is false where the range has one.
	MixedGPUs bool
	// Contiguous asks for consecutive nodes.
	Contiguous bool
	// NodesGiven tells job types 2 and 3 of aucsched1, section 4, from type 1.
	NodesGiven bool
	// Blocks is how many blocks of consecutive nodes there may be; 0: any number. Two blocks lie
	// near each other: see MaxReach.
	Blocks int32
	// Eligible are the nodes that may be used; nil means all.
	Eligible *nodeset.Mask
	// Tiers are which of these it is to have first; nil means all alike.
	Tiers *Tiers
	// Uses is what is taken of further resources; nil means nothing.
	Uses *nodeset.Uses
	// Charges is what is counted against quotas; nil means nothing.
	Charges *nodeset.Uses
	// Below is where the machine's nodes stand, and what is demanded of that; nil: it does not
	// count.
	Below *Below
	// Parts are the requests of a job that consists of several, and the rest is then their sum; nil
	// where it is one.
	Parts *Parts
}

// Below is what a request demands of the switches above its nodes.
type Below struct {
	// Tree has the switches.
	Tree *nodeset.Topology
	// Switches is how many leaves the nodes may be of; 0: any number.
	Switches int32
	// Within is the level of a switch that has all nodes below it; 0: none.
	Within int32
	// Segment is of how many nodes of one leaf each the allocation consists; 0: of any.
	Segment int32
}

// Tiers say which nodes a request is to have first: those of the lightest tier, and of the next one
// only what these lack. Within a window equal Tiers have the same pointer.
type Tiers struct {
	of   []uint16       // by node
	upto []nodeset.Mask // upto[k]: the nodes of the k+1 lightest tiers, never all nodes
}

// Parts are the requests of a job that consists of several, which start together or not at all. An
// allocation for it is those for all parts, one after the other; the segments say for which each
// is. Within a window a job that consists of the same has the same Parts: see [Masks.OfParts].
type Parts struct {
	// Specs are the requests, at most MaxParts; they consist of nothing themselves.
	Specs []Spec
	// Apart has a bit for each part that shares no node with another of the job.
	Apart uint32
	// Within is the level of a switch of Tree that all parts are below; 0: none. Without a Tree
	// there is none.
	Within int32
	Tree   *nodeset.Topology

	least nodeset.Uses // what the job counts at least, as amounts of the whole
}

// Range is from Min to Max, both included.
type Range struct{ Min, Max int }

// Amount is how much of one resource an allocation has.
type Amount struct {
	// PerNode is how much each node gives.
	PerNode Range
	// Total is how much all nodes give together; 0: whatever they give.
	Total int
}

// On is the least amount on so many nodes.
func (a Amount) On(nodes int) int {
	if a.Total == 0 {
		return nodes * a.PerNode.Min
	}
	return a.Total
}

// Valid reports whether s is of a valid request.
func (s *Spec) Valid() bool { return s.Nodes.Max > 0 }

// Exact reports whether every node gives the same number of cores (job type 3).
func (s *Spec) Exact() bool { return s.Cores.PerNode.Min == s.Cores.PerNode.Max }

// Coreless reports whether the job takes no core: nodes then give GPUs or further resources alone,
// and it is of no matter which of their cores are free. Such a job sees a machine on which nodes
// that can serve it have a core free, and others none: see [Spec.see].
func (s *Spec) Coreless() bool {
	return s.Cores.PerNode.Max == 0 && s.Cores.Total == 0 && s.Parts == nil && s.Valid()
}

// Plain reports whether the job sees tables as they are.
func (s *Spec) Plain() bool { return s.Uses == nil && !s.Coreless() }

// see sets what nodes first to last of t have free to what the job sees there of o.
func (s *Spec) see(t, o *nodeset.Table, first, last int) {
	t.LimitFrom(o, first, last, s.More(), s.GPUs.PerNode.Min, s.Coreless())
}

// LeastCores is how many cores an allocation has in all at least.
func (s *Spec) LeastCores() int64 { return int64(s.Cores.On(s.Nodes.Min)) }

// LeastGPUs is how many GPUs an allocation has in all at least.
func (s *Spec) LeastGPUs() int64 { return int64(s.GPUs.On(s.Nodes.Min)) }

// Room is how many cores a node on which the job sees c can give: 0 if it cannot serve the job, and
// 1 of one that takes none.
func (s *Spec) Room(c nodeset.Capacity) int {
	if int(c.GPUs) < s.GPUs.PerNode.Min || int(c.Cores) < max(s.Cores.PerNode.Min, 1) {
		return 0
	}
	return s.most(c.Cores)
}

// Rooms appends how many cores each node can give s, which sees t of them, 1 if it takes none; 0 if the
// node cannot serve it.
func (s *Spec) Rooms(dst []int, t *nodeset.Table) []int {
	for n := range t.Len() {
		room := 0
		if t.Up(n) && s.Mask().Has(n) {
			room = s.Room(t.Free(n))
		}
		dst = append(dst, room)
	}
	return dst
}

// Mask is the mask of the nodes that may be used, nil for all.
func (s *Spec) Mask() nodeset.Mask {
	if s.Eligible == nil {
		return nil
	}
	return *s.Eligible
}

// More is what is taken of further resources.
func (s *Spec) More() nodeset.Uses {
	if s.Uses == nil {
		return nil
	}
	return *s.Uses
}

// Query is what a scan asks for the nodes that can serve the job with gpus GPUs each.
func (s *Spec) Query(gpus int) nodeset.Query {
	return nodeset.Query{GPUs: gpus, MinCores: s.Cores.PerNode.Min, Eligible: s.Mask()}
}

// most is how many cores a node with that many free may give, at least one. A job that takes none
// counts nodes by it.
func (s *Spec) most(free uint16) int { return min(int(free), max(s.Cores.PerNode.Max, 1)) }

// Pool gives equal keys the same value. The zero Pool is ready; it reuses its memory.
type Pool[K comparable, V any] struct {
	made   map[K]*V
	memory []*V
}

// Of returns the value of a key. If the key is new, the caller has to fill the value.
func (p *Pool[K, V]) Of(k K) (v *V, isNew bool) {
	if v, ok := p.made[k]; ok {
		return v, false
	}
	if p.made == nil {
		p.made = make(map[K]*V)
	}
	if len(p.made) == len(p.memory) {
		p.memory = append(p.memory, new(V))
	}
	v = p.memory[len(p.made)]
	p.made[k] = v
	return v, true
}

// Reset forgets all keys.
func (p *Pool[K, V]) Reset() { clear(p.made) }

// Masks gives masks of the same memory the same pointer, and equal Uses and Parts, so that Specs can
// be compared. The zero Masks is ready. What it is given must not change before Reset.
type Masks struct {
	masks Pool[maskKey, nodeset.Mask]
	uses  Pool[usesKey, nodeset.Uses]
	specs Pool[specsKey, []Spec]
	parts Pool[partsKey, Parts]
}

// maskKey tells masks apart by their memory.
type maskKey struct {
	first *uint64
	words int
}

// usesKey is one more use, after what comes before it.
type usesKey struct {
	before *nodeset.Uses
	use    nodeset.Use
}

// specsKey is one more part of a job, after those before it.
type specsKey struct {
	before *[]Spec
	spec   Spec
}

// partsKey is what a job consists of.
type partsKey struct {
	specs  *[]Spec
	apart  uint32
	within int32
	tree   *nodeset.Topology
}

// Reset forgets all masks.
func (m *Masks) Reset() {
	m.masks.Reset()
	m.uses.Reset()
	m.specs.Reset()
	m.parts.Reset()
}

// OfUses is the pointer of uses that are not nil.
func (m *Masks) OfUses(uses *nodeset.Uses) (p *nodeset.Uses) {
	for i, u := range *uses {
		p, _ = m.uses.Of(usesKey{p, u})
		*p = (*uses)[: i+1 : i+1]
	}
	return p
}

// Of is the pointer of a mask that is not nil.
func (m *Masks) Of(mask *nodeset.Mask) *nodeset.Mask {
	k := maskKey{words: len(*mask)}
	if k.words > 0 {
		k.first = &(*mask)[0]
	}
	p, _ := m.masks.Of(k)
	*p = *mask
	return p
}

// LeastGPUs is the least number of GPUs that a node of an allocation gives.
func LeastGPUs(segs []nodeset.Segment) uint8 {
	least := segs[0].GPUs
	for _, s := range segs[1:] {
		least = min(least, s.GPUs)
	}
	return least
}

// appendTo appends a segment to the allocation that begins at dst[own].
func appendTo(dst []nodeset.Segment, own int, s nodeset.Segment) []nodeset.Segment {
	if len(dst) == own {
		return append(dst, s)
	}
	return nodeset.Append(dst, s)
}

func must(err error) {
	if err != nil {
		panic("fit: " + err.Error())
	}
}

// Resize gives s the length n and keeps the memory of elements beyond a former length.
func Resize[T any](s []T, n int) []T {
	for cap(s) < n {
		var zero T
		s = append(s[:cap(s)], zero)
	}
	return s[:n]
}

// CutPart cuts what the first part has off segs, which is not empty.
func CutPart(segs []nodeset.Segment) (part, rest []nodeset.Segment) {
	n := 1
	for n < len(segs) && segs[n].Part == segs[0].Part {
		n++
	}
	return segs[:n], segs[n:]
}
