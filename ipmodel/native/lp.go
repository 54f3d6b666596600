// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// lp is the linear relaxation of a problem, solved by the dual simplex method. Three
// things make it small and its pivots cheap:
//
//   - Groups are generalised upper bounds (Dantzig and Van Slyke 1967): each has a key
//     variable that is basic without a row of its own, and the working basis has
//     a row only for each capacity row.
//   - Capacity rows are lazy: one enters when a solution violates it, and few ever do.
//   - A column is a few runs of neighbouring rows with one coefficient, so that prefix
//     sums of a vector over the rows give its product with a column in that many steps.
//
// Variables are numbered: columns, then "none" of each group (a required group's is
// banned), then the slacks of the rows. Rows are numbered: capacity rows, then cuts.
// Worths are divided by scale. A banned variable is fixed at 0.
type lp struct {
	p     *problem
	over  func() bool // whether to end early
	cuts  cutPool
	n, g  int // columns, groups
	scale float64

	basis
	ban  []bool // by column and none
	gone []bool // by column: no better choice has it

	// scratch
	artCost []float64 // by row
	prefix  []float64 // by row, and one more
	alpha   []float64 // by column and none: the pivot row
	keyDot  []float64 // by group
	vec     []float64 // by working row
	col     []float64 // by position
	rho     []float64 // by working row: the leaving variable's row of inv
	tau     []float64 // by position
	kcol    []float64 // by group
	ktau    []float64 // by group
	load    []float64 // by row: what the solution takes
	rank    []rowRank
	stay    []bool // by position: not to be exchanged
	filled  []int32
	keep    []int32 // scratch of renew
	fresh   int64   // pivots at the last renewal
	dropAt  int     // working rows from which on idle ones are dropped
	whole   []int64
	cand    []entrant
	pivots  int64
	work    int64
}

// basis is the state of the simplex method.
type basis struct {
	m       int       // working rows
	act     []int32   // working row -> row
	bas     []int32   // position -> basic variable that is no key
	key     []int32   // group -> basic variable
	where   []int32   // variable -> position, nonbasic or isKey; slacks of other rows: idle
	inv     []float64 // inverse of the working basis, by position, stride wide
	wide    int
	x       []float64 // by position
	xkey    []float64 // by group
	d       []float64 // by column and none: reduced cost, at most 0 when nonbasic and not banned
	y       []float64 // by working row: price
	norm    []float64 // by position: squared length of its row, see norms.go
	knorm   []float64 // by group: of its key's row
	shift   []float64 // by column: by how much its worth is lowered, see primal.go
	shifted bool
}

// artificial + r is the artificial variable of row r. Once out of the basis it is gone.
const artificial = int32(1 << 30)

const (
	nonbasic = int32(-1)
	isKey    = int32(-2)
	idle     = int32(-3)
)

const (
	feasTol  = 1e-9  // of a variable's value
	pivotTol = 1e-7  // least pivot
	dualTol  = 1e-7  // of a reduced cost; the greatest worth is 1
	rowTol   = 1e-7  // of a row's load
	tiny     = 1e-14 // what counts as 0 in inv
)

// outcome of the dual simplex method.
type outcome int

const (
	solved    outcome = iota
	noChoice          // no choice is feasible, as far as floating point can tell
	cutOff            // the objective fell below the limit
	exhausted         // the limit on pivots or work struck
)

// begin starts the relaxation of p at the given prices of its rows, in units of worth.
func (l *lp) begin(p *problem, prices []float64) {
	l.p, l.n, l.g = p, p.columns(), p.groups()
	l.cuts.clear(l.n)
	most := int64(1)
	for _, w := range p.worth {
		most = max(most, w)
	}
	l.scale = float64(most)
	l.ban = resize(l.ban, l.n+l.g)
	l.shift, l.shifted = resize(l.shift, l.n), false
	l.gone = resize(l.gone, l.n)
	l.where = resize(l.where, l.n+l.g+p.rows())
	l.pivots, l.fresh, l.work = 0, 0, 0
	l.prefix = resize(l.prefix, p.rows()+1)
	l.load = resize(l.load, p.rows())
	l.alpha = resize(l.alpha, l.n+l.g)
	l.keyDot = resize(l.keyDot, l.g)
	for g := range l.g {
		l.ban[l.n+g] = p.required[g]
	}
	l.restart(prices)
}

// resize makes s n zeros long.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// restart begins at the given prices: each group's key is its best variable net of them,
// and rows with a price are held by artificial variables, fixed at 0, that cost
// the price. This basis is dual feasible; its objective is L of prices.go.
func (l *lp) restart(prices []float64) {
	l.dropAt = rowsToDrop
	l.m, l.act, l.bas = 0, l.act[:0], l.bas[:0]
	l.x, l.y, l.norm = l.x[:0], l.y[:0], l.norm[:0]
	l.key, l.xkey = resize(l.key, l.g), resize(l.xkey, l.g)
	l.d = resize(l.d, l.n+l.g)
	l.artCost = resize(l.artCost, l.p.rows())
	for v := range l.where {
		l.where[v] = nonbasic
		if v >= l.n+l.g {
			l.where[v] = idle
		}
	}
	block := l.blockOf(prices)
	sum, peak, in := 0.0, 0, 0
	for r, price := range prices {
		price /= l.scale
		if price*float64(l.p.cap[r]) <= leastPrice {
			continue
		}
		if sum += price; in == 0 || price > prices[peak]/l.scale {
			peak = r
		}
		if in++; in < block {
			continue
		}
		r, price = peak, sum
		sum, in = 0, 0
		l.artCost[r] = price
		l.addFirstRow(int32(r))
		q := l.m - 1
		l.bas[q], l.y[q] = artificial+int32(r), price
		l.where[l.slackOf(int32(r))] = nonbasic
	}
	l.dots(l.y)
	for g := range l.g {
		l.chooseKey(g)
	}
	l.setX()
	l.setD()
	l.setFirstNorms()
}

const (
	leastPrice = 1e-7 // of a row's whole capacity, for the row to take part at once
	maxHeld    = 800  // rows that take part at once
)

// blockOf is how many neighbouring rows with a price are to be taken as one, lest there
// be more than maxHeld.
func (l *lp) blockOf(prices []float64) int {
	n := 0
	for r, price := range prices {
		if price/l.scale*float64(l.p.cap[r]) > leastPrice {
			n++
		}
	}
	return (n + maxHeld - 1) / maxHeld
}

// chooseKey makes the best variable of group g net of what alpha says its key.
func (l *lp) chooseKey(g int) {
	key, top := int32(l.n+g), 0.0
	if l.ban[key] {
		top = math.Inf(-1)
	}
	for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
		if v := l.worth(i) - l.alpha[i]; !l.ban[i] && v > top {
			key, top = i, v
		}
	}
	l.key[g], l.where[key] = key, isKey
}

// worth of a column or none.
func (l *lp) worth(v int32) float64 {
	if int(v) >= l.n {
		return 0
	}
	return float64(l.p.worth[v])/l.scale - l.shift[v]
}

func (l *lp) groupOf(v int32) int32 {
	if int(v) >= l.n {
		return v - int32(l.n)
	}
	return l.p.group[v]
}

func (l *lp) slackOf(row int32) int32 { return int32(l.n+l.g) + row }

// capacity of a row as the relaxation has it.
func (l *lp) capacity(row int32) float64 {
	if c := int(row) - l.p.rows(); c >= 0 {
		return l.cuts.right[c]
	}
	return float64(l.p.cap[row])
}

var inf = math.Inf(1)
