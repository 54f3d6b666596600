// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// of is a job's priority at the second now.
func (r *ranking) of(j *workload.Job, now int64) (int64, error) {
	p := r.priorities.Priority(j, now)
	if p < 1 || p > core.MaxPriority {
		return 0, fmt.Errorf("job %s: priority: %d: must be between 1 and %d", j.ID, p, int64(core.MaxPriority))
	}
	return p, nil
}

// update sets the priorities at the second now and sorts the queue, equals in
// the order of submission. The queue's jobs are the simulator's own copies.
func (r *ranking) update(now int64) (err error) {
	if now < r.next {
		return nil
	}
	if r.period > 0 {
		r.next = now/r.period*r.period + r.period
	}
	for i, j := range r.queue.jobs {
		w := r.jobs[r.queue.numbers[i]].Job
		if j.Priority, err = r.of(w, now); err != nil {
			return err
		}
	}
	sort.Sort(r)
	return nil
}

// Len, Less and Swap implement [sort.Interface] on the queue.
func (r *ranking) Len() int { return len(r.queue.jobs) }

func (r *ranking) Less(i, k int) bool {
	jobs, num := r.queue.jobs, r.queue.numbers
	return cmp.Or(cmp.Compare(jobs[k].Priority, jobs[i].Priority), cmp.Compare(r.place[num[i]], r.place[num[k]])) < 0
}

func (r *ranking) Swap(i, k int) {
	jobs, num := r.queue.jobs, r.queue.numbers
	jobs[i], jobs[k] = jobs[k], jobs[i]
	num[i], num[k] = num[k], num[i]
}
