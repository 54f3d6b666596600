// SPDX-License-Identifier: BSD-3-Clause

package layout

import "github.com/aucsched/aucsched/nodeset"

// own gives winners the layouts of their own bids back, where the others leave room for that: how
// a bid would spread its cores by itself says what is best left free for jobs to come, of which
// the program knows nothing.
type own struct {
	left []nodeset.Table // by table: what the layouts leave
	has  []bool          // by winner: it has its own
	segs []nodeset.Segment
}

// prefer does so for r's winners: for all of them together, or else for one after the other.
func (o *own) prefer(p *problem, r *Result) {
	for len(o.left) < p.tables() {
		o.left = append(o.left, nodeset.Table{})
	}
	o.has = o.has[:0]
	if o.reset(p); o.allFit(p, r.Chosen) {
		for range r.Chosen {
			o.has = append(o.has, true)
		}
	} else {
		o.reset(p)
		for i, b := range r.Chosen {
			o.must(o.take(p, b, r.Layout(i)))
		}
		for i, b := range r.Chosen {
			o.release(p, b, r.Layout(i))
			fits := o.take(p, b, p.w.Book.Allocation(int(b)))
			if o.has = append(o.has, fits); !fits {
				o.must(o.take(p, b, r.Layout(i)))
			}
		}
	}
	o.rewrite(p, r)
}

func (o *own) reset(p *problem) {
	for k := range p.tables() {
		o.left[k].CopyFrom(p.table(k))
	}
}

// allFit reports whether the winners' own layouts fit together.
func (o *own) allFit(p *problem, winners []int32) bool {
	for _, b := range winners {
		if !o.take(p, b, p.w.Book.Allocation(int(b))) {
			return false
		}
	}
	return true
}

// take takes a layout of bid b off all tables that bind it, or nothing if it does not fit.
func (o *own) take(p *problem, b int32, segs []nodeset.Segment) bool {
	for k := range p.items[b].level + 1 {
		if !o.left[k].FitsWith(segs, nil) {
			return false
		}
	}
	for k := range p.items[b].level + 1 {
		o.must(o.left[k].Allocate(segs) == nil)
	}
	return true
}

func (o *own) release(p *problem, b int32, segs []nodeset.Segment) {
	for k := range p.items[b].level + 1 {
		o.must(o.left[k].Release(segs) == nil)
	}
}

func (o *own) must(ok bool) {
	if !ok {
		panic("layout: layouts that fit together do not")
	}
}

// rewrite writes r's layouts anew.
func (o *own) rewrite(p *problem, r *Result) {
	o.segs = append(o.segs[:0], r.segs...)
	from := r.start[0]
	r.segs = r.segs[:0]
	for i, b := range r.Chosen {
		to := r.start[i+1]
		if o.has[i] {
			r.segs = append(r.segs, p.w.Book.Allocation(int(b))...)
		} else {
			r.segs = append(r.segs, o.segs[from:to]...)
		}
		from, r.start[i+1] = to, int32(len(r.segs))
	}
}
