// SPDX-License-Identifier: BSD-3-Clause

package fit

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// Residual is what jobs have left of what is free now, and of what reservations leave to jobs that
// start now. Reset fills it; its memory is reused.
type Residual struct {
	now   nodeset.Table
	left  []nodeset.Table
	views []nodeset.Table // views[k]: least of now and left[:k], k >= 1
	seen  limited         // of these
	like  *Residual       // what this one was after Reset, or nil
}

// Reset begins with all that is free now, and that each reservation leaves, in the order in which
// they begin.
func (r *Residual) Reset(now *nodeset.Table, left []*nodeset.Table) {
	r.now.CopyFrom(now)
	r.left, r.views = resize(r.left, len(left)), resize(r.views, len(left)+1)
	for k, t := range left {
		r.left[k].CopyFrom(t)
		r.views[k+1].CopyFrom(r.View(k))
		r.views[k+1].Intersect(t)
	}
	r.seen.reset()
	r.like = nil
}

// ResetLike begins with what o has, which must not change as long as r is used: what requests see
// of o need not be found again.
func (r *Residual) ResetLike(o *Residual) {
	r.now.CopyFrom(&o.now)
	r.left, r.views = resize(r.left, len(o.left)), resize(r.views, len(o.left)+1)
	for k := range o.left {
		r.left[k].CopyFrom(&o.left[k])
		r.views[k+1].CopyFrom(&o.views[k+1])
	}
	r.seen.reset()
	r.like = o
}

// For is what a job that asks for s and runs into the first crosses reservations may take: so many
// cores and GPUs as are left, and as its further resources suffice for. It belongs to r, is only to
// be read, and is valid until the next change.
func (r *Residual) For(s *Spec, crosses int) *nodeset.Table {
	if s.Uses == nil {
		return r.View(crosses)
	}
	base := r.View(crosses)
	t, fresh := r.seen.at(lensOf(s, crosses), base.Len())
	if fresh && r.like != nil {
		t.CopyFreeFrom(r.like.For(s, crosses))
		t.upTo = 0
	} else if fresh {
		t.CopyFreeFrom(base)
		t.LimitFrom(base, 0, base.Len()-1, *s.Uses, s.GPUs.PerNode.Min)
		t.upTo = len(r.seen.log)
	}
	r.seen.follow(t, base, s)
	return &t.Table
}

// View is For, for a job that takes nothing of further resources.
func (r *Residual) View(crosses int) *nodeset.Table {
	if crosses == 0 {
		return &r.now
	}
	return &r.views[crosses]
}

// Fits reports whether Take would allocate.
func (r *Residual) Fits(want *Spec, segs []nodeset.Segment, crosses int) bool {
	return r.View(crosses).FitsWith(segs, want.More())
}

// Take allocates for a job that asks for want, and runs into the first crosses reservations. If
// anything of it is not left, it takes nothing and says why, and which reservation lacks it.
func (r *Residual) Take(want *Spec, segs []nodeset.Segment, crosses int) error {
	uses := want.More()
	if err := r.now.AllocateWith(segs, uses); err != nil {
		return err
	}
	for i := range crosses {
		if err := r.left[i].AllocateWith(segs, uses); err != nil {
			for k := range i {
				must(r.left[k].ReleaseWith(segs, uses))
			}
			must(r.now.ReleaseWith(segs, uses))
			return fmt.Errorf("reservation %d: %w", i, err)
		}
	}
	r.narrow(segs)
	return nil
}

// narrow brings the views of the nodes of segs up to date.
func (r *Residual) narrow(segs []nodeset.Segment) {
	for k := range r.left {
		for _, s := range segs {
			r.views[k+1].SetLeast(int(s.First), int(s.Last), r.View(k), &r.left[k])
		}
	}
	r.seen.changed(segs)
}

// TakeGPUs takes more GPUs on each of nodes that already give cores for want, and have them.
func (r *Residual) TakeGPUs(want *Spec, segs []nodeset.Segment, crosses, more int) {
	take := func(t *nodeset.Table) {
		for _, s := range segs {
			for n := int(s.First); n <= int(s.Last); n++ {
				must(t.TakeGPUsWith(n, uint8(more), want.More()))
			}
		}
	}
	take(&r.now)
	for i := range crosses {
		take(&r.left[i])
	}
	r.narrow(segs)
}

// resize gives s the length n and keeps the memory of elements beyond a former length.
func resize(s []nodeset.Table, n int) []nodeset.Table {
	for cap(s) < n {
		s = append(s[:cap(s)], nodeset.Table{})
	}
	return s[:n]
}

func must(err error) {
	if err != nil {
		panic("fit: " + err.Error())
	}
}
