// SPDX-License-Identifier: BSD-3-Clause

package timeline

import (
	"math/bits"
	"slices"
)

// Job is one that waits, and what it asks for, in units of lanes.
type Job struct {
	// Nodes is how many nodes it gets at least, from 1. Each has Per of each kind free at least,
	// and gives that, if All is 0.
	Nodes int
	Per   [MaxKinds]uint16
	// All is how much of the first kind its nodes give together: Nodes or more of them, Per to Most
	// each. Rate is what they give of other kinds for each unit of that beyond Per.
	All  int
	Most uint16
	Rate [MaxKinds]uint16
	// Contiguous asks for consecutive nodes.
	Contiguous bool
	// Mask has the highest bit of the lanes of nodes that it may use; nil: all. See Lanes.
	Mask []uint64
	// Length is for how many seconds it is planned to run, and Waited how many it has waited.
	Length, Waited int64
	// Width is its share of the machine, up to 1: of the resource of which that is most. Size is
	// the sum of its shares.
	Width, Size float64
	// Weight is what its wait counts.
	Weight float64

	sums    [MaxKinds]int // what it takes at least
	soonest int64         // before that second there is no room, even for it alone
}

// within reports whether the nodes of a place of the other would do for the job.
func (j *Job) within(o *Job, kinds int) bool {
	if j.Nodes > o.Nodes || j.Contiguous && !o.Contiguous || j.All > 0 && j.Most < o.Most {
		return false
	}
	for k := range kinds {
		if j.Per[k] > o.Per[k] || j.Rate[k] > o.Rate[k] || j.sums[k] > o.sums[k] {
			return false
		}
	}
	return len(j.Mask) == 0 || len(o.Mask) > 0 && &j.Mask[0] == &o.Mask[0]
}

// Lanes is a mask of nodes as Job.Mask has it, in the memory of dst.
func Lanes(dst []uint64, nodes int, has func(node int) bool) []uint64 {
	dst = append(dst[:0], make([]uint64, (nodes+perWord-1)/perWord)...)
	for n := range nodes {
		if has(n) {
			dst[n/perWord] |= 1 << (n%perWord*laneBits + laneBits - 1)
		}
	}
	return dst
}

// placer finds the nodes of one job at a time.
type placer struct {
	fit    []uint64 // highest bits of the lanes of nodes that suffice
	some   []int32  // words of fit that are not 0
	low    []uint64 // least of the first kind while the job runs, where it asks for some in all
	asked  []asked  // what each of the nodes gives at least
	amount [MaxKinds][]uint64
	sums   [MaxKinds]int
	words  []int32 // those of amount that are not 0
	// work is how many words there were to look at, those with nothing left too; what a job gets is from
	// word first to last.
	work        int64
	first, last int
}

// asked is an amount of a kind, in all lanes, and where the kind's words begin.
type asked struct {
	need uint64
	at   int
}

// fits reports whether there is room for the job from step i up to step e.
func (x *placer) fits(t *table, i, e int, j *Job) bool {
	x.asked = x.asked[:0]
	for k, per := range j.Per[:t.kinds] {
		if per > 0 || k == 0 {
			x.asked = append(x.asked, asked{spread(per), k * t.words})
		}
	}
	row, need, n := t.row(i, 0), spread(j.Per[0]), 0
	x.fit, x.some = slices.Grow(x.fit[:0], t.words)[:t.words], slices.Grow(x.some[:0], t.words)[:t.words]
	for w, has := range row {
		m := atLeast(has, need)
		if len(j.Mask) > 0 {
			m &= j.Mask[w]
		}
		x.fit[w], x.some[n] = m, int32(w)
		n += int((m | -m) >> 63)
	}
	x.some = x.some[:n]
	x.work += int64((len(x.asked) + 1) * t.words)
	if !x.narrow(t, t.slots[i], x.asked[1:], j.Nodes) {
		return false
	}
	if j.All > 0 {
		x.low = append(x.low[:0], t.row(i, 0)...)
	}
	if !x.enough(j) {
		return false
	}
	x.work += int64(len(x.some)*len(x.asked)*(e-i-1) + t.words)
	for _, slot := range t.slots[i+1 : e] {
		if !x.narrow(t, slot, x.asked, j.Nodes) {
			return false
		}
		for k := 0; j.All > 0 && k < len(x.some); k++ {
			w := x.some[k]
			x.low[w] = least(x.low[w], t.lanes[int(slot)*t.kinds*t.words+int(w)])
		}
	}
	return x.enough(j)
}

