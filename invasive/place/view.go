// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// A Policy is what an iHypervisor's owner wants.
type Policy struct {
	// Means are those by which an urgent job may take cores from others, tried in this order.
	Means []invasive.How
	// CapWatts, if above 0, is the most that the partition may draw, by the model of CoreWatts for
	// a busy core and SocketWatts for a socket with at least one. A job that is more by itself runs
	// when nothing else does.
	CapWatts, CoreWatts, SocketWatts float64
	// MinUse is the share of the offered free cores, 0 to 1, that a mapping must use
	// while more jobs wait.
	MinUse float64
	// Compact rejects mappings that tear a job over sockets though it would fit into one.
	Compact bool
	// Horizon is how far ahead virtual offers look, and ShrinkTime the delay of cores that
	// malleable jobs have to let go of first, both in seconds. Horizon 0: no virtual offers.
	Horizon, ShrinkTime uint32
}

// A View is what an iHypervisor decides from. Nothing of it is changed or kept.
type View struct {
	Partition invasive.Partition
	Owners    []invasive.JobID
	Jobs      []invasive.Held // ascending by ID
	// Stubborn are jobs that have withstood a means of taking cores, and all weaker ones, lately.
	Stubborn map[invasive.JobID]invasive.How
	// Wishes are the numbers of cores that evolving jobs have asked for.
	Wishes map[invasive.JobID]uint32
	// Left are the seconds after which running jobs have reached their limits; those
	// without aren't there.
	Left map[invasive.JobID]uint32
	// Grow lets malleable jobs have what nobody else wants.
	Grow bool
	// Away has true for each core whose node does not answer: nobody gets it. Lost has true for
	// those of them that jobs are to leave, as their node won't be back soon. Nil: none is.
	Away, Lost []bool
	// Homes are the nodes that jobs can't leave: they keep a core there. Others may leave any.
	Homes map[invasive.JobID]uint32
	// Pending is the number of jobs that wait at the iScheduler.
	Pending uint32
}

// settled is a view once all that is asked for has come, and what is decided is done.
func (v *View) settled(events []invasive.Event) *View {
	s := *v
	s.Owners, s.Jobs = slices.Clone(v.Owners), slices.Clone(v.Jobs)
	for i := range s.Jobs {
		h := &s.Jobs[i]
		own(s.Owners, h.Taking, 0)
		lose(h, h.Taking, invasive.Suspend) // or a job that is killed, and about to end
	}
	for _, ev := range events {
		i, ok := slices.BinarySearchFunc(s.Jobs, ev.ID, heldByID)
		if !ok {
			continue
		}
		h := &s.Jobs[i]
		if ev.Kind == invasive.Take {
			own(s.Owners, ev.Cores, 0)
			lose(h, ev.Cores, ev.How)
			continue
		}
		own(s.Owners, ev.Cores, ev.ID)
		h.State, h.Cores = invasive.Running, slices.Concat(h.Cores, ev.Cores)
		slices.Sort(h.Cores)
	}
	return &s
}

func heldByID(h invasive.Held, id invasive.JobID) int { return cmp.Compare(h.Job.ID, id) }

func own(owners []invasive.JobID, cores []uint32, id invasive.JobID) {
	for _, c := range cores {
		owners[c] = id
	}
}

// lose is what becomes of a job that has let go of cores.
func lose(h *invasive.Held, cores []uint32, how invasive.How) {
	if len(cores) == 0 {
		return
	}
	h.Cores, h.Taking = without(h.Cores, cores), nil
	switch {
	case how == invasive.Kill:
		h.State = invasive.Done
	case len(h.Cores) == 0:
		h.State = invasive.Suspended
	}
}

// A need is what a job wants to be seated.
type need struct {
	held       invasive.Held
	parts      []invasive.Part // one for each node, ascending; none: any nodes
	least      int
	most       int
	suspended  bool
	fromOthers []invasive.How
}

func needOf(h invasive.Held, means []invasive.How, stubborn bool) need {
	n := need{held: h, least: int(h.Job.MinCores), most: int(h.Job.MaxCores), suspended: h.State == invasive.Suspended}
	for _, p := range h.Parts {
		i, ok := slices.BinarySearchFunc(n.parts, p.Node, func(q invasive.Part, node uint32) int { return cmp.Compare(q.Node, node) })
		if !ok {
			n.parts = slices.Insert(n.parts, i, invasive.Part{Node: p.Node})
		}
		n.parts[i].Cores += p.Cores
	}
	if len(n.parts) > 0 {
		n.most = 0
		for _, p := range n.parts {
			n.most += int(p.Cores)
		}
		// A job that wouldn't shrink isn't made to by waking it up on less.
		if h.Job.Flex != invasive.Malleable || n.suspended && stubborn {
			n.least = n.most
		}
	}
	n.least = max(n.least, int(h.Job.MinNodes))
	n.most = max(n.most, n.least)
	if n.fromOthers = []invasive.How{invasive.Shrink}; h.Job.Urgent && len(h.Parts) == 0 {
		n.fromOthers = means
	}
	return n
}

// waiting are those that want a seat, the first first.
func waiting(v *View, p *Policy) []need {
	var list []need
	for _, h := range v.Jobs {
		if h.State == invasive.Accepted || h.State == invasive.Suspended {
			list = append(list, needOf(h, p.Means, v.Stubborn[h.Job.ID] >= invasive.Shrink))
		}
	}
	slices.SortStableFunc(list, func(a, b need) int {
		return cmp.Or(
			-compareBools(a.held.Job.Urgent, b.held.Job.Urgent), -compareBools(a.suspended, b.suspended),
			-cmp.Compare(a.held.Job.Priority, b.held.Job.Priority), cmp.Compare(a.held.Job.ID, b.held.Job.ID))
	})
	return list
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
