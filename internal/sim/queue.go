// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"sort"

	"github.com/aucsched/aucsched/core"
)

// queue holds the pending jobs, highest priority first and in order of arrival
// within a priority. Insertion and removal move the shorter side of the queue, so
// both are cheap at either end, where nearly all of them happen.
type queue struct {
	buf  []*core.Job
	num  []int32 // number of each job in the workload
	head int     // of the first job in buf and num
}

func (q *queue) len() int { return len(q.buf) - q.head }

func (q *queue) jobs() []*core.Job { return q.buf[q.head:] }

func (q *queue) numbers() []int32 { return q.num[q.head:] }

func (q *queue) push(j *core.Job, number int32) {
	jobs := q.jobs()
	at := len(jobs)
	if at > 0 && jobs[at-1].Priority < j.Priority {
		at = sort.Search(at, func(i int) bool { return jobs[i].Priority < j.Priority })
	}
	if q.head > 0 && at < q.len()/2 {
		q.head--
		copy(q.buf[q.head:], q.buf[q.head+1:q.head+1+at])
		copy(q.num[q.head:], q.num[q.head+1:q.head+1+at])
	} else {
		q.buf, q.num = append(q.buf, nil), append(q.num, 0)
		copy(q.buf[q.head+at+1:], q.buf[q.head+at:])
		copy(q.num[q.head+at+1:], q.num[q.head+at:])
	}
	q.buf[q.head+at], q.num[q.head+at] = j, number
}

// remove takes out the job at position at.
func (q *queue) remove(at int) {
	if at < q.len()/2 {
		copy(q.buf[q.head+1:], q.buf[q.head:q.head+at])
		copy(q.num[q.head+1:], q.num[q.head:q.head+at])
		q.buf[q.head] = nil
		q.head++
	} else {
		last := len(q.buf) - 1
		copy(q.buf[q.head+at:], q.buf[q.head+at+1:])
		copy(q.num[q.head+at:], q.num[q.head+at+1:])
		q.buf[last] = nil
		q.buf, q.num = q.buf[:last], q.num[:last]
	}
	if q.head > 1024 && q.head > q.len() { // give the gap at the front back
		n := copy(q.buf, q.buf[q.head:])
		copy(q.num, q.num[q.head:])
		clear(q.buf[n:])
		q.buf, q.num, q.head = q.buf[:n], q.num[:n], 0
	}
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
