// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/nodeset"
)

// Window is what a solve is about.
type Window = market.Window

// problem is a Window by cells: runs of nodes that have as much free and are in the same bids, with
// as many GPUs. As many jobs get as many cores of one of its nodes as of another, or one more
// (deal.go), so a cell is one node of the flow.
type problem struct {
	w     *Window
	cells []cell
	of    []int32   // node -> cell
	free  [][]int64 // by table, cell: free cores of each node
	items []item    // by bid
	part  []part    // of the items' cells

	charged []charged // by the items
}

type cell struct {
	first, last int32
	nodes       int64
}

// item is a bid: cells part[first:last], need cores in all, at least lo on each node. Bids of
// all asks of a job are the job's, which is group job of Window.Fixed.
type item struct {
	first, last int32
	job         int32
	level       int32 // tables 0..level bind it
	need, lo    int64

	firstCharge, lastCharge int32 // charged[firstCharge:lastCharge]
}

// part is a cell of a bid.
type part struct {
	cell int32
	most int64 // cores that one of its nodes may give
	gpus int64 // that each of its nodes gives
}

// load makes p the window's.
func (p *problem) load(w *Window) error {
	p.w = w
	p.cut()
	p.items, p.part, p.charged = p.items[:0], p.part[:0], p.charged[:0]
	job := int32(-1)
	for j := range w.Variants {
		if w.Variants[j].Rank == 0 {
			job++
		}
		from, to := w.Book.JobStart[j], w.Book.JobStart[j+1]
		if from == to {
			continue
		}
		spec := &w.Variants[j].Spec
		if !spec.Valid() {
			return fmt.Errorf("job %d: it bids without a valid request", j)
		}
		cores := spec.Cores.PerNode
		for b := from; b < to; b++ {
			p.addItem(b, job, int64(cores.Min), int64(cores.Max))
		}
	}
	return nil
}

// table is what is free now, or what reservation k-1 leaves.
func (p *problem) table(k int) *nodeset.Table {
	if k == 0 {
		return p.w.Space.Now
	}
	return p.w.Space.Left[k-1]
}

// jobs is how many jobs there are.
func (p *problem) jobs() int { return p.w.Fixed.Groups() }

func (p *problem) tables() int { return len(p.w.Space.Left) + 1 }

// cut finds the cells.
func (p *problem) cut() {
	n := p.w.Space.Now.Len()
	p.of = append(p.of[:0], make([]int32, n+1)...)
	for b := range p.w.Book.Bids {
		segs := p.w.Book.Allocation(b)
		for i, s := range segs {
			if i == 0 || segs[i-1].Last+1 != s.First || segs[i-1].GPUs != s.GPUs {
				p.of[s.First] = 1
			}
			if i == len(segs)-1 || s.Last+1 != segs[i+1].First {
				p.of[s.Last+1] = 1
			}
		}
	}
	for k := range p.tables() {
		cores, gpus := p.table(k).FreeCores(), p.table(k).FreeGPUs()
		for i := 1; i < n; i++ {
			if cores[i] != cores[i-1] || gpus[i] != gpus[i-1] {
				p.of[i] = 1
			}
		}
	}
	p.cells = p.cells[:0]
	for i := range n {
		if i == 0 || p.of[i] == 1 {
			p.cells = append(p.cells, cell{first: int32(i)})
		}
		c := &p.cells[len(p.cells)-1]
		c.last, c.nodes = int32(i), c.nodes+1
		p.of[i] = int32(len(p.cells) - 1)
	}
	p.setFree()
}

func (p *problem) setFree() {
	for len(p.free) < p.tables() {
		p.free = append(p.free, nil)
	}
	for k := range p.tables() {
		p.free[k] = p.free[k][:0]
		for _, c := range p.cells {
			p.free[k] = append(p.free[k], int64(p.table(k).FreeCores()[c.first]))
		}
	}
}

// addItem adds bid b of a job whose nodes give between least and most cores each.
func (p *problem) addItem(b, job int32, least, most int64) {
	w := p.w
	x := item{first: int32(len(p.part)), job: job, lo: least}
	x.level = int32(w.Variants[w.Book.Bids[b].Job].Crosses)
	for _, s := range w.Book.Allocation(int(b)) {
		x.need += int64(s.Len()) * int64(s.Cores)
		for c := p.of[s.First]; c <= p.of[s.Last]; c++ {
			if len(p.part) > int(x.first) && p.part[len(p.part)-1].cell == c {
				continue // another segment on the same cell
			}
			p.part = append(p.part, part{c, min(most, p.freeFor(x.level, c)), int64(s.GPUs)})
		}
	}
	x.last = int32(len(p.part))
	p.addCharges(b, &x)
	p.items = append(p.items, x)
}

// freeFor is what a node of a cell has for those whom tables 0..level bind.
func (p *problem) freeFor(level, cell int32) int64 {
	free := p.free[0][cell]
	for _, t := range p.free[1 : level+1] {
		free = min(free, t[cell])
	}
	return free
}

func (p *problem) parts(x *item) []part { return p.part[x.first:x.last] }
