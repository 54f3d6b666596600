// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Builder builds AUCSCHED2 models (aucsched2, section 2) from a window's bids. The
// zero Builder is ready. It reuses its memory and the model's: building for windows
// of one size allocates nothing in steady state.
type Builder struct {
	// Merge makes one row of neighbouring nodes that every bid treats alike, with the capacity of
	// the scarcest: the same solutions with far fewer rows. Without it the model has the paper's
	// |J| + 2|N| rows, and two more a node for each reservation.
	Merge bool

	alpha float64
	scale int64
	cell  []int32      // node -> number of its run of nodes that are treated alike
	cells []place.Span // the runs
	used  []int32      // row of the paper's form -> row of the model, or -1
	most  []int64      // by row of the paper's form of one table: what bids may take at most
	group []int64      // the same, of one group
	by    []int32      // by row: which group that is; -1: none
	taken []amount

	sharing sharing
}

// A row of the paper's form is of a cell and a kind: cores, GPUs and the further resources, with the
// numbers from more on. Behind these rows come those of quotas.
const (
	coresKind = iota
	gpusKind
	more
)

// amount is what a bid takes of each of some rows of the paper's form, both ends included.
type amount struct {
	first, last int
	units       int64
}

// Build makes m the model of the window: maximise the sum of P_j + alpha F_i over the chosen bids
// (equation 1), at most one a job (2). They are within the free cores (3) and GPUs (4) of every
// node, further resources and quotas that they could exhaust, and what reservations leave. Column i
// is bid i of the book, group j is job j, with the bids of all variants. required is nil or has an
// element a job.
//
// Worths are integers: P_j + alpha F_i in units of 1/m.Scale. The scale is a power of two, at least
// 1, as large as 50 bits for the sum over all jobs allow. It fails if the priorities add up to more
// than MaxTotalValue, or a bid counts more than 2^31-1 units of a quota.
func (b *Builder) Build(space *Space, variants []Variant, book *Book, required []bool, m *ipmodel.Model) error {
	if err := b.setValues(variants, book, m); err != nil {
		return err
	}
	m.Offset = 0
	m.GroupStart = m.GroupStart[:0]
	for j := 0; j < len(variants); j = NextJob(variants, j) {
		m.GroupStart = append(m.GroupStart, book.JobStart[j])
	}
	m.GroupStart = append(m.GroupStart, int32(len(book.Bids)))
	m.Required = append(m.Required[:0], required...)
	m.ColName, m.RowName = m.ColName[:0], m.RowName[:0]
	b.sharing.resource, _ = space.Now.Shares()
	b.setCells(space.Now.Len(), book)
	if err := b.setMost(space, variants, book, m); err != nil {
		return err
	}
	b.setRows(space, m)
	b.setShares(space, variants, book, m)
	b.setColumns(space, variants, book, m)
	return nil
}

func (b *Builder) setValues(variants []Variant, book *Book, m *ipmodel.Model) error {
	minP, sum := int64(math.MaxInt64), int64(0)
	for j := range variants {
		p := variants[j].Priority
		if p < 1 {
			return fmt.Errorf("job %d: priority %d is less than 1", j, p)
		}
		minP = min(minP, p)
		if variants[j].Rank > 0 {
			continue
		}
		if sum += p; p > ipmodel.MaxTotalValue || sum > ipmodel.MaxTotalValue/2 {
			return fmt.Errorf("the priorities add up to more than %d", int64(ipmodel.MaxTotalValue/2))
		}
	}
	if len(variants) == 0 {
		minP = 1
	}
	b.alpha = float64(minP) / float64(len(book.Bids)+1) // aucsched1, equation 10
	b.scale = 1
	for total := 2 * sum; total < 1<<49 && b.scale < 1<<20; total *= 2 {
		b.scale *= 2
	}
	m.Scale = float64(b.scale)
	m.Value = m.Value[:0]
	for i := range book.Bids {
		bid := &book.Bids[i]
		m.Value = append(m.Value, b.Value(&variants[bid.Job], bid))
	}
	return nil
}

// Value is P_j + alpha F of a bid of the last window, in units of the model's worth.
// The bid need not be part of the model.
func (b *Builder) Value(ask *Variant, bid *Bid) int64 {
	extra := math.Round(float64(b.alpha*bid.Preference) * float64(b.scale))
	return ask.Priority*b.scale + int64(extra)
}

