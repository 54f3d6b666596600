// SPDX-License-Identifier: BSD-3-Clause

package timeline

import "slices"

// MaxKinds is how many kinds of resources there are at most. The first is what jobs may ask for in
// all, as cores.
const MaxKinds = 6

// snap is by which part of the way ahead the end of a job may be put off to that of another, so that
// there are fewer steps than jobs.
const snap = 16

// table is what nodes have free, from some moments on: its steps.
type table struct {
	words, kinds int
	at           []int64  // seconds, ascending
	slots        []int32  // by step: where the following have it
	lanes        []uint64 // by slot, kind, and word
	sums         []int    // by slot and kind: what all nodes have
}

// reset leaves one step, at which nothing is free.
func (t *table) reset(now int64, nodes, kinds int) {
	t.words, t.kinds = (nodes+perWord-1)/perWord, kinds
	t.at, t.slots = append(t.at[:0], now), append(t.slots[:0], 0)
	t.lanes = append(t.lanes[:0], make([]uint64, kinds*t.words)...)
	t.sums = append(t.sums[:0], make([]int, kinds)...)
}

func (t *table) copyFrom(o *table) {
	t.words, t.kinds = o.words, o.kinds
	t.at, t.slots = append(t.at[:0], o.at...), append(t.slots[:0], o.slots...)
	t.lanes, t.sums = append(t.lanes[:0], o.lanes...), append(t.sums[:0], o.sums...)
}

// row is what the nodes have of a kind at step i.
func (t *table) row(i, kind int) []uint64 {
	from := (int(t.slots[i])*t.kinds + kind) * t.words
	return t.lanes[from : from+t.words : from+t.words]
}

// sumsAt is what all nodes have at step i, by kind.
func (t *table) sumsAt(i int) []int {
	from := int(t.slots[i]) * t.kinds
	return t.sums[from : from+t.kinds]
}

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
	i, ok := stepAt(t.at, i, end)
	if ok {
		return i
	}
	from, size := int(t.slots[i-1]), t.kinds*t.words
	t.at, t.slots = slices.Insert(t.at, i, end), slices.Insert(t.slots, i, int32(len(t.slots)))
	t.lanes = append(t.lanes, t.lanes[from*size:(from+1)*size]...)
	t.sums = append(t.sums, t.sums[from*t.kinds:(from+1)*t.kinds]...)
	return i
}

// stepAt is where of at, from step i on, that is. It reports false if there is none yet.
func stepAt(at []int64, i int, end int64) (step int, ok bool) {
	latest := end + (end-at[0])/snap
	for i < len(at) && at[i] < end {
		i++
	}
	return i, i < len(at) && at[i] <= latest
}

// A lane is 16 bits of a word, of which the highest is 0. A word has those of four nodes.
const (
	laneBits = 16
	perWord  = 64 / laneBits
	// Top is the greatest amount of a lane.
	Top  = 1<<(laneBits-1) - 1
	high = 0x8000800080008000 // the highest bits of the lanes
	ones = 0x0001000100010001 // the lowest
	even = 0x0000FFFF0000FFFF // every other lane
)

// spread has x in all lanes.
func spread(x uint16) uint64 { return uint64(x) * ones }

// lane is the lane of a node.
func lane(words []uint64, node int) uint16 {
	return uint16(words[node/perWord] >> (node % perWord * laneBits))
}

// atLeast has the highest bit of each lane in which x is y or more.
func atLeast(x, y uint64) uint64 { return ((x | high) - y) & high }

// full has all bits of the lanes of which m has the highest.
func full(m uint64) uint64 { return m >> (laneBits - 1) * (1<<laneBits - 1) }

// rest has all but the highest bits of the lanes of which m has the highest.
func rest(m uint64) uint64 { return m - m>>(laneBits-1) }

// least is the lesser of x and y in each lane.
func least(x, y uint64) uint64 {
	m := full(atLeast(x, y))
	return y&m | x&^m
}

// sum adds up the lanes.
func sum(x uint64) int {
	x = x&even + x>>laneBits&even
	return int(x&(1<<32-1) + x>>32)
}
