// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
)

// maxScaled is the greatest coefficient before a row's common factors are
// taken out, so that a row's sums need no more care than add's.
const maxScaled = 1 << 53

// conversion turns a file into a model. Its columns and rows are the file's.
type conversion struct {
	*source
	out    *File
	state  []columnState
	row    []packingRow
	scaled []int64 // the entries as integers, in units of their row
	byRow  []int32 // the entries' columns, row by row
	coef   []int64 // the entries' coefficients likewise, turned so that none is negative
	group  []int32 // of each column, -1 before it has one
	groups int32
	need   int32 // the first so many groups are required
}

type columnState byte

const (
	columnFree columnState = iota
	columnZero
	columnOne
)

// packingRow is a row as lo <= sum of coefficients <= hi over the free columns.
type packingRow struct {
	exp    int32 // its unit is 10^exp
	start  int32 // in byRow and coef; the next row's ends it
	lo, hi int64 // saturated where there is none
	fixed  int64 // the coefficients of columns fixed at 1
	keep   bool  // it limits the sum
}

func (c *conversion) convert() error {
	if err := c.scaleRows(); err != nil {
		return err
	}
	if err := c.fixColumns(); err != nil {
		return err
	}
	c.fillRows()
	if err := c.judgeRows(); err != nil {
		return err
	}
	if c.out.Infeasible == "" {
		c.dropWorthless()
		c.takeCliques()
		if err := c.build(); err != nil {
			return err
		}
	}
	if c.out.Infeasible != "" {
		c.out.setInfeasible()
	}
	return nil
}

func (p *File) setInfeasible() {
	p.Model = &ipmodel.Model{Scale: 1, GroupStart: []int32{0, 0}, Required: []bool{true}, ColStart: []int32{0}}
	p.Exact = true
	p.name, p.value, p.position, p.fixed, p.fixName = nil, nil, nil, nil, nil
}

func (c *conversion) infeasible(format string, args ...any) {
	if c.out.Infeasible == "" {
		c.out.Infeasible = fmt.Sprintf(format, args...)
	}
}

// at is an error about a row or column that was defined in another line than the last.
func (c *conversion) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", c.name, line, fmt.Sprintf(format, args...))
}

func (c *conversion) columnEntries(i int) (first, end int) {
	if i+1 < len(c.cols) {
		return c.cols[i].start, c.cols[i+1].start
	}
	return c.cols[i].start, len(c.entries)
}

// add adds without overflow; what is saturated stays so.
func add(a, b int64) int64 {
	if a >= saturated || a <= -saturated {
		return a
	}
	return max(-saturated, min(saturated, a+b))
}

// scaleRows finds each row's unit, the power of ten that makes its coefficients integers.
func (c *conversion) scaleRows() error {
	c.row = make([]packingRow, len(c.rows))
	for r := range c.row {
		c.row[r].exp = math.MaxInt16
	}
	for _, e := range c.entries {
		c.row[e.row].exp = min(c.row[e.row].exp, int32(e.exp))
	}
	c.scaled = make([]int64, len(c.entries))
	for i := range c.cols {
		for k, end := c.columnEntries(i); k < end; k++ {
			e := c.entries[k]
			v, ok := decimal{mant: e.mant, exp: int32(e.exp)}.smallAt(c.row[e.row].exp, maxScaled)
			if !ok {
				return c.tooWide(i, e.row)
			}
			c.scaled[k] = v
		}
	}
	for r := range c.row {
		if c.row[r].exp == math.MaxInt16 {
			c.row[r].exp = 0
		}
		c.row[r].lo, c.row[r].hi = c.limits(r)
	}
	return nil
}

func (c *conversion) tooWide(column int, row int32) error {
	return c.at(c.cols[column].line, "column %q, row %q: the coefficient needs more than 31 bits once the row is scaled to integers",
		c.cols[column].name, c.rows[row].name)
}

// limits are the least and greatest integers that a row's sum may be, in its unit.
func (c *conversion) limits(r int) (lo, hi int64) {
	row, exp := &c.rows[r], c.row[r].exp
	lo, hi = -saturated, saturated
	low, high := row.rhs, row.rhs
	switch {
	case !row.hasRange:
	case row.kind == 'L':
		low = low.plus(row.ranged.abs().negate())
	case row.kind == 'G':
		high = high.plus(row.ranged.abs())
	case row.ranged.sign() < 0:
		low = low.plus(row.ranged)
	default:
		high = high.plus(row.ranged)
	}
	if row.kind == 'G' || row.kind == 'E' || row.hasRange {
		lo = low.ceilAt(exp)
	}
	if row.kind == 'L' || row.kind == 'E' || row.hasRange {
		hi = high.floorAt(exp)
	}
	return lo, hi
}