// narrow leaves of the nodes that suffice those that do in a slot too, and reports whether there are so many.
func (x *placer) narrow(t *table, slot int32, asked []asked, nodes int) bool {
	fit := x.fit
	for _, a := range asked {
		row, some, n := t.lanes[int(slot)*t.kinds*t.words+a.at:][:len(fit)], x.some, 0
		for _, w := range some { // without a branch on what they have
			m := fit[w] & ((row[w] | high) - a.need)
			fit[w], some[n] = m, w
			n += int((m | -m) >> 63)
		}
		x.some = some[:n]
	}
	if nodes -= len(x.some); nodes > 0 { // there is one at least in each
		for _, w := range x.some {
			nodes -= bits.OnesCount64(fit[w]) - 1
		}
	}
	return nodes <= 0
}

// enough reports whether the nodes that are left do, of which there are as many as it asks for.
func (x *placer) enough(j *Job) bool {
	all, most := 0, spread(j.Most)
	for w := 0; all < j.All && w < len(x.fit); w++ {
		if m := x.fit[w]; m != 0 {
			all += sum(least(x.low[w], most) & full(m))
		}
	}
	return all >= j.All && (!j.Contiguous || x.run(j) >= 0)
}

// run is the first of consecutive nodes that do; -1 if there are none.
func (x *placer) run(j *Job) int {
	nodes, all := 0, 0
	for w, m := range x.fit {
		for b := range perWord {
			n := w*perWord + b
			if m>>(b*laneBits+laneBits-1)&1 == 0 {
				nodes, all = 0, 0
				continue
			}
			nodes++
			if j.All > 0 {
				all += int(min(lane(x.low, n), j.Most))
			}
			if nodes >= j.Nodes && all >= j.All {
				return n - nodes + 1
			}
		}
	}
	return -1
}

// choose sets amount to a place from step i on where fits has found room.
func (x *placer) choose(t *table, i int, j *Job) {
	for k := range t.kinds {
		x.amount[k] = append(x.amount[k][:0], make([]uint64, t.words)...)
		x.sums[k] = 0
	}
	x.words, x.first, x.last = x.words[:0], t.words, 0
	nodes, all := j.Nodes, j.All
	if j.Contiguous {
		// where others than the first kind run short, nodes give less than was thought
		for n := x.run(j); (nodes > 0 || all > 0) && x.has(n); n++ {
			x.give(t, i, n, j, &nodes, &all)
		}
		return
	}
	// those that fit to the unit come first, and leave the others whole
	for _, exact := range [...]bool{true, false} {
		row := t.row(i, 0)
		need := spread(j.Per[0])
		for w, m := range x.fit {
			if exact {
				m &^= atLeast(row[w], need+ones)
			}
			x.fit[w] &^= m
			for ; m != 0; m &= m - 1 {
				if nodes <= 0 && all <= 0 {
					return
				}
				x.give(t, i, w*perWord+bits.TrailingZeros64(m)/laneBits, j, &nodes, &all)
			}
		}
		x.work += int64(2 * len(row))
	}
}

// has reports whether a node is one of those that suffice.
func (x *placer) has(n int) bool {
	return n < len(x.fit)*perWord && x.fit[n/perWord]>>(n%perWord*laneBits+laneBits-1)&1 == 1
}

// give has a node give what the job lacks, nodes and all of it, as far as it can.
func (x *placer) give(t *table, i, n int, j *Job, nodes, all *int) {
	first := j.Per[0]
	if j.All > 0 {
		others := max(*nodes-1, 0) * int(j.Per[0])
		first = uint16(min(int(lane(x.low, n)), int(j.Most), max(*all-others, int(j.Per[0]))))
		for k := 1; k < t.kinds; k++ {
			if r := int(j.Rate[k]); r > 0 {
				most := (int(lane(t.row(i, k), n)) - int(j.Per[k])) / r
				first = uint16(min(int(first), int(j.Per[0])+max(most, 0)))
			}
		}
	}
	w, shift, had, gives := n/perWord, n%perWord*laneBits, uint64(0), 0
	for k := range t.kinds {
		a := int(j.Per[k]) + int(j.Rate[k])*int(first-j.Per[0])
		if k == 0 {
			a = int(first)
		}
		had, gives = had|x.amount[k][w], gives+a
		x.amount[k][w] += uint64(a) << shift
		x.sums[k] += a
	}
	if had == 0 && gives > 0 {
		x.words = append(x.words, int32(w))
	}
	x.first, x.last = min(x.first, w), max(x.last, w)
	*nodes, *all = *nodes-1, *all-int(first)
}

// take has the nodes that were chosen give their amounts from step i up to step e.
func (x *placer) take(t *table, i, e int) {
	x.work += int64((e - i) * max(x.last-x.first+1, 0) * t.kinds)
	for _, slot := range t.slots[i:e] {
		for k := range t.kinds {
			if x.sums[k] == 0 {
				continue
			}
			at, amount := int(slot)*t.kinds+k, x.amount[k]
			t.sums[at] -= x.sums[k]
			row := t.lanes[at*t.words:][:len(amount)]
			for _, w := range x.words {
				left := (row[w] | high) - amount[w]
				row[w] = left & rest(left&high) // at least 0
			}
		}
	}
}
