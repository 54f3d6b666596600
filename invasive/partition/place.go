package partition

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A rival is a running job that might give up cores.
type rival struct {
	job   int // of the view
	cores []uint32
}

// place plans the waiting jobs, and appends what can be done for them now.
func (m *Manager) place(now time.Duration, out []invasive.Event) []invasive.Event {
	m.blocking = false
	for _, i := range m.line() {
		j := &m.view.jobs[i]
		if m.blocking && !j.Job.Urgent {
			continue
		}
		var ok bool
		if out, ok = m.serve(i, now, out); !ok && now-m.notes[i].since >= m.set.Patience {
			m.blocking = true
		}
	}
	return out
}

// line is the waiting jobs in the order in which they are served.
func (m *Manager) line() []int {
	m.waiting = m.waiting[:0]
	jobs := m.view.jobs
	for i := range jobs {
		if s := jobs[i].State; s == invasive.Accepted || s == invasive.Suspended {
			m.waiting = append(m.waiting, i)
		}
	}
	slices.SortStableFunc(m.waiting, func(x, y int) int {
		a, b := &jobs[x], &jobs[y]
		return cmp.Or(-compare(a.Job.Urgent, b.Job.Urgent), cmp.Compare(b.State, a.State), cmp.Compare(b.Job.Priority, a.Job.Priority))
	})
	return m.waiting
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// serve starts or resumes a job on free cores, or else asks others for theirs. It reports whether the job
// will have its cores.
func (m *Manager) serve(i int, now time.Duration, out []invasive.Event) ([]invasive.Event, bool) {
	v, j := m.view, &m.view.jobs[i]
	a := m.askOf(i)
	for _, a.want = range [2]int32{a.want, a.need} {
		cores := v.affordable(v.pick(&a, free))
		if len(cores) < int(a.need) || !v.spans(cores, a.minNodes) {
			continue
		}
		v.reserve(cores)
		kind := invasive.Place
		if j.State == invasive.Suspended {
			kind = invasive.Give
		}
		return append(out, invasive.Event{Kind: kind, ID: j.Job.ID, Cores: cores}), true
	}
	if cores := v.pick(&a, coming); m.takes(cores) {
		v.reserve(cores)
		return out, true
	}
	if cores := m.search(&a, surplus, m.shrinkable(now)); cores != nil {
		return m.take(cores, invasive.Shrink, out), true
	}
	if !j.Job.Urgent {
		return out, false
	}
	if room := int(m.set.MaxSuspended) - v.suspended; room > 0 {
		if cores := m.search(&a, seized, m.stoppable(invasive.Suspend, int(a.need), room, now)); cores != nil {
			return m.take(cores, invasive.Suspend, out), true
		}
	}
	if m.set.Kill {
		if cores := m.search(&a, seized, m.stoppable(invasive.Kill, int(a.need), len(v.jobs), now)); cores != nil {
			return m.take(cores, invasive.Kill, out), true
		}
	}
	return out, false
}

// takes tells whether a plan was found, and may draw its power.
func (m *Manager) takes(cores []uint32) bool {
	return len(cores) > 0 && len(m.view.affordable(cores)) == len(cores)
}

// askOf is what job i needs: what was agreed on; if it was urgent, anything that it can use; and if it is suspended,
// as many cores as it had.
func (m *Manager) askOf(i int) ask {
	j := &m.view.jobs[i]
	a := ask{need: int32(j.Job.MinCores), want: int32(j.Job.MaxCores), minNodes: int32(max(j.Job.MinNodes, 1)), maxNodes: int32(j.Job.MaxNodes)}
	sum := int32(0)
	for _, p := range j.Parts {
		sum += int32(p.Cores)
	}
	if had := int32(m.notes[i].had); j.State == invasive.Suspended && had > 0 {
		sum = had
	}
	if sum > 0 {
		a.want, a.agreed = min(max(a.need, sum), a.want), j.Parts
		if j.Job.Flex != invasive.Malleable {
			a.need = a.want
		}
	}
	a.need, a.want = max(a.need, a.minNodes), max(a.want, a.minNodes)
	return a
}

// spans tells whether ascending cores lie on so many nodes.
func (v *view) spans(cores []uint32, nodes int32) bool {
	last := -1
	for _, c := range cores {
		if n := v.node(c); n != last {
			last = n
			nodes--
		}
	}
	return nodes <= 0
}

// shrinkable is the jobs that can do without some of their cores, the least important first.
func (m *Manager) shrinkable(now time.Duration) []rival {
	m.rivals = m.rivals[:0]
	for i := range m.view.jobs {
		if cores := m.spareCores(i, now); len(cores) > 0 {
			m.rivals = append(m.rivals, rival{i, cores})
		}
	}
	jobs := m.view.jobs
	slices.SortStableFunc(m.rivals, func(x, y rival) int {
		return cmp.Or(cmp.Compare(jobs[x.job].Job.Priority, jobs[y.job].Job.Priority), cmp.Compare(len(y.cores), len(x.cores)))
	})
	return m.rivals
}

// spareCores is what a job can do without, ascending: cores of the nodes where it has fewest.
func (m *Manager) spareCores(i int, now time.Duration) []uint32 {
	v, j := m.view, &m.view.jobs[i]
	spare := len(j.Cores) - int(j.Job.MinCores)
	if spare <= 0 || j.Job.Urgent || j.Job.Flex != invasive.Malleable || j.State != invasive.Running || j.Taking != nil || m.notes[i].refuses(invasive.Shrink, now) {
		return nil
	}
	v.order = v.order[:0]
	for _, c := range j.Cores {
		n := v.node(c)
		if v.own[n] == 0 {
			v.order = append(v.order, int32(n))
		}
		v.own[n]++
	}
	slices.SortFunc(v.order, func(x, y int32) int { return cmp.Or(cmp.Compare(v.own[x], v.own[y]), cmp.Compare(y, x)) })
	goes := make([]uint32, 0, spare)
	nodes := len(v.order)
	for _, n := range v.order {
		k := min(spare, int(v.own[n]))
		if k == int(v.own[n]) && nodes <= int(j.Job.MinNodes) {
			k-- // the job needs the node
		}
		if k == int(v.own[n]) {
			nodes--
		}
		spare -= k
		for x := len(j.Cores) - 1; x >= 0 && k > 0; x-- {
			if c := j.Cores[x]; v.node(c) == int(n) && v.class[c] == kept {
				goes = append(goes, c)
				k--
			}
		}
	}
	for _, n := range v.order {
		v.own[n] = 0
	}
	slices.Sort(goes)
	return goes
}

// stoppable is the jobs that can be stopped in some way, the first ones first: of the lowest priority, and of those the smallest
// that is enough alone, so that few cores are left idle by it. At most room of them.
func (m *Manager) stoppable(how invasive.How, need, room int, now time.Duration) []rival {
	m.rivals = m.rivals[:0]
	jobs := m.view.jobs
	for i := range jobs {
		j := &jobs[i]
		if !j.Job.Urgent && j.State == invasive.Running && j.Taking == nil && len(j.Cores) > 0 && !m.notes[i].refuses(how, now) {
			m.rivals = append(m.rivals, rival{i, j.Cores})
		}
	}
	excess := func(r rival) int {
		if n := len(r.cores); n >= need {
			return n - need
		}
		return math.MaxInt - len(r.cores)
	}
	slices.SortStableFunc(m.rivals, func(x, y rival) int {
		return cmp.Or(cmp.Compare(jobs[x.job].Job.Priority, jobs[y.job].Job.Priority), cmp.Compare(excess(x), excess(y)),
			cmp.Compare(m.notes[y.job].started, m.notes[x.job].started))
	})
	return m.rivals[:min(room, len(m.rivals))]
}

// search finds cores with the help of as few rivals as possible, in their order; nil if even all are not enough. The rivals
// found keep their class.
func (m *Manager) search(a *ask, as class, rivals []rival) []uint32 {
	v := m.view
	mark := func(from, to int, as class) {
		for _, r := range rivals[from:to] {
			for _, c := range r.cores {
				v.set(c, as)
			}
		}
	}
	marked := 0
	find := func(n int) []uint32 {
		if n > marked {
			mark(marked, n, as)
		} else {
			mark(n, marked, kept)
		}
		marked = n
		return v.pick(a, as)
	}
	if !m.takes(find(len(rivals))) {
		find(0)
		return nil
	}
	low, high := 1, len(rivals)
	for low < high {
		if mid := (low + high) / 2; m.takes(find(mid)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if cores := find(low); m.takes(cores) { // more rivals need not always do, with limits on nodes and power
		return cores
	}
	return find(len(rivals))
}

// take appends the reclaims that make room for a job on cores, and keeps these for it.
func (m *Manager) take(cores []uint32, how invasive.How, out []invasive.Event) []invasive.Event {
	v := m.view
	for _, r := range m.rivals {
		j := &v.jobs[r.job]
		var wanted []uint32
		for _, c := range r.cores {
			if _, is := slices.BinarySearch(cores, c); is && v.class[c] >= surplus {
				wanted = append(wanted, c)
			}
		}
		left := kept
		switch {
		case len(wanted) == 0:
		case how != invasive.Shrink:
			wanted, left = j.Cores, coming // all, or nothing
			if how == invasive.Suspend {
				v.suspended++
			}
			fallthrough
		default:
			j.Taking = wanted
			out = append(out, invasive.Event{Kind: invasive.Take, ID: j.Job.ID, Cores: wanted, How: how})
		}
		for _, c := range r.cores {
			v.set(c, left)
		}
	}
	v.reserve(cores)
	return out
}