// setCells cuts the line of nodes wherever a bid's segment begins or ends.
func (b *Builder) setCells(n int, book *Book) {
	cut := append(b.cell[:0], make([]int32, n+1)...)
	for _, s := range book.Segs {
		cut[s.First] = 1
		cut[s.Last+1] = 1
	}
	cut[0] = 1
	b.cells = b.cells[:0]
	for i, c := range cut[:n] {
		if c == 1 || !b.Merge {
			b.cells = append(b.cells, place.Span{First: i})
		}
		k := len(b.cells) - 1
		cut[i], b.cells[k].Last = int32(k), i
	}
	b.cell = cut
}

// tables are the capacities of a space: table 0 is what is free now, and table k
// what reservation k-1 leaves.
func tables(space *Space, k int) *nodeset.Table {
	if k == 0 {
		return space.Now
	}
	return space.Left[k-1]
}

// setRows makes the rows of cores and GPUs of each cell, and of further resources and quotas that
// the bids could exhaust. Each reservation has the same where it leaves less than there is now.
func (b *Builder) setRows(space *Space, m *ipmodel.Model) {
	m.Cap = m.Cap[:0]
	b.used = b.used[:0]
	for k := range len(space.Left) + 1 {
		for i, most := range b.most {
			least := int64(math.MaxInt64)
			if most > 0 {
				least = b.leastOf(space, k, i)
			}
			row := int32(-1)
			if most > least && (k == 0 || b.used[i] < 0 || least < m.Cap[b.used[i]]) {
				row = addRow(m, least)
			}
			b.used = append(b.used, row)
		}
	}
}

// leastOf is what table k has of row i of the paper's form.
func (b *Builder) leastOf(space *Space, k, i int) int64 {
	if q := b.quotas(space); i >= q {
		return max(space.Quotas.Left[k][i-q], 0)
	}
	t, c := tables(space, k), &b.cells[i%len(b.cells)]
	switch kind := i / len(b.cells); kind {
	case coresKind:
		return int64(slices.Min(t.FreeCores()[c.First : c.Last+1]))
	case gpusKind:
		return int64(slices.Min(t.FreeGPUs()[c.First : c.Last+1]))
	default:
		return slices.Min(t.FreeOf(kind - more)[c.First : c.Last+1])
	}
}

// quotas is where their rows begin.
func (b *Builder) quotas(space *Space) int { return (more + space.Now.Resources()) * len(b.cells) }

// setMost sets b.most: of each row what bids of each group take at most, summed up. Cores and GPUs
// have rows whatever is bid.
func (b *Builder) setMost(space *Space, variants []Variant, book *Book, m *ipmodel.Model) error {
	size, first := b.quotas(space)+len(space.Quotas.Unit), more*len(b.cells)
	b.most = append(b.most[:0], make([]int64, size)...)
	for i := range first {
		b.most[i] = math.MaxInt64
	}
	if first == size {
		return nil
	}
	b.group, b.by = append(b.group[:0], b.most...), append(b.by[:0], make([]int32, size)...)
	for j := range m.Groups() {
		for i := m.GroupStart[j]; i < m.GroupStart[j+1]; i++ {
			b.take(space, variants, book, int(i), more)
			for _, x := range b.taken {
				if x.units > math.MaxInt32 {
					q := x.first - b.quotas(space)
					return fmt.Errorf("quota %d: a bid counts %d: must be at most %d of its units", q, x.units, math.MaxInt32)
				}
				for row := x.first; row <= x.last; row++ {
					if b.by[row] != int32(j+1) {
						b.by[row], b.group[row] = int32(j+1), 0
					}
					b.most[row] += max(x.units-b.group[row], 0)
					b.group[row] = max(b.group[row], x.units)
				}
			}
		}
	}
	return nil
}

// take sets b.taken to what bid i takes of kinds from the given one on, and of quotas: each row once,
// in order. Where parts of a job share nodes, what they take adds up.
func (b *Builder) take(space *Space, variants []Variant, book *Book, i, from int) {
	spec, segs := &variants[book.Bids[i].Job].Spec, book.Allocation(i)
	b.taken = b.taken[:0]
	for rest := segs; len(rest) > 0; {
		var part []nodeset.Segment
		part, rest = place.CutPart(rest)
		uses := spec.More()
		if spec.Parts != nil {
			uses = spec.Parts.Specs[part[0].Part].More()
		}
		if from == coresKind {
			b.takeKind(coresKind, spec, part, nodeset.Use{PerCore: 1})
			b.takeKind(gpusKind, spec, part, nodeset.Use{PerGPU: 1})
		}
		for _, u := range uses {
			if u.Row != b.sharing.resource { // each GPU has its own rows
				b.takeKind(more+u.Row, spec, part, u)
			}
		}
	}
	charges := spec.Counted()
	for n := range charges {
		if cost := space.Quotas.CostFor(spec, n, segs); cost > 0 {
			row := b.quotas(space) + charges[n].Row
			b.taken = append(b.taken, amount{row, row, cost})
		}
	}
}

