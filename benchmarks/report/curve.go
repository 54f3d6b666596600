// SPDX-License-Identifier: BSD-3-Clause

package report

// curve is a quantity over time, as its integral over each of equal spans of whole
// seconds: unlike samples, nothing of it is lost however many jobs there are.
type curve struct {
	origin, step int64
	area         []int64 // unit seconds of each span
	diff         []int64 // change from the span before, of what lasts for all of the span
}

// newCurve covers origin..end with at most spans spans, of a length that clocks know.
func newCurve(origin, end int64, spans int) *curve {
	length := max(end-origin, 1)
	step := roundSeconds((length + int64(spans) - 1) / int64(spans))
	n := (length + step - 1) / step
	return &curve{origin: origin, step: step, area: make([]int64, n), diff: make([]int64, n+1)}
}

// add adds units from one time to another, both within the curve.
func (c *curve) add(from, to, units int64) {
	if from == to {
		return
	}
	from, to = from-c.origin, to-c.origin
	first, last := from/c.step, to/c.step
	if first == last {
		c.area[first] += (to - from) * units
		return
	}
	c.area[first] += ((first+1)*c.step - from) * units
	c.diff[first+1] += units
	c.diff[last] -= units
	if rest := to - last*c.step; rest > 0 {
		c.area[last] += rest * units
	}
}

// areas are the integrals over the spans, in unit seconds.
func (c *curve) areas() []int64 {
	out := make([]int64, len(c.area))
	steady := int64(0)
	for i := range out {
		steady += c.diff[i]
		out[i] = c.area[i] + steady*c.step
	}
	return out
}

// roundSeconds is the next round number of seconds, minutes, hours or days.
func roundSeconds(s int64) int64 {
	for _, r := range []int64{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200} {
		if s <= r {
			return r
		}
	}
	const day = 86400
	return (s + day - 1) / day * day
}
