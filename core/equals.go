package core

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// equals counts jobs of a window that ask for the same. Of such jobs no more need to
// bid than what is free could hold at all: any choice among them can be exchanged
// for one of the first, at no loss.
type equals struct {
	count map[equalKey]int64
	cores int64 // free
	gpus  int64
	spare int64 // jobs to keep beyond those that could start, for reservations
}

type equalKey struct {
	requestKey
	limit int64
}

func (e *equals) reset(t *nodeset.Table, reservations int) {
	if e.count == nil {
		e.count = make(map[equalKey]int64)
	}
	clear(e.count)
	e.cores, e.gpus = t.SumFree()
	e.spare = int64(reservations)
}

// enough counts one more job and reports whether those before it suffice, and why
// it need not bid.
func (e *equals) enough(job *Job) (verdict, bool) {
	k := equalKey{keyOf(&job.Request), job.TimeLimit}
	n, most := e.count[k], e.most(&job.Request)
	e.count[k] = n + 1
	switch {
	case n < most+e.spare:
		return verdict{}, false
	case most == 0:
		return noNodes, true
	}
	return lostToEquals, true
}

// most bounds how many jobs with this request could start on what is free.
func (e *equals) most(r *bids.Request) int64 {
	nodes := int64(max(r.MinNodes, 1))
	most := e.cores / coresOf(r)
	if r.MinGPUs > 0 {
		most = min(most, e.gpus/(nodes*int64(r.MinGPUs)))
	}
	return most
}