// takeKind adds what segs, a bid for spec or a part of one, take of a kind to b.taken.
func (b *Builder) takeKind(kind int, spec *place.Spec, segs []nodeset.Segment, u nodeset.Use) {
	for _, s := range segs {
		units, base := u.Of(s.Cores, s.GPUs), kind*len(b.cells)
		first, last := base+int(b.cell[s.First]), base+int(b.cell[s.Last])
		switch {
		case units == 0:
			continue
		case spec.Parts == nil: // all come in order
			b.taken = append(b.taken, amount{first, last, units})
			continue
		}
		for row := first; row <= last; row++ {
			at, known := slices.BinarySearchFunc(b.taken, row, func(x amount, row int) int { return x.first - row })
			if !known {
				b.taken = slices.Insert(b.taken, at, amount{row, row, 0})
			}
			b.taken[at].units += units
		}
	}
}

func (b *Builder) setColumns(space *Space, variants []Variant, book *Book, m *ipmodel.Model) {
	m.ColStart = append(m.ColStart[:0], 0)
	row, coef := m.Row[:0], m.Coef[:0]
	shares := b.sharing.entries
	for i := range book.Bids {
		b.take(space, variants, book, i, coresKind)
		for k := range variants[book.Bids[i].Job].Crosses + 1 {
			rows := b.used[k*len(b.most):]
			for _, x := range b.taken {
				for _, r := range rows[x.first : x.last+1] {
					if r >= 0 {
						row, coef = append(row, r), append(coef, int32(x.units))
					}
				}
			}
		}
		for ; len(shares) > 0 && int(shares[0].bid) == i; shares = shares[1:] {
			row, coef = append(row, shares[0].row), append(coef, shares[0].coef)
		}
		m.ColStart = append(m.ColStart, int32(len(row)))
	}
	m.Row, m.Coef = row, coef
}

// sharing makes the rows of GPUs that jobs share. A GPU on which shares are bid has a row for them,
// and takes one of the node's whole GPUs if it is not in shared use yet. That is not linear in the
// bids, but several rows can say it without a variable of its own.
//
// Now: GPUs of a node that are not in use are in the order of their numbers, and whoever is on the
// j-th is said to take j of them. A choice that uses the first ones satisfies that. Others could
// give theirs the numbers of these and lose nothing, and drafts take the first ones by themselves.
//
// At a reservation other GPUs are whole than now, and a job that has ended by then has none. Where there
// could be too few, only those bid for shares of them who have to start. Left-overs have the rest.
type sharing struct {
	resource int // -1: there is none
	entries  []entry
	bids     []taker // for shares
	wholes   []taker // of whole GPUs
	marked   []bool  // by node: shares are bid there
	slots    []slot  // of one node
	order    []taker
}

// entry is one of the model.
type entry struct{ bid, row, coef int32 }

// taker is a bid that takes of a node's GPUs on which shares are bid: a share of one, or wholes.
type taker struct {
	node, bid, job int32
	bin            uint8 // of a share
	crosses        int
	units          int64
}

// compare is for the order of nodes, then of GPUs, then of bids.
func (x taker) compare(y taker) int {
	return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.bin, y.bin), cmp.Compare(x.bid, y.bid))
}

// span is a part of a list.
type span struct{ from, to int }

// slot is a GPU on which shares are bid: order[from:to].
type slot struct {
	bin             uint8
	bids            span
	inUse, usedThen bool // now, and in the table that is looked at
}

