// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// duplicates counts jobs of a window that ask for the same. Of such jobs no more need to
// bid than what is free could hold at all: any choice among them can be exchanged
// for one of the first, at no loss.
type duplicates struct {
	count map[waysKey]int64
	lists map[listKey]int
	cores int64 // free
	gpus  int64
	spare int64 // jobs to keep beyond those that could start, for reservations
}

// equalKey is a request with a time limit.
type equalKey struct {
	spec  bids.Spec
	limit int64
}

// waysKey tells jobs apart: their requests, limits, lists of alternatives, by number, and preferred
// nodes.
type waysKey struct {
	equalKey
	list   int
	prefer *nodeset.Mask
}

// listKey is a list of alternatives: one more than in the list of that number, 0 being empty.
type listKey struct {
	before int
	spec   bids.Spec
}

func (e *duplicates) reset(t *nodeset.Table, reservations int) {
	if e.count == nil {
		e.count, e.lists = make(map[waysKey]int64), make(map[listKey]int)
	}
	clear(e.count)
	clear(e.lists)
	e.cores, e.gpus = t.SumFree()
	e.spare = int64(reservations)
}

// enough counts one more job, the one that was read last, and reports whether those before it
// suffice, and why it need not bid.
func (e *duplicates) enough(n *normal, job *Job) (verdict, bool) {
	k := e.keyOf(n, job)
	before, most := e.count[k], e.mostOf(job)
	e.count[k] = before + 1
	switch {
	case before < most+e.spare:
		return verdict{}, false
	case most == 0:
		return noNodes, true
	}
	return lostToEquals, true
}

// before is how many jobs like the one that was read last were counted.
func (e *duplicates) before(n *normal, job *Job) int64 { return e.count[e.keyOf(n, job)] }

func (e *duplicates) keyOf(n *normal, job *Job) waysKey {
	k := waysKey{equalKey: equalKey{n.specs[0], job.TimeLimit}, list: e.list(n.specs[1:])}
	if len(job.Prefer) > 0 {
		k.prefer = n.masks.Of(&job.Prefer)
	}
	return k
}

// list is the number of a list of alternatives.
func (e *duplicates) list(alternatives []bids.Spec) (number int) {
	for _, spec := range alternatives {
		k := listKey{number, spec}
		n, ok := e.lists[k]
		if !ok {
			n = len(e.lists) + 1
			e.lists[k] = n
		}
		number = n
	}
	return number
}

// mostOf bounds how many jobs like this could start on what is free, each in any of its ways.
func (e *duplicates) mostOf(job *Job) int64 {
	if len(job.Alternatives) == 0 {
		return e.most(&job.Request)
	}
	cores, gpus := job.Request.LeastCores(), leastGPUs(&job.Request)
	for k := range job.Alternatives {
		r := &job.Alternatives[k]
		if c := r.LeastCores(); c > 0 { // 0: it is no valid request
			cores, gpus = min(cores, c), min(gpus, leastGPUs(r))
		}
	}
	most := e.cores / max(cores, 1)
	if gpus > 0 {
		most = min(most, e.gpus/gpus)
	}
	return most
}

// leastGPUs is how many GPUs a job with this request has at least.
func leastGPUs(r *bids.Request) int64 { return int64(max(r.MinNodes, 1)) * int64(r.MinGPUs) }

// most bounds how many jobs with this request could start on what is free.
func (e *duplicates) most(r *bids.Request) int64 {
	most := e.cores / r.LeastCores()
	if g := leastGPUs(r); g > 0 {
		most = min(most, e.gpus/g)
	}
	return most
}
