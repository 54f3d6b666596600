// SPDX-License-Identifier: BSD-3-Clause

package native

// cutPool holds cutting planes: sum of coef*x <= right over the columns, in whole
// numbers, so that a bound that uses them is proven in integers. For the simplex
// method they are divided by cutUnit.
type cutPool struct {
	n     int
	coef  []int32 // by cut and column
	rhs   []int64
	size  []int64   // most that the cut can add to the sizes of a proof's sums
	right []float64 // rhs / cutUnit
	atKey []float64 // by cut and group: the coefficient of the column in keyOf
	keyOf []int32   // by cut and group: -1 if none
	index []int32   // the columns with a coefficient, cut by cut
	first []int32   // by cut: first of index, and one more
}

const (
	cutBits      = 20
	cutUnit      = 1 << cutBits // greatest coefficient of a cut
	maxCuts      = 256
	maxCutMemory = 1 << 22 // coefficients
)

func (c *cutPool) clear(n int) {
	c.n = n
	c.coef, c.rhs, c.right, c.size = c.coef[:0], c.rhs[:0], c.right[:0], c.size[:0]
	c.index, c.first = c.index[:0], append(c.first[:0], 0)
	c.keyOf, c.atKey = c.keyOf[:0], c.atKey[:0]
}

func (c *cutPool) count() int { return len(c.rhs) }

func (c *cutPool) full() bool {
	return c.count() >= maxCuts || len(c.coef)+c.n > maxCutMemory
}

// at is the coefficient of variable v, 0 where v is no column.
func (c *cutPool) at(cut int, v int32) float64 {
	if int(v) >= c.n {
		return 0
	}
	return float64(c.coef[cut*c.n+int(v)]) / cutUnit
}

// addTo adds f times a cut to v and returns the number of its entries.
func (c *cutPool) addTo(v []float64, cut int, f float64) int {
	f /= cutUnit
	row := c.coef[cut*c.n : (cut+1)*c.n]
	index := c.index[c.first[cut]:c.first[cut+1]]
	for _, i := range index {
		v[i] += float64(f * float64(row[i]))
	}
	return len(index)
}

// atKeys are the coefficients of the groups' keys in a cut.
func (c *cutPool) atKeys(cut int, key []int32) []float64 {
	from, to := cut*len(key), (cut+1)*len(key)
	for len(c.keyOf) < to {
		c.keyOf, c.atKey = append(c.keyOf, -1), append(c.atKey, 0)
	}
	of, at := c.keyOf[from:to], c.atKey[from:to]
	for g, k := range key {
		if of[g] != k {
			of[g], at[g] = k, c.at(cut, k)
		}
	}
	return at
}

// addWhole adds u times a cut to v.
func (c *cutPool) addWhole(v []int64, cut int, u int64) {
	row := c.coef[cut*c.n : (cut+1)*c.n]
	for _, i := range c.index[c.first[cut]:c.first[cut+1]] {
		v[i] += u * int64(row[i])
	}
}

// add appends a cut. size bounds what a unit of its price can add to, or take from,
// the sum over groups of worths net of prices.
func (c *cutPool) add(coef []int32, rhs, size int64) {
	c.size = append(c.size, size)
	for i, a := range coef {
		if a != 0 {
			c.index = append(c.index, int32(i))
		}
	}
	c.first = append(c.first, int32(len(c.index)))
	c.coef = append(c.coef, coef...)
	c.rhs = append(c.rhs, rhs)
	c.right = append(c.right, float64(rhs)/cutUnit)
}

// keep drops the cuts that stay does not hold for, and tells moved each other's new number.
func (c *cutPool) keep(stay func(cut int) bool, moved func(from, to int)) {
	to := 0
	from := c.first[0]
	for cut := range c.count() {
		end := c.first[cut+1]
		if stay(cut) {
			copy(c.coef[to*c.n:(to+1)*c.n], c.coef[cut*c.n:(cut+1)*c.n])
			c.rhs[to], c.right[to], c.size[to] = c.rhs[cut], c.right[cut], c.size[cut]
			k := copy(c.index[c.first[to]:], c.index[from:end])
			c.first[to+1] = c.first[to] + int32(k)
			moved(cut, to)
			to++
		}
		from = end
	}
	c.coef, c.rhs, c.right, c.size = c.coef[:to*c.n], c.rhs[:to], c.right[:to], c.size[:to]
	c.first = c.first[:to+1]
	c.index = c.index[:c.first[to]]
	c.keyOf, c.atKey = c.keyOf[:0], c.atKey[:0]
}
