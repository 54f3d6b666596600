// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// quotas is the stage that says what is left of quotas to a window, and which jobs keep out of it
// for that.
type quotas struct {
	book    place.Quotas // now
	left    [1][]int64   // of this
	named   []Quota      // the snapshot's
	asked   []int64      // by quota: what the jobs of the window count at least
	heads   []bool       // by quota: a job over it was seen
	headed  int          // how many were
	reasons map[string]string
	units   []int64 // scratch
}

const (
	// quotaBits is how finely a quota is told apart: solvers keep to as many bits.
	quotaBits = 24
	// quotaSeats is how many times what is left of a quota its jobs in a full window may count
	// together. Further ones would keep out jobs that can start.
	quotaSeats = 4
	// maxReasons bounds the memory of reasons.
	maxReasons = 1 << 12
)

func (q *quotas) reset(s *Snapshot) {
	q.named = s.Quotas
	q.book.Unit, q.asked, q.left[0] = q.book.Unit[:0], q.asked[:0], q.left[0][:0]
	q.book.Left = q.left[:]
	q.heads, q.headed = append(q.heads[:0], make([]bool, len(s.Quotas))...), 0
	if len(q.reasons) > maxReasons {
		clear(q.reasons)
	}
	if len(s.Quotas) == 0 {
		return
	}
	q.setUnits(s)
	for i, x := range s.Quotas {
		q.left[0], q.asked = append(q.left[0], x.Left/q.book.Unit[i]), append(q.asked, 0)
	}
}

// setUnits sets the units: 1 as long as numbers are small, or else what all that jobs count is a
// multiple of, times a power of two.
func (q *quotas) setUnits(s *Snapshot) {
	large := false
	for _, x := range s.Quotas {
		q.book.Unit = append(q.book.Unit, 1)
		large = large || x.Left >= 1<<quotaBits
	}
	if !large {
		return
	}
	q.units = append(q.units[:0], make([]int64, len(s.Quotas))...)
	for _, job := range s.Pending {
		q.divideBy(&job.Request)
		for k := range job.Alternatives {
			q.divideBy(&job.Alternatives[k])
		}
	}
	for i, x := range s.Quotas {
		if x.Left < 1<<quotaBits {
			continue
		}
		u := max(q.units[i], 1)
		for x.Left/u >= 1<<quotaBits {
			u *= 2
		}
		q.book.Unit[i] = u
	}
}

// divideBy has q.units divide what the parts of a request count.
func (q *quotas) divideBy(r *bids.Request) {
	q.divide(r.Charges)
	for k := range r.Components {
		q.divide(r.Components[k].Charges)
	}
}

// divide has q.units divide what the charges count.
func (q *quotas) divide(charges nodeset.Uses) {
	for _, c := range charges {
		if c.Row < 0 || c.Row >= len(q.units) {
			continue // the request is not valid
		}
		u := &q.units[c.Row]
		for _, rate := range [...]int64{c.PerJob, c.PerNode, c.PerCore, c.PerGPU} {
			*u = divisor(*u, max(rate, 0))
		}
	}
}

// divisor is the greatest common divisor, that of 0 and b being b.
func divisor(a, b int64) int64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// over is the first quota that leaves no room for a job in any of its ways, as specs of the window;
// -1 if there is room for one.
func (q *quotas) over(specs []place.Spec) int {
	return lackingIn(&q.book, specs, func(s *place.Spec) (*place.Spec, int) { return s, 0 })
}

// isHead reports whether a job over a quota is the first, of not too many quotas.
func (q *quotas) isHead(quota int) bool {
	if q.heads[quota] || q.headed == maxQuotaPlaces {
		return false
	}
	q.heads[quota] = true
	q.headed++
	return true
}

// maxQuotaPlaces is how many jobs have places kept since they wait for a quota.
const maxQuotaPlaces = 8

// crowded reports whether the jobs of the window want so much of one of a job's quotas that it
// has to do without.
func (q *quotas) crowded(specs []place.Spec) bool {
	return slices.ContainsFunc(specs[0].Counted(), func(c nodeset.Use) bool {
		return q.asked[c.Row] >= quotaSeats*q.book.Left[0][c.Row] && q.book.Least(&c, &specs[0]) > 0
	})
}

// admit has a job take part in the window.
func (q *quotas) admit(specs []place.Spec) {
	charges := specs[0].Counted()
	for i := range charges {
		q.asked[charges[i].Row] += q.book.Least(&charges[i], &specs[0])
	}
}

// verdict is that on jobs for which a quota has no room.
func (q *quotas) verdict(quota int) verdict {
	name := q.named[quota].Name
	reason, ok := q.reasons[name]
	if !ok {
		if q.reasons == nil {
			q.reasons = make(map[string]string)
		}
		reason = fmt.Sprintf("%s: too little is left for it", name)
		q.reasons[name] = reason
	}
	return verdict{OverQuota, reason, quota}
}

// quotaFault is what is wrong with the snapshot's quotas.
func (s *Snapshot) quotaFault() error {
	for i, q := range s.Quotas {
		if q.Left < -bids.MaxRate || q.Left > bids.MaxRate {
			return fmt.Errorf("quotas[%d] (%s): left: %d: must be -%d to %d", i, q.Name, q.Left, int64(bids.MaxRate), int64(bids.MaxRate))
		}
	}
	return nil
}

func lackingIn[W any](q *place.Quotas, ways []W, of func(*W) (spec *place.Spec, crosses int)) int {
	first := -1
	for k := range ways {
		spec, crosses := of(&ways[k])
		if !spec.Valid() {
			continue
		}
		quota := q.Lacks(spec, crosses)
		if quota < 0 {
			return -1
		}
		if first < 0 {
			first = quota
		}
	}
	return first
}

// lackingOf is the first quota that has too little left for a job in all of its
// ways; -1 if none has.
func lackingOf(q *place.Quotas, ways []market.Variant) int {
	return lackingIn(q, ways, func(v *market.Variant) (*place.Spec, int) { return &v.Spec, v.Crosses })
}
