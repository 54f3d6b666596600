// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// duplicates counts jobs of a window that ask for the same. Of such jobs no more need to
// bid than what is free could hold at all: any choice among them can be exchanged
// for one of the first, at no loss.
type duplicates struct {
	count map[waysKey]int64
	lists map[listKey]int32
	room  room  // free
	spare int64 // jobs to keep beyond those that could start, for reservations

	classes uint64 // of running jobs that may be stopped
	whole   room   // the machine: those who may have these stopped have this room
	others  map[otherKey]int32
}

// room is how many cores and GPUs there are.
type room struct{ cores, gpus int64 }

// equalKey is a request with a time limit.
type equalKey struct {
	spec  place.Spec
	limit int64
}

// waysKey tells jobs apart: their requests, and by number their lists of alternatives and what else
// they differ by.
type waysKey struct {
	spec        place.Spec
	list, other int32
}

// otherKey is a time limit, and the classes that a job may preempt.
type otherKey struct {
	limit   int64
	classes uint64
}

// listKey is a list of alternatives: one more than in the list of that number, 0 being empty.
type listKey struct {
	before int32
	spec   place.Spec
}

func (e *duplicates) reset(t *nodeset.Table, reservations int) {
	if e.count == nil {
		e.count, e.lists, e.others = make(map[waysKey]int64), make(map[listKey]int32), make(map[otherKey]int32)
	}
	clear(e.count)
	clear(e.others)
	clear(e.lists)
	e.room.cores, e.room.gpus = t.SumFree()
	e.spare = int64(reservations)
}

// other is the number of what jobs differ by besides their requests.
func (e *duplicates) other(job *Job) int32 {
	k := otherKey{job.TimeLimit, job.Preempts & e.classes}
	n, ok := e.others[k]
	if !ok {
		n = int32(len(e.others))
		e.others[k] = n
	}
	return n
}

// enough counts one more job, the one that was read last, and reports whether those before it
// suffice, and why it need not bid.
func (e *duplicates) enough(n *normal, job *Job, q *quotas) (verdict, bool) {
	k, most, why := e.keyOf(n, job), e.mostOf(n, job), lostToEquals
	before := e.count[k]
	e.count[k] = before + 1
	if len(n.specs) == 1 && job.Preempts&e.classes == 0 {
		if within, quota := q.most(&n.specs[0]); within < most {
			most, why = within, q.verdict(quota)
		}
	}
	if most == 0 {
		why = noNodes
	}
	return why, before >= most+e.spare
}

func (e *duplicates) keyOf(n *normal, job *Job) waysKey {
	return waysKey{n.specs[0], e.list(n.specs[1:]), e.other(job)}
}

// list is the number of a list of alternatives.
func (e *duplicates) list(alternatives []place.Spec) (number int32) {
	for _, spec := range alternatives {
		if k := (listKey{number, spec}); spec.Valid() {
			if e.lists[k] == 0 {
				e.lists[k] = int32(len(e.lists) + 1)
			}
			number = e.lists[k]
		}
	}
	return number
}

// mostOf bounds how many jobs like the one that was read last could start on what is free, each in
// any of its ways.
func (e *duplicates) mostOf(n *normal, job *Job) int64 {
	free := e.room
	if job.Preempts&e.classes != 0 {
		free = e.whole
	}
	cores, gpus := int64(math.MaxInt64), int64(math.MaxInt64)
	for k := range n.specs {
		r := &job.Request
		if k > 0 {
			r = &job.Alternatives[k-1]
		}
		if n.specs[k].Valid() {
			cores, gpus = min(cores, place.LeastCores(r)), min(gpus, leastGPUs(r))
		}
	}
	return free.holds(cores, gpus)
}

// leastGPUs is how many GPUs a job with this request has at least.
func leastGPUs(r *bids.Request) int64 {
	sum := int64(max(r.MinNodes, 1)) * int64(r.MinGPUs)
	for k := range r.Components {
		c := &r.Components[k]
		sum += int64(max(c.MinNodes, 1)) * int64(c.MinGPUs)
	}
	return sum
}

// holds bounds how many jobs that have so many cores and GPUs at least could start on what is free.
func (free room) holds(cores, gpus int64) int64 {
	most := int64(boundless)
	if cores > 0 {
		most = free.cores / cores
	}
	if gpus > 0 {
		most = min(most, free.gpus/gpus)
	}
	return most
}

// boundless is more than all jobs of a queue.
const boundless = 1 << 40
