// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
	"slices"
)

// ranking is an order of the columns by promise: at first from the prices that the proof has
// found, and then from what comes of trying them, as in a self-organising list (Rivest
// 1976). It only says which columns are tried more often.
type ranking struct {
	cols  []int32   // the most promising first
	miss  []float64 // by column, at most 0
	place []int32   // scratch: by row, where its next column goes
	stale bool      // there are new prices
}

// promote exchanges the column at a place with the one half way to the front. Place -1 is
// none.
func (k *ranking) promote(at int) {
	if at > 0 {
		k.cols[at], k.cols[at/2] = k.cols[at/2], k.cols[at]
	}
}

// A column goes back by one in so many places, and one more: it keeps its place if it gets
// in about once in seventeen times.
const demoteBy = 32

// demote exchanges the column at a place with one somewhat behind. Place -1 is none.
func (k *ranking) demote(at int) {
	if to := at + 1 + at/demoteBy; at >= 0 && to < len(k.cols) {
		k.cols[at], k.cols[to] = k.cols[to], k.cols[at]
	}
}

func (k *ranking) setMisses(p *problem, net []float64) {
	k.miss = append(k.miss[:0], net...)
	for g := range p.groups() {
		miss := k.miss[p.start[g]:p.start[g+1]]
		top := slices.Max(miss)
		if !p.required[g] {
			top = math.Max(top, 0) // none is better than less
		}
		for i := range miss {
			miss[i] -= top
		}
	}
}

// sortRowCols brings the columns of each row into the order that they have in cols, which
// are all. It returns its scratch memory.
func (k *packing) sortRowCols(p *problem, cols, place []int32) []int32 {
	place = append(place[:0], k.rowStart[:p.rows()]...)
	for _, i := range cols {
		for _, r := range p.row[p.col[i]:p.col[i+1]] {
			k.rowCol[place[r]] = i
			place[r]++
		}
	}
	return place
}
