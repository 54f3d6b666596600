// SPDX-License-Identifier: BSD-3-Clause

package timeline

// MaxKinds is how many kinds of resources there are at most. The first is what jobs may ask for in
// all, as cores.
const MaxKinds = 6

// snap is by which part of the way ahead the end of a job may be put off to that of another, lest
// there are as many steps as jobs.
const snap = 16

// table is what nodes have free, from some moments on: its steps.
type table struct {
	words, kinds int
	at           []int64  // seconds, ascending
	lanes        []uint64 // by step, kind, and word
	sums         []int    // by step and kind: what all nodes have
}

// reset leaves one step, at which nothing is free.
func (t *table) reset(now int64, nodes, kinds int) {
	t.words, t.kinds = (nodes+perWord-1)/perWord, kinds
	t.at = append(t.at[:0], now)
	t.lanes, t.sums = resize(t.lanes, kinds*t.words), resize(t.sums, kinds)
	clear(t.lanes)
	clear(t.sums)
}

func (t *table) copyFrom(o *table) {
	t.words, t.kinds = o.words, o.kinds
	t.at, t.lanes, t.sums = append(t.at[:0], o.at...), append(t.lanes[:0], o.lanes...), append(t.sums[:0], o.sums...)
}

// row is what the nodes have of a kind at step i.
func (t *table) row(i, kind int) []uint64 {
	from := (i*t.kinds + kind) * t.words
	return t.lanes[from : from+t.words : from+t.words]
}

// sumsAt is what all nodes have at step i, by kind.
func (t *table) sumsAt(i int) []int { return t.sums[i*t.kinds : (i+1)*t.kinds] }

// set says what a node has of a kind at step i.
func (t *table) set(i, node, kind int, amount uint16) {
	row, shift := t.row(i, kind), node%perWord*laneBits
	w := &row[node/perWord]
	t.sumsAt(i)[kind] += int(amount) - int(uint16(*w>>shift))
	*w = *w&^(uint64(1<<laneBits-1)<<shift) | uint64(amount)<<shift
}

// step is the step at second end, or the next one if that is not much later. There is one, made of
// the last before it, afterwards. It looks from step i on.
func (t *table) step(i int, end int64) int {
	latest := end + (end-t.at[0])/snap
	for i < len(t.at) && t.at[i] < end {
		i++
	}
	if i < len(t.at) && t.at[i] <= latest {
		return i
	}
	t.at = append(t.at, 0)
	copy(t.at[i+1:], t.at[i:])
	t.at[i] = end
	t.lanes = doubled(t.lanes, i-1, t.kinds*t.words)
	t.sums = doubled(t.sums, i-1, t.kinds)
	return i
}

// doubled has the i-th part of s, parts being so long, twice.
func doubled[T any](s []T, i, size int) []T {
	n := len(s)
	s = resize(s, n+size)
	copy(s[(i+1)*size:], s[i*size:n])
	return s
}

// take has nodes give amounts, lanes of words, of each kind from step i up to step e.
func (t *table) take(i, e int, amounts *[MaxKinds][]uint64, sums *[MaxKinds]int, first, last int) {
	for ; i < e; i++ {
		all := t.sumsAt(i)
		for k := range all {
			if sums[k] == 0 {
				continue
			}
			all[k] -= sums[k]
			row, amount := t.row(i, k)[first:last+1], amounts[k][first:last+1]
			for w := range row {
				left := (row[w] | high) - amount[w]
				row[w] = left &^ high & full(left&high) // at least 0
			}
		}
	}
}

// resize gives s a length; what it has beyond its own is anything.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}
