// SPDX-License-Identifier: BSD-3-Clause

package locality

// planLine is a timeline on which nodes have their jobs of the standing plan.
type planLine struct {
	timeline
	plan *plan
}

func (l planLine) from(j *job, node int, bound int64) int64 {
	l.plan.bring(int32(node))
	return l.timeline.from(j, node, bound)
}

func (l planLine) next(j *job, i int, bound int64, f filter) int {
	for {
		i = l.timeline.next(j, i, bound, f)
		if i < 0 || !l.plan.bring(int32(i)) {
			return i
		}
	}
}

func (l planLine) earliest(j *job) (int64, int) {
	for {
		at, node := l.timeline.earliest(j)
		if node < 0 || !l.plan.bring(int32(node)) {
			return at, node
		}
	}
}