// fixColumns judges the columns' bounds, and puts the columns fixed at 1 aside.
func (c *conversion) fixColumns() error {
	c.state = make([]columnState, len(c.cols))
	c.out.constant = c.rows[c.objective].rhs.negate()
	signs := c.signs()
	for i := range c.cols {
		if err := c.fixColumn(i, signs); err != nil {
			return err
		}
		if c.state[i] != columnOne {
			continue
		}
		c.out.fixed = append(c.out.fixed, int32(i))
		c.out.fixName = append(c.out.fixName, c.cols[i].name)
		c.out.constant = c.out.constant.plus(c.cols[i].objective)
		for k, end := c.columnEntries(i); k < end; k++ {
			row := &c.row[c.entries[k].row]
			row.fixed = add(row.fixed, c.scaled[k])
		}
	}
	return nil
}

// signs has a bit for each row with a positive (1) or a negative (2) coefficient.
func (c *conversion) signs() []byte {
	signs := make([]byte, len(c.rows))
	for _, e := range c.entries {
		if e.mant > 0 {
			signs[e.row] |= 1
		} else {
			signs[e.row] |= 2
		}
	}
	return signs
}

func (c *conversion) fixColumn(i int, signs []byte) error {
	col := &c.cols[i]
	if !col.integer {
		return c.at(col.line, "column %q: not a 0-1 packing model: the column is continuous", col.name)
	}
	lower, upper := col.lower, col.upper
	if !lower.set && !upper.set {
		upper = bound{value: decimal{mant: 1}}
	} else if !upper.set {
		upper = bound{infinite: true, value: decimal{mant: 1}}
	}
	if lower.value.sign() < 0 {
		return c.at(col.line, "column %q: not a 0-1 packing model: the lower bound is less than 0", col.name)
	}
	if upper.value.sign() < 0 {
		return c.at(col.line, "column %q: not a 0-1 packing model: the upper bound is less than 0", col.name)
	}
	lo, hi := saturated, saturated
	if !lower.infinite {
		lo = lower.value.ceilAt(0)
	}
	if !upper.infinite {
		hi = upper.value.floorAt(0)
	}
	switch {
	case lo > hi:
		c.infeasible("column %q: no integer lies within its bounds", col.name)
	case lo > 1:
		return c.at(col.line, "column %q: not a 0-1 packing model: the lower bound is greater than 1", col.name)
	case hi > 1 && !c.atMostOne(i, signs):
		return c.at(col.line, "column %q: not a 0-1 packing model: the column may exceed 1", col.name)
	case hi == 0:
		c.state[i] = columnZero
	case lo == 1:
		c.state[i] = columnOne
	}
	return nil
}

// atMostOne reports whether some row alone keeps a column from being 2.
func (c *conversion) atMostOne(i int, signs []byte) bool {
	for k, end := c.columnEntries(i); k < end; k++ {
		r := c.entries[k].row
		a, row := c.scaled[k], &c.row[r]
		if signs[r] == 1 && row.hi < 2*a || signs[r] == 2 && row.lo > 2*a {
			return true
		}
	}
	return false
}

// fillRows sorts the free columns' entries by row.
func (c *conversion) fillRows() {
	count := make([]int32, len(c.rows)+1)
	for i := range c.cols {
		if c.state[i] != columnFree {
			continue
		}
		for k, end := c.columnEntries(i); k < end; k++ {
			count[c.entries[k].row+1]++
		}
	}
	for r := range c.rows {
		count[r+1] += count[r]
		c.row[r].start = count[r]
	}
	c.byRow = make([]int32, count[len(c.rows)])
	c.coef = make([]int64, count[len(c.rows)])
	for i := range c.cols {
		if c.state[i] != columnFree {
			continue
		}
		for k, end := c.columnEntries(i); k < end; k++ {
			r := c.entries[k].row
			c.byRow[count[r]], c.coef[count[r]] = int32(i), c.scaled[k]
			count[r]++
		}
	}
}

// rowEntries are the columns of a row and their coefficients.
func (c *conversion) rowEntries(r int) (cols []int32, coefs []int64) {
	end := int32(len(c.byRow))
	if r+1 < len(c.row) {
		end = c.row[r+1].start
	}
	start := c.row[r].start
	return c.byRow[start:end], c.coef[start:end]
}

// judgeRows tells packing rows from those that can't be violated, the
// equations of required groups, and what is neither.
func (c *conversion) judgeRows() error {
	c.group = make([]int32, len(c.cols))
	for i := range c.group {
		c.group[i] = -1
	}
	for r := range c.rows {
		if c.rows[r].kind == 'N' {
			continue
		}
		if err := c.judgeRow(r); err != nil {
			return err
		}
	}
	c.need = c.groups
	return nil
}

