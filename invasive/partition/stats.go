package partition

import (
	"math"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// stats are gathered for the next report.
type stats struct {
	at, from      time.Duration
	busy          float64 // core seconds since from
	ended, starts uint32
	wait          time.Duration
}

// pass counts the time up to now with what the view had before.
func (s *stats) pass(now time.Duration, v *view) {
	var busy int64
	for _, n := range v.busy {
		busy += int64(n)
	}
	s.busy += float64(busy) * max(0, now-s.at).Seconds()
	s.at = now
}

// change counts a job that goes over to another state.
func (s *stats) change(n *note, to invasive.JobState, now time.Duration) {
	switch {
	case to == invasive.Done:
		s.ended++
	case to == invasive.Running && n.state == invasive.Accepted:
		s.starts++
		s.wait += now - n.since
	}
}

// Load is that of a status report. It covers the time since the last Load; cores planned and not taken yet count as busy.
func (m *Manager) Load(h *invasive.Hypervisor, now time.Duration) *invasive.Load {
	m.look(h, now)
	s := &m.stats
	load := &invasive.Load{Ended: s.ended}
	for n := range m.view.count {
		load.FreeCores += uint32(m.view.count[n][free])
	}
	if all := float64(len(m.view.class)) * (now - s.from).Seconds(); all > 0 {
		load.Busy = uint32(min(1000, math.Round(1000*s.busy/all)))
	}
	if s.starts > 0 {
		load.Wait = uint32(min((s.wait / time.Duration(s.starts)).Milliseconds(), math.MaxUint32))
	}
	m.stats = stats{at: now, from: now}
	return load
}
