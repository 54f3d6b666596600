// SPDX-License-Identifier: BSD-3-Clause

package emulation

import "slices"

// longestHandover separates nodes that a job was waiting for from those that
// nobody wanted, in seconds.
const longestHandover = 10

// Handover is how many virtual seconds after a job's end the next one starts on one of its nodes:
// the median over the jobs where that took no more than 10 s, which is what [sim.Config.Release]
// stands for. It is false if there are none.
func (r *Result) Handover() (float64, bool) {
	starts := make(map[int][]int64) // of each node, in order
	for _, l := range r.Lives {
		l.eachNode(func(node int) { starts[node] = append(starts[node], l.Start) })
	}
	for _, s := range starts {
		slices.Sort(s)
	}
	var after []int64
	for _, l := range r.Lives {
		next := int64(longestHandover + 1)
		l.eachNode(func(node int) {
			s := starts[node]
			if i, _ := slices.BinarySearch(s, l.End); i < len(s) {
				next = min(next, s[i]-l.End)
			}
		})
		if next <= longestHandover {
			after = append(after, next)
		}
	}
	n := len(after)
	if n == 0 {
		return 0, false
	}
	slices.Sort(after)
	return float64(after[(n-1)/2]+after[n/2]) / 2, true
}

func (l *Life) eachNode(hear func(node int)) {
	for _, s := range l.Segs {
		for node := s[0]; node <= s[1]; node++ {
			hear(node)
		}
	}
}
