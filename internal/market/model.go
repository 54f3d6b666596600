// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Builder builds AUCSCHED2 models (aucsched2, section 2) from a window's bids. The
// zero Builder is ready. It reuses its memory and the model's: building for windows
// of one size allocates nothing in steady state.
type Builder struct {
	// Merge makes one row of neighbouring nodes that every bid treats alike, with
	// the capacity of the scarcest: the same solutions with far fewer rows. Without
	// it the model has the paper's |J| + 2|N| rows, and two more a node for each
	// reservation.
	Merge bool

	alpha float64
	scale int64
	cell  []int32 // node -> number of its run of nodes that are treated alike
	cells []cell  // the runs
	used  []int32 // row of the paper's form -> row of the model, or -1
	most  []int64 // by further resource and cell: what bids may take at most; scratch
	group []int64 // the same, of one group

	charged []int64 // by quota: what bids may count at most; scratch
	alone   []int64 // the same, of one group

	sharing sharing
	entries entries // of one column; scratch
}

// cell is a run of nodes that every bid treats alike.
type cell struct {
	first, last int32
}

// Build makes m the model of the window: maximise the sum of P_j + alpha F_i over
// the chosen bids (equation 1), at most one a job (2), within the free cores (3)
// and GPUs (4) of every node, of each further resource that bids could exhaust and of each quota
// that they could pass, and within what reservations leave. Column i is bid i of the book, group j
// is job j, with the bids of all its variants. required is nil or has an element a job.
//
// Worths are integers: P_j + alpha F_i in units of 1/m.Scale, a power of two that
// is as large as 50 bits for the sum over all jobs allow, and at least 1. It fails
// if the priorities add up to more than MaxTotalValue, or a bid counts more than 2^31-1 units of a
// quota.
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
	b.sharing.reset(space.Now)
	b.setCells(space.Now.Len(), book)
	b.setMost(space, variants, book)
	if err := b.setCharged(space, variants, book); err != nil {
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

// Alpha is the factor of the preferences in the last model's worths: aucsched1, equation 10, the
// least priority over one more than the number of bids.
func (b *Builder) Alpha() float64 { return b.alpha }

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
			b.endCell(i)
			b.cells = append(b.cells, cell{first: int32(i)})
		}
		cut[i] = int32(len(b.cells) - 1)
	}
	b.endCell(n)
	b.cell = cut
}

// endCell ends the last cell before node n.
func (b *Builder) endCell(n int) {
	if k := len(b.cells); k > 0 {
		b.cells[k-1].last = int32(n - 1)
	}
}

// tables are the capacities of a space: table 0 is what is free now, and table k
// what reservation k-1 leaves.
func tables(space *Space, k int) *nodeset.Table {
	if k == 0 {
		return space.Now
	}
	return space.Left[k-1]
}

// setRows makes the rows: cores of each cell, GPUs of each cell, further resources where what is
// bid could exhaust them, and the same for each reservation where it leaves less than is free now.
func (b *Builder) setRows(space *Space, m *ipmodel.Model) {
	m.Cap = m.Cap[:0]
	b.used = b.used[:0]
	for k := range len(space.Left) + 1 {
		t := tables(space, k)
		for gpu := range 2 {
			for i, c := range b.cells {
				var least int64
				if gpu == 1 {
					least = leastOf(t.FreeGPUs()[c.first : c.last+1])
				} else {
					least = leastOf(t.FreeCores()[c.first : c.last+1])
				}
				// The rows of table 0 are the first, one a cell.
				b.addRow(m, least, k == 0 || least < m.Cap[gpu*len(b.cells)+i])
			}
		}
		for i, most := range b.most {
			r, c := i/len(b.cells), &b.cells[i%len(b.cells)]
			least := int64(math.MaxInt64)
			if most > 0 {
				least = slices.Min(t.FreeOf(r)[c.first : c.last+1])
			}
			now := b.used[2*len(b.cells)+i:]
			b.addRow(m, least, most > least && (k == 0 || now[0] < 0 || least < m.Cap[now[0]]))
		}
		b.addQuotaRows(space, m, k)
	}
}

// addRow adds the next row of the paper's form, which the model has where it is needed.
func (b *Builder) addRow(m *ipmodel.Model, capacity int64, needed bool) {
	if !needed {
		b.used = append(b.used, -1)
		return
	}
	b.used = append(b.used, int32(len(m.Cap)))
	m.Cap = append(m.Cap, capacity)
}

