// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// pricing is the stage that says what a start makes useless, by the requests that are usual.
type pricing struct{ prices place.Prices }

// of are the prices of a cycle; nil where there are none, as in the papers' auction.
func (x *pricing) of(s *Snapshot, w *window) *place.Prices {
	if w.opts.Drafts == 0 || s.Nodes.MaxGPUs() == 0 || len(w.jobs) == 0 {
		return nil
	}
	p := &x.prices
	p.Reset(s.Now, s.Nodes)
	for i := range s.Running {
		r, mask := &s.Running[i], (*nodeset.Mask)(nil)
		if r.Eligible != nil {
			mask = &r.Eligible
		}
		p.Hold(r.Segs, r.Uses, mask, r.End)
	}
	for j := range w.variants {
		if v := &w.variants[j]; v.Rank == 0 && v.Spec.Valid() {
			p.Ask(&v.Spec, v.Limit)
		}
	}
	p.Settle()
	return p
}
