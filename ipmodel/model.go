// SPDX-License-Identifier: BSD-3-Clause

package ipmodel

import (
	"fmt"
	"math"
)

// Model is the problem: maximise the sum of Value over the chosen columns. At most one column of a
// group is chosen, exactly one of a required group. In every row the sum of the chosen columns'
// coefficients is at most its capacity.
//
// Columns are numbered from 0; the columns of one group are neighbours. All
// numbers are integers and none is negative. The zero Model has no columns and is
// valid. A Model is not modified by solvers.
type Model struct {
	// Value is the value of each column, in units of 1/Scale.
	Value []int64
	// Scale is the number of units of value in one unit of the objective. 0 counts as 1.
	Scale float64
	// Offset is added to the objective after division by Scale.
	Offset float64
	// GroupStart has an element a group and one more: the columns of group g
	// are GroupStart[g] .. GroupStart[g+1]-1.
	GroupStart []int32
	// Required has an element a group, or none at all when no group has to be served.
	Required []bool
	// ColStart has an element a column and one more: the entries of column i
	// are Row[k], Coef[k] for k in ColStart[i] .. ColStart[i+1]-1. Rows ascend
	// within a column, and coefficients are at least 1.
	ColStart []int32
	Row      []int32
	Coef     []int32
	// Cap is the capacity of each row. The groups' own rows (equation 2) are not part of it.
	Cap []int64
	// ColName and RowName are empty, or name every column and row.
	ColName, RowName []string
}

// Groups returns the number of groups.
func (m *Model) Groups() int { return max(0, len(m.GroupStart)-1) }

// IsRequired reports whether a column of group g has to be chosen.
func (m *Model) IsRequired(g int) bool { return len(m.Required) > 0 && m.Required[g] }

// Objective converts a value to the objective's unit.
func (m *Model) Objective(worth int64) float64 {
	if m.Scale == 0 {
		return float64(worth) + m.Offset
	}
	return float64(worth)/m.Scale + m.Offset
}

// MaxTotalValue bounds the sum over groups of the greatest value, so that sums and differences
// never overflow.
const MaxTotalValue = 1 << 61

// Validate returns an error if lengths do not fit, indices are out of range, numbers are negative
// or sums would overflow. Solvers reject such a model.
func (m *Model) Validate() error {
	n := len(m.Value)
	switch {
	case n == 0 && m.Groups() == 0 && len(m.Row) == 0:
		return nil
	case len(m.GroupStart) == 0 || m.GroupStart[0] != 0 || int(m.GroupStart[m.Groups()]) != n:
		return fmt.Errorf("GroupStart does not span the %d columns", n)
	case len(m.ColStart) != n+1 || m.ColStart[0] != 0 || int(m.ColStart[n]) != len(m.Row):
		return fmt.Errorf("ColStart does not span the %d entries", len(m.Row))
	case len(m.Coef) != len(m.Row):
		return fmt.Errorf("%d coefficients for %d entries", len(m.Coef), len(m.Row))
	case len(m.Required) != 0 && len(m.Required) != m.Groups():
		return fmt.Errorf("%d required flags for %d groups", len(m.Required), m.Groups())
	case len(m.ColName) != 0 && len(m.ColName) != n, len(m.RowName) != 0 && len(m.RowName) != len(m.Cap):
		return fmt.Errorf("%d column and %d row names for %d columns and %d rows", len(m.ColName), len(m.RowName), n, len(m.Cap))
	}
	if math.IsNaN(m.Scale) || m.Scale < 0 || math.IsInf(m.Scale, 0) {
		return fmt.Errorf("scale %v", m.Scale)
	}
	for r, c := range m.Cap {
		if c < 0 {
			return fmt.Errorf("row %d: capacity %d is negative", r, c)
		}
	}
	return m.validateColumns()
}

func (m *Model) validateColumns() error {
	var total int64
	for g := range m.Groups() {
		if m.GroupStart[g+1] < m.GroupStart[g] || int(m.GroupStart[g+1]) > len(m.Value) {
			return fmt.Errorf("group %d ends before it starts or beyond the last column", g)
		}
		var most int64
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			if m.Value[i] < 0 || m.Value[i] > MaxTotalValue {
				return fmt.Errorf("column %d: worth %d is outside 0-%d", i, m.Value[i], int64(MaxTotalValue))
			}
			most = max(most, m.Value[i])
		}
		if total += most; total > MaxTotalValue {
			return fmt.Errorf("the worths add up to more than %d", int64(MaxTotalValue))
		}
	}
	for i := range len(m.Value) {
		if m.ColStart[i+1] < m.ColStart[i] || int(m.ColStart[i+1]) > len(m.Row) {
			return fmt.Errorf("column %d ends before it starts or beyond the last entry", i)
		}
		prev := int32(-1)
		for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
			if m.Row[k] <= prev || int(m.Row[k]) >= len(m.Cap) {
				return fmt.Errorf("column %d: row %d is out of order or outside 0-%d", i, m.Row[k], len(m.Cap)-1)
			}
			if m.Coef[k] < 1 {
				return fmt.Errorf("column %d, row %d: coefficient %d is less than 1", i, m.Row[k], m.Coef[k])
			}
			prev = m.Row[k]
		}
	}
	return nil
}

// Check returns the value of a solution, or an error that names the first group or row that is
// violated. It shares nothing with the solvers, and is slow.
func (m *Model) Check(chosen []int32) (worth int64, err error) {
	used := make(map[int32]int64)
	taken := make([]int, m.Groups())
	for _, i := range chosen {
		if i < 0 || int(i) >= len(m.Value) {
			return 0, fmt.Errorf("column %d is outside 0-%d", i, len(m.Value)-1)
		}
		for g := range taken {
			if m.GroupStart[g] <= i && i < m.GroupStart[g+1] {
				taken[g]++
			}
		}
		worth += m.Value[i]
		for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
			used[m.Row[k]] += int64(m.Coef[k])
		}
	}
	for g, t := range taken {
		if t > 1 || (t == 0 && m.IsRequired(g)) {
			return 0, fmt.Errorf("group %d has %d chosen columns (required: %t)", g, t, m.IsRequired(g))
		}
	}
	for r, u := range used {
		if u > m.Cap[r] {
			return 0, fmt.Errorf("row %d: %d of %d used", r, u, m.Cap[r])
		}
	}
	return worth, nil
}