// setShares adds the rows of shares to m, and notes the entries of the bids.
func (b *Builder) setShares(space *Space, variants []Variant, book *Book, m *ipmodel.Model) {
	x := &b.sharing
	x.entries = x.entries[:0]
	if x.resource < 0 {
		return
	}
	x.collect(space.Now, variants, book, m)
	for from := 0; from < len(x.bids); {
		to := from + 1
		for to < len(x.bids) && x.bids[to].node == x.bids[from].node {
			to++
		}
		n := int(x.bids[from].node)
		first, _ := slices.BinarySearchFunc(x.wholes, int32(n), func(w taker, n int32) int { return cmp.Compare(w.node, n) })
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

// collect finds the bids for shares, by node and GPU, and what others take of these nodes' GPUs.
func (x *sharing) collect(now *nodeset.Table, variants []Variant, book *Book, m *ipmodel.Model) {
	x.bids, x.wholes = x.bids[:0], x.wholes[:0]
	x.marked = append(x.marked[:0], make([]bool, now.Len())...)
	for job := range int32(m.Groups()) {
		for i := m.GroupStart[job]; i < m.GroupStart[job+1]; i++ {
			v := &variants[book.Bids[i].Job]
			if share := now.ShareOf(v.Spec.More()); share > 0 {
				s := book.Allocation(int(i))[0]
				x.bids = append(x.bids, taker{s.First, i, job, s.Bin, v.Crosses, share})
				x.marked[s.First] = true
			}
		}
	}
	if len(x.bids) == 0 {
		return
	}
	for job := range int32(m.Groups()) {
		for i := m.GroupStart[job]; i < m.GroupStart[job+1]; i++ {
			for _, s := range book.Allocation(int(i)) {
				for n := s.First; n <= s.Last && s.GPUs > 0; n++ {
					if x.marked[n] {
						x.wholes = append(x.wholes, taker{n, i, job, 0, variants[book.Bids[i].Job].Crosses, int64(s.GPUs)})
					}
				}
			}
		}
	}
	slices.SortFunc(x.bids, taker.compare)
	slices.SortFunc(x.wholes, taker.compare)
	x.addParts()
}

// addParts makes one of what the parts of a bid take of the same node.
func (x *sharing) addParts() {
	sums := x.wholes[:0]
	for _, w := range x.wholes {
		if n := len(sums) - 1; n >= 0 && sums[n].node == w.node && sums[n].bid == w.bid {
			sums[n].units += w.units
		} else {
			sums = append(sums, w)
		}
	}
	x.wholes = sums
}

// atNode adds the rows of node n in table k, on which shares are bid.
func (x *sharing) atNode(space *Space, book *Book, m *ipmodel.Model, n, k int, of span, wholes []taker) {
	t := tables(space, k)
	size := t.TotalOf(x.resource)[n]
	x.slots, x.order = x.slots[:0], x.order[:0]
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
		if mostOf(all, k) > free && (k == 0 || free < now) {
			row := addRow(m, free)
			for _, bid := range all {
				x.entries = append(x.entries, entry{bid.bid, row, int32(bid.units)})
			}
		}
		if !s.usedThen {
			x.slots = append(x.slots, s)
		}
	}
	x.wholeRows(space, book, m, n, k, wholes)
}

// wholeRows adds the rows for the whole GPUs of node n in table k, where they could be too few.
func (x *sharing) wholeRows(space *Space, book *Book, m *ipmodel.Model, n, k int, wholes []taker) {
	has := int64(tables(space, k).Free(n).GPUs)
	joined := int64(0) // in use now, and not then
	for _, s := range x.slots {
		if s.inUse {
			joined++
		}
	}
	switch {
	case mostOf(wholes, k)+int64(len(x.slots)) <= has || len(x.slots) == 0:
	case k == 0:
		taken := mostOf(wholes, k)
		for i, s := range x.slots {
			if taken+int64(i+1) <= has {
				continue
			}
			for from, to := s.bids.from, 0; from < s.bids.to; from = to { // bids of one job exclude one another
				for to = from + 1; to < s.bids.to && x.order[to].job == x.order[from].job; to++ {
				}
				row := x.wholeRow(m, has, wholes, k)
				for _, bid := range x.order[from:to] {
					x.entries = append(x.entries, entry{bid.bid, row, int32(i + 1)})
				}
			}
		}
	case has >= int64(space.Now.Free(n).GPUs)+joined: // what is chosen now fits then
	default:
		x.keptRows(book, m, has, k, wholes)
	}
}

// keptRows has only those bids on x.slots that jobs keep which have to start, and what these leave
// to others that take whole GPUs.
func (x *sharing) keptRows(book *Book, m *ipmodel.Model, has int64, k int, wholes []taker) {
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
func (x *sharing) wholeRow(m *ipmodel.Model, has int64, wholes []taker, k int) (row int32) {
	row = addRow(m, has)
	for _, w := range wholes {
		if w.crosses >= k {
			x.entries = append(x.entries, entry{w.bid, row, int32(w.units)})
		}
	}
	return row
}

// mostOf is what bids that cross k reservations, in their order, take together at most.
func mostOf(list []taker, k int) (sum int64) {
	most, job := int64(0), int32(-1)
	for _, bid := range list {
		if bid.crosses < k {
			continue
		}
		if bid.job != job {
			sum, most, job = sum+most, 0, bid.job
		}
		most = max(most, bid.units)
	}
	return sum + most
}

func addRow(m *ipmodel.Model, capacity int64) (row int32) {
	m.Cap = append(m.Cap, capacity)
	return int32(len(m.Cap) - 1)
}
