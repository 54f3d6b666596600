package partition

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// judge holds a mapping, which keeps to the offer, against the iHypervisor's metrics.
func (m *Manager) judge(mapping []invasive.Mapping, now time.Duration) invasive.Event {
	m.place(now, nil)
	m.why, m.compact = "", false
	for _, check := range [...]func([]invasive.Mapping, time.Duration) string{m.gone, m.idle, m.scattered, m.overCap} {
		if m.why = check(mapping, now); m.why != "" {
			return invasive.Event{Kind: invasive.Verdict, Text: m.why}
		}
	}
	return invasive.Event{Kind: invasive.Verdict, Accept: true}
}

// mapped is how many cores of each node a mapping takes.
func (m *Manager) mapped(mapping []invasive.Mapping) []uint32 {
	sum := make([]uint32, len(m.view.count))
	for _, e := range mapping {
		for _, p := range e.Parts {
			sum[p.Node] += p.Cores // of a node on offer, and not more than it has
		}
	}
	return sum
}

// gone tells of cores that were on offer, and were taken meanwhile: by an urgent job, or by one that grew.
func (m *Manager) gone(mapping []invasive.Mapping, now time.Duration) string {
	far := make([]uint32, len(m.view.count))
	for _, p := range m.offer.Parts {
		if time.Duration(p.Delay)*time.Second > m.set.Shrinking {
			far[p.Node] += p.Cores
		}
	}
	surplus := m.surplusOf(now)
	for n, k := range m.mapped(mapping) {
		if there := uint32(m.view.available(n, coming)) + surplus[n] + far[n]; k > there {
			return fmt.Sprintf("node %d has %d cores for jobs, not %d", n, there, k)
		}
	}
	return ""
}

// idle tells of free cores that are left over though jobs of the mapping, which can't grow later, could use them.
func (m *Manager) idle(mapping []invasive.Mapping, _ time.Duration) string {
	var offered, used, usable uint64
	for _, p := range m.offer.Parts {
		if p.Delay == 0 {
			offered += uint64(p.Cores)
		}
	}
	for _, e := range mapping {
		cores := uint64(0)
		for _, p := range e.Parts {
			cores += uint64(p.Cores)
		}
		if used += cores; e.Job.Flex == invasive.Moldable {
			usable += uint64(e.Job.MaxCores) - cores
		}
	}
	if left := min(offered-min(offered, used), usable); left*100 > offered*uint64(m.set.MaxIdle) {
		return fmt.Sprintf("%d of %d cores are left idle though moldable jobs could use them", left, offered)
	}
	return ""
}

// scattered tells of jobs on more nodes than they need.
func (m *Manager) scattered(mapping []invasive.Mapping, _ time.Duration) string {
	var nodes, fewest uint64
	for _, e := range mapping {
		cores := uint64(0)
		seen := make(map[uint32]bool, len(e.Parts))
		for _, p := range e.Parts {
			cores += uint64(p.Cores)
			seen[p.Node] = true
		}
		nodes += uint64(len(seen))
		fewest += max(uint64(e.Job.MinNodes), (cores+uint64(m.view.perNode)-1)/uint64(m.view.perNode))
	}
	if nodes*100 > fewest*uint64(m.set.MaxSpread) {
		m.compact = true
		return fmt.Sprintf("jobs are scattered over %d nodes, %d would do", nodes, fewest)
	}
	return ""
}

// overCap tells of too much power.
func (m *Manager) overCap(mapping []invasive.Mapping, _ time.Duration) string {
	v := m.view
	if v.power.Cap == 0 {
		return ""
	}
	watts := v.watts
	for n, k := range m.mapped(mapping) {
		fresh := min(uint64(k), uint64(v.count[n][free])) // others draw power already
		if watts += fresh * uint64(v.power.Core); fresh > 0 && v.busy[n] == 0 {
			watts += uint64(v.power.Node)
		}
	}
	if watts > uint64(v.power.Cap) {
		return fmt.Sprintf("%d W are more than the cap of %d W", watts, v.power.Cap)
	}
	return ""
}

// judgeUrgent takes an urgent job if it can have its cores: at once, or when others have let go of theirs.
func (m *Manager) judgeUrgent(job *invasive.Job, now time.Duration) invasive.Event {
	m.place(now, nil)
	v := m.view
	v.jobs = append(v.jobs, invasive.Held{Job: job, State: invasive.Accepted})
	m.notes = append(m.notes, note{id: job.ID, state: invasive.Accepted, since: now})
	last := len(v.jobs) - 1
	_, ok := m.serve(last, now, nil)
	v.jobs, m.notes = v.jobs[:last], m.notes[:last]
	ev := invasive.Event{Kind: invasive.UrgentVerdict, ID: job.ID, Accept: ok}
	if !ok {
		ev.Text = fmt.Sprintf("%d cores can't be made free for it", job.MinCores)
	}
	return ev
}
