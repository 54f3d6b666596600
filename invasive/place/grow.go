// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// Seat decides who gets cores, and who has to give some up: Place, Give and Take events for the
// Hypervisor, in this order to be given to it.
func Seat(v *View, p *Policy) []invasive.Event {
	if leave := v.leave(); len(leave) > 0 {
		return leave
	}
	l := newPlan(v, p)
	l.otherwise()
	l.wishes()
	if v.Grow {
		l.grow()
	}
	all := slices.Concat(l.needed(), l.extras)
	switch {
	case !l.promises() || len(l.broken(all)) == 0:
		return all
	case len(l.broken(l.needed())) == 0:
		return l.needed()
	}
	return l.takes
}

// leave has jobs leave the cores that are lost. One that can't do with the rest is ended. One that
// has lately refused to shrink is left in peace.
func (v *View) leave() (takes []invasive.Event) {
	for i := range v.Jobs {
		h := &v.Jobs[i]
		var lost []uint32
		for _, c := range h.Cores {
			if v.Lost != nil && v.Lost[c] {
				lost = append(lost, c)
			}
		}
		stubborn := v.Stubborn[h.Job.ID]
		if len(lost) == 0 || h.State != invasive.Running || h.Taking != nil || stubborn >= invasive.Kill {
			continue
		}
		ev := invasive.Event{Kind: invasive.Take, ID: h.Job.ID, Cores: lost, How: invasive.Shrink}
		switch {
		case h.Job.Flex != invasive.Malleable || !v.doesWithout(h, lost):
			ev.Cores, ev.How = h.Cores, invasive.Kill
		case stubborn >= invasive.Shrink:
			continue
		}
		takes = append(takes, ev)
	}
	return takes
}

// doesWithout tells whether a job can go on without some of its cores.
func (v *View) doesWithout(h *invasive.Held, some []uint32) bool {
	rest := without(h.Cores, some)
	home, has := v.Homes[h.Job.ID]
	nodes := map[uint32]bool{}
	for _, c := range rest {
		nodes[c/(v.Partition.Sockets*v.Partition.CoresPerSocket)] = true
	}
	return len(rest) >= int(h.Job.MinCores) && len(nodes) >= int(h.Job.MinNodes) && (!has || nodes[home])
}

// promises tells whether somebody may be waiting for what was asked for.
func (l *plan) promises() bool {
	return len(l.takes) > 0 || slices.ContainsFunc(l.view.Jobs, func(h invasive.Held) bool { return h.Taking != nil })
}

// has tells whether there is power for cores, now and later.
func (l *plan) has(cores []uint32) bool { return l.now.hasPower(cores) && l.later.hasPower(cores) }

// seat gives cores away that are free now.
func (l *plan) seat(cores []uint32) {
	l.now.seat(cores)
	l.later.seat(cores)
}

// place seats those now whose cores are there.
func (l *plan) place() {
	l.now = newBoard(l.view, l.policy)
	for c, free := range l.later.free {
		if !free {
			l.now.keep([]uint32{uint32(c)})
		}
	}
	for i := range l.served {
		s := &l.served[i]
		owned := slices.ContainsFunc(s.cores, func(c uint32) bool { return l.view.Owners[c] != 0 })
		if s.placed = !owned && s.need.held.Taking == nil && l.now.hasPower(s.cores); s.placed {
			l.now.seat(s.cores)
			l.placed = append(l.placed, s.event())
		}
	}
}

func (s *seat) event() invasive.Event {
	kind := invasive.Place
	if s.need.suspended {
		kind = invasive.Give
	}
	return invasive.Event{Kind: kind, ID: s.need.held.Job.ID, Cores: s.cores}
}

// otherwise seats those on cores that nobody waits for whose own haven't come yet.
func (l *plan) otherwise() {
	for i := range l.served {
		s := &l.served[i]
		if s.placed || s.need.held.Taking != nil {
			continue
		}
		l.later.vacate(s.cores)
		cores := l.now.seats(&s.need)
		if cores == nil || !l.later.hasPower(cores) {
			l.later.seat(s.cores)
			continue
		}
		for _, c := range s.cores {
			if l.view.Owners[c] == 0 {
				l.now.setFree(c)
			}
		}
		s.cores = cores
		l.seat(cores)
		l.extras = append(l.extras, s.event())
	}
}

// wishes fulfils those of evolving jobs as far as nobody waits for the cores.
func (l *plan) wishes() {
	for i := range l.jobs {
		h := &l.jobs[i]
		wish := int(l.view.Wishes[h.Job.ID])
		if wish == 0 || h.State != invasive.Running || h.Taking != nil || len(h.Cores) == 0 {
			continue
		}
		wish = min(max(wish, int(h.Job.MinCores)), int(h.Job.MaxCores))
		switch more := wish - len(h.Cores); {
		case more > 0:
			l.give(h, more)
		case more < 0 && l.view.Stubborn[h.Job.ID] < invasive.Shrink:
			if cores := l.now.surplus(h, -more, nil); len(cores) > 0 {
				h.Taking = cores
				l.extras = append(l.extras, invasive.Event{Kind: invasive.Take, ID: h.Job.ID, Cores: cores, How: invasive.Shrink})
			}
		}
	}
}

// growStep: every change costs a job some time, so that a growth has to be at least one part in
// so many, or the last.
const growStep = 10

// grow gives malleable jobs what is left, the smallest share of what it can use first.
func (l *plan) grow() {
	var list []*invasive.Held
	for i := range l.jobs {
		h := &l.jobs[i]
		if h.Job.Flex == invasive.Malleable && h.State == invasive.Running && h.Taking == nil &&
			len(h.Cores) > 0 && l.view.Wishes[h.Job.ID] == 0 {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b *invasive.Held) int {
		return cmp.Compare(len(a.Cores)*int(b.Job.MaxCores), len(b.Cores)*int(a.Job.MaxCores))
	})
	for i, h := range list {
		free := 0
		for _, f := range l.now.freeOn {
			free += f
		}
		share := (free + len(list) - i - 1) / (len(list) - i)
		room := int(h.Job.MaxCores) - len(h.Cores)
		if k := min(share, room); k == room || k*growStep >= len(h.Cores) {
			l.give(h, k)
		}
	}
}

// give gives a running job up to k cores more, near to those that it has.
func (l *plan) give(h *invasive.Held, k int) {
	b := l.now
	in, on := map[int]bool{}, map[int]int{}
	for _, c := range h.Cores {
		in[b.socket(c)] = true
		on[b.node(c)]++
	}
	var nodes []int
	for node, free := range b.freeOn {
		if free > 0 {
			nodes = append(nodes, node)
		}
	}
	slices.SortStableFunc(nodes, func(x, y int) int { return -cmp.Compare(on[x], on[y]) })
	var cores []uint32
	for _, node := range nodes {
		if on[node] == 0 && h.Job.MaxNodes > 0 && len(on) >= int(h.Job.MaxNodes) {
			continue
		}
		for _, c := range b.onNode(node, min(b.freeOn[node], k-len(cores)), in) {
			if l.has([]uint32{c}) {
				l.seat([]uint32{c})
				on[node]++
				cores = append(cores, c)
			}
		}
	}
	if len(cores) == 0 {
		return
	}
	slices.Sort(cores)
	l.extras = append(l.extras, invasive.Event{Kind: invasive.Give, ID: h.Job.ID, Cores: cores})
}
