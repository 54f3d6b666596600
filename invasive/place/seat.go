package place

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// A plan is what is decided, as events for the Hypervisor, and the boards after it.
type plan struct {
	policy *Policy
	view   *View
	jobs   []invasive.Held // Taking as planned
	now    *board
	later  *board // once all that is asked back has come
	events []invasive.Event
}

// Seat decides who gets cores, and who has to give some up: Place, Give and Take events for the Hypervisor,
// in this order to be given to it.
func Seat(v *View, p *Policy) []invasive.Event {
	l := newPlan(v, p)
	l.wishes()
	if v.Grow {
		l.grow()
	}
	return l.events
}

// newPlan seats all who wait, as far as may be.
func newPlan(v *View, p *Policy) *plan {
	l := &plan{policy: p, view: v, jobs: slices.Clone(v.Jobs), now: newBoard(v, p)}
	l.later = l.now.clone()
	for _, h := range l.jobs {
		l.later.vacate(h.Taking)
	}
	for _, n := range waiting(v, p) {
		l.seat(&n)
	}
	return l
}

// seat seats one, or keeps for it what it will be seated on; it tells whether it is seated now or will be.
func (l *plan) seat(n *need) bool {
	if cores := l.now.seats(n); cores != nil {
		kind := invasive.Place
		if n.suspended {
			kind = invasive.Give
		}
		l.events = append(l.events, invasive.Event{Kind: kind, ID: n.held.Job.ID, Cores: cores})
		l.now.seat(cores)
		l.later.seat(cores)
		return true
	}
	cores := l.later.seats(n)
	if cores == nil {
		cores = l.reclaim(n)
	}
	if cores != nil {
		l.later.seat(cores)
		l.now.keep(cores)
		return true
	}
	for _, b := range []*board{l.now, l.later} {
		some := *n
		some.least = 1
		b.keep(b.candidates(&some, n.most))
	}
	return false
}

// reclaim takes cores from others for a need, and returns those that it will have. It takes nothing if that would
// not be enough.
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
		return cmp.Or(-cmp.Compare(a.How, b.How), cmp.Compare(a.ID, b.ID)) // the worst is spared first
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
			if l.jobs[i].Job.ID == ev.ID {
				l.jobs[i].Taking = ev.Cores
			}
		}
	}
	l.later = with(takes)
	l.events = append(l.events, takes...)
	return l.later.seats(n)
}

// victims are jobs that cores may be taken from in this way, the least important and youngest first. Urgent jobs
// are none.
func (l *plan) victims(n *need, how invasive.How) []invasive.Held {
	var list []invasive.Held
	for _, h := range l.jobs {
		runs := h.State == invasive.Running && len(h.Cores) > 0 && h.Taking == nil
		if runs && h.Job.ID != n.held.Job.ID && !h.Job.Urgent && l.view.Stubborn[h.Job.ID] < how && (how != invasive.Shrink || h.Job.Flex == invasive.Malleable) {
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, func(a, b invasive.Held) int {
		return cmp.Or(cmp.Compare(a.Job.Priority, b.Job.Priority), -cmp.Compare(a.Job.ID, b.Job.ID))
	})
	return list
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
				l.events = append(l.events, invasive.Event{Kind: invasive.Take, ID: h.Job.ID, Cores: cores, How: invasive.Shrink})
			}
		}
	}
}

// growStep: every change costs a job some time, so that a growth has to be at least one part in so many, or the last.
const growStep = 10

// grow gives malleable jobs what is left, the smallest share of what it can use first.
func (l *plan) grow() {
	var list []*invasive.Held
	for i := range l.jobs {
		h := &l.jobs[i]
		if h.Job.Flex == invasive.Malleable && h.State == invasive.Running && h.Taking == nil && len(h.Cores) > 0 && l.view.Wishes[h.Job.ID] == 0 {
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
	b := l.now.clone()
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
			if b.hasPower([]uint32{c}) {
				b.seat([]uint32{c})
				on[node]++
				cores = append(cores, c)
			}
		}
	}
	if len(cores) == 0 {
		return
	}
	slices.Sort(cores)
	l.events = append(l.events, invasive.Event{Kind: invasive.Give, ID: h.Job.ID, Cores: cores})
	l.now = b
	l.later.seat(cores)
}
