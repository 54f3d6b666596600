// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// purse is what a planner knows of quotas: as it does of nodes, what is left now, and what comes
// back when.
type purse struct {
	room  place.Quotas // for a job, from the second on that was asked for last until its limit
	left  [1][]int64   // of this
	now   []int64      // less what starts now
	at    []int64      // scratch: at another moment
	ends  []counted    // what will come back
	begun []int64      // what was left at first
}

// counted is what a job counts against quotas until second end.
type counted struct {
	end     int64
	charges nodeset.Uses
	size    place.Size
	runs    bool // already: less than a unit of it does not come back
}

// reset begins with what is left now, in these units; nil: in ones.
func (p *purse) reset(s *Snapshot, units []int64) {
	p.room.Unit, p.now, p.ends = append(p.room.Unit[:0], units...), p.now[:0], p.ends[:0]
	for i, q := range s.Quotas {
		if units == nil {
			p.room.Unit = append(p.room.Unit, 1)
		}
		p.now = append(p.now, q.Left/p.room.Unit[i])
	}
	p.begun = append(p.begun[:0], p.now...)
	for i := range s.Running {
		if r := &s.Running[i]; len(r.Charges) > 0 {
			p.ends = append(p.ends, counted{max(r.End, s.Now+1), r.Charges, place.SizeOf(r.Segs), true})
		}
	}
}

// back adds what comes back of one that ends.
func (p *purse) back(left []int64, c *counted) {
	for i := range c.charges {
		x := &c.charges[i]
		if amount := place.Count(x, c.size); c.runs {
			left[x.Row] += amount / p.room.Unit[x.Row]
		} else {
			left[x.Row] += p.room.CostOf(x, c.size)
		}
	}
}

// take takes what one counts.
func (p *purse) take(left []int64, charges nodeset.Uses, size place.Size) {
	for i := range charges {
		x := &charges[i]
		left[x.Row] -= p.room.CostOf(x, size)
	}
}

// count has a job start now, until second end, which counts that much.
func (p *planner) count(charges nodeset.Uses, size place.Size, end int64) {
	if len(charges) > 0 {
		p.purse.take(p.purse.now, charges, size)
		p.purse.ends = append(p.purse.ends, counted{end: end, charges: charges, size: size})
	}
}

// uncount takes the last count back.
func (p *planner) uncount(charges nodeset.Uses) {
	if len(charges) > 0 {
		last := len(p.purse.ends) - 1
		p.purse.back(p.purse.now, &p.purse.ends[last])
		p.purse.ends = p.purse.ends[:last]
	}
}

// leftOfQuotas appends what is left of quotas at second when, as freeAt for nodes.
func (p *planner) leftOfQuotas(dst []int64, when int64) []int64 {
	dst = append(dst, p.purse.now...)
	for i := range p.purse.ends {
		if c := &p.purse.ends[i]; c.end <= when {
			p.purse.back(dst, c)
		}
	}
	for i := range p.reserved {
		if r := &p.reserved[i]; r.Start <= when && when < r.End {
			p.purse.take(dst, r.charges, r.size)
		}
	}
	return dst
}

// roomFrom is what quotas leave to a job that starts in second t, for limit seconds. It is the
// planner's until the next call.
func (p *planner) roomFrom(limit, t int64) *place.Quotas {
	u := &p.purse
	u.left[0] = p.leftOfQuotas(u.left[0][:0], t)
	for i := range p.reserved {
		if r := &p.reserved[i]; r.Start > t && r.Start < t+limit && len(r.charges) > 0 {
			u.at = p.leftOfQuotas(u.at[:0], r.Start)
			for k, left := range u.at {
				u.left[0][k] = min(u.left[0][k], left)
			}
		}
	}
	u.room.Left = u.left[:]
	return &u.room
}

// charged reports whether any of a job's ways counts against a quota.
func charged(ways []market.Variant) bool {
	return slices.ContainsFunc(ways, func(v market.Variant) bool { return v.Spec.Charges != nil })
}

// lacking is the first quota that keeps a job from starting in second t, wherever it could be, for
// limit seconds; -1 if none does.
func (p *planner) lacking(ways []market.Variant, limit, t int64) int {
	if !charged(ways) {
		return -1
	}
	first, room := -1, p.roomFrom(limit, t)
	for k := range ways {
		if !ways[k].Spec.Valid() {
			continue
		}
		quota := room.Lacks(&ways[k].Spec, 0)
		if quota < 0 {
			return -1
		}
		if first < 0 {
			first = quota
		}
	}
	return first
}

// reserveQuotas keeps for a job what it counts, in the first of its ways, from the earliest moment
// on at which there is as much; no nodes. It reports false if there never is.
func (p *planner) reserveQuotas(index int, ways []market.Variant, limit int64) (reservation, bool) {
	p.sortEnds()
	t, ok := p.earliest(func(t int64) bool { return p.lacking(ways, limit, t) < 0 }, true)
	if !ok {
		return reservation{}, false
	}
	spec := &ways[0].Spec
	for k, room := 0, p.roomFrom(limit, t); k < len(ways); k++ {
		if spec = &ways[k].Spec; spec.Valid() && room.Lacks(spec, 0) < 0 {
			break
		}
	}
	p.segs = resize(p.segs, len(p.reserved)+1) // each reservation has its own
	r := reservation{Job: index, Start: t, End: t + limit, charges: spec.Counted(), size: spec.LeastSize()}
	p.insert(r)
	return r, true
}

// insert adds a reservation, in order of the starts.
func (p *planner) insert(r reservation) {
	i, _ := slices.BinarySearchFunc(p.reserved, r.Start, func(r reservation, t int64) int { return cmp.Compare(r.Start, t) })
	p.reserved = slices.Insert(p.reserved, i, r)
}

// leftToOthers is, for each reservation in order, what it leaves of quotas at its start to jobs
// that start now, before any of those is counted.
func (p *planner) leftToOthers(dst [][]int64) [][]int64 {
	u := &p.purse
	for n := range p.reserved {
		at := p.reserved[n].Start
		if dst = resize(dst, n+1); len(u.begun) == 0 {
			dst[n] = dst[n][:0]
			continue
		}
		left := append(dst[n][:0], u.begun...)
		for i := range u.ends {
			if c := &u.ends[i]; c.runs && c.end <= at {
				u.back(left, c)
			}
		}
		for i := range p.reserved {
			if r := &p.reserved[i]; r.Start <= at && at < r.End {
				u.take(left, r.charges, r.size)
			}
		}
		dst[n] = left
	}
	return dst
}
