// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// Space is what the jobs of a window may take.
type Space struct {
	// Now is the machine as it is free now.
	Now *nodeset.Table
	// Left[k] is what reservation k leaves, at the moment when it begins, to jobs
	// that start now and run into it. Reservations are in the order in which
	// they begin.
	Left []*nodeset.Table
}

// Ask is one job's part in a window. A job that can be met in several ways has an ask for
// each, one after the other, the one that it likes best first, of which at most one wins:
// these differ in Request, Rank, Keep and Offer only.
type Ask struct {
	*Request
	// Rank is 0 for the first ask of a job, and k for the k-th further way to meet it. Of
	// asks is of how many, where they are more than one: the preference of a bid is
	// spread over them, so that any bid of an earlier one is preferred.
	Rank, Of int
	// Priority is P_j, at least 1.
	Priority int64
	// Crosses is how many of the space's reservations the job would run into if
	// it started now: the first Crosses of Space.Left bind it.
	Crosses int
	// Blocks, if not 0, keeps the job together: it is the fewest blocks of consecutive nodes on which
	// the idle machine can meet the request, and bids have at most one more.
	Blocks int
	// Keep is an allocation that the job bids before all others, or nil: one that
	// is known to fit together with those that other jobs keep.
	Keep []nodeset.Segment
	// Offer is an allocation that suits the job, from elsewhere: what Slurm's own selection
	// would give it (the "SLURM bids" of aucsched1, section 4). It is bid if the job may
	// take it; nil: none.
	Offer []nodeset.Segment
}

// NextJob is the index of the first ask of the job after that of ask j, len(asks) for the
// last job.
func NextJob(asks []Ask, j int) int {
	for j++; j < len(asks) && asks[j].Rank > 0; j++ {
	}
	return j
}

// Rest is a Space from which jobs have taken what they got. Reset fills it; its
// memory is reused.
type Rest struct {
	now   nodeset.Table
	left  []nodeset.Table
	views []nodeset.Table // views[k]: least of now and left[:k], k >= 1
}

// Reset makes r the whole of s, of which nothing is taken yet.
func (r *Rest) Reset(s *Space) {
	r.now.CopyFrom(s.Now)
	r.left, r.views = resize(r.left, len(s.Left)), resize(r.views, len(s.Left)+1)
	for k, t := range s.Left {
		r.left[k].CopyFrom(t)
		r.views[k+1].CopyFrom(r.View(k))
		r.views[k+1].Intersect(t)
	}
}

// View is what a job that runs into the first crosses reservations may take. It
// belongs to r, is only to be read, and is valid until the next change.
func (r *Rest) View(crosses int) *nodeset.Table {
	if crosses == 0 {
		return &r.now
	}
	return &r.views[crosses]
}

// Take allocates for a job that runs into the first crosses reservations. If
// anything of it is not left, it takes nothing and says why, and which of Space.Left lacks it.
func (r *Rest) Take(segs []nodeset.Segment, crosses int) error {
	if err := r.now.Allocate(segs); err != nil {
		return err
	}
	for i := range crosses {
		if err := r.left[i].Allocate(segs); err != nil {
			for k := range i {
				must(r.left[k].Release(segs))
			}
			must(r.now.Release(segs))
			return fmt.Errorf("reservation %d: %w", i, err)
		}
	}
	r.narrow(segs)
	return nil
}

// narrow brings the views of the nodes of segs up to date.
func (r *Rest) narrow(segs []nodeset.Segment) {
	for k := range r.left {
		for _, s := range segs {
			r.views[k+1].SetLeast(int(s.First), int(s.Last), r.View(k), &r.left[k])
		}
	}
}

// takeGPUs takes more GPUs on each of nodes that already give cores.
func (r *Rest) takeGPUs(segs []nodeset.Segment, crosses, more int) {
	take := func(t *nodeset.Table) {
		for _, s := range segs {
			for n := int(s.First); n <= int(s.Last); n++ {
				c := t.Free(n)
				c.GPUs -= uint8(more)
				must(t.SetFree(n, c))
			}
		}
	}
	take(&r.now)
	for i := range crosses {
		take(&r.left[i])
	}
	r.narrow(segs)
}

// resize gives s the length n and keeps the memory of elements beyond a former length.
func resize(s []nodeset.Table, n int) []nodeset.Table {
	for cap(s) < n {
		s = append(s[:cap(s)], nodeset.Table{})
	}
	return s[:n]
}

func must(err error) {
	if err != nil {
		panic("bids: " + err.Error())
	}
}
