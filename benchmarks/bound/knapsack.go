// SPDX-License-Identifier: BSD-3-Clause

package bound

// line are the pieces of a class with as many GPUs. One with c cores is worth
// base + each x c.
type line struct {
	least, most, gpus int // cores, both included
	rate              int64
	node, core        int // rows; core is -1 where cores are not priced
	base, each        int64
}

// knapsack finds the most that pieces on a node are worth, for every number of cores and
// GPUs of a node at once.
type knapsack struct {
	wide, deep int // cores and GPUs, and 1 more
	lines      []line
	best       []int64 // by state: cores x deep + GPUs
	choice     []pick  // of each state: what goes in first
	// rest is, of each line and number of GPUs, the number of cores that is best left to
	// the others, as the states go by.
	rest []int
}

// pick is a piece of a line, or one of those below.
type pick struct{ line, cores int32 }

// A state may leave a core or a GPU idle, or all that there is.
const (
	idleCore = -1
	idleGPU  = -2
	nothing  = -3
)

func newKnapsack(m *machine, s *classes) *knapsack {
	k := &knapsack{wide: m.widest + 1, deep: m.deepest + 1}
	for i, c := range s.list {
		node, core := s.rowsOf(i)
		for gpus := c.low; gpus <= min(c.high, m.deepest); gpus++ {
			k.lines = append(k.lines, line{least: c.least, most: c.most, gpus: gpus, rate: c.rate(gpus), node: node, core: core})
		}
	}
	k.best, k.choice = make([]int64, k.wide*k.deep), make([]pick, k.wide*k.deep)
	k.rest = make([]int, len(k.lines)*k.deep)
	return k
}

// work is about the number of steps of fill.
func (k *knapsack) work() int { return k.wide * k.deep * len(k.lines) }

// fill finds the best patterns at prices that are not negative.
func (k *knapsack) fill(prices []int64) {
	for i := range k.lines {
		l := &k.lines[i]
		if l.base = l.rate * prices[l.node]; l.core >= 0 {
			l.each = l.rate * prices[l.core]
		}
	}
	for c := range k.wide {
		for g := range k.deep {
			k.state(c, g)
		}
	}
}

func (k *knapsack) state(c, g int) {
	at := c*k.deep + g
	best, choice := int64(0), pick{line: nothing}
	if c > 0 && k.best[at-k.deep] > best {
		best, choice = k.best[at-k.deep], pick{line: idleCore}
	}
	if g > 0 && k.best[at-1] > best {
		best, choice = k.best[at-1], pick{line: idleGPU}
	}
	for i := range k.lines {
		l := &k.lines[i]
		if l.least > c || l.gpus > g {
			continue
		}
		rest := k.leave(i, c, g)
		if w := l.base + l.each*int64(c-rest) + k.best[rest*k.deep+g-l.gpus]; w > best {
			best, choice = w, pick{int32(i), int32(c - rest)}
		}
	}
	k.best[at], k.choice[at] = best, choice
}

// leave is how many of c cores are best left to others by a piece of line i; it is asked
// of every c from the line's least on in turn. The greatest of the window of choices moves
// along with c, and is only looked for anew when it leaves the window.
func (k *knapsack) leave(i, c, g int) int {
	l := &k.lines[i]
	low, high := max(c-l.most, 0), c-l.least
	gain := func(rest int) int64 { return k.best[rest*k.deep+g-l.gpus] - l.each*int64(rest) }
	at := &k.rest[i*k.deep+g]
	switch {
	case high == 0 || high == low || gain(high) >= gain(*at):
		*at = high
	case *at < low:
		*at = low
		for rest := low + 1; rest <= high; rest++ {
			if gain(rest) >= gain(*at) {
				*at = rest
			}
		}
	}
	return *at
}

// value is what the best pattern on a node is worth.
func (k *knapsack) value(cores, gpus int) int64 { return k.best[cores*k.deep+gpus] }

// pattern adds up what a node with the best pattern does a second, by rows.
func (k *knapsack) pattern(cores, gpus int, column []float64) {
	for {
		p := k.choice[cores*k.deep+gpus]
		switch p.line {
		case nothing:
			return
		case idleCore:
			cores--
		case idleGPU:
			gpus--
		default:
			l := &k.lines[p.line]
			column[l.node] += float64(l.rate)
			if l.core >= 0 {
				column[l.core] += float64(l.rate * int64(p.cores))
			}
			cores, gpus = cores-int(p.cores), gpus-l.gpus
		}
	}
}
