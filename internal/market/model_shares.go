// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// sharing makes the rows of GPUs that jobs share. A GPU on which shares are bid has a row for them,
// and takes one of the node's whole GPUs if it is not in shared use yet: that is not linear in the
// bids, but can be said by several rows without a variable of its own.
//
// Now: the GPUs of a node that are not in use have an order, that of their numbers, and whoever is
// on the j-th is said to take j of them. So is a choice that uses the first ones. Others could give
// theirs the numbers of these and lose nothing, and drafts take the first ones by themselves.
//
// At a reservation other GPUs are whole than now, and a job that has ended by then has none. There
// rows say it for each way to pick, of each GPU that may not be whole any more, bids that exclude
// one another.
type sharing struct {
	resource int // -1: there is none
	entries  []entry
	bids     []shareBid
	wholes   []wholeBid
	marked   []bool // by node: shares are bid there
	slots    []slot // of one node
	order    []shareBid
	cliques  []span
	pick     []int
}

// entry is one of the model.
type entry struct{ bid, row, coef int32 }

// shareBid is a bid for a share of a GPU.
type shareBid struct {
	node, bid, job int32
	bin            uint8
	crosses        int
	share          int64
}

// wholeBid is what a bid takes of the GPUs of a node on which shares are bid.
type wholeBid struct {
	node, bid, job int32
	crosses        int
	gpus           int32
}

// span is a part of a list.
type span struct{ from, to int }

// slot is a GPU on which shares are bid: bids[from:to], and the cliques of these.
type slot struct {
	bin             uint8
	bids, cliques   span
	inUse, usedThen bool // now, and in the table that is looked at
}

// mostPicks is how many rows there are at most for one node at one reservation.
const mostPicks = 256

// setShares adds the rows of shares to m, and notes the entries of the bids.
func (b *Builder) setShares(space *Space, variants []Variant, book *Book, m *ipmodel.Model) {
	x := &b.sharing
	x.entries = x.entries[:0]
	if x.resource < 0 {
		return
	}
	x.collect(space.Now, variants, book)
	for from := 0; from < len(x.bids); {
		to := from + 1
		for to < len(x.bids) && x.bids[to].node == x.bids[from].node {
			to++
		}
		n := int(x.bids[from].node)
		first, _ := slices.BinarySearchFunc(x.wholes, int32(n), func(w wholeBid, n int32) int { return cmp.Compare(w.node, n) })
		last := first
		for last < len(x.wholes) && x.wholes[last].node == int32(n) {
			last++
		}
		for k := range len(space.Left) + 1 {
			x.atNode(space, book, m, n, k, span{from, to}, x.wholes[first:last])
		}
		from = to
	}
	slices.SortFunc(x.entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.bid, b.bid), cmp.Compare(a.row, b.row)) })
}

// reset says which resource of the machine are shares of GPUs.
func (x *sharing) reset(now *nodeset.Table) {
	x.resource, _ = now.Shares()
}

// collect finds the bids for shares, by node and GPU, and what others take of these nodes' GPUs.
func (x *sharing) collect(now *nodeset.Table, variants []Variant, book *Book) {
	x.bids, x.wholes = x.bids[:0], x.wholes[:0]
	x.marked = append(x.marked[:0], make([]bool, now.Len())...)
	for j, job := 0, int32(0); j < len(variants); j, job = NextJob(variants, j), job+1 {
		for i := book.JobStart[j]; i < book.JobStart[NextJob(variants, j)]; i++ {
			v := &variants[book.Bids[i].Job]
			if share := now.ShareOf(v.Spec.More()); share > 0 {
				s := book.Allocation(int(i))[0]
				x.bids = append(x.bids, shareBid{s.First, i, job, s.Bin, v.Crosses, share})
				x.marked[s.First] = true
			}
		}
	}
	if len(x.bids) == 0 {
		return
	}
	for j, job := 0, int32(0); j < len(variants); j, job = NextJob(variants, j), job+1 {
		for i := book.JobStart[j]; i < book.JobStart[NextJob(variants, j)]; i++ {
			for _, s := range book.Allocation(int(i)) {
				for n := s.First; n <= s.Last && s.GPUs > 0; n++ {
					if x.marked[n] {
						x.wholes = append(x.wholes, wholeBid{n, i, job, variants[book.Bids[i].Job].Crosses, int32(s.GPUs)})
					}
				}
			}
		}
	}
	slices.SortFunc(x.bids, func(a, b shareBid) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.bin, b.bin), cmp.Compare(a.bid, b.bid))
	})
	slices.SortFunc(x.wholes, func(a, b wholeBid) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.bid, b.bid))
	})
	x.addParts()
}

