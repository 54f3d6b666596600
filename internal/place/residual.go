// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Residual is what jobs have left of what is free now, and of what reservations leave to jobs that
// start now. Reset fills it; its memory is reused.
type Residual struct {
	now   nodeset.Table
	left  []nodeset.Table
	views []nodeset.Table // views[k]: least of now and left[:k], k >= 1
	seen  limited         // of these

	quotas Quotas
}

// Reset begins with all that is free now, and that each reservation leaves, in the order in which
// they begin; without quotas.
func (r *Residual) Reset(now *nodeset.Table, left []*nodeset.Table) {
	r.now.CopyFrom(now)
	r.left, r.views = Resize(r.left, len(left)), Resize(r.views, len(left)+1)
	for k, t := range left {
		r.left[k].CopyFrom(t)
		r.views[k+1].CopyFrom(r.View(k))
		r.views[k+1].SetLeast(0, t.Len()-1, &r.views[k+1], t)
	}
	r.seen.reset(now.Len())
	r.quotas.Left = r.quotas.Left[:0]
}

// Limit begins with what q says is left of quotas.
func (r *Residual) Limit(q *Quotas) { r.quotas.copyFrom(q) }

// Quotas are what is left of them, to be read only.
func (r *Residual) Quotas() *Quotas { return &r.quotas }

// For is what a job that asks for s and runs into the first crosses reservations may take. It is
// the cores and GPUs that are left, as far as its further resources suffice. It belongs to r, is
// only to be read, and is valid until the next change.
func (r *Residual) For(s *Spec, crosses int) *nodeset.Table {
	if s.Plain() {
		return r.View(crosses)
	}
	base := r.View(crosses)
	t, fresh := r.seen.at(lensOf(s, crosses))
	if fresh {
		t.CopyFreeFrom(base)
		s.see(&t.Table, base, 0, base.Len()-1)
		t.upTo = r.seen.turn
	}
	r.seen.follow(t, base, s)
	return &t.Table
}

// View is For, for a job that takes cores and nothing of further resources.
func (r *Residual) View(crosses int) *nodeset.Table {
	if crosses == 0 {
		return &r.now
	}
	return &r.views[crosses]
}

// Take allocates for a job that asks for want, and runs into the first crosses reservations. If
// anything of it is not left, it takes nothing and says why, and which reservation lacks it. A
// share of a GPU that names none gets the one where it fits tightest, and segs then name it.
func (r *Residual) Take(want *Spec, segs []nodeset.Segment, crosses int) error {
	if !ChooseBins(r.View(crosses), segs, want.More(), nil) {
		return errors.New("no GPU has such a share left")
	}
	if q := r.quotas.LacksFor(want, segs, crosses); q >= 0 {
		return fmt.Errorf("quota %d has too little left", q)
	}
	for k := range crosses + 1 {
		if err := want.Allocate(r.table(k), segs); err != nil {
			for i := range k {
				must(want.Release(r.table(i), segs))
			}
			if k > 0 {
				err = fmt.Errorf("reservation %d: %w", k-1, err)
			}
			return err
		}
	}
	r.quotas.take(want, segs, crosses, 1)
	r.narrow(segs)
	return nil
}

// Return gives back what Take has taken.
func (r *Residual) Return(want *Spec, segs []nodeset.Segment, crosses int) {
	for k := range crosses + 1 {
		must(want.Release(r.table(k), segs))
	}
	r.quotas.take(want, segs, crosses, -1)
	r.narrow(segs)
}

// Held is what somebody has of a Residual's tables from the From-th on, before the To-th: 0 is now, and
// k the moment when reservation k-1 begins.
type Held struct {
	Segs     []nodeset.Segment
	Uses     nodeset.Uses
	Parts    *Parts       // in place of Uses, of an allocation of several parts
	Counts   nodeset.Uses // against quotas, each PerJob, in their units
	From, To int
}

// Give gives back what is held.
func (r *Residual) Give(h *Held) {
	for k := h.From; k < h.To; k++ {
		if len(h.Segs) > 0 {
			must((&Spec{Uses: &h.Uses, Parts: h.Parts}).Release(r.table(k), h.Segs))
		}
		for _, c := range h.Counts {
			r.quotas.Left[k][c.Row] += c.PerJob
		}
	}
	r.narrow(h.Segs)
}

// Retake takes what is held, all of it if there is as much, or nothing. Against quotas it may count
// more than is left, as what runs may, but not beside others that count against the same.
func (r *Residual) Retake(h *Held, others nodeset.Uses) bool {
	for k := h.From; k < h.To; k++ {
		for _, c := range h.Counts {
			both := func(o nodeset.Use) bool { return o.Row == c.Row && o.PerJob > 0 }
			if r.quotas.Left[k][c.Row] < c.PerJob && slices.ContainsFunc(others, both) {
				return false
			}
		}
		if len(h.Segs) == 0 {
			continue
		}
		if t := r.table(k); h.Parts == nil && !t.FitsWith(h.Segs, h.Uses) || h.Parts != nil && !h.Parts.Fits(t, h.Segs) {
			return false
		}
	}
	for k := h.From; k < h.To; k++ {
		if len(h.Segs) > 0 {
			must((&Spec{Uses: &h.Uses, Parts: h.Parts}).Allocate(r.table(k), h.Segs))
		}
		for _, c := range h.Counts {
			r.quotas.Left[k][c.Row] -= c.PerJob
		}
	}
	r.narrow(h.Segs)
	return true
}

func (r *Residual) table(k int) *nodeset.Table {
	if k == 0 {
		return &r.now
	}
	return &r.left[k-1]
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

// ChooseBins has segs, the allocation of a request that takes uses, name the bins of t where they do
// not: see [nodeset.Table.ChooseBin]. It reports false if a node has none.
func ChooseBins(t *nodeset.Table, segs []nodeset.Segment, uses nodeset.Uses, now *nodeset.Table) bool {
	share := t.ShareOf(uses)
	if share == 0 {
		return true
	}
	for i := range segs {
		s := &segs[i]
		if s.Bin != 0 || s.First != s.Last {
			continue
		}
		if s.Bin = t.ChooseBin(int(s.First), share, now); s.Bin == 0 {
			return false
		}
	}
	return true
}
