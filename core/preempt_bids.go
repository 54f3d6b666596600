// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// preemptDrafts is how many drafts there are.
const preemptDrafts = 2

// bid adds to the window's bids those for room that victims hold, and the victims' own, one each,
// behind all others. The window's variants are bound to their reservations.
func (x *preemption) bid(in *reservations, b *bidding, stop func() bool) {
	x.setSpaces(in)
	x.setVariants()
	for i := range x.drafts {
		x.drafts[i].run(x, i == 1, stop)
	}
	x.gens, x.books = resize(x.gens, len(x.own)), resize(x.books, len(x.own))
	for i := range x.own {
		x.bidAlone(i, b, stop)
	}
	x.mergeBooks(b)
	x.bound.GenerateDraft(&x.spaces[0], x.variants, market.Options{MaxBidsPerJob: 1}, &x.boundBook)
}

// bidAlone has the jobs that preempt the i-th own set bid as if all of it were free.
func (x *preemption) bidAlone(i int, b *bidding, stop func() bool) {
	x.asking = append(x.asking[:0], x.variants[:len(x.needs)]...)
	for k := range x.asking {
		if x.needs[k] != x.own[i] {
			x.asking[k].Spec = place.Spec{}
		}
	}
	o := b.options(stop)
	o.Prices = nil // they are those of what is free
	x.gens[i].Generate(&x.spaces[slices.Index(x.sets, x.own[i])], x.asking, o, &x.books[i])
}

// mergeBooks makes one book of all.
func (x *preemption) mergeBooks(b *bidding) {
	old, book := &b.book, &x.book
	book.Bids, book.Segs, book.JobStart = book.Bids[:0], book.Segs[:0], append(book.JobStart[:0], 0)
	book.NodeSets, book.Asked = old.NodeSets, old.Asked
	x.shift = x.shift[:0]
	for i := range x.drafts {
		x.drafts[i].bids = x.drafts[i].bids[:0]
	}
	for k := range x.needs {
		x.shift = append(x.shift, int32(len(book.Bids))-old.JobStart[k])
		for i := old.JobStart[k]; i < old.JobStart[k+1]; i++ {
			x.add(old.Bids[i], old.Allocation(int(i)))
		}
		x.addBids(k, b)
		book.JobStart = append(book.JobStart, int32(len(book.Bids)))
	}
	for i := range x.victims {
		x.victims[i].bid = int32(len(book.Bids))
		// No preference of a start for its place is worth more than that somebody stays.
		x.add(market.Bid{Job: int32(len(x.needs) + i), Class: market.ClassA, Preference: 1}, x.victims[i].segs)
		book.JobStart = append(book.JobStart, int32(len(book.Bids)))
	}
	book.Kept = x.shifted(book.Kept[:0], old, old.Kept)
	book.Drafts = resize(book.Drafts, len(old.Drafts))
	for i := range old.Drafts {
		book.Drafts[i] = x.shifted(book.Drafts[i][:0], old, old.Drafts[i])
	}
	b.book, x.book = x.book, b.book
}

// shifted are bids of the old book, by their new numbers.
func (x *preemption) shifted(dst []int32, old *market.Book, list []int32) []int32 {
	for _, i := range list {
		dst = append(dst, i+x.shift[old.Bids[i].Job])
	}
	return dst
}

// addBids adds what variant k bids for room that is not free.
func (x *preemption) addBids(k int, b *bidding) {
	gen := &b.gen
	if own := slices.Index(x.own, x.needs[k]); own >= 0 {
		gen = &x.gens[own]
		from := &x.books[own]
		for i := from.JobStart[k]; i < from.JobStart[k+1]; i++ {
			x.addNew(k, from.Bids[i], from.Allocation(int(i)))
		}
	}
	for i := range x.drafts {
		d := &x.drafts[i]
		if at := d.at[k]; at >= 0 {
			segs := d.segs[d.got[at].first:d.got[at].last]
			d.bids = append(d.bids, x.addNew(k, gen.Describe(&x.window.variants[k], segs), segs))
		}
	}
}

// addNew adds a bid of variant k unless there is one for the same, and returns its number.
func (x *preemption) addNew(k int, bid market.Bid, segs []nodeset.Segment) int32 {
	for i := int(x.book.JobStart[k]); i < len(x.book.Bids); i++ {
		if slices.Equal(x.book.Allocation(i), segs) {
			return int32(i)
		}
	}
	bid.Job, bid.NodeSet = int32(k), int32(x.book.NodeSets)
	x.book.NodeSets++
	return x.add(bid, segs)
}

func (x *preemption) add(bid market.Bid, segs []nodeset.Segment) int32 {
	bid.First = int32(len(x.book.Segs))
	x.book.Segs = append(x.book.Segs, segs...)
	bid.Last = int32(len(x.book.Segs))
	x.book.Bids = append(x.book.Bids, bid)
	return int32(len(x.book.Bids) - 1)
}

// start is a choice to begin with: one of bids for what is free, and all victims, or a draft's.
func (x *preemption) start(dst, free []int32, book *market.Book) []int32 {
	worth := x.held
	for _, b := range free {
		worth += x.variants[book.Bids[b].Job].Priority
	}
	best := -1
	for i := range x.drafts {
		if x.drafts[i].worth > worth {
			best, worth = i, x.drafts[i].worth
		}
	}
	if best >= 0 {
		free = x.drafts[best].bids
	}
	dst = append(dst, free...)
	for i := range x.victims {
		if best < 0 || !x.drafts[best].gone[i] {
			dst = append(dst, x.victims[i].bid)
		}
	}
	return dst
}
