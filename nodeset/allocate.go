// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"math/bits"
	"slices"
)

// SetFree sets what node n has free. It returns an error if that exceeds its total, or if n is out
// of range.
func (t *Table) SetFree(n int, c Capacity) error {
	if err := t.check(n); err != nil {
		return err
	}
	if c.Cores > t.total[n].Cores || c.GPUs > t.total[n].GPUs {
		return fmt.Errorf("node %d: %d cores and %d GPUs free of %d and %d", n, c.Cores, c.GPUs, t.total[n].Cores, t.total[n].GPUs)
	}
	if c != t.Free(n) {
		t.put(n, c)
		if t.shared.resource != 0 {
			t.tellShare(n)
		}
	}
	return nil
}

// Allocate subtracts an allocation and its uses from what is free. If any of it is not free, a node
// is down, or segments are invalid, it changes nothing and returns an error. Its time grows with
// the number of nodes of the allocation.
func (t *Table) Allocate(segs []Segment, uses ...Use) error {
	share, err := int64(0), CheckSegments(segs, t.Len())
	if err == nil && len(uses) > 0 {
		share, err = t.asked(uses)
	}
	if err != nil {
		return err
	}
	if len(uses) > 0 {
		for i := 0; share > 0 && i < len(segs); i++ {
			if s := segs[i]; t.lacksShare(s, share) {
				return fmt.Errorf("node %d has no GPU %d in shared use with %d shares free", s.First, s.Bin, share)
			}
		}
		if n, u, s, ok := t.lackingOf(segs, uses); ok {
			x := &t.more[u.Row]
			return fmt.Errorf("node %d has %d %s free: %d are asked for", n, x.free[n], x.name, u.Of(s.Cores, s.GPUs))
		}
	}
	if n, s, ok := t.lacking(segs); ok {
		return fmt.Errorf("node %d (up: %t) has %d cores and %d GPUs free: %d and %d are asked for",
			n, t.Up(n), t.cores[n], t.gpus[n], s.Cores, s.GPUs)
	}
	t.move(segs, uses, share, -1)
	return nil
}

// Release frees an allocation and its uses. If a node would have more free than its total, or
// segments are invalid, it changes nothing and returns an error. Nodes may be down. Its time grows
// with the number of nodes of the allocation.
func (t *Table) Release(segs []Segment, uses ...Use) error {
	share, err := int64(0), CheckSegments(segs, t.Len())
	if err == nil && len(uses) > 0 {
		share, err = t.asked(uses)
	}
	if err == nil && share > 0 {
		err = t.heldShare(segs, share)
	}
	if err != nil {
		return err
	}
	for _, s := range segs {
		for _, u := range uses {
			x, amount := &t.more[u.Row], u.Of(s.Cores, s.GPUs)
			for n := s.First; n <= s.Last && u.Row != t.shared.resource-1; n++ {
				if x.free[n]+amount > x.total[n] {
					return fmt.Errorf("node %d would have %d of %d %s free", n, x.free[n]+amount, x.total[n], x.name)
				}
			}
		}
		total := t.total[s.First : s.Last+1]
		cores, gpus := t.cores[s.First:][:len(total)], t.gpus[s.First:][:len(total)]
		for i, c := range total {
			if k, g := int(cores[i])+int(s.Cores), int(gpus[i])+int(s.GPUs); k > int(c.Cores) || g > int(c.GPUs) {
				return fmt.Errorf("node %d would have %d of %d cores and %d of %d GPUs free", int(s.First)+i, k, c.Cores, g, c.GPUs)
			}
		}
	}
	t.move(segs, uses, share, 1)
	return nil
}

// asked checks the uses of an allocation, and returns the share of a GPU that they have of each node.
func (t *Table) asked(uses Uses) (share int64, err error) {
	if err = uses.check(len(t.more)); err == nil {
		if share = t.ShareOf(uses); share > 0 {
			err = t.checkShares(uses)
		}
	}
	return share, err
}

// move takes an allocation, with sign -1, or with 1 gives it back.
func (t *Table) move(segs []Segment, uses Uses, share int64, sign int) {
	for _, s := range segs {
		t.add(s, sign)
	}
	if len(uses) > 0 {
		t.addOf(segs, uses, int64(sign))
	}
	if share > 0 {
		t.addShare(segs, share, int64(sign))
	} else if t.shared.resource != 0 {
		t.tellShares(segs)
	}
}

