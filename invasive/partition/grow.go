package partition

import (
	"cmp"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// grow gives what is free to jobs that can use it: evolving ones up to their wish, then malleable ones in equal shares, the
// rest to the first that takes it.
func (m *Manager) grow(now time.Duration, out []invasive.Event) []invasive.Event {
	if m.blocking {
		return out
	}
	m.waiting = m.waiting[:0]
	jobs := m.view.jobs
	left := 0
	for n := range m.view.count {
		left += int(m.view.count[n][free])
	}
	if left == 0 {
		return out
	}
	for i := range jobs {
		if m.room(i) > 0 {
			m.waiting = append(m.waiting, i)
		}
	}
	slices.SortStableFunc(m.waiting, func(x, y int) int {
		a, b := &jobs[x], &jobs[y]
		return cmp.Or(cmp.Compare(a.Job.Flex, b.Job.Flex), cmp.Compare(b.Job.Priority, a.Job.Priority), cmp.Compare(len(a.Cores), len(b.Cores)))
	})
	for k, i := range m.waiting {
		room := m.room(i)
		share := left
		if rest := len(m.waiting) - k; jobs[i].Job.Flex == invasive.Malleable {
			share = (left + rest - 1) / rest
		}
		n := min(room, max(share, m.step(i)), left)
		if n < min(room, m.step(i)) {
			continue
		}
		if cores := m.moreCores(i, n); len(cores) > 0 {
			m.view.reserve(cores)
			left -= len(cores)
			out = append(out, invasive.Event{Kind: invasive.Give, ID: jobs[i].Job.ID, Cores: cores})
		}
	}
	return out
}

// room is how many more cores a job can use.
func (m *Manager) room(i int) int {
	j := &m.view.jobs[i]
	if j.State != invasive.Running || j.Taking != nil {
		return 0
	}
	most := j.Job.MaxCores
	switch j.Job.Flex {
	case invasive.Malleable:
	case invasive.Evolving:
		most = min(most, m.notes[i].wish)
	default:
		return 0
	}
	return max(0, int(most)-len(j.Cores))
}

// step is the least growth of a job that is worth its while.
func (m *Manager) step(i int) int {
	return max(1, len(m.view.jobs[i].Cores)*int(m.set.GrowStep)/100)
}

// moreCores picks up to n free cores for a running job, on its own nodes first.
func (m *Manager) moreCores(i, n int) []uint32 {
	v, j := m.view, &m.view.jobs[i]
	nodes := 0
	clear(v.share)
	last := -1
	for _, c := range j.Cores {
		at := v.node(c)
		if at == last {
			continue
		}
		last = at
		nodes++
		k := min(int32(n), v.count[at][free])
		v.share[at] = k
		n -= int(k)
	}
	var cores []uint32
	for at, k := range v.share {
		if k > 0 {
			cores = v.takeOf(cores, at, k, free)
		}
	}
	limit := len(v.count)
	if j.Job.MaxNodes > 0 {
		limit = int(j.Job.MaxNodes)
	}
	if n > 0 && nodes < limit {
		v.hold(cores, kept)
		cores = append(cores, v.pick(&ask{want: int32(n), minNodes: 1, maxNodes: int32(limit - nodes)}, free)...)
		v.hold(cores, free)
		slices.Sort(cores)
	}
	return v.affordable(cores)
}

// hold sets the class of cores.
func (v *view) hold(cores []uint32, as class) {
	for _, c := range cores {
		v.set(c, as)
	}
}
