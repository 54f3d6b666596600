// SPDX-License-Identifier: BSD-3-Clause

package native

// solution is a feasible solution of columns and what it leaves.
type solution struct {
	pick    []int32 // by group: column, or -1
	slack   []int64 // by row
	value   int64
	missing int // required groups without a column
}

func (c *solution) clear(p *problem) {
	c.pick = c.pick[:0]
	c.missing = 0
	for g := range p.groups() {
		c.pick = append(c.pick, -1)
		if p.required[g] {
			c.missing++
		}
	}
	c.slack = append(c.slack[:0], p.cap...)
	c.value = 0
}

func (c *solution) copyFrom(o *solution) {
	c.pick = append(c.pick[:0], o.pick...)
	c.slack = append(c.slack[:0], o.slack...)
	c.value, c.missing = o.value, o.missing
}

// better reports whether c beats o: fewer required groups missing, then more worth.
func (c *solution) better(o *solution) bool {
	if c.missing != o.missing {
		return c.missing < o.missing
	}
	return c.value > o.value
}

// fits reports whether column i fits into what is left.
func (c *solution) fits(p *problem, i int32) bool {
	for k := p.col[i]; k < p.col[i+1]; k++ {
		if p.coef[k] > c.slack[p.row[k]] {
			return false
		}
	}
	return true
}

func (c *solution) add(p *problem, i int32) {
	g := p.group[i]
	c.pick[g] = i
	c.value += p.worth[i]
	if p.required[g] {
		c.missing--
	}
	for k := p.col[i]; k < p.col[i+1]; k++ {
		c.slack[p.row[k]] -= p.coef[k]
	}
}

// drop takes out the column of group g, if it has one.
func (c *solution) drop(p *problem, g int32) {
	i := c.pick[g]
	if i < 0 {
		return
	}
	c.pick[g] = -1
	c.value -= p.worth[i]
	if p.required[g] {
		c.missing++
	}
	for k := p.col[i]; k < p.col[i+1]; k++ {
		c.slack[p.row[k]] += p.coef[k]
	}
}

// typicalWorth is what a chosen column is worth on average, each weighted by its worth:
// where few are worth most of the whole, what one of these is worth.
func (c *solution) typicalWorth(p *problem) float64 {
	squares := 0.0
	for _, i := range c.pick {
		if i >= 0 {
			w := float64(p.worth[i])
			squares += float64(w * w)
		}
	}
	return squares / float64(max(c.value, 1))
}
