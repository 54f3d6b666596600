// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"cmp"
	"slices"
)

// appendJobs appends the first ask of each job, in queue order.
func (g *Generator) appendJobs(dst []int32) []int32 {
	for j := 0; j < len(g.asks); j = NextJob(g.asks, j) {
		dst = append(dst, int32(j))
	}
	return dst
}

// served reports whether the job whose first ask is j has got something in d.
func (g *Generator) served(d *draft, j int32) bool {
	for k := int(j); k < NextJob(g.asks, int(j)); k++ {
		if !d.got[k].empty() {
			return true
		}
	}
	return false
}

// findEasy sets g.easy: by first ask, the one of the job's valid asks with the fewest special
// wishes, which says when a draft that serves the hard jobs first comes to it.
func (g *Generator) findEasy() {
	g.easy = g.easy[:0]
	for j := range g.asks {
		g.easy = append(g.easy, int32(j))
	}
	for j := 0; j < len(g.asks); j = NextJob(g.asks, j) {
		for k := j + 1; k < NextJob(g.asks, j); k++ {
			if g.shapes[k].minNodes == 0 {
				continue
			}
			if e := g.easy[j]; g.shapes[e].minNodes == 0 || g.harder(int32(k), e) > 0 {
				g.easy[j] = int32(k)
			}
		}
	}
}

// leastCost is flatCost of the cheapest valid ask of the job whose first is j.
func (g *Generator) leastCost(j int32) float64 {
	least := g.flatCost(j)
	for k := int(j) + 1; k < NextJob(g.asks, int(j)); k++ {
		if c := g.flatCost(int32(k)); g.shapes[j].minNodes == 0 || g.shapes[k].minNodes > 0 && c < least {
			least = c
		}
	}
	return least
}

// turns are the asks of the job whose first is j in the order in which a draft tries them.
func (g *Generator) turns(j int32, style draftStyle) []int32 {
	g.turn = g.turn[:0]
	for k := int(j); k < NextJob(g.asks, int(j)); k++ {
		g.turn = append(g.turn, int32(k))
	}
	if len(g.turn) > 1 && style.thrifty {
		slices.SortStableFunc(g.turn, func(a, b int32) int { return cmp.Compare(g.flatCost(a), g.flatCost(b)) })
	}
	return g.turn
}
