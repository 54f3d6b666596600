// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"slices"
)

// appendJobs appends the first variant of each job, in queue order.
func (g *Generator) appendJobs(dst []int32) []int32 {
	for j := 0; j < len(g.variants); j = NextJob(g.variants, j) {
		dst = append(dst, int32(j))
	}
	return dst
}

// served reports whether the job whose first variant is j has got something in d.
func (g *Generator) served(d *draft, j int32) bool {
	for k := int(j); k < NextJob(g.variants, int(j)); k++ {
		if !d.got[k].empty() {
			return true
		}
	}
	return false
}

// findEasy sets g.easy: by first variant, the one of the job's valid variants with the fewest
// special wishes, which says when a draft that serves the hard jobs first comes to it.
func (g *Generator) findEasy() {
	g.easy = g.easy[:0]
	for j := range g.variants {
		g.easy = append(g.easy, int32(j))
	}
	for j := 0; j < len(g.variants); j = NextJob(g.variants, j) {
		for k := j + 1; k < NextJob(g.variants, j); k++ {
			if g.specs[k].Nodes.Min == 0 {
				continue
			}
			if e := g.easy[j]; g.specs[e].Nodes.Min == 0 || g.harder(int32(k), e) > 0 {
				g.easy[j] = int32(k)
			}
		}
	}
}

// leastCost is flatCost of the cheapest valid variant of the job whose first is j.
func (g *Generator) leastCost(j int32) float64 {
	least := g.flatCost(j)
	for k := int(j) + 1; k < NextJob(g.variants, int(j)); k++ {
		if c := g.flatCost(int32(k)); g.specs[j].Nodes.Min == 0 || g.specs[k].Nodes.Min > 0 && c < least {
			least = c
		}
	}
	return least
}

// turns are the variants of the job whose first is j in the order in which a draft tries them.
func (g *Generator) turns(j int32, style draftStyle) []int32 {
	g.turn = g.turn[:0]
	for k := int(j); k < NextJob(g.variants, int(j)); k++ {
		g.turn = append(g.turn, int32(k))
	}
	if len(g.turn) > 1 && style.thrifty {
		slices.SortStableFunc(g.turn, func(a, b int32) int { return cmp.Compare(g.flatCost(a), g.flatCost(b)) })
	}
	return g.turn
}
