// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"math/bits"
	"slices"

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

// inRankOrder brings the jobs of the window into the order in which they get places: queue order,
// or by what AuctionOptions.Patience says, equals as in the queue. It returns their numbers;
// the slice is r.order.
func (r *reservations) inRankOrder(s *Snapshot, w *window) []int32 {
	r.order, r.ranks = r.order[:0], r.ranks[:0]
	for j := range w.jobs {
		r.order = append(r.order, int32(j))
	}
	if r.opts.Patience == 0 {
		return r.order
	}
	last := w.lastFrom(s)
	for _, job := range w.jobs {
		r.ranks = append(r.ranks, reservationRank(job, w.machine, r.opts.Patience, s.Now, last))
	}
	slices.SortStableFunc(r.order, func(i, k int32) int { return cmp.Compare(r.ranks[k], r.ranks[i]) })
	return r.order
}

// reservationRank is that of a job on a reserved place; last is what lastFrom says.
func reservationRank(job *Job, m totals, patience, now int64, last float64) float64 {
	sum := float64(m.share(job)) / (1 << shareBits)
	sum += float64(max(now-job.Since, 0)) / float64(patience)
	if float64(job.TimeLimit) > last {
		sum += lastClaim
	}
	return float64(max(job.Priority, 1)) * sum
}
