// SPDX-License-Identifier: BSD-3-Clause

package bids

import "github.com/aucsched/aucsched/nodeset"

// MaxReach bounds how far apart the two blocks of a job lie that is to stay together (Ask.Blocks)
// and could have one: from its first node to its last there are at most so many times as many
// nodes as it has.
const MaxReach = 2

// near reports whether the job may have two blocks, where one would do on the idle machine.
func (s *shape) near() bool { return s.blocks == 2 }

// within reports whether spans, which ascend, are near enough to one another.
func (s *shape) within(spans []span) bool {
	nodes := 0
	for _, sp := range spans {
		nodes += sp.last - sp.first + 1
	}
	return extent(spans) <= MaxReach*nodes
}

func extent(spans []span) int { return spans[len(spans)-1].last - spans[0].first + 1 }

// several fills p.spans with nodesets, or parts of them, that together hold the job as it is to lie.
func (p *Placer) several(s *shape, t *nodeset.Table) bool {
	if s.near() {
		return p.nearest(s, t)
	}
	return (p.fewestSets(s, t) || p.roomiestNodes(s, t)) && s.together(p.spans)
}

// nearest fills p.spans with all of a nodeset and the near end of another one, those that extend
// least; of several pairs the first.
func (p *Placer) nearest(s *shape, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !p.mayHold(s) {
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
			if least > 0 && apart+min(a.Len(), b.Len()) >= least || a.Cores+b.Cores < int64(s.cores) || a.Len()+b.Len() < s.minNodes {
				continue
			}
			for _, pair := range [2][2]span{p.upTo(s, t, a, b), p.downTo(s, t, a, b)} {
				if pair[0].last < pair[0].first || pair[1].last < pair[1].first || !s.within(pair[:]) {
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

// upTo is all of a and the beginning of b, or empty spans if they can't hold the job.
func (p *Placer) upTo(s *shape, t *nodeset.Table, a, b nodeset.Set) (pair [2]span) {
	none := [2]span{{0, -1}, {0, -1}}
	var y tally
	if n := y.take(s, t, int(a.First), int(a.Last)); n <= int(a.Last) {
		return none // that was enough, or too many nodes
	}
	n := y.take(s, t, int(b.First), int(b.Last))
	if !y.enough(s) {
		return none
	}
	return [2]span{{int(a.First), int(a.Last)}, {int(b.First), n - 1}}
}

// downTo is the end of a and all of b.
func (p *Placer) downTo(s *shape, t *nodeset.Table, a, b nodeset.Set) (pair [2]span) {
	none := [2]span{{0, -1}, {0, -1}}
	var y tally
	if n := y.take(s, t, int(b.First), int(b.Last)); n <= int(b.Last) {
		return none
	}
	n := y.takeDown(s, t, int(a.First), int(a.Last))
	if !y.enough(s) {
		return none
	}
	return [2]span{{n + 1, int(a.Last)}, {int(b.First), int(b.Last)}}
}

// takeDown is take from the last node on; it returns the node before those that it took.
func (y *tally) takeDown(s *shape, t *nodeset.Table, first, last int) int {
	free := t.FreeCores()
	n := last
	for n >= first && y.nodes < s.maxNodes && !y.enough(s) {
		y.nodes++
		y.cores += s.most(free[n])
		n--
	}
	return n
}
