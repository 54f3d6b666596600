// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
	"math/bits"
	"slices"
)

// packing is a feasible choice that answers fast what a local search asks: which rows
// lack room for a column, and who holds them.
//
// A column's entries are kept as runs of neighbouring rows with one coefficient: bids are segments
// of the line of nodes. For every level of coefficients a bitmap has the rows whose slack is below
// the greatest coefficient of that level. So a run is held against 64 rows at once.
type packing struct {
	pick    []int32 // by group: column, or -1
	worth   int64
	missing int // required groups without a column

	runs     []run
	colRun   []int32 // column -> first run, and one more
	level    []int64 // level -> greatest coefficient, ascending
	words    int     // of a level's bitmap
	rowStart []int32 // row -> first in rowCol, and one more
	rowCol   []int32 // the columns of each row

	rows    []rowState
	blocked []uint64 // by level and word
	seats   []holder // of all rows

	out   []int32 // the groups that have to go for the column looked at last
	mark  []int64 // by group: epoch of being put into out
	epoch int64
}

// run is rows first..last, of each of which a column takes coef.
type run struct {
	first, last, level int32
	coef               int64
}

// rowState is what is known of one row.
type rowState struct {
	slack   int64
	open    int32 // the number of levels that fit
	first   int32 // of its slots
	sitting int32 // how many of them are taken
}

// holder is a group that has a column in a row, and what it takes there.
type holder struct {
	group int32
	coef  int64
}

// maxLevels bounds the bitmaps' memory. Where there are more coefficients, several
// share a level, and a bit only says that a row may lack room.
const maxLevels = 64

// load makes k the choice of nothing in problem p.
func (k *packing) load(p *problem) {
	k.setLevels(p)
	k.setRuns(p)
	k.setRowCols(p)
	k.setSeats(p)
	k.mark = append(k.mark[:0], make([]int64, p.groups())...)
	k.epoch = 0
	k.pick, k.worth, k.missing = k.pick[:0], 0, 0
	for g := range p.groups() {
		k.pick = append(k.pick, -1)
		if p.required[g] {
			k.missing++
		}
	}
	k.blocked = append(k.blocked[:0], make([]uint64, k.words*len(k.level))...)
	for w := range k.blocked {
		k.blocked[w] = ^uint64(0)
	}
	for r := range k.rows {
		k.unblock(int32(r), &k.rows[r])
	}
}

// setLevels shares the coefficients out among at most maxLevels levels.
func (k *packing) setLevels(p *problem) {
	k.level = k.level[:0]
	last := int64(0)
	for _, c := range p.coef {
		if c != last {
			k.level = append(k.level, c)
			last = c
		}
	}
	slices.Sort(k.level)
	k.level = slices.Compact(k.level)
	if n := len(k.level); n > maxLevels {
		for l := range maxLevels {
			k.level[l] = k.level[(l+1)*n/maxLevels-1]
		}
		k.level = k.level[:maxLevels]
	}
	k.words = (p.rows() + 63) / 64
}

func (k *packing) setRuns(p *problem) {
	k.runs, k.colRun = k.runs[:0], append(k.colRun[:0], 0)
	for i := range p.columns() {
		from := len(k.runs)
		for e := p.col[i]; e < p.col[i+1]; e++ {
			r, c := p.row[e], p.coef[e]
			if n := len(k.runs) - 1; n >= from && k.runs[n].last == r-1 && k.runs[n].coef == c {
				k.runs[n].last = r
				continue
			}
			l, _ := slices.BinarySearch(k.level, c)
			k.runs = append(k.runs, run{r, r, int32(l), c})
		}
		k.colRun = append(k.colRun, int32(len(k.runs)))
	}
}

func (k *packing) setRowCols(p *problem) {
	k.rowStart = append(k.rowStart[:0], make([]int32, p.rows()+2)...)
	for _, r := range p.row {
		k.rowStart[r+2]++
	}
	for r := range p.rows() {
		k.rowStart[r+2] += k.rowStart[r+1]
	}
	k.rowCol = append(k.rowCol[:0], p.row...)
	for i := range p.columns() {
		for _, r := range p.row[p.col[i]:p.col[i+1]] {
			k.rowCol[k.rowStart[r+1]] = int32(i)
			k.rowStart[r+1]++
		}
	}
}

// setSeats gives each row a slot for every group with a column in it, and no more than fit at once.
func (k *packing) setSeats(p *problem) {
	k.rows = k.rows[:0]
	total := int32(0)
	for r, c := range p.cap {
		groups, last := int64(0), int32(-1)
		for _, i := range k.columnsOf(int32(r)) {
			if p.group[i] != last {
				groups, last = groups+1, p.group[i]
			}
		}
		k.rows = append(k.rows, rowState{slack: c, first: total})
		total += int32(min(groups, c))
	}
	k.seats = append(k.seats[:0], make([]holder, total)...)
}

// columnsOf are the columns that take something of row r.
func (k *packing) columnsOf(r int32) []int32 { return k.rowCol[k.rowStart[r]:k.rowStart[r+1]] }

// holders are the groups that hold row r now.
func (k *packing) holders(r int32) []holder {
	x := &k.rows[r]
	return k.seats[x.first:][:x.sitting]
}

// unblock brings the bitmaps up to date after row r has got more slack.
func (k *packing) unblock(r int32, x *rowState) {
	for ; int(x.open) < len(k.level) && k.level[x.open] <= x.slack; x.open++ {
		k.blocked[int(x.open)*k.words+int(r>>6)] &^= 1 << (r & 63)
	}
}

