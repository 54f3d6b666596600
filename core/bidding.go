// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// bidding is the stage that makes the window's bids.
type bidding struct {
	opts *AuctionOptions
	gen  market.Generator
	book market.Book
	// prices are those of the cycle, what starts make useless; nil: none. priced is their memory.
	prices *place.Prices
	priced place.Prices
}

// price sets b.prices by the requests that are usual; nil as in the papers' auction, and without GPUs.
func (b *bidding) price(s *Snapshot, w *window) {
	if b.prices = nil; b.opts.Drafts == 0 || s.Nodes.MaxGPUs() == 0 || len(w.jobs) == 0 {
		return
	}
	b.prices = &b.priced
	b.prices.Reset(s.Now, s.Nodes)
	for i := range s.Running {
		r, mask := &s.Running[i], (*nodeset.Mask)(nil)
		if r.Eligible != nil {
			mask = &r.Eligible
		}
		b.prices.Hold(r.Segs, r.Uses, mask, r.End)
	}
	for j := range w.variants {
		if v := &w.variants[j]; v.Rank == 0 && v.Spec.Valid() {
			b.prices.Ask(&v.Spec, v.Limit)
		}
	}
	b.prices.Settle()
}

// make has the book hold the bids of who, of which the rest of the options is filled in.
func (b *bidding) make(space *market.Space, variants []market.Variant, who market.Options) {
	who.MaxBidsPerJob, who.Drafts, who.ContiguousOnly, who.Prices = b.opts.MaxBidsPerJob, b.opts.Drafts, b.opts.ContiguousOnly, b.prices
	b.gen.Generate(space, variants, who, &b.book)
}

// unasked reports whether the time was over before job j of the window had made its bids, and it has none.
func (b *bidding) unasked(w *window, j int) bool {
	return int(w.variantStart[j+1]) > b.book.Asked && b.book.JobStart[w.variantStart[j]] == b.book.JobStart[w.variantStart[j+1]]
}