// addParts makes one of what the parts of a bid take of the same node.
func (x *sharing) addParts() {
	sums := x.wholes[:0]
	for _, w := range x.wholes {
		if n := len(sums) - 1; n >= 0 && sums[n].node == w.node && sums[n].bid == w.bid {
			sums[n].gpus += w.gpus
		} else {
			sums = append(sums, w)
		}
	}
	x.wholes = sums
}

// atNode adds the rows of node n in table k, on which shares are bid.
func (x *sharing) atNode(space *Space, book *Book, m *ipmodel.Model, n, k int, of span, wholes []wholeBid) {
	t := tables(space, k)
	size := t.TotalOf(x.resource)[n]
	x.slots, x.order, x.cliques = x.slots[:0], x.order[:0], x.cliques[:0]
	for from := of.from; from < of.to; {
		to := from
		s := slot{bin: x.bids[from].bin, bids: span{len(x.order), 0}}
		for ; to < of.to && x.bids[to].bin == s.bin; to++ {
			if x.bids[to].crosses >= k {
				x.order = append(x.order, x.bids[to])
			}
		}
		from = to
		if s.bids.to = len(x.order); s.bids.from == s.bids.to {
			continue
		}
		var now, free int64
		now, s.inUse = space.Now.BinFree(n, s.bin)
		if free, s.usedThen = t.BinFree(n, s.bin); !s.usedThen {
			free = size
		}
		if !s.inUse {
			now = size
		}
		all := x.order[s.bids.from:s.bids.to]
		if mostOfShares(all) > free && (k == 0 || free < now) {
			row := addRow(m, free)
			for _, bid := range all {
				x.entries = append(x.entries, entry{bid.bid, row, int32(bid.share)})
			}
		}
		if !s.usedThen {
			s.cliques.from = len(x.cliques)
			x.findCliques(s.bids, size)
			s.cliques.to = len(x.cliques)
			x.slots = append(x.slots, s)
		}
	}
	x.wholeRows(space, book, m, n, k, wholes)
}

// wholeRows adds the rows for the whole GPUs of node n in table k, where they could be too few.
func (x *sharing) wholeRows(space *Space, book *Book, m *ipmodel.Model, n, k int, wholes []wholeBid) {
	has := int64(tables(space, k).Free(n).GPUs)
	joined := int64(0) // in use now, and not then
	for _, s := range x.slots {
		if s.inUse {
			joined++
		}
	}
	switch {
	case mostOfWholes(wholes, k)+int64(len(x.slots)) <= has || len(x.slots) == 0:
	case k == 0:
		taken := mostOfWholes(wholes, k)
		for i, s := range x.slots {
			if taken+int64(i+1) <= has {
				continue
			}
			for _, c := range x.cliques[s.cliques.from:s.cliques.to] {
				row := x.wholeRow(m, has, wholes, k)
				x.addClique(row, c, int32(i+1))
			}
		}
	case has >= int64(space.Now.Free(n).GPUs)+joined: // what is chosen now fits then
	case !x.pickRows(m, has, k, wholes):
		x.keptRows(book, m, has, k, wholes)
	}
}