// block brings the bitmaps up to date after row r has got less slack.
func (k *packing) block(r int32, x *rowState) {
	for ; x.open > 0 && k.level[x.open-1] > x.slack; x.open-- {
		k.blocked[int(x.open-1)*k.words+int(r>>6)] |= 1 << (r & 63)
	}
}

// put adds column i, which must fit, of a group that has none.
func (k *packing) put(p *problem, i int32) {
	g := p.group[i]
	k.pick[g] = i
	k.worth += p.worth[i]
	if p.required[g] {
		k.missing--
	}
	for _, run := range k.runs[k.colRun[i]:k.colRun[i+1]] {
		for r := run.first; r <= run.last; r++ {
			x := &k.rows[r]
			x.slack -= run.coef
			k.seats[x.first+x.sitting] = holder{g, run.coef}
			x.sitting++
			k.block(r, x)
		}
	}
}

// take removes the column of group g and returns it.
func (k *packing) take(p *problem, g int32) int32 {
	i := k.pick[g]
	k.pick[g] = -1
	k.worth -= p.worth[i]
	if p.required[g] {
		k.missing++
	}
	for _, run := range k.runs[k.colRun[i]:k.colRun[i+1]] {
		for r := run.first; r <= run.last; r++ {
			x := &k.rows[r]
			seats := k.seats[x.first:][:x.sitting]
			n := 0
			for seats[n].group != g {
				n++
			}
			seats[n] = seats[len(seats)-1]
			x.sitting--
			x.slack += run.coef
			k.unblock(r, x)
		}
	}
	return i
}

// better reports whether k beats c: fewer required groups missing, then more worth.
func (k *packing) better(c *solution) bool {
	return k.missing < c.missing || (k.missing == c.missing && k.worth > c.value)
}

// save makes c the choice k.
func (k *packing) save(c *solution) {
	c.pick = append(c.pick[:0], k.pick...)
	c.slack = c.slack[:0]
	for r := range k.rows {
		c.slack = append(c.slack, k.rows[r].slack)
	}
	c.value, c.missing = k.worth, k.missing
}

// become makes k the choice c.
func (k *packing) become(p *problem, c *solution) {
	for g, i := range c.pick {
		if k.pick[g] >= 0 && k.pick[g] != i {
			k.take(p, int32(g))
		}
	}
	for g, i := range c.pick {
		if i >= 0 && k.pick[g] != i {
			k.put(p, i)
		}
	}
}

// lacking returns bits of a word's rows in which run x may lack room: word w of the
// bitmaps, which must be one of those that the run touches.
func (k *packing) lacking(x *run, w int) uint64 {
	b := k.blocked[int(x.level)*k.words+w]
	if w == int(x.first>>6) {
		b &= ^uint64(0) << (x.first & 63)
	}
	if w == int(x.last>>6) {
		b &= ^uint64(0) >> (63 - x.last&63)
	}
	return b
}

// room reports whether column i fits beside what is chosen, as choice.fits does.
func (k *packing) room(i int32) bool {
	runs := k.runs[k.colRun[i]:k.colRun[i+1]]
	for n := range runs {
		x := &runs[n]
		for w := int(x.first >> 6); w <= int(x.last>>6); w++ {
			for b := k.lacking(x, w); b != 0; b &= b - 1 {
				if k.rows[w<<6+bits.TrailingZeros64(b)].slack < x.coef {
					return false
				}
			}
		}
	}
	return true
}

// ranking is an order of the columns by promise. At first it is from the prices that the proof has
// found, then from what comes of trying them, as in a self-organising list (Rivest 1976). It only
// says which columns are tried more often.
type ranking struct {
	cols  []int32   // the most promising first
	miss  []float64 // by column, at most 0
	place []int32   // scratch: by row, where its next column goes
	stale bool      // there are new prices
}

// promote exchanges the column at a place with the one half way to the front. Place -1 has
// no column.
func (k *ranking) promote(at int) {
	if at > 0 {
		k.cols[at], k.cols[at/2] = k.cols[at/2], k.cols[at]
	}
}

// A column goes back by one in so many places, and one more: it keeps its place if it gets
// in about once in seventeen times.
const demoteBy = 32

// demote exchanges the column at a place with one somewhat behind. Place -1 has no column.
func (k *ranking) demote(at int) {
	if to := at + 1 + at/demoteBy; at >= 0 && to < len(k.cols) {
		k.cols[at], k.cols[to] = k.cols[to], k.cols[at]
	}
}

func (k *ranking) setMisses(p *problem, net []float64) {
	k.miss = append(k.miss[:0], net...)
	for g := range p.groups() {
		miss := k.miss[p.start[g]:p.start[g+1]]
		top := slices.Max(miss)
		if !p.required[g] {
			top = math.Max(top, 0) // none is better than less
		}
		for i := range miss {
			miss[i] -= top
		}
	}
}

// sortRowCols brings the columns of each row into the order that they have in cols, which
// are all. It returns its scratch memory.
func (k *packing) sortRowCols(p *problem, cols, place []int32) []int32 {
	place = append(place[:0], k.rowStart[:p.rows()]...)
	for _, i := range cols {
		for _, r := range p.row[p.col[i]:p.col[i+1]] {
			k.rowCol[place[r]] = i
			place[r]++
		}
	}
	return place
}
