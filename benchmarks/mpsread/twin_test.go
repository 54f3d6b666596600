// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/aucsched/aucsched/ipmodel"
)

// textTwin is a dumb reader of small uncompressed MPS files whose every column is
// 0 or 1: it tries all choices, straight from the text, in fractions. It
// shares nothing with Read.
type textTwin struct {
	max                  bool
	objective            string
	kind                 map[string]string
	rhs, ranged, lo, hi  map[string]*big.Rat
	columns              []string
	coef                 map[[2]string]*big.Rat
	best                 *big.Rat
	bestNames, feasibles [][]string
}

func newTextTwin(text string) *textTwin {
	t := &textTwin{
		kind: map[string]string{}, rhs: map[string]*big.Rat{}, ranged: map[string]*big.Rat{},
		lo: map[string]*big.Rat{}, hi: map[string]*big.Rat{}, coef: map[[2]string]*big.Rat{},
	}
	section := ""
	for _, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) == 0 || line[0] == '*' {
			continue
		}
		if line[0] != ' ' {
			section = w[0]
			if section == "OBJSENSE" && len(w) > 1 {
				t.max = w[1] == "MAX"
			}
			continue
		}
		t.data(section, w)
	}
	t.try(nil, 0)
	return t
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func (t *textTwin) data(section string, w []string) {
	switch section {
	case "OBJSENSE":
		t.max = w[0] == "MAX"
	case "ROWS":
		t.kind[w[1]] = w[0]
		if w[0] == "N" && t.objective == "" {
			t.objective = w[1]
		}
	case "COLUMNS":
		if w[1] == "'MARKER'" {
			return
		}
		if len(t.columns) == 0 || t.columns[len(t.columns)-1] != w[0] {
			t.columns = append(t.columns, w[0])
		}
		for k := 1; k < len(w); k += 2 {
			t.coef[[2]string{w[k], w[0]}] = rat(w[k+1])
		}
	case "RHS":
		t.rhs[w[1]] = rat(w[2])
	case "RANGES":
		t.ranged[w[1]] = rat(w[2])
	case "BOUNDS":
		switch w[0] {
		case "UP":
			t.hi[w[2]] = rat(w[3])
		case "LO":
			t.lo[w[2]] = rat(w[3])
		case "FX":
			t.lo[w[2]], t.hi[w[2]] = rat(w[3]), rat(w[3])
		}
	}
}

// try completes chosen with all choices among the columns from i on.
func (t *textTwin) try(chosen []string, i int) {
	if i == len(t.columns) {
		t.judge(chosen)
		return
	}
	t.try(chosen, i+1)
	t.try(append(chosen[:len(chosen):len(chosen)], t.columns[i]), i+1)
}

func (t *textTwin) sum(row string, chosen []string) *big.Rat {
	s := new(big.Rat)
	for _, c := range chosen {
		if a := t.coef[[2]string{row, c}]; a != nil {
			s.Add(s, a)
		}
	}
	return s
}

func (t *textTwin) judge(chosen []string) {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	for _, c := range t.columns {
		x := zero
		for _, name := range chosen {
			if name == c {
				x = one
			}
		}
		if lo := t.lo[c]; lo != nil && x.Cmp(lo) < 0 {
			return
		}
		if hi := t.hi[c]; hi != nil && x.Cmp(hi) > 0 {
			return
		}
	}
	for row := range t.kind {
		if row == t.objective || t.kind[row] == "N" {
			continue
		}
		if !t.holds(row, t.sum(row, chosen)) {
			return
		}
	}
	t.feasibles = append(t.feasibles, chosen)
	value := t.sum(t.objective, chosen)
	if c := t.rhs[t.objective]; c != nil {
		value.Sub(value, c)
	}
	order := 1
	if t.best != nil {
		order = value.Cmp(t.best)
		if !t.max {
			order = -order
		}
	}
	if order > 0 {
		t.best, t.bestNames = value, nil
	}
	if order >= 0 {
		t.bestNames = append(t.bestNames, chosen)
	}
}

func (t *textTwin) holds(row string, sum *big.Rat) bool {
	rhs := t.rhs[row]
	if rhs == nil {
		rhs = new(big.Rat)
	}
	lo, hi := rhs, rhs
	if r := t.ranged[row]; r != nil {
		size := new(big.Rat).Abs(r)
		switch {
		case t.kind[row] == "L", t.kind[row] == "E" && r.Sign() < 0:
			lo = new(big.Rat).Sub(rhs, size)
		default:
			hi = new(big.Rat).Add(rhs, size)
		}
		return sum.Cmp(lo) >= 0 && sum.Cmp(hi) <= 0
	}
	switch t.kind[row] {
	case "L":
		return sum.Cmp(hi) <= 0
	case "G":
		return sum.Cmp(lo) >= 0
	}
	return sum.Cmp(lo) == 0
}

// choices calls visit with every choice of at most one column a group, exactly
// one of a required one, that Check accepts.
func choices(m *ipmodel.Model, visit func(chosen []int32, worth int64)) {
	var from func(g int, chosen []int32)
	from = func(g int, chosen []int32) {
		if g == m.Groups() {
			if worth, err := m.Check(chosen); err == nil {
				visit(chosen, worth)
			}
			return
		}
		if !m.IsRequired(g) {
			from(g+1, chosen)
		}
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			from(g+1, append(chosen[:len(chosen):len(chosen)], i))
		}
	}
	from(0, nil)
}

// bestChoices are the feasible choices of the greatest worth, which is -1 when there are none.
func bestChoices(m *ipmodel.Model) (best [][]int32, worth int64) {
	worth = -1
	choices(m, func(chosen []int32, w int64) {
		if w > worth {
			best, worth = nil, w
		}
		if w == worth {
			best = append(best, chosen)
		}
	})
	return best, worth
}

func keyOf(names []string) string { return fmt.Sprintf("%q", names) }
