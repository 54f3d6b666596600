// SPDX-License-Identifier: BSD-3-Clause

package timeline

import "slices"

// alike plans jobs that ask for the same of one node each. How many have room is all that counts: that
// only grows with time, on each node, as what the jobs take leaves no gaps before it.
type alike struct {
	on         bool
	t          *table
	base, more []int32 // by step: how many more have room than at the one before; in a plan
	at         []int64 // the steps of a plan
	work       int64   // at most, to find it in t
}

// count sets base, by no more than there are jobs. It reports false if they are not alike.
func (x *alike) count(t *table, jobs []Job) bool {
	x.t, x.base = t, append(x.base[:0], make([]int32, len(t.at))...)
	for i := range jobs {
		j, o := &jobs[i], &jobs[0]
		if j.Nodes != 1 || j.All > 0 || len(j.Mask) > 0 || j.Per != o.Per || j.Rate != o.Rate || j.Contiguous != o.Contiguous {
			return false
		}
	}
	for i, had := 0, 0; i < len(t.at) && had < len(jobs); i++ {
		has := 0
		for n := 0; n < t.words*perWord && has < len(jobs); n++ {
			room := len(jobs) - has
			for k, per := range jobs[0].Per[:t.kinds] {
				if per > 0 {
					room = min(room, int(lane(t.row(i, k), n)/per))
				}
			}
			has += room
		}
		x.base[i], had = int32(has-had), has
	}
	return true
}

// plan has the jobs start in an order, and returns what that is worth.
func (x *alike) plan(jobs []Job, order []int32, starts []int64, pace float64) (v Values) {
	x.at, x.more = append(x.at[:0], x.t.at...), append(x.more[:0], x.base...)
	i, room, rows := 0, x.more[0], len(x.at)
	for _, k := range order {
		for ; room == 0 && i < len(x.at)-1; room += x.more[i] {
			i++
		}
		starts[k] = x.at[i]
		v.add(&jobs[k], x.at[i]-x.at[0], pace)
		end := x.at[i] + jobs[k].Length
		e, ok := stepAt(x.at, i, end)
		if rows += e + 6; room == 0 || e == i {
			continue
		}
		if !ok {
			x.at, x.more = slices.Insert(x.at, e, end), slices.Insert(x.more, e, 0)
		}
		x.more[e]++
		room--
	}
	x.work = int64(rows * (x.t.words + 1) * (x.t.kinds + 1))
	return v
}
