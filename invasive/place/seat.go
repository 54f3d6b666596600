// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// A plan is what is decided, as events for the Hypervisor, and the boards after it.
//
// It is made for the time when all that was asked for has come, on the board later: so it stays the
// same from one such answer to the next, and whoever cores were asked for gets them. What of it can
// be had at once is had at once.
type plan struct {
	policy *Policy
	view   *View
	// as in the view once it is settled, Taking as in the view and as planned
	jobs   []invasive.Held
	asks   func(invasive.JobID) bool // who may take cores from others
	later  *board                    // once all that is asked back has come
	now    *board                    // free are those cores that are nobody's, and won't be
	served []seat                    // of those who wait, in their order
	ids    map[invasive.JobID]bool   // of served
	takers []invasive.JobID          // for whom cores are taken

	takes, placed, extras []invasive.Event
}

// A seat is the cores that somebody is to have.
type seat struct {
	need   need
	cores  []uint32
	placed bool // now
}

// newPlan seats all who wait, as far as may be.
func newPlan(v *View, p *Policy) *plan {
	waits := map[invasive.JobID]bool{} // and may take cores from others
	for _, n := range waiting(v, p) {
		waits[n.held.Job.ID] = true
	}
	for {
		l := newLater(v, p, func(id invasive.JobID) bool { return waits[id] })
		l.place()
		if len(l.takes) == 0 || len(l.broken(l.needed())) == 0 {
			return l
		}
		broken := l.broken(l.takes)
		if len(broken) == 0 {
			return l
		}
		if !slices.ContainsFunc(l.takers, func(id invasive.JobID) bool { return slices.Contains(broken, id) }) {
			broken = l.takers[len(l.takers)-1:]
		}
		for _, id := range broken {
			delete(waits, id)
		}
	}
}

// needed are the events by which those who wait are seated.
func (l *plan) needed() []invasive.Event { return slices.Concat(l.placed, l.takes) }

// newLater plans for the time when all that is asked for has come.
func newLater(v *View, p *Policy, asks func(invasive.JobID) bool) *plan {
	settled := v.settled(nil)
	l := &plan{policy: p, view: v, asks: asks, jobs: slices.Clone(settled.Jobs),
		later: newBoard(settled, p), ids: map[invasive.JobID]bool{}}
	for i := range l.jobs {
		l.jobs[i].Taking = v.Jobs[i].Taking
	}
	settled.Jobs = l.jobs
	for _, urgent := range [...]bool{true, false} { // whom urgent ones suspend waits as well then
		for _, n := range waiting(settled, p) {
			if n.held.Job.Urgent == urgent {
				l.serve(&n)
			}
		}
	}
	return l
}

// broken are those who are served, and wouldn't be if these events were all that is decided.
func (l *plan) broken(events []invasive.Event) (list []invasive.JobID) {
	then := newLater(l.view.settled(events), l.policy, func(invasive.JobID) bool { return false })
	for _, ev := range events {
		then.ids[ev.ID] = then.ids[ev.ID] || ev.Kind != invasive.Take
	}
	for _, s := range l.served {
		if id := s.need.held.Job.ID; !then.ids[id] {
			list = append(list, id)
		}
	}
	return list
}

// serve finds cores for one, or keeps for it some of those that it will have.
func (l *plan) serve(n *need) {
	cores := l.later.seats(n)
	if cores == nil && l.asks(n.held.Job.ID) {
		cores = l.reclaim(n)
	}
	if cores != nil {
		l.later.seat(cores)
		l.served = append(l.served, seat{need: *n, cores: cores})
		l.ids[n.held.Job.ID] = true
		return
	}
	some := *n
	some.least = 1
	l.later.seat(l.later.candidates(&some, n.most)) // their power is kept as well
}

// reclaim takes cores from others for a need, and returns those that it will have. It takes nothing
// if that would not be enough.
func (l *plan) reclaim(n *need) []uint32 {
	trial := l.later.clone()
	takes := map[invasive.JobID]invasive.Event{}
	for _, how := range n.fromOthers {
		for _, h := range l.victims(n, how) {
			cores := h.Cores
			if how == invasive.Shrink {
				if cores = trial.surplus(&h, trial.deficit(n), n.parts); len(cores) == 0 {
					continue
				}
			}
			trial.vacate(slices.DeleteFunc(slices.Clone(cores), func(c uint32) bool { return slices.Contains(takes[h.Job.ID].Cores, c) }))
			takes[h.Job.ID] = invasive.Event{Kind: invasive.Take, ID: h.Job.ID, Cores: cores, How: how}
			if trial.seats(n) != nil {
				return l.take(n, takes)
			}
		}
	}
	if len(n.parts) > 0 {
		anywhere := *n
		anywhere.parts = nil
		return l.reclaim(&anywhere)
	}
	return nil
}

// deficit is how many cores a need lacks, at least 1.
func (b *board) deficit(n *need) int {
	have := 0
	if len(n.parts) == 0 {
		_, have = b.nodesFor(n, n.least)
	}
	for _, p := range n.parts {
		have += min(int(p.Cores), b.freeOn[p.Node])
	}
	if have >= n.least { // it lacks power, or nodes
		return len(b.free)
	}
	return n.least - have
}

// take plans those of the takes without which it doesn't do.
func (l *plan) take(n *need, all map[invasive.JobID]invasive.Event) []uint32 {
	takes := slices.SortedFunc(maps.Values(all), func(a, b invasive.Event) int {
		// the worst is spared first
		return cmp.Or(-cmp.Compare(a.How, b.How), cmp.Compare(a.ID, b.ID))
	})
	with := func(list []invasive.Event) *board {
		b := l.later.clone()
		for _, ev := range list {
			b.vacate(ev.Cores)
		}
		return b
	}
	for i := 0; i < len(takes); {
		if without := slices.Delete(slices.Clone(takes), i, i+1); with(without).seats(n) != nil {
			takes = without
		} else {
			i++
		}
	}
	for _, ev := range takes {
		for i := range l.jobs {
			if h := &l.jobs[i]; h.Job.ID == ev.ID {
				lose(h, ev.Cores, ev.How)
				h.Taking = ev.Cores
			}
		}
	}
	l.later = with(takes)
	l.takes = append(l.takes, takes...)
	l.takers = append(l.takers, n.held.Job.ID)
	return l.later.seats(n)
}

// victims are jobs that cores may be taken from in this way, the least important and youngest
// first. Urgent jobs are none.
func (l *plan) victims(n *need, how invasive.How) []invasive.Held {
	var list []invasive.Held
	for _, h := range l.jobs {
		runs := h.State == invasive.Running && len(h.Cores) > 0 && h.Taking == nil
		if runs && h.Job.ID != n.held.Job.ID && !h.Job.Urgent && l.view.Stubborn[h.Job.ID] < how &&
			(how != invasive.Shrink || h.Job.Flex == invasive.Malleable) {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b invasive.Held) int {
		return cmp.Or(cmp.Compare(a.Job.Priority, b.Job.Priority), -cmp.Compare(a.Job.ID, b.Job.ID))
	})
	return list
}
