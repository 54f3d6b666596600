// SPDX-License-Identifier: BSD-3-Clause

package pods

import "math"

// step is the unit of sizes; bins are GPUs. parts is the unit of weights.
const step, binSize, parts = 10, 100, 20

// name says which arrivals are one item.
type name struct {
	kind, size int
	weight     int // in parts; 0 for kinds that need none
	must       bool
}

// prices are those that have given the least bound of the last program.
type prices map[name]float64

// item is a row of the program: so many pods come. price is its dual price, in thousandths.
type item struct {
	name
	weight      float64
	supply      float64
	price, used float64
}

// fine is what a pod costs that must be placed and is not, in thousandths a GPU. Policies never
// pay it, so that it may be any.
const fine = 3000

// low is the least price.
func (m *item) low() float64 {
	if m.must {
		return -fine
	}
	return 0
}

// Stages of a GPU's contents.
const (
	first    = iota
	blunt    // after first, on a GPU that has less than r's share idle
	open     // after first, on another one
	narrow   // after open, where less than r's share is left
	bare     // after open, where more is left
	fillings = iota
)

// program is the linear program of the best contents of all GPUs: max Σ x_p value_p over contents
// p, such that Σ x_p = bins, no item is used more often than it comes, and the weight on starved
// nodes is at most 1 a node.
type program struct {
	bins, nodes float64
	full        int // the least that is taken of a GPU with less than r's share idle
	items       []item
	sets        [fillings][]int
	price       float64 // of weight

	best   [fillings][binSize + 1]float64
	choice [fillings][binSize + 1]int
	value  float64 // of the best contents
	weight float64 // theirs
}

// What is chosen at a size that no item ends at.
const nothing, oneLess = -1, -2

func (b *program) add(n name) {
	for s, kinds := range takes {
		for _, k := range kinds {
			if k == n.kind {
				b.sets[s] = append(b.sets[s], len(b.items))
			}
		}
	}
	b.items = append(b.items, item{name: n, weight: float64(n.weight) / parts})
}

// fill finds the best contents of each size in a stage; exact ones fill the size.
func (b *program) fill(stage int, exact bool, price float64) {
	var worth [binSize + 1]float64
	var who [binSize + 1]int
	var sizes []int
	for _, x := range b.sets[stage] {
		m := &b.items[x]
		v := float64(m.size*step) - m.price - price*m.weight
		seen := who[m.size] > 0
		if !seen {
			sizes = append(sizes, m.size)
		}
		if !seen || v > worth[m.size] {
			worth[m.size], who[m.size] = v, x+1
		}
	}
	best, choice := &b.best[stage], &b.choice[stage]
	for x := range best {
		best[x], choice[x] = 0, nothing
		if exact && x > 0 {
			best[x] = math.Inf(-1)
		} else if x > 0 {
			best[x], choice[x] = best[x-1], oneLess
		}
		for _, s := range sizes {
			if s > 0 && s <= x && best[x-s]+worth[s] > best[x] {
				best[x], choice[x] = best[x-s]+worth[s], who[s]-1
			}
		}
	}
}

// use counts what the best contents of size x are.
func (b *program) use(stage, x int) {
	for x > 0 {
		switch i := b.choice[stage][x]; i {
		case oneLess:
			x--
		case nothing:
			return
		default:
			m := &b.items[i]
			m.used++
			if stage != first && stage != blunt {
				b.weight += m.weight
			}
			x -= m.size
		}
	}
}

// dual finds the best contents of a GPU by the prices. It returns what they bound the program's
// value by: all GPUs with these contents, and the prices of what comes (Lagrange).
func (b *program) dual() float64 {
	b.fill(first, true, 0)
	b.fill(blunt, false, 0)
	b.fill(open, true, b.price)
	b.fill(narrow, false, b.price)
	b.fill(bare, false, b.price)
	var at [3]int // size of the first, and of the second of three; the last one's stage
	b.value = math.Inf(-1)
	for x := range b.best[first] {
		if x >= b.full {
			if v := b.best[first][x] + b.best[blunt][binSize-x]; v > b.value {
				b.value, at = v, [3]int{x, 0, blunt}
			}
			continue
		}
		for y := range b.best[open][:binSize-x+1] {
			last := narrow
			if x+y < b.full {
				last = bare
			}
			v := b.best[first][x] + b.best[open][y] + b.best[last][binSize-x-y]
			if v > b.value {
				b.value, at = v, [3]int{x, y, last}
			}
		}
	}
	sum := b.bins*b.value + b.nodes*b.price
	for i := range b.items {
		m := &b.items[i]
		sum += m.price * m.supply
		m.used = 0
	}
	b.weight = 0
	b.use(first, at[0])
	b.use(open, at[1])
	b.use(at[2], binSize-at[0]-at[1])
	return sum
}

