// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// bidding is the stage that makes the window's bids.
type bidding struct {
	opts *AuctionOptions
	gen  market.Generator
	book market.Book
	// prices are those of the cycle; nil: none. They are pricing's.
	prices *place.Prices
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
