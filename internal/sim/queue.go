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