// mostTurns are those of the simplex method, lest it turn in a circle; some 100 do.
const mostTurns = 10000

// solve returns a bound of the program's value: the value itself, but for rounding, or else one
// that is at most floor. It begins with the known prices, and puts the last ones there.
func (b *program) solve(floor float64, known prices) float64 {
	for i := range b.items {
		m := &b.items[i]
		m.price = max(m.low(), known[m.name])
	}
	b.price = known[name{}]
	least := b.dual()
	s := newSimplex(b)
	for range mostTurns {
		if least <= floor {
			break
		}
		slack, gain := s.prices(b)
		if d := b.dual(); d < least {
			least = d
			for i := range b.items {
				known[b.items[i].name] = b.items[i].price
			}
			known[name{}] = b.price
		}
		if slack < 0 {
			gain = b.value - s.dual[len(b.items)+1]
		}
		if gain < 1e-7 {
			return least
		}
		s.enter(b, slack)
	}
	return least
}

// simplex is the revised method with the inverse of the basis. Rows are the items, the weight and
// the number of GPUs. Columns are made when they enter: the contents that dual finds. At first all
// items are left over, and GPUs are empty.
type simplex struct {
	inverse   [][]float64
	x, cost   []float64 // of the basis
	dual      []float64
	col, move []float64
}

func newSimplex(b *program) *simplex {
	n := len(b.items) + 2
	s := &simplex{make([][]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n)}
	for i := range s.inverse {
		s.inverse[i] = make([]float64, n)
		s.inverse[i][i] = 1
	}
	for i := range b.items {
		s.x[i], s.cost[i] = b.items[i].supply, b.items[i].low()
	}
	s.x[n-2], s.x[n-1] = b.nodes, b.bins
	return s
}

// prices computes the dual prices and gives them to the program. It returns the row whose slack
// should enter and what that gains; -1 if none gains.
func (s *simplex) prices(b *program) (slack int, gain float64) {
	clear(s.dual)
	for i, c := range s.cost {
		for k, v := range s.inverse[i] {
			s.dual[k] += c * v
		}
	}
	slack, gain = -1, 1e-7
	for i := range b.items {
		m := &b.items[i]
		if g := m.low() - s.dual[i]; g > gain {
			slack, gain = i, g
		}
		m.price = max(m.low(), s.dual[i])
	}
	if g := -s.dual[len(b.items)]; g > gain {
		slack, gain = len(b.items), g
	}
	b.price = max(0, s.dual[len(b.items)])
	return slack, gain
}

// enter brings a slack into the basis, or for -1 the contents found last.
func (s *simplex) enter(b *program, slack int) {
	clear(s.col)
	cost, n := 0.0, len(b.items)
	switch {
	case slack < 0:
		for i := range b.items {
			m := &b.items[i]
			s.col[i] = m.used
			cost += m.used * float64(m.size*step)
		}
		s.col[n], s.col[n+1] = b.weight, 1
	case slack < n:
		cost = b.items[slack].low()
		fallthrough
	default:
		s.col[slack] = 1
	}
	out, most := -1, math.Inf(1)
	for i := range s.move {
		s.move[i] = 0
		for k, v := range s.col {
			s.move[i] += s.inverse[i][k] * v
		}
		if m := s.move[i]; m > 1e-9 {
			t := max(0, s.x[i]) / m
			if t < most-1e-12 || t < most+1e-12 && m > s.move[out] {
				out, most = i, t
			}
		}
	}
	s.pivot(out, most)
	s.cost[out] = cost
}

// pivot moves the basis: row out gets the new column.
func (s *simplex) pivot(out int, by float64) {
	row, piece := s.inverse[out], s.move[out]
	for k := range row {
		row[k] /= piece
	}
	for i, f := range s.move {
		if i == out || f == 0 {
			continue
		}
		s.x[i] -= by * f
		for k := range row {
			s.inverse[i][k] -= f * row[k]
		}
	}
	s.x[out] = by
}
