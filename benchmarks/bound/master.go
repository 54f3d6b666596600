// SPDX-License-Identifier: BSD-3-Clause

package bound

import "slices"

const (
	maxPivots = 4000
	tolerance = 1e-9
)

// master is the linear program of the patterns known so far: the least T such that
// patterns come to what is needed of each row, while those of each kind of nodes last no
// longer than the kind's share of all nodes times T. It is solved by the revised
// simplex method. Nobody relies on its accuracy, so it keeps the inverse of the basis as
// it is updated, and only the costs of the variables in it.
type master struct {
	needs   int // rows; those of the kinds come after
	shares  []float64
	inverse [][]float64
	value   []float64 // of the basic variables
	cost    []float64
	price   []float64 // of the rows
	column  []float64 // that enters
	move    []float64 // of the basic variables with it
	pivots  int
}

// newMaster begins with a basis of variables that stand for work left undone. They cost
// more than any price can be in the end.
func newMaster(needs, shares []float64) *master {
	n := len(needs) + len(shares)
	l := &master{needs: len(needs), shares: shares, inverse: make([][]float64, n), value: make([]float64, n), cost: make([]float64, n),
		price: make([]float64, n), column: make([]float64, n), move: make([]float64, n)}
	penalty := 4 / slices.Min(shares)
	for i := range n {
		l.inverse[i] = make([]float64, n)
		l.inverse[i][i] = 1
		if i < l.needs {
			l.value[i], l.cost[i] = needs[i], penalty
		} else {
			l.value[i] = tolerance * shares[i-l.needs] // not 0, so that pivots get on
		}
	}
	l.setPrices()
	return l
}

func (l *master) setPrices() {
	clear(l.price)
	for i, c := range l.cost {
		if c == 0 {
			continue
		}
		for r, v := range l.inverse[i] {
			l.price[r] += c * v
		}
	}
}

// prices are those of the rows of needs. They belong to l.
func (l *master) prices() []float64 { return l.price[:l.needs] }

// objective is T, and the penalties.
func (l *master) objective() float64 {
	sum := 0.0
	for i, c := range l.cost {
		sum += c * l.value[i]
	}
	return sum
}

// tidy has T, idle nodes and work in excess enter the basis, until none is worth it.
// It is false if that took too long.
func (l *master) tidy() bool {
	for l.pivots < maxPivots {
		worst, which := -tolerance, -1 // a row, or all for T
		time := 1.0
		for r, y := range l.price {
			if r >= l.needs {
				time += l.shares[r-l.needs] * y
				y = -y
			}
			if y < worst {
				worst, which = y, r
			}
		}
		if time < worst {
			which = len(l.price)
		}
		if which < 0 {
			return true
		}
		clear(l.column)
		cost := 0.0
		switch {
		case which < l.needs:
			l.column[which] = -1
		case which < len(l.price):
			l.column[which] = 1
		default:
			cost = 1
			for k, s := range l.shares {
				l.column[l.needs+k] = -s
			}
		}
		if !l.pivot(cost) {
			return false
		}
	}
	return false
}

// enter takes in a pattern of a kind of nodes, if it is worth more than the kind's time.
func (l *master) enter(kind int, pattern []float64) bool {
	clear(l.column)
	copy(l.column, pattern)
	l.column[l.needs+kind] = 1
	reduced, size := 0.0, 1.0
	for r, a := range l.column {
		reduced -= l.price[r] * a
		size = max(size, l.price[r]*a, -l.price[r]*a)
	}
	return reduced < -tolerance*size && l.pivots < maxPivots && l.pivot(0)
}

// pivot has l.column enter the basis. It is false if there is no number to divide by.
func (l *master) pivot(cost float64) bool {
	l.pivots++
	out, least := -1, 0.0
	for i, row := range l.inverse {
		sum := 0.0
		for r, a := range l.column {
			if a != 0 {
				sum += row[r] * a
			}
		}
		l.move[i] = sum
		if sum <= tolerance {
			continue
		}
		if t := max(l.value[i], 0) / sum; out < 0 || t < least || t == least && sum > l.move[out] {
			out, least = i, t
		}
	}
	if out < 0 {
		return false
	}
	row := l.inverse[out]
	for r := range row {
		row[r] /= l.move[out]
	}
	for i, other := range l.inverse {
		f := l.move[i]
		if i == out || f == 0 {
			continue
		}
		l.value[i] -= f * least
		for r := range other {
			other[r] -= f * row[r]
		}
	}
	l.value[out], l.cost[out] = least, cost
	l.setPrices()
	return true
}