// pickRows adds a row for each pick of a clique of each slot; false: there would be too many.
func (x *sharing) pickRows(m *ipmodel.Model, has int64, k int, wholes []wholeBid) bool {
	picks := 1
	for _, s := range x.slots {
		if picks *= s.cliques.to - s.cliques.from; picks > mostPicks {
			return false
		}
	}
	x.pick = append(x.pick[:0], make([]int, len(x.slots))...)
	for range picks {
		row := x.wholeRow(m, has, wholes, k)
		for i, s := range x.slots {
			x.addClique(row, x.cliques[s.cliques.from+x.pick[i]], 1)
		}
		for i, s := range x.slots { // the next pick
			if x.pick[i]++; x.pick[i] < s.cliques.to-s.cliques.from {
				break
			}
			x.pick[i] = 0
		}
	}
	return true
}

// keptRows has only those bids on x.slots that jobs keep which have to start, and what these leave
// to others that take whole GPUs.
func (x *sharing) keptRows(book *Book, m *ipmodel.Model, has int64, k int, wholes []wholeBid) {
	out := addRow(m, 0)
	for _, s := range x.slots {
		kept := false
		for _, bid := range x.order[s.bids.from:s.bids.to] {
			if slices.Contains(book.Kept, bid.bid) {
				kept = true
			} else {
				x.entries = append(x.entries, entry{bid.bid, out, 1})
			}
		}
		if kept {
			has--
		}
	}
	x.wholeRow(m, max(has, 0), wholes, k)
}

// wholeRow adds a row of so many GPUs, with what is taken of them as wholes.
func (x *sharing) wholeRow(m *ipmodel.Model, has int64, wholes []wholeBid, k int) (row int32) {
	row = addRow(m, has)
	for _, w := range wholes {
		if w.crosses >= k {
			x.entries = append(x.entries, entry{w.bid, row, w.gpus})
		}
	}
	return row
}

func (x *sharing) addClique(row int32, c span, coef int32) {
	for _, bid := range x.order[c.from:c.to] {
		x.entries = append(x.entries, entry{bid.bid, row, coef})
	}
}

// findCliques cuts x.order[of.from:of.to], which it sorts, into bids that exclude one another: the
// largest shares, of which no two fit on a GPU, and those of one job.
func (x *sharing) findCliques(of span, size int64) {
	list := x.order[of.from:of.to]
	slices.SortFunc(list, func(a, b shareBid) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.bid, b.bid)) })
	large := 1
	for large < len(list) && list[large].share+list[large-1].share > size {
		large++
	}
	rest := list[large:]
	slices.SortFunc(rest, func(a, b shareBid) int { return cmp.Compare(a.bid, b.bid) })
	x.cliques = append(x.cliques, span{of.from, of.from + large})
	for i := range rest {
		at := of.from + large + i
		if i > 0 && rest[i].job == rest[i-1].job {
			x.cliques[len(x.cliques)-1].to = at + 1
		} else {
			x.cliques = append(x.cliques, span{at, at + 1})
		}
	}
}

// mostOfShares is what bids on one GPU, in their order, take together at most.
func mostOfShares(list []shareBid) (sum int64) {
	most := int64(0)
	for i, bid := range list {
		if i > 0 && bid.job != list[i-1].job {
			sum, most = sum+most, 0
		}
		most = max(most, bid.share)
	}
	return sum + most
}

// mostOfWholes is what bids that cross k reservations, in their order, take together at most.
func mostOfWholes(list []wholeBid, k int) (sum int64) {
	most, job := int64(0), int32(-1)
	for _, bid := range list {
		if bid.crosses < k {
			continue
		}
		if bid.job != job {
			sum, most, job = sum+most, 0, bid.job
		}
		most = max(most, int64(bid.gpus))
	}
	return sum + most
}

func addRow(m *ipmodel.Model, capacity int64) (row int32) {
	m.Cap = append(m.Cap, capacity)
	return int32(len(m.Cap) - 1)
}
