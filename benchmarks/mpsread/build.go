// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
)

// build makes the model of the free columns, the groups and the rows that are kept.
func (c *conversion) build() error {
	m := &ipmodel.Model{}
	c.out.Model = m
	place := c.placeColumns(m)
	if err := c.placeEntries(m, place); err != nil {
		return err
	}
	c.placeWorths(m)
	m.ColName = c.out.name
	return nil
}

// placeColumns numbers the columns group by group, and the groups by their first
// column in the file. place is a column's number in the model, or -1.
func (c *conversion) placeColumns(m *ipmodel.Model) (place []int32) {
	number := make([]int32, c.groups) // of each group, in the order of the model
	for g := range number {
		number[g] = -1
	}
	members := []int32{}
	groups := int32(0)
	for i := range c.cols {
		if c.state[i] != columnFree {
			continue
		}
		members = append(members, int32(i))
		if g := c.group[i]; number[g] < 0 {
			number[g] = groups
			groups++
		}
	}
	slices.SortStableFunc(members, func(a, b int32) int {
		return cmp.Compare(number[c.group[a]], number[c.group[b]])
	})
	place = make([]int32, len(c.cols))
	for i := range place {
		place[i] = -1
	}
	if c.need > 0 {
		m.Required = make([]bool, groups)
	}
	for k, i := range members {
		place[i] = int32(k)
		g := number[c.group[i]]
		if int(g) == len(m.GroupStart) {
			m.GroupStart = append(m.GroupStart, int32(k))
		}
		if c.group[i] < c.need {
			m.Required[g] = true
		}
	}
	m.GroupStart = append(m.GroupStart, int32(len(members)))
	c.out.position = members
	for _, i := range members {
		c.out.name = append(c.out.name, c.cols[i].name)
		c.out.value = append(c.out.value, c.cols[i].objective)
	}
	return place
}

// placeEntries transposes the kept rows into the model.
func (c *conversion) placeEntries(m *ipmodel.Model, place []int32) error {
	count := make([]int32, len(c.out.name)+1)
	for r := range c.row {
		if !c.row[r].keep {
			continue
		}
		m.Cap = append(m.Cap, c.row[r].hi)
		m.RowName = append(m.RowName, c.rows[r].name)
		cols, coefs := c.keptEntries(r)
		for k, i := range cols {
			if coefs[k] > math.MaxInt32 {
				return c.tooWide(int(i), int32(r))
			}
			count[place[i]+1]++
		}
	}
	for k := range c.out.name {
		count[k+1] += count[k]
	}
	m.ColStart = slices.Clone(count)
	m.Row = make([]int32, count[len(c.out.name)])
	m.Coef = make([]int32, len(m.Row))
	row := int32(0)
	for r := range c.row {
		if !c.row[r].keep {
			continue
		}
		cols, coefs := c.keptEntries(r)
		for k, i := range cols {
			at := &count[place[i]]
			m.Row[*at], m.Coef[*at] = row, int32(coefs[k])
			*at++
		}
		row++
	}
	return nil
}

// keptEntries are a row's entries after compact.
func (c *conversion) keptEntries(r int) (cols []int32, coefs []int64) {
	cols, coefs = c.rowEntries(r)
	if n := slices.Index(cols, -1); n >= 0 {
		return cols[:n], coefs[:n]
	}
	return cols, coefs
}

// placeWorths scales the gains to integers by a power of ten: 1 where that is
// exact and fits, else the one that makes them integers, else the greatest that fits.
func (c *conversion) placeWorths(m *ipmodel.Model) {
	p := c.out
	least := c.leastGains(m)
	for _, d := range least {
		p.shift = p.shift.plus(d)
	}
	worth := func(i int32, g int) decimal {
		w := c.gain(int(p.position[i]))
		if d := least[g]; d.sign() != 0 {
			w = w.plus(d.negate())
		}
		return w
	}
	natural := int32(math.MaxInt32)
	eachColumn(m, func(i int32, g int) {
		if w := worth(i, g); w.sign() != 0 {
			natural = min(natural, w.exp)
		}
	})
	if natural == math.MaxInt32 {
		natural = 0
	}
	total := new(big.Int)
	for g := range m.Groups() {
		most := decimal{}
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			if w := worth(i, g); w.compare(most) > 0 {
				most = w
			}
		}
		total.Add(total, most.bigAt(natural))
	}
	// Rounding adds less than 1 a group.
	limit := big.NewInt(ipmodel.MaxTotalValue - int64(m.Groups()))
	p.exponent = min(natural, 0)
	if scaled := new(big.Int).Mul(total, pow10(natural-p.exponent)); scaled.Cmp(limit) > 0 {
		p.exponent = natural
		for total.Cmp(limit) > 0 {
			total.Quo(total, big.NewInt(10))
			p.exponent++
		}
	}
	p.Exact = p.exponent <= natural
	m.Value = make([]int64, len(p.name))
	eachColumn(m, func(i int32, g int) { m.Value[i] = worth(i, g).roundAt(p.exponent) })
	c.setScale(m)
}

func eachColumn(m *ipmodel.Model, do func(i int32, g int)) {
	for g := range m.Groups() {
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			do(i, g)
		}
	}
}

// leastGains is the least gain in each required group, and 0 for the others: one
// column of a required group is chosen in any case, so that only differences count.
func (c *conversion) leastGains(m *ipmodel.Model) []decimal {
	least := make([]decimal, m.Groups())
	for g := range least {
		if !m.IsRequired(g) {
			continue
		}
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			d := c.gain(int(c.out.position[i]))
			if i == m.GroupStart[g] || d.compare(least[g]) < 0 {
				least[g] = d
			}
		}
	}
	return least
}

// roundAt is the number in units of 10^e, rounded half up; the caller knows that it fits.
func (d decimal) roundAt(e int32) int64 {
	half := decimal{mant: 5, exp: e - 1}
	return d.plus(half).floorAt(e)
}

func (c *conversion) setScale(m *ipmodel.Model) {
	p := c.out
	offset := p.constant
	if p.Sense == Minimise {
		offset = offset.negate()
	}
	m.Scale = math.Pow10(int(-p.exponent))
	m.Offset, _ = offset.plus(p.shift).rat().Float64()
}

// inFileOrder sorts columns of the model by their place in the file.
func (p *File) inFileOrder(chosen []int32) []int32 {
	sorted := slices.Clone(chosen)
	slices.SortFunc(sorted, func(a, b int32) int { return cmp.Compare(p.position[a], p.position[b]) })
	return sorted
}