// FitsWith reports whether Allocate would succeed, for valid segments. If they name no bin for
// their share, it reports whether some bin would do.
func (t *Table) FitsWith(segs []Segment, uses Uses) bool {
	if share := t.ShareOf(uses); share > 0 && segs[0].Bin != 0 {
		for _, s := range segs {
			if t.lacksShare(s, share) {
				return false
			}
		}
	}
	_, _, _, few := t.lackingOf(segs, uses)
	_, _, lacks := t.lacking(segs)
	return !few && !lacks
}

// lackingOf finds the first node that has too little of a further resource, if there is one.
func (t *Table) lackingOf(segs []Segment, uses Uses) (node int32, u Use, s Segment, ok bool) {
	for _, u := range uses {
		free := t.more[u.Row].free
		for _, s := range segs {
			amount := u.Of(s.Cores, s.GPUs)
			for n := s.First; n <= s.Last; n++ {
				if free[n] < amount {
					return n, u, s, true
				}
			}
		}
	}
	return 0, Use{}, Segment{}, false
}

// lacking finds the first node that can't give what segs ask of it, if there is one.
func (t *Table) lacking(segs []Segment) (node int, s Segment, ok bool) {
	for _, s := range segs {
		if s.First == s.Last {
			if n := int(s.First); t.cores[n] < s.Cores || t.gpus[n] < s.GPUs || !t.Up(n) {
				return n, s, true
			}
			continue
		}
		if int(s.GPUs) >= len(t.level) || bits.Len16(s.Cores) > t.plane.width {
			return int(s.First), s, true
		}
		for w := int(s.First >> 6); w <= int(s.Last>>6); w++ {
			if lacks := s.within(w) &^ t.giving(w, s); lacks != 0 {
				return w<<6 + bits.TrailingZeros64(lacks), s, true
			}
		}
	}
	return 0, Segment{}, false
}

// giving are the nodes of word w that are up and have what s gives of each. A node that has no core
// free can still give what is no core.
func (t *Table) giving(w int, s Segment) uint64 {
	if s.Cores == 0 {
		return t.having[s.GPUs][w] &^ t.down[w]
	}
	return t.level[s.GPUs][w] & t.plane.atLeast(w, uint(s.Cores))
}

// add gives what s has to its nodes, sign being 1, or takes it, -1.
func (t *Table) add(s Segment, sign int) {
	cores, gpus := uint16(sign*int(s.Cores)), uint8(sign*int(s.GPUs)) // modulo their range
	if n := int(s.First); s.First == s.Last {
		t.put(n, Capacity{t.cores[n] + cores, t.gpus[n] + gpus})
		return
	}
	t.freeCores += int64(sign*s.Len()) * int64(s.Cores)
	t.freeGPUs += int64(sign*s.Len()) * int64(s.GPUs)
	c, g := t.cores[s.First:s.Last+1], t.gpus[s.First:s.Last+1]
	for i := range c {
		c[i] += cores
	}
	if gpus != 0 {
		for i := range g {
			g[i] += gpus
		}
	}
	for w := int(s.First >> 6); w <= int(s.Last>>6); w++ {
		m := s.within(w)
		t.block[w] += uint32(bits.OnesCount64(m) * sign * int(s.Cores))
		any := t.plane.add(w, m, uint(cores))
		t.addGPUs(w, m, sign*int(s.GPUs))
		t.mark(w, any)
	}
}

// addGPUs gives k GPUs to the nodes of word w that are in m, or takes -k.
func (t *Table) addGPUs(w int, m uint64, k int) {
	g, end, step := 1, len(t.having), 1
	if k > 0 {
		g, end, step = len(t.having)-1, 0, -1
	}
	for ; g != end && k != 0; g += step {
		more := uint64(0)
		if g-k < len(t.having) {
			more = t.having[max(g-k, 0)][w]
		}
		t.having[g][w] = t.having[g][w]&^m | more&m
	}
}

