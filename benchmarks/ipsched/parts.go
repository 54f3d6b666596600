// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import "slices"

// part is some of the machine's nodes: those with at least that many free GPUs and free cores. A
// job that is limited to few nodes must have some of its cores from the largest, and one with GPUs
// from nodes with GPUs.
type part struct{ gpus, cores int }

func (q part) has(c *cell) bool { return int(c.gpus) >= q.gpus && int(c.cores) >= q.cores }

// parts finds what jobs need of parts.
type parts struct {
	in, out []pick // what a job could use, the largest nodes first
}

// maxLevels bounds the numbers of cores for which there are parts.
const maxLevels = 12

// most is the cores of that many nodes, the largest of picks.
func most(picks []pick, nodes int64) (cores int64) {
	for _, f := range picks {
		k := min(f.nodes, nodes)
		cores += k * f.high
		if nodes -= k; nodes == 0 {
			break
		}
	}
	return cores
}

// split sorts what a job could use, all in from, the largest first, into nodes of
// the part and others.
func (x *parts) split(q part, list []cell, from []pick) {
	x.in, x.out = x.in[:0], x.out[:0]
	for _, f := range from {
		if q.has(&list[f.at]) {
			x.in = append(x.in, f)
		} else {
			x.out = append(x.out, f)
		}
	}
}

// need is the fewest cores that a job of that many cores on at most that many nodes must have
// from the part. With a nodes of the rest it gets at most both(a) cores, which is concave in a,
// so that the largest a with which it has enough is found by halving; it then has no more than
// most(out, a) from there.
func (x *parts) need(cores, nodes int64) int64 {
	var others int64
	for _, f := range x.out {
		others += f.nodes
	}
	both := func(a int64) int64 { return most(x.out, a) + most(x.in, nodes-a) }
	low, high := int64(0), min(others, nodes)
	if both(high) >= cores {
		return max(0, cores-most(x.out, high))
	}
	for low < high { // the top
		if mid := (low + high) / 2; both(mid+1) >= both(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for high = min(others, nodes); low < high; { // falling
		if mid := (low + high + 1) / 2; both(mid) >= cores {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return max(0, cores-most(x.out, low))
}

// levelsOfCores are numbers of cores that nodes have, ascending, evenly chosen if they are many.
func levelsOfCores(list []cell, levels []int) []int {
	levels = levels[:0]
	for k := range list {
		levels = append(levels, int(list[k].cores))
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if n := len(levels); n > maxLevels {
		for k := range maxLevels {
			levels[k] = levels[(k+1)*n/maxLevels-1]
		}
		levels = levels[:maxLevels]
	}
	return levels
}
