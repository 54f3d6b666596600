// SPDX-License-Identifier: BSD-3-Clause

package core

// quotaPlaces are what the walk over the queue keeps of quotas.
type quotaPlaces struct {
	kept   []bool    // by quota: for some job
	number int       // of these
	left   [][]int64 // memory of what they leave
	tables [][]int64 // that, with what is left now before it
}

// maxQuotaPlaces is for how many jobs a cycle keeps a part of quotas alone.
const maxQuotaPlaces = 8

func (x *quotaPlaces) reset(s *Snapshot, w *window, p *planner) {
	x.kept, x.number = append(x.kept[:0], make([]bool, len(s.Quotas))...), 0
	p.purse.reset(s, w.quotas.book.Unit)
}

// waitsForQuota reports whether a quota keeps job j from starting now, wherever it could be. Then
// the job takes no place from others that could start. Of each quota the first such job has what it
// counts kept for it, from the moment on at which others will have given back enough, lest smaller
// jobs of the same quota pass it for ever. From then on it is a job like others, and gets a place.
func (r *reservations) waitsForQuota(s *Snapshot, w *window, j int) bool {
	ways, limit := w.variantsOf(j), w.jobs[j].TimeLimit
	quota := r.planner.lacking(ways, limit, s.Now)
	if quota < 0 {
		return false
	}
	r.guarded[j].quota = quota + 1
	if x := &r.quotas; !x.kept[quota] && x.number < maxQuotaPlaces {
		if kept, ok := r.planner.reserveQuotas(j, ways, limit); ok {
			r.guarded[j].reserved, r.guarded[j].start = true, kept.Start
			x.kept[quota] = true
			x.number++
		}
	}
	return true
}

// leftWith is what is left of quotas now and at each reservation.
func (x *quotaPlaces) leftWith(now []int64, p *planner) [][]int64 {
	x.left = p.leftToOthers(x.left)
	x.tables = append(append(x.tables[:0], now), x.left[:len(p.reserved)]...)
	return x.tables
}