// SetLeast sets what nodes first to last have free to the minimum of a and b; nodes that are down
// in either are down. All tables are of the same machine, and t may be a or b.
func (t *Table) SetLeast(first, last int, a, b *Table) {
	t.setLeastShares(first, last, a, b) // which looks at the GPUs that they have
	t.setLeastOf(first, last, a, b)
	s := Segment{First: int32(first), Last: int32(last)}
	if first == last && t.Up(first) == (a.Up(first) && b.Up(first)) { // mostly: then there is no run
		t.put(first, Capacity{min(a.cores[first], b.cores[first]), min(a.gpus[first], b.gpus[first])})
		last = first - 1
	}
	for n := first; n <= last; n++ {
		t.cores[n] = min(a.cores[n], b.cores[n])
		t.gpus[n] = min(a.gpus[n], b.gpus[n])
	}
	for w := first >> 6; w <= last>>6 && first <= last; w++ {
		m := s.within(w)
		t.down[w] = t.down[w]&^m | (a.down[w]|b.down[w])&m
		t.plane.setLeast(w, m, &a.plane, &b.plane)
		cores := uint32(t.plane.sum(w, ^uint64(0)))
		t.freeCores += int64(cores) - int64(t.block[w])
		t.block[w] = cores
		for g := 1; g < len(t.having); g++ {
			was := t.having[g][w]
			having := was&^m | a.having[g][w]&b.having[g][w]&m
			t.freeGPUs += int64(bits.OnesCount64(having) - bits.OnesCount64(was))
			t.having[g][w] = having
		}
		t.mark(w, t.plane.nonzero(w))
	}
	if t.shared.resource != 0 {
		t.tellShares([]Segment{s})
	}
}

// CopyFrom makes t an independent copy of o, reusing t's memory. The zero Table
// is a valid receiver.
func (t *Table) CopyFrom(o *Table) {
	t.CopyFreeFrom(o)
	t.copyResources(o)
}

// LimitFrom sets what nodes first to last of t have free to what o, a table of the same machine,
// can give to a request. The request has these uses and at least gpus GPUs a node; t gets as many
// cores and GPUs as the further resources suffice for. A node can then serve the request if and
// only if it has the cores and GPUs free in t. This does not hold if a resource is used both by
// core and by GPU and more than gpus may be asked for. With a share of a GPU, uses by GPU count as
// 0. Other resources of t are not changed.
//
// A coreless request takes no core: t then has at least one core free on each node that can serve
// it, whatever o has.
func (t *Table) LimitFrom(o *Table, first, last int, uses Uses, gpus int, coreless bool) {
	var buf [64]Capacity
	var list [64]uint8
	t.of = o
	least := uint16(0)
	if coreless {
		gpus, least = 0, 1
	}
	share := o.ShareOf(uses) > 0 // it comes without GPUs, so nothing is taken by GPU
	byGPU := !share && slices.ContainsFunc(uses, func(u Use) bool { return u.PerGPU > 0 })
	for first <= last { // a word at a time
		end := min(last, first|63) + 1
		room, some := buf[:end-first], list[:0] // those that have anything to limit
		for i := range room {
			c := Capacity{max(o.cores[first+i], least), o.gpus[first+i]}
			if room[i] = c; c.Cores != 0 || byGPU && c.GPUs != 0 {
				some = append(some, uint8(i))
			}
		}
		for _, u := range uses {
			if coreless {
				u.PerCore = 0
			}
			if share {
				u.PerGPU = 0
			}
			amounts := o.more[u.Row].free[first:end]
			for _, i := range some {
				room[i] = u.Limit(room[i], amounts[i], gpus)
			}
		}
		t.putWord(first, room)
		first = end
	}
}

// putWord sets what nodes from first on have free, all of one word.
func (t *Table) putWord(first int, free []Capacity) {
	any, changed := uint64(0), uint64(0)
	for i, c := range free {
		if c.Cores != t.cores[first+i] || c.GPUs != t.gpus[first+i] {
			changed |= 1 << i
		}
	}
	if changed == 0 {
		return
	}
	for changed != 0 {
		from := bits.TrailingZeros64(changed)
		end := from + 1
		for end < len(free) && free[end] == free[from] { // jobs take runs of nodes
			end++
		}
		any = t.putRun(first+from, first+end-1, free[from])
		changed &^= 1<<end - 1
	}
	t.mark(first>>6, any)
}
