// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/place"
)

// A manager is what decides for the Hypervisor, and what it decides from.
type manager struct {
	*place.Negotiator
	shape   *invasive.Partition
	hyper   *invasive.Hypervisor
	started map[invasive.JobID]time.Duration
	wishes  map[invasive.JobID]uint32 // of evolving jobs
	jobs    []invasive.Held
}

func newManager(c *Config, h *invasive.Hypervisor) *manager {
	return &manager{Negotiator: place.NewNegotiator(&c.Policy, c.Repeat), shape: &c.Partition,
		hyper: h, started: make(map[invasive.JobID]time.Duration),
		wishes: make(map[invasive.JobID]uint32)}
}

func (m *manager) view(now time.Duration) *place.View {
	m.jobs = m.hyper.Jobs(m.jobs[:0])
	v := &place.View{Partition: *m.shape, Owners: m.hyper.Owners(), Jobs: m.jobs,
		Left: make(map[invasive.JobID]uint32), Wishes: m.wishes, Grow: true}
	for i := range m.jobs {
		j := &m.jobs[i]
		if at, ok := m.started[j.Job.ID]; ok && j.State == invasive.Running && j.Job.Limit > 0 {
			v.Left[j.Job.ID] = place.Left(j.Job, now-at)
		}
	}
	return v
}

// answer returns the answer to a question that has one at once.
func (m *manager) answer(a *invasive.Action, now time.Duration) (invasive.Event, bool) {
	switch a.Kind {
	case invasive.Launch:
		m.started[a.ID] = now
	case invasive.Forget:
		delete(m.started, a.ID)
	}
	return m.Answer(a, func() *place.View { return m.view(now) }, now)
}

// tick returns what is to be done when all of a moment is through.
func (m *manager) tick(now time.Duration) []invasive.Event {
	return m.Next(m.hyper.Phase(), func() *place.View { return m.view(now) }, now)
}

// load is that of a report; the iScheduler here goes by nothing else of it.
func (m *manager) load() *invasive.Load {
	l := &invasive.Load{}
	for _, o := range m.hyper.Owners() {
		if o == 0 {
			l.FreeCores++
		}
	}
	return l
}
