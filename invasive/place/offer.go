// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// A Style is what an offer is to look like.
type Style uint8

const (
	// Plain offers what is free, and if that is nothing, what will be.
	Plain Style = iota
	// Blocks offers of each node only its greatest free socket, so that no job is torn: a view that
	// is not the real one, in the hope of a better mapping (section 2.3).
	Blocks
	// Ahead offers also what will be free.
	Ahead
)

// Offer makes an offer: what nobody owns or waits for, within the cap on power. It has no parts
// if there is nothing.
func Offer(v *View, p *Policy, style Style) *invasive.Offer {
	l := newPlan(v, p)
	o := &invasive.Offer{Jobs: invasive.MaxJobs}
	b := l.now
	for node := range b.freeOn {
		k := b.freeOn[node]
		if style == Blocks {
			k = slices.Max(b.freeIn[node*b.sockets : (node+1)*b.sockets])
		}
		for k > 0 && !l.has(b.onNode(node, k, nil)) {
			k--
		}
		if k > 0 && len(o.Parts) < invasive.MaxParts {
			l.seat(b.onNode(node, k, nil)) // it counts for the power
			o.Parts = append(o.Parts, invasive.Part{Node: uint32(node), Cores: uint32(k)})
		}
	}
	if (style == Ahead || len(o.Parts) == 0) && p.Horizon > 0 {
		// what comes free gives back its power too
		o.Parts = append(o.Parts, l.ahead(invasive.MaxParts-len(o.Parts))...)
	}
	return o
}

// ahead are the cores that will come free, without those that somebody waits for.
func (l *plan) ahead(most int) []invasive.Part {
	sum := map[invasive.Part]uint32{} // by node and delay
	add := func(cores []uint32, delay uint32) {
		for _, c := range cores {
			if !l.now.isAway(c) {
				sum[invasive.Part{Node: uint32(l.now.node(c)), Delay: max(1, delay)}]++
			}
		}
	}
	claims := l.claims()
	for i := range l.jobs {
		h := &l.jobs[i]
		if h.State != invasive.Running || h.Taking != nil {
			continue
		}
		cores := h.Cores
		if h.Job.Flex == invasive.Malleable && l.view.Stubborn[h.Job.ID] < invasive.Shrink {
			soon := l.now.surplus(h, len(h.Cores), nil)
			add(soon, l.policy.ShrinkTime)
			cores = without(cores, soon)
		}
		if left, ends := l.view.Left[h.Job.ID]; ends && left <= l.policy.Horizon {
			add(cores, left)
		}
	}
	var parts []invasive.Part
	for p, cores := range sum {
		parts = append(parts, invasive.Part{Node: p.Node, Delay: p.Delay, Cores: cores})
	}
	slices.SortFunc(parts, func(a, b invasive.Part) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Delay, b.Delay))
	})
	parts = slices.DeleteFunc(parts, func(p invasive.Part) bool { return claims.from(&p) })
	for i := range parts {
		parts[i].Cores -= claims[parts[i].Node]
		claims[parts[i].Node] = 0
	}
	return parts[:min(len(parts), most)]
}

// without is cores less some of them, both ascending.
func without(cores, some []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(cores), func(c uint32) bool {
		_, is := slices.BinarySearch(some, c)
		return is
	})
}

type claims map[uint32]uint32

// from tells whether a part is claimed as a whole, and counts it then.
func (c claims) from(p *invasive.Part) bool {
	if c[p.Node] < p.Cores {
		return false
	}
	c[p.Node] -= p.Cores
	return true
}

// claims are the cores of each node that those who still wait lack.
func (l *plan) claims() claims {
	c := claims{}
	placed := map[invasive.JobID]bool{}
	for _, ev := range l.placed {
		placed[ev.ID] = true
	}
	for _, n := range waiting(l.view, l.policy) {
		if placed[n.held.Job.ID] {
			continue
		}
		for _, p := range n.parts {
			c[p.Node] += p.Cores
		}
		if len(n.parts) == 0 { // anywhere: everywhere
			for node := range l.now.nodes {
				c[uint32(node)] += uint32(n.least)
			}
		}
	}
	return c
}

// A Reason is why a mapping isn't taken; the next offer's Style goes by it.
type Reason uint8

const (
	Taken Reason = iota
	Power
	Torn
	Unused
)

// Judge decides on a mapping, and says why not in words. An empty one is taken: there is
// nothing better to hope for.
func Judge(v *View, p *Policy, offer *invasive.Offer, mapping []invasive.Mapping) (Reason, string) {
	l := newPlan(v, p)
	used := 0
	for i, m := range mapping {
		held := invasive.Held{Job: m.Job, State: invasive.Accepted, Parts: m.Parts}
		n := needOf(held, nil, false)
		used += n.most
		cores := l.now.candidates(&n, n.most)
		switch {
		case cores == nil: // of what will come free
			continue
		case !l.has(cores):
			return Power, fmt.Sprintf("job %d goes beyond the cap of %g W", m.Job.ID, p.CapWatts)
		case p.Compact && l.torn(cores, mapping[i+1:]):
			return Torn, fmt.Sprintf("job %d would lie on several sockets, and fits into one", m.Job.ID)
		}
		l.seat(cores)
	}
	offered := 0
	for _, part := range offer.Parts {
		if part.Delay == 0 {
			offered += int(part.Cores)
		}
	}
	if more := int(v.Pending) - len(mapping); more > 0 && len(mapping) > 0 && float64(used) < p.MinUse*float64(offered) {
		return Unused, fmt.Sprintf("uses %d of %d cores, and %d more jobs wait", used, offered, more)
	}
	return Taken, ""
}

// torn tells whether cores lie on several sockets of a node though a socket that the mapping leaves
// alone has room for them.
func (l *plan) torn(cores []uint32, rest []invasive.Mapping) bool {
	b := l.now
	first, last := b.socket(cores[0]), b.socket(cores[len(cores)-1])
	if first == last || b.node(cores[0]) != b.node(cores[len(cores)-1]) {
		return false
	}
	mapped := map[uint32]bool{}
	for _, m := range rest {
		for _, p := range m.Parts {
			mapped[p.Node] = true
		}
	}
	for s, free := range b.freeIn {
		if free >= len(cores) && !mapped[uint32(s/b.sockets)] {
			return true
		}
	}
	return false
}

// Urgent decides on an urgent job: it is taken if it can have its cores at once, or as soon as
// others have let go of them. Otherwise it says why not in words.
func Urgent(v *View, p *Policy, job *invasive.Job) (bool, string) {
	w := *v
	i, _ := slices.BinarySearchFunc(v.Jobs, job.ID, heldByID)
	w.Jobs = slices.Insert(slices.Clone(v.Jobs), i, invasive.Held{Job: job, State: invasive.Accepted})
	if newPlan(&w, p).ids[job.ID] {
		return true, ""
	}
	return false, fmt.Sprintf(
		"needs %d cores: they can't be had, with what may be taken from others, and the power that there is",
		job.MinCores)
}