// setMost sets b.most: of each further resource and cell, what bids of each group take at most,
// summed up. It is empty where no bid takes any.
func (b *Builder) setMost(space *Space, variants []Variant, book *Book) {
	b.most = b.most[:0]
	if !slices.ContainsFunc(variants, usesMore) {
		return
	}
	size := space.Now.Resources() * len(b.cells)
	b.most = append(b.most, make([]int64, size)...)
	b.group = append(b.group[:0], make([]int64, size)...)
	for j := 0; j < len(variants); j = NextJob(variants, j) {
		end := book.JobStart[NextJob(variants, j)]
		for i := book.JobStart[j]; i < end; i++ {
			b.eachUse(variants, book, int(i), func(at int, amount int64) {
				b.most[at] += max(amount-b.group[at], 0)
				b.group[at] = max(b.group[at], amount)
			})
		}
		for i := book.JobStart[j]; i < end; i++ {
			b.eachUse(variants, book, int(i), func(at int, _ int64) { b.group[at] = 0 })
		}
	}
}

// eachUse visits the further resources and cells of which bid i takes something.
func (b *Builder) eachUse(variants []Variant, book *Book, i int, visit func(at int, amount int64)) {
	if parts := variants[book.Bids[i].Job].Spec.Parts; parts != nil {
		b.eachUseOfParts(parts, book.Allocation(i), visit)
		return
	}
	for _, u := range variants[book.Bids[i].Job].Spec.More() {
		if u.Row == b.sharing.resource {
			continue // each GPU has its own rows
		}
		for _, s := range book.Allocation(i) {
			amount := u.Of(s.Cores, s.GPUs)
			if amount == 0 {
				continue
			}
			for c := b.cell[s.First]; c <= b.cell[s.Last]; c++ {
				visit(u.Row*len(b.cells)+int(c), amount)
			}
		}
	}
}

func leastOf[T uint8 | uint16](free []T) int64 {
	least := free[0]
	for _, c := range free[1:] {
		least = min(least, c)
	}
	return int64(least)
}

func (b *Builder) setColumns(space *Space, variants []Variant, book *Book, m *ipmodel.Model) {
	m.ColStart, m.Row, m.Coef = append(m.ColStart[:0], 0), m.Row[:0], m.Coef[:0]
	shares := b.sharing.entries
	for i := range book.Bids {
		for k := range variants[book.Bids[i].Job].Crosses + 1 {
			b.addTaken(variants, book, m, i, k)
			if len(b.charged) > 0 {
				b.addQuotaEntries(space, variants, book, m, i, k)
			}
		}
		for ; len(shares) > 0 && int(shares[0].bid) == i; shares = shares[1:] {
			m.Row, m.Coef = append(m.Row, shares[0].row), append(m.Coef, shares[0].coef)
		}
		m.ColStart = append(m.ColStart, int32(len(m.Row)))
	}
}

// kinds is how many rows of the paper's form a table has.
func (b *Builder) kinds() int { return 2*len(b.cells) + len(b.most) + len(b.charged) }

// addTaken adds what bid i takes of table k, but for quotas. Rows ascend, also where parts of
// the bid share nodes.
func (b *Builder) addTaken(variants []Variant, book *Book, m *ipmodel.Model, i, k int) {
	from := len(m.Row)
	for gpu := range 2 {
		b.addEntries(m, book.Allocation(i), k, gpu)
	}
	if variants[book.Bids[i].Job].Spec.Parts != nil {
		b.entries.merge(m, from)
	}
	if len(b.most) == 0 {
		return
	}
	rows := b.used[k*b.kinds()+2*len(b.cells):]
	b.eachUse(variants, book, i, func(at int, amount int64) {
		if r := rows[at]; r >= 0 {
			m.Row, m.Coef = append(m.Row, r), append(m.Coef, int32(amount))
		}
	})
}

// addEntries adds what segs take of the cores or GPUs of table k.
func (b *Builder) addEntries(m *ipmodel.Model, segs []nodeset.Segment, k, gpu int) {
	base := k*b.kinds() + gpu*len(b.cells)
	rows, coefs := m.Row, m.Coef
	for _, s := range segs {
		coef := int32(s.Cores)
		if gpu == 1 {
			coef = int32(s.GPUs)
		}
		if coef == 0 {
			continue
		}
		for _, r := range b.used[base+int(b.cell[s.First]) : base+int(b.cell[s.Last])+1] {
			if r >= 0 {
				rows, coefs = append(rows, r), append(coefs, coef)
			}
		}
	}
	m.Row, m.Coef = rows, coefs
}
