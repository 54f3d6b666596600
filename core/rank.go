// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// totals are what a machine's nodes have in all.
type totals struct{ cores, gpus uint64 }

func totalsOf(t *nodeset.Table) (m totals) {
	for n := range t.Len() {
		c := t.Total(n)
		m.cores += uint64(c.Cores)
		m.gpus += uint64(c.GPUs)
	}
	return m
}

const (
	shareBits = 32 // of a share of all cores or GPUs, behind the point
	rateBits  = 52 // of a share a second
)

// share is the part of all cores that a job asks for plus that of all GPUs, in units of
// 2^-shareBits: at most 2^(shareBits+1).
func (m totals) share(job *Job) uint64 {
	return m.shareOf(uint64(place.LeastCores(&job.Request)), uint64(leastGPUs(&job.Request)))
}

// shareOf is share of so many cores and GPUs.
func (m totals) shareOf(cores, gpus uint64) uint64 {
	part := func(of, all uint64) uint64 {
		if of >= all {
			return 1 << shareBits
		}
		q, _ := bits.Div64(of>>(64-shareBits), of<<shareBits, all)
		return q
	}
	s := part(cores, max(m.cores, 1))
	if gpus > 0 {
		s += part(gpus, max(m.gpus, 1))
	}
	return s
}

// rate is the job's share over its time limit, in units of 2^-rateBits a second; at least 1.
func (m totals) rate(job *Job) uint64 { return rateOf(m.share(job), job.TimeLimit) }

// rateOf is rate of a share, for so many seconds.
func rateOf(share uint64, limit int64) uint64 {
	return max(share<<(rateBits-shareBits)/uint64(max(limit, 1)), 1)
}

// sizeOf is R_j.
func sizeOf(job *Job) int64 { return max(place.LeastCores(&job.Request), 1) }

// leastGPUs is how many GPUs a job with this request has at least.
func leastGPUs(r *bids.Request) int64 {
	sum := int64(max(r.MinNodes, 1)) * int64(r.MinGPUs)
	for k := range r.Components {
		c := &r.Components[k]
		sum += int64(max(c.MinNodes, 1)) * int64(c.MinGPUs)
	}
	return sum
}

// partsOf are shares of a machine, 0 to 1.
type partsOf struct{ cores, gpus float64 }

func (m totals) sharesOf(cores, gpus uint64) partsOf {
	return partsOf{
		float64(min(cores, m.cores)) / float64(max(m.cores, 1)),
		float64(min(gpus, m.gpus)) / float64(max(m.gpus, 1)),
	}
}
