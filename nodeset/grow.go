// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"slices"
)

// Append adds nodes behind the last one, up and free, and returns the number of the first of them.
// What is known of the others stays. It fails, and changes nothing, for more than MaxNodes in all.
// Time is in the number of nodes of the table; copies of it are not touched. The zero Table is a
// valid receiver.
func (t *Table) Append(nodes ...Capacity) (first int, err error) {
	first = t.Len()
	if len(nodes) == 0 {
		return first, nil
	}
	grown, err := New(append(slices.Clone(t.total), nodes...))
	if err != nil {
		return 0, err
	}
	for n := range first {
		grown.set(n, t.Free(n), t.Up(n))
	}
	grown.growResources(t)
	*t = *grown
	return first, nil
}

// SetTotal sets what node n has in all. What is held there stays held: the change is to what is
// free. It fails, and changes nothing, if more is held than c, or if there is no node n. Time is in
// the number of nodes of the table; copies of it are not touched.
func (t *Table) SetTotal(n int, c Capacity) error {
	if err := t.check(n); err != nil {
		return err
	}
	cores, gpus := t.total[n].Cores-t.cores[n], t.total[n].GPUs-t.gpus[n]
	if cores > c.Cores || gpus > c.GPUs {
		return fmt.Errorf("node %d: %d cores and %d GPUs are held, more than %d and %d",
			n, cores, gpus, c.Cores, c.GPUs)
	}
	for bin := BinsOf(int(c.GPUs)) + 1; bin <= t.Bins(n); bin++ {
		if _, inUse := t.BinFree(n, uint8(bin)); inUse {
			return fmt.Errorf("node %d: GPU %d in shared use is not of %d GPUs", n, bin, c.GPUs)
		}
	}
	total := slices.Clone(t.total)
	total[n] = c
	changed, err := New(total)
	if err != nil {
		return err
	}
	for i := range total {
		if i != n {
			changed.set(i, t.Free(i), t.Up(i))
		}
	}
	changed.set(n, Capacity{c.Cores - cores, c.GPUs - gpus}, t.Up(n))
	changed.growResources(t)
	*t = *changed
	return nil
}

// set sets what node n has free, and whether it is up.
func (t *Table) set(n int, free Capacity, up bool) {
	if free != t.total[n] {
		t.mark(n>>6, t.put(n, free))
	}
	if !up {
		t.SetUp(n, false)
	}
}

// check reports a number that is no node's.
func (t *Table) check(n int) error {
	if n < 0 || n >= t.Len() {
		return fmt.Errorf("node %d is outside 0-%d", n, t.Len()-1)
	}
	return nil
}