func (c *conversion) judgeRow(r int) error {
	row := &c.row[r]
	cols, coefs := c.rowEntries(r)
	row.lo, row.hi = add(row.lo, -row.fixed), add(row.hi, -row.fixed)
	positive, negative := int64(0), int64(0)
	for _, a := range coefs {
		positive, negative = add(positive, max(a, 0)), add(negative, min(a, 0))
	}
	switch {
	case row.lo > positive || row.hi < negative || row.lo > row.hi:
		c.infeasible("row %q: no choice of columns satisfies it", c.rows[r].name)
		return nil
	case positive > 0 && negative < 0:
		return c.notPacking(r, "coefficients of both signs")
	case negative < 0:
		for k := range coefs {
			coefs[k] = -coefs[k]
		}
		row.lo, row.hi, positive = -row.hi, -row.lo, -negative
	}
	if row.lo > 0 {
		return c.requireOne(r, cols, coefs)
	}
	row.keep = row.hi < positive
	return nil
}

func (c *conversion) notPacking(r int, why string) error {
	return c.at(c.rows[r].line, "row %q: not a packing row: %s", c.rows[r].name, why)
}

// requireOne makes the columns of a row a required group if exactly one of them is to be chosen.
func (c *conversion) requireOne(r int, cols []int32, coefs []int64) error {
	a := coefs[0]
	for _, x := range coefs {
		if x != a {
			return c.notPacking(r, "it asks for at least so much of columns with different coefficients")
		}
	}
	least := (c.row[r].lo + a - 1) / a
	most := min(c.row[r].hi/a, int64(len(cols)))
	switch {
	case least > most:
		c.infeasible("row %q: no choice of columns satisfies it", c.rows[r].name)
		return nil
	case most > 1:
		return c.notPacking(r, fmt.Sprintf("it asks for %d to %d of %d columns, not for exactly one", least, most, len(cols)))
	}
	for _, i := range cols {
		if c.group[i] >= 0 {
			return c.notPacking(r,
				fmt.Sprintf("it asks for one of several columns, and so does another row with column %q",
					c.cols[i].name))
		}
	}
	c.take(cols)
	return nil
}

func (c *conversion) take(cols []int32) {
	for _, i := range cols {
		c.group[i] = c.groups
	}
	c.groups++
}

// gain is a column's coefficient in the objective to be maximised.
func (c *conversion) gain(i int) decimal {
	if c.sense == Maximise {
		return c.cols[i].objective
	}
	return c.cols[i].objective.negate()
}

// dropWorthless drops the columns that no best choice needs: all rows that are left only forbid.
func (c *conversion) dropWorthless() {
	for i := range c.cols {
		if c.state[i] == columnFree && c.group[i] < 0 && c.gain(i).sign() <= 0 {
			c.state[i] = columnZero
		}
	}
}

// takeCliques drops the rows that can't bind, takes out the other rows' common
// factors, makes groups of the rows that allow one column, and of each column left.
func (c *conversion) takeCliques() {
	for r := range c.row {
		if !c.row[r].keep {
			continue
		}
		cols, coefs := c.compact(r)
		if !c.row[r].keep {
			continue
		}
		if c.row[r].hi == 1 && slices.Max(coefs) == 1 && !slices.ContainsFunc(cols, func(i int32) bool { return c.group[i] >= 0 }) {
			c.take(cols)
			c.row[r].keep = false
		}
	}
	for i := range c.cols {
		if c.state[i] == columnFree && c.group[i] < 0 {
			c.group[i] = c.groups
			c.groups++
		}
	}
}

// compact removes the dropped columns from a row and divides it by its greatest common divisor.
func (c *conversion) compact(r int) (cols []int32, coefs []int64) {
	cols, coefs = c.rowEntries(r)
	n, divisor, sum := 0, int64(0), int64(0)
	for k, i := range cols {
		if c.state[i] != columnFree {
			continue
		}
		cols[n], coefs[n] = i, coefs[k]
		divisor, sum = gcd(divisor, coefs[n]), add(sum, coefs[n])
		n++
	}
	for k := n; k < len(cols); k++ {
		cols[k], coefs[k] = -1, 0
	}
	cols, coefs = cols[:n], coefs[:n]
	row := &c.row[r]
	if row.keep = row.hi < sum; !row.keep {
		return nil, nil
	}
	row.hi /= divisor
	for k := range coefs {
		coefs[k] /= divisor
	}
	return cols, coefs
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
