// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// An exact search is for jobs of so many parts on so many nodes at most, and takes so many steps.
const (
	exactParts = 4
	exactNodes = 64
	exactSteps = 1 << 12
)

// exact finds a place for all parts of a job, if there is one, on a small machine. It goes from
// node to node and tries all that each can give to each part, with the fewest GPUs.
type exact struct {
	t       nodeset.Table // less what parts have
	s       Spec
	below   bool // they have to lie below switches as they demand
	steps   int
	has     held
	got     []nodeset.Segment                     // one node each
	left    [exactParts + 1][exactNodes + 1]tally // by part and node: what this node and later ones can give at most; last: GPUs and cores
	failed  map[moment]bool                       // what comes of it depends on nothing else, unless below
	segs    []nodeset.Segment
	sprawl  Sprawl
	limited Limited
	rooms   []int
}

// held is what each part has.
type held [exactParts]struct {
	nodes, next uint8 // next: the node that has to come next, if they are to be consecutive
	cores       int32
}

// moment is when a node comes, and what parts have then.
type moment struct {
	node int8
	has  held
}

// place appends to dst a place for all parts of s on t within quotas, if there is one, for few parts
// on few nodes.
func (x *exact) place(dst []nodeset.Segment, t *nodeset.Table, s *Spec, q *Quotas, crosses int) ([]nodeset.Segment, bool) {
	if t.Len() > exactNodes || len(s.Parts.Specs) > exactParts {
		return dst, false
	}
	x.t.CopyFrom(t)
	x.s, x.below, x.steps, x.has, x.got = *s, s.Parts.Within > 0, exactSteps, held{}, x.got[:0]
	if clear(x.failed); x.failed == nil {
		x.failed = make(map[moment]bool)
	}
	for k := range s.Parts.Specs {
		part, left := &s.Parts.Specs[k], &x.left[k]
		x.below = x.below || part.Demands()
		x.rooms = part.Rooms(x.rooms[:0], x.limited.Of(&x.t, part))
		left[t.Len()] = tally{}
		for n, room := range slices.Backward(x.rooms) {
			left[n] = tally{left[n+1].nodes + min(room, 1), left[n+1].cores + room}
		}
	}
	left := &x.left[exactParts]
	left[t.Len()] = tally{}
	for n := t.Len() - 1; n >= 0; n-- {
		left[n] = tally{left[n+1].nodes + int(t.Free(n).GPUs), left[n+1].cores + int(t.Free(n).Cores)}
	}
	if !x.from(0, q, crosses) {
		return dst, false
	}
	return append(dst, x.segs...), true
}

// from places what is lacking on the nodes from n on.
func (x *exact) from(n int, q *Quotas, crosses int) bool {
	complete, all := true, tally{} // what all lack: GPUs, and cores
	for k := range x.s.Parts.Specs {
		part, has, left := &x.s.Parts.Specs[k], &x.has[k], &x.left[k][n]
		nodes, cores := part.Nodes.Min-int(has.nodes), part.Cores.Total-int(has.cores)
		if nodes > left.nodes || cores > left.cores {
			return false
		}
		complete = complete && nodes <= 0 && cores <= 0
		all.nodes += max(nodes, min(cores, 1), 0) * part.GPUs.PerNode.Min
		all.cores += max(cores, nodes*part.Cores.PerNode.Min, 0)
	}
	if rest := &x.left[exactParts][n]; all.nodes > rest.nodes || all.cores > rest.cores {
		return false
	}
	if complete && x.meets() && (q == nil || q.Room(&x.s, x.segs, crosses)) {
		return true
	}
	at := moment{int8(n), x.has}
	if n == x.t.Len() || x.failed[at] {
		return false
	}
	if x.give(n, 0, q, crosses) {
		return true
	}
	x.failed[at] = !x.below
	return false
}

// give tries all that node n can give to part k and those after it.
func (x *exact) give(n, k int, q *Quotas, crosses int) bool {
	if k == len(x.s.Parts.Specs) {
		return x.from(n+1, q, crosses)
	}
	part, before := &x.s.Parts.Specs[k], x.has[k]
	if x.mayGive(n, k) {
		low := part.Cores.PerNode.Min
		high := low
		if part.Cores.Total > 0 {
			others := max(part.Nodes.Min-int(before.nodes)-1, 0) * low
			high = min(part.Cores.PerNode.Max, part.Cores.Total-int(before.cores)-others, int(x.t.Free(n).Cores))
		}
		for cores := high; cores >= low && x.steps > 0; cores-- {
			x.steps--
			one := append(x.got, nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(cores),
				GPUs: uint8(part.GPUs.PerNode.Min), Part: uint8(k)})
			x.got = one[:len(one)-1]
			if own := one[len(one)-1:]; x.t.FitsWith(own, part.More()) {
				must(x.t.Allocate(own, part.More()...))
				x.got = one
				x.has[k].nodes, x.has[k].cores = before.nodes+1, before.cores+int32(cores)
				if part.Contiguous || x.s.Contiguous {
					x.has[k].next = uint8(n + 1)
				}
				if x.give(n, k+1, q, crosses) {
					return true
				}
				x.got, x.has[k] = one[:len(one)-1], before
				must(x.t.Release(own, part.More()...))
			}
		}
	}
	return x.give(n, k+1, q, crosses)
}

// mayGive reports whether node n may give something to part k, beside what it gives to those before it.
func (x *exact) mayGive(n, k int) bool {
	part, has := &x.s.Parts.Specs[k], &x.has[k]
	if int(has.nodes) == part.Nodes.Max || has.next > 0 && int(has.next) != n || !part.Mask().Has(n) {
		return false
	}
	apart := func(g nodeset.Segment) bool {
		return int(g.First) == n && (x.s.Parts.Apart>>k|x.s.Parts.Apart>>g.Part)&1 == 1
	}
	return !slices.ContainsFunc(x.got, apart)
}

// meets sets x.segs to what the parts have, part after part, and reports whether that lies below
// switches as they demand.
func (x *exact) meets() bool {
	x.segs = x.segs[:0]
	for k := range x.s.Parts.Specs {
		from := len(x.segs)
		for _, g := range x.got {
			if int(g.Part) == k {
				x.segs = appendTo(x.segs, from, g)
			}
		}
		if !x.sprawl.Meets(&x.s.Parts.Specs[k], x.segs[from:]) {
			return false
		}
	}
	tree := x.s.Parts.Tree
	return x.s.Parts.Within == 0 || tree == nil || x.sprawl.Of(tree, min(int(x.s.Parts.Within), tree.Levels()), x.segs) == 1
}
