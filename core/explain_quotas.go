// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// QuotaShortage is what a request lacks of a quota.
type QuotaShortage struct {
	// Name is the quota's.
	Name string
	// Need is what the request counts at least, and Left what is left beside jobs that start now,
	// both in the quota's own unit.
	Need, Left int64
}

// blameQuota finds whether a quota alone keeps the job from starting, and the running jobs that
// have to end for that to change: of those that end by the first moment at which there is enough,
// each one that is needed. Those that end last are let off first.
func (e *inquiry) blameQuota() bool {
	p, ways := &e.space, e.variantsOf(e.job)
	must(p.reset(e.s, nil)) // it has worked before
	quota := p.lacking(ways, e.job.TimeLimit, e.s.Now)
	if quota < 0 {
		return false
	}
	e.x.Why, e.x.Quota = OverQuota, e.quotaShortage(quota)
	from, ok := p.enough(ways, e.job.TimeLimit)
	if !ok {
		return true
	}
	var suspects []Rival
	gone := make(map[int]bool)
	for i, run := range e.s.Running {
		if end := max(run.End, e.s.Now+1); end <= from && len(run.Charges) > 0 {
			suspects = append(suspects, Rival{Role: Holds, Job: i, Segs: slices.Clone(run.Segs), At: end})
			gone[i] = true
		}
	}
	slices.SortStableFunc(suspects, func(a, b Rival) int { return cmp.Compare(b.At, a.At) })
	for _, r := range suspects {
		gone[r.Job] = false
		if p.lackingWithout(ways, e.s, gone) >= 0 {
			gone[r.Job] = true
			e.x.Rivals = append(e.x.Rivals, r)
		}
	}
	return true
}

// lackingWithout is the first quota that has too little left for a job in each of its ways if some
// running jobs were gone; -1 if none has.
func (p *claims) lackingWithout(ways []market.Variant, s *Snapshot, gone map[int]bool) int {
	must(p.reset(s, nil))
	p.ends = p.ends[:0]
	for i := range s.Running {
		if r := &s.Running[i]; gone[i] {
			p.give(&view{left: p.now.left}, &claim{charges: r.Charges, size: place.SizeOf(r.Segs), runs: true})
		}
	}
	return p.lacking(ways, 1, s.Now)
}

// quotaShortage is what the first request that counts against a quota lacks of it.
func (e *inquiry) quotaShortage(quota int) *QuotaShortage {
	x := &QuotaShortage{Name: e.s.Quotas[quota].Name, Left: e.space.now.left[quota]}
	for _, v := range e.variantsOf(e.job) {
		for _, c := range v.Spec.Counted() {
			if c.Row == quota {
				x.Need = place.Count(&c, v.Spec.LeastSize())
				return x
			}
		}
	}
	return x
}

// blameQuotaBeside says whether a quota would have too little left beside jobs that start now.
func (e *inquiry) blameQuotaBeside() {
	p := &e.space
	must(p.reset(e.s, nil))
	for _, i := range e.started {
		e.begin(i)
	}
	if quota := p.lacking(e.variantsOf(e.job), 1, e.s.Now); quota >= 0 {
		e.x.Why, e.x.Quota = OverQuota, e.quotaShortage(quota)
	}
}
