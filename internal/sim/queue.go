// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"slices"
	"sort"

	"github.com/aucsched/aucsched/core"
)

// queue holds the pending jobs, highest priority first and in order of arrival within a priority.
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

// endings are the latest first, equals by falling number of the job: most that begin end late.
type endings []ending

func (e *endings) add(x ending) {
	at, _ := slices.BinarySearchFunc(*e, x, func(a, b ending) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.number, a.number))
	})
	*e = slices.Insert(*e, at, x)
}

// next is the earliest of them.
func (e endings) next() ending { return e[len(e)-1] }

func (e *endings) pop() (x ending) {
	x, *e = e.next(), (*e)[:len(*e)-1]
	return x
}

// maxTime bounds all times of a workload, so that sums stay in range.
const maxTime = 1 << 50
