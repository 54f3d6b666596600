// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A meter measures what a status report tells. Times of acceptance are lost in a crash: a job that
// waited through one counts from the restart.
type meter struct {
	since, at time.Time
	busy      int           // cores, now
	busyTime  time.Duration // of all cores together
	ended     uint32
	started   int
	waited    time.Duration
	accepted  map[invasive.JobID]time.Time
}

func (m *meter) start(now time.Time) {
	m.since, m.at, m.accepted = now, now, map[invasive.JobID]time.Time{}
}

// count notes how many cores are busy from now on.
func (m *meter) count(now time.Time, owners []invasive.JobID) {
	m.busyTime += time.Duration(m.busy) * now.Sub(m.at)
	m.at, m.busy = now, 0
	for _, o := range owners {
		if o != 0 {
			m.busy++
		}
	}
}

// waits notes which jobs have been accepted by now.
func (m *meter) waits(now time.Time, jobs []invasive.Held) {
	for _, j := range jobs {
		if _, is := m.accepted[j.Job.ID]; !is && j.State == invasive.Accepted {
			m.accepted[j.Job.ID] = now
		}
	}
}

func (m *meter) starts(now time.Time, id invasive.JobID) {
	at, ok := m.accepted[id]
	if ok {
		m.waited += now.Sub(at)
	}
	m.started++
	delete(m.accepted, id)
}

// awayFree is how many cores are nobody's and can't be had.
func (h *Hypervisor) awayFree() (n int) {
	if h.nodes == nil {
		return 0
	}
	away, _ := h.nodes.Away()
	for c, owner := range h.machine.Owners() {
		if owner == 0 && away[c] {
			n++
		}
	}
	return n
}

// load is the report since the one before.
func (h *Hypervisor) load() *invasive.Load {
	m, now := &h.meter, h.Clock.Now()
	m.count(now, h.machine.Owners())
	cores := len(h.machine.Owners())
	l := &invasive.Load{FreeCores: uint32(cores - m.busy - h.awayFree()), Ended: m.ended}
	if past := now.Sub(m.since); past > 0 {
		l.Busy = uint32(min(1000, 1000*int64(m.busyTime)/(int64(past)*int64(cores))))
	}
	if m.started > 0 {
		l.Wait = uint32(min(m.waited.Milliseconds()/int64(m.started), 1<<32-1))
	}
	m.since, m.busyTime, m.ended, m.started, m.waited = now, 0, 0, 0, 0
	return l
}
