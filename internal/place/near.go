// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// MaxReach bounds how far apart the two blocks of a job lie that is to stay together
// (Spec.Blocks) and could have one: from its first node to its last there are at most so many
// times as many nodes as it has.
const MaxReach = 2

// near reports whether the job may have two blocks, where one would do on the idle machine.
func (s *Spec) near() bool { return s.Blocks == 2 }

// within reports whether spans, which ascend, are near enough to one another.
func (s *Spec) within(spans []Span) bool {
	nodes := 0
	for _, sp := range spans {
		nodes += sp.Last - sp.First + 1
	}
	return extent(spans) <= MaxReach*nodes
}

func extent(spans []Span) int { return spans[len(spans)-1].Last - spans[0].First + 1 }

// several fills p.spans with nodesets, or parts of them, that together hold the
// job as it is to lie.
func (p *Placer) several(s *Spec, t *nodeset.Table) bool {
	if s.near() {
		return p.nearest(s, t)
	}
	return (p.fewestSets(s, t) || p.roomiestNodes(s, t)) && s.together(p.spans)
}

// nearest fills p.spans with all of a nodeset and the near end of another one, those that extend
// least; of several pairs the first.
func (p *Placer) nearest(s *Spec, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !s.MayBeOn(p.sets) {
		return false
	}
	least := 0 // extent of p.spans
	for i, a := range p.sets {
		for _, b := range p.sets[i+1:] {
			apart := int(b.First - a.Last)
			if least > 0 && apart >= least {
				break // as all behind it
			}
			// All of one of them and a node of the other extend over so many.
			if least > 0 && apart+min(a.Len(), b.Len()) >= least || a.Cores+b.Cores < int64(s.Cores.Total) ||
				a.Len()+b.Len() < s.Nodes.Min {
				continue
			}
			for _, pair := range [2][2]Span{s.ofPair(t, a, b, false), s.ofPair(t, a, b, true)} {
				if pair[0].Last < pair[0].First || pair[1].Last < pair[1].First || !s.within(pair[:]) {
					continue
				}
				if e := extent(pair[:]); least == 0 || e < least {
					least = e
					p.spans = append(p.spans[:0], pair[:]...)
				}
			}
		}
	}
	return least > 0
}

// ofPair is all of a and the beginning of b, or with down the end of a and all of b; of one of them
// nothing if that is enough, or they can't hold the job.
func (s *Spec) ofPair(t *nodeset.Table, a, b nodeset.Set, down bool) (pair [2]Span) {
	var y tally
	first, last := int(a.First), int(b.Last)
	if down {
		y.take(s, t, int(b.First), last)
		first = y.takeDown(s, t, first, int(a.Last)) + 1
	} else {
		y.take(s, t, first, int(a.Last))
		last = y.take(s, t, int(b.First), last) - 1
	}
	if !y.enough(s) {
		return [2]Span{{0, -1}, {0, -1}}
	}
	return [2]Span{{first, int(a.Last)}, {int(b.First), last}}
}

// takeDown is take from the last node on; it returns the node before those that it took.
func (y *tally) takeDown(s *Spec, t *nodeset.Table, first, last int) int {
	free := t.FreeCores()
	n := last
	for n >= first && y.nodes < s.Nodes.Max && !y.enough(s) {
		y.nodes++
		y.cores += s.most(free[n])
		n--
	}
	return n
}
