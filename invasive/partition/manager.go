package partition

import (
	"cmp"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A Manager answers the questions of one invasive.Hypervisor. It is not safe for concurrent use.
type Manager struct {
	set   Settings
	view  *view
	notes []note // of all jobs of the view, in its order
	spare []note
	stats stats

	asked    bool // an AskOffer waits for Tick
	attempt  int  // offers of this transaction so far
	fresh    bool // something has changed since the last offer that wasn't prompt
	offered  time.Duration
	offer    *invasive.Offer
	compact  bool   // the last mapping was scattered
	why      string // it was rejected
	waiting  []int
	rivals   []rival
	blocking bool
}

// A note is what the ledger doesn't know of a job.
type note struct {
	id       invasive.JobID
	state    invasive.JobState
	since    time.Duration // of its state
	started  time.Duration
	launched bool
	had      uint32       // cores when it last ran
	wish     uint32       // cores of an evolving job
	refused  invasive.How // the last way of reclaiming that it refused, 0 for none
	until    time.Duration
}

// New returns a Manager for a partition of which nothing is known yet.
func New(s Settings) (*Manager, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Manager{set: s, view: newView(&s), fresh: true}, nil
}

// Answer appends the events that answer a question of the Hypervisor's; other actions have none. An AskOffer that isn't
// prompt is answered by Tick. Now is the time since some moment that never changes, here and everywhere.
func (m *Manager) Answer(h *invasive.Hypervisor, q *invasive.Action, now time.Duration, out []invasive.Event) []invasive.Event {
	switch q.Kind {
	case invasive.AskOffer:
		if m.asked = !q.Prompt; m.asked {
			m.attempt, m.compact, m.why = 0, false, ""
			return out
		}
		m.look(h, now)
		return append(out, m.makeOffer(now))
	case invasive.AskVerdict:
		m.look(h, now)
		return append(out, m.judge(q.Msg.Map, now))
	case invasive.AskUrgent:
		m.look(h, now)
		return append(out, m.judgeUrgent(q.Job, now))
	case invasive.AskPlace:
		m.look(h, now)
		return m.place(now, out)
	}
	return out
}

// Tick appends an offer, if one is asked for and there is something new to offer, or else growth, if
// nobody is about to use the free cores.
func (m *Manager) Tick(h *invasive.Hypervisor, now time.Duration, out []invasive.Event) []invasive.Event {
	phase := h.Phase()
	m.asked = m.asked && phase == invasive.Offering
	if phase == invasive.Offered || phase == invasive.Judging {
		return out // the free cores are on offer
	}
	m.look(h, now)
	n := len(out)
	if out = m.place(now, out); len(out) > n {
		return out // what is free changes
	}
	if m.asked && (m.fresh || now-m.offered >= m.set.Repeat) {
		m.fresh, m.offered = false, now
		if ev := m.makeOffer(now); len(m.offer.Parts) > 0 {
			m.asked = false
			return append(out, ev)
		}
	}
	return m.grow(now, out)
}

// Kept tells that a job refuses what it was last asked for; it isn't asked in that way for
// Settings.Patience. It has to come before the Hypervisor's event.
func (m *Manager) Kept(h *invasive.Hypervisor, id invasive.JobID, how invasive.How, now time.Duration) {
	m.look(h, now)
	if n := m.find(id); n != nil {
		n.refused, n.until = how, now+m.set.Patience
	}
}

// Wish tells how many cores an evolving job would like to have in all; Tick grants it what is free. To have
// fewer a job lets go of cores by itself (the Hypervisor's Released).
func (m *Manager) Wish(h *invasive.Hypervisor, id invasive.JobID, cores uint32, now time.Duration) {
	m.look(h, now)
	if n := m.find(id); n != nil {
		n.wish = cores
	}
}

// Repeat is when Tick is to be called at the latest.
func (m *Manager) Repeat() time.Duration { return m.set.Repeat }

func (m *Manager) find(id invasive.JobID) *note {
	i, ok := slices.BinarySearchFunc(m.notes, id, func(n note, id invasive.JobID) int { return cmp.Compare(n.id, id) })
	if !ok {
		return nil
	}
	return &m.notes[i]
}

// look reads the ledger, and brings the notes in line with it.
func (m *Manager) look(h *invasive.Hypervisor, now time.Duration) {
	m.stats.pass(now, m.view)
	m.view.load(h)
	old := m.notes
	m.spare = m.spare[:0]
	for i := range m.view.jobs {
		j := &m.view.jobs[i]
		for len(old) > 0 && old[0].id < j.Job.ID {
			old = old[1:]
		}
		n := note{id: j.Job.ID, since: now}
		if len(old) > 0 && old[0].id == j.Job.ID {
			n = old[0]
		}
		if n.state != j.State {
			m.stats.change(&n, j.State, now)
			m.fresh = m.fresh || j.State != invasive.Running // there are more cores, or the iScheduler has mapped what it could
			n.state, n.since = j.State, now
		}
		if j.State == invasive.Running && !n.launched {
			n.launched, n.started = true, now
		}
		if j.State == invasive.Running {
			m.fresh = m.fresh || uint32(len(j.Cores)) < n.had
			n.had = uint32(len(j.Cores))
		}
		m.spare = append(m.spare, n)
	}
	m.notes, m.spare = m.spare, m.notes
}

// refuses tells whether a job is not to be asked for cores in some way.
func (n *note) refuses(how invasive.How, now time.Duration) bool {
	return n.refused >= how && now < n.until
}
