// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"slices"
)

// Limits of further resources.
const (
	// MaxResources is how many further resources a machine may have.
	MaxResources = 64
	// MaxAmount is the most that a node may have of a resource, and that an allocation may take per
	// node, core or GPU, in the caller's units.
	MaxAmount = 1<<31 - 1
)

// Use is how much an allocation takes of a row: a further resource of the nodes, or a quota. It
// takes PerJob once (quotas only), PerNode on each of its nodes, PerCore for each core and PerGPU
// for each GPU, in the row's units. A GPU of one type is a GPU that uses 1 of a resource of that
// name.
type Use struct {
	Row     int   `json:"-"` // its number: AddResource's, or that of the quota
	PerJob  int64 `json:"per_job,omitempty"`
	PerNode int64 `json:"per_node,omitempty"`
	PerCore int64 `json:"per_core,omitempty"`
	PerGPU  int64 `json:"per_gpu,omitempty"`
}

// Of returns what a node gives of the resource together with so many cores and GPUs.
func (u Use) Of(cores uint16, gpus uint8) int64 {
	return u.PerNode + u.PerCore*int64(cores) + u.PerGPU*int64(gpus)
}

// Uses are what an allocation takes of rows, by ascending Row; nil means nothing.
type Uses []Use

// check reports the first fault of uses of further resources. It is a row that does not ascend or
// is not there, or an amount that is negative or above MaxAmount.
func (u Uses) check(resources int) error {
	return u.CheckRows("resource", resources, Use{PerNode: MaxAmount, PerCore: MaxAmount, PerGPU: MaxAmount})
}

// CheckRows returns an error if rows do not ascend, are not below rows, or if an amount is negative
// or above that of most. name is for the error.
func (u Uses) CheckRows(name string, rows int, most Use) error {
	last := -1
	for _, x := range u {
		if x.Row < 0 || x.Row >= rows {
			return fmt.Errorf("%s %d of %d", name, x.Row, rows)
		}
		if x.Row <= last {
			return fmt.Errorf("%s %d comes after %s %d: must ascend", name, x.Row, name, last)
		}
		last = x.Row
		if amount, limit, over := x.beyond(most); over {
			return fmt.Errorf("%s %d: %d: must be 0 to %d", name, x.Row, amount, limit)
		}
	}
	return nil
}

// beyond is the first amount that is negative or above that of most.
func (u Use) beyond(most Use) (amount, limit int64, over bool) {
	limits := [...]int64{most.PerJob, most.PerNode, most.PerCore, most.PerGPU}
	for i, x := range [...]int64{u.PerJob, u.PerNode, u.PerCore, u.PerGPU} {
		if x < 0 || x > limits[i] {
			return x, limits[i], true
		}
	}
	return 0, 0, false
}

// AddResource adds a resource of which node n has total[n], all free, and returns its number, from
// 0. total is copied. It returns an error if the name exists, if len(total) is not the number of
// nodes, and beyond MaxResources and MaxAmount.
func (t *Table) AddResource(name string, total []int64) (number int, err error) {
	if slices.ContainsFunc(t.more, func(r resource) bool { return r.name == name }) {
		return 0, fmt.Errorf("resource %s: there are two", name)
	}
	if len(total) != t.Len() || len(t.more) == MaxResources {
		return 0, fmt.Errorf("resource %s: %d numbers for %d nodes, at most %d resources",
			name, len(total), t.Len(), MaxResources)
	}
	for n, amount := range total {
		if amount < 0 || amount > MaxAmount {
			return 0, fmt.Errorf("resource %s: node %d: %d must be 0 to %d", name, n, amount, MaxAmount)
		}
	}
	t.more = append(t.more[:len(t.more):len(t.more)], resource{name, slices.Clone(total), slices.Clone(total)})
	return len(t.more) - 1, nil
}

// Resources returns the number of further resources.
func (t *Table) Resources() int { return len(t.more) }

// ResourceName returns the name of resource r. It panics if r is out of range.
func (t *Table) ResourceName(r int) string { return t.more[r].name }

// TotalOf returns what each node has in total of resource r. The table owns the slice: do not
// change it, and do not use it after the table's next change.
func (t *Table) TotalOf(r int) []int64 { return t.more[r].total }

// FreeOf returns what each node has free of resource r, on the terms of TotalOf.
func (t *Table) FreeOf(r int) []int64 { return t.more[r].free }

// SetFreeOf sets what node n has free of resource r. It returns an error if amount is negative or
// exceeds the total, or if n or r is out of range.
func (t *Table) SetFreeOf(r, n int, amount int64) error {
	if err := t.check(n); err != nil {
		return err
	}
	if r < 0 || r >= len(t.more) {
		return fmt.Errorf("there is no resource %d of %d", r, len(t.more))
	}
	if r == t.shared.resource-1 {
		return fmt.Errorf("%s are shares of GPUs: see SetBin", t.more[r].name)
	}
	if x := &t.more[r]; amount < 0 || amount > x.total[n] {
		return fmt.Errorf("node %d: %d %s free of %d", n, amount, x.name, x.total[n])
	}
	t.more[r].free[n] = amount
	return nil
}

// addOf gives what segs use of further resources back, sign being 1, or takes it, -1.
func (t *Table) addOf(segs []Segment, uses Uses, sign int64) {
	for _, u := range uses {
		if u.Row == t.shared.resource-1 {
			continue // see addShare
		}
		free := t.more[u.Row].free
		for _, s := range segs {
			amount := sign * u.Of(s.Cores, s.GPUs)
			for n := s.First; n <= s.Last; n++ {
				free[n] += amount
			}
		}
	}
}

// Limit returns the part of c for which amount of the resource suffices, for a request of at least
// gpus GPUs. See Table.LimitFrom.
func (u Use) Limit(c Capacity, amount int64, gpus int) Capacity {
	left := amount - u.PerNode
	if left < 0 { // nothing but more GPUs for who is there already
		left, c.Cores = amount, 0
	}
	if left < u.PerGPU*int64(c.GPUs) { // mostly there is enough, and no need to divide
		c.GPUs = uint8(left / u.PerGPU)
	}
	if left -= u.PerGPU * int64(gpus); u.PerCore > 0 && left < u.PerCore*int64(c.Cores) {
		c.Cores = uint16(max(left, 0) / u.PerCore)
	}
	return c
}

// setLeastOf is SetLeast for the further resources.
func (t *Table) setLeastOf(first, last int, a, b *Table) {
	for r := range t.more {
		if r == t.shared.resource-1 {
			continue
		}
		x, y, z := t.more[r].free, a.more[r].free, b.more[r].free
		for n := first; n <= last; n++ {
			x[n] = min(y[n], z[n])
		}
	}
}

// copyResources makes t's further resources a copy of o's.
func (t *Table) copyResources(o *Table) {
	for cap(t.more) < len(o.more) {
		t.more = append(t.more[:cap(t.more)], resource{})
	}
	t.more = t.more[:len(o.more)]
	for i := range o.more {
		x := &o.more[i]
		t.more[i] = resource{x.name, x.total, append(t.more[i].free[:0], x.free...)}
	}
	t.shared.resource, t.shared.start = o.shared.resource, o.shared.start
	t.shared.left = append(t.shared.left[:0], o.shared.left...)
}
