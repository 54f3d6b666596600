// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"slices"
	"sort"

	"github.com/aucsched/aucsched/core"
)

// queue holds the pending jobs, highest priority first and in order of arrival
// within a priority.
type queue struct {
	jobs    []*core.Job
	numbers []int32 // of each job in the workload
}

func (q *queue) push(j *core.Job, number int32) {
	at := sort.Search(len(q.jobs), func(i int) bool { return q.jobs[i].Priority < j.Priority })
	q.jobs, q.numbers = slices.Insert(q.jobs, at, j), slices.Insert(q.numbers, at, number)
}

// remove takes out the job at position at.
func (q *queue) remove(at int) {
	q.jobs, q.numbers = slices.Delete(q.jobs, at, at+1), slices.Delete(q.numbers, at, at+1)
}

// ending is when a running job has ended and its nodes are free.
type ending struct {
	at     int64
	number int32
}

// endHeap is a heap of endings, earliest first, then by number of the job.
type endHeap []ending

func (h endHeap) less(a, b int) bool {
	return h[a].at < h[b].at || (h[a].at == h[b].at && h[a].number < h[b].number)
}

func (h *endHeap) push(e ending) {
	*h = append(*h, e)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			break
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
}

func (h *endHeap) pop() ending {
	top, n := (*h)[0], len(*h)-1
	(*h)[0] = (*h)[n]
	*h = (*h)[:n]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < n && h.less(down, least) {
				least = down
			}
		}
		if least == i {
			return top
		}
		(*h)[i], (*h)[least] = (*h)[least], (*h)[i]
		i = least
	}
}

// maxTime bounds all times of a workload, so that sums stay in range.
const maxTime = 1 << 50
