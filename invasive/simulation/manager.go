package simulation

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/place"
)

// A manager has package place answer the Hypervisor's questions, and says when: an offer that isn't prompt is made when there
// is something new, and jobs grow when no offer is about to be made of the free cores.
type manager struct {
	shape   *invasive.Partition
	policy  *place.Policy
	repeat  time.Duration
	pending uint32 // jobs that wait at the iScheduler
	waits   bool   // an AskOffer that isn't prompt is open
	fresh   bool   // something is new since the last offer
	seating bool   // cores or jobs have changed
	at      time.Duration
	last    *invasive.Offer
	judged  bool
	reason  place.Reason
	started map[invasive.JobID]time.Duration
	jobs    []invasive.Held
}

func newManager(c *Config) *manager {
	return &manager{shape: &c.Partition, policy: &c.Policy, repeat: c.Repeat, started: make(map[invasive.JobID]time.Duration)}
}

// hear notes what the iScheduler says.
func (m *manager) hear(msg *invasive.Message) {
	switch msg.Kind {
	case invasive.NegotiationStart, invasive.RequestResourceOffer:
		m.pending, m.fresh = msg.Pending, true
	case invasive.ResponseNegotiationEnd:
		m.pending = msg.Pending
	case invasive.ResponseResourceOffer: // the rest of the queue may fit too
		m.fresh = m.fresh || len(msg.Map) > 0
	}
}

// freed notes that cores have come free.
func (m *manager) freed() { m.fresh = true }

func (m *manager) view(h *invasive.Hypervisor, now time.Duration) *place.View {
	m.jobs = h.Jobs(m.jobs[:0])
	v := &place.View{Partition: *m.shape, Owners: h.Owners(), Jobs: m.jobs, Pending: m.pending, Left: make(map[invasive.JobID]uint32)}
	for i := range m.jobs {
		j := &m.jobs[i]
		if at, ok := m.started[j.Job.ID]; ok && j.State == invasive.Running && j.Job.Limit > 0 {
			left := at + time.Duration(j.Job.Limit)*time.Second - now
			v.Left[j.Job.ID] = uint32(max(0, left+time.Second-1) / time.Second)
		}
	}
	return v
}

// answer appends the answer to a question; others have none.
func (m *manager) answer(h *invasive.Hypervisor, a *invasive.Action, now time.Duration, out []invasive.Event) []invasive.Event {
	switch a.Kind {
	case invasive.AskOffer:
		if !a.Prompt {
			m.waits, m.seating = true, true
			return out
		}
		style := place.Ahead
		if m.judged && m.reason == place.Torn {
			style = place.Blocks
		}
		return append(out, m.offer(place.Offer(m.view(h, now), m.policy, style), now))
	case invasive.AskVerdict:
		reason, text := place.Judge(m.view(h, now), m.policy, m.last, a.Msg.Map)
		m.judged, m.reason = true, reason
		return append(out, invasive.Event{Kind: invasive.Verdict, Accept: reason == place.Taken, Text: text})
	case invasive.AskUrgent:
		ok, text := place.Urgent(m.view(h, now), m.policy, a.Job)
		return append(out, invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: ok, Text: text})
	case invasive.AskPlace:
		m.seating = true
	case invasive.Launch:
		m.started[a.ID] = now
	case invasive.Forget:
		delete(m.started, a.ID)
	}
	return out
}

// tick appends what is to be done when all of a moment is through.
func (m *manager) tick(h *invasive.Hypervisor, now time.Duration, out []invasive.Event) []invasive.Event {
	phase := h.Phase()
	m.waits = m.waits && phase == invasive.Offering
	offers := m.waits && (m.fresh || now-m.at >= m.repeat)
	if m.seating {
		m.seating = false
		v := m.view(h, now)
		v.Grow = !offers && phase != invasive.Offered && phase != invasive.Judging
		n := len(out)
		if out = append(out, place.Seat(v, m.policy)...); len(out) > n {
			return out
		}
	}
	if !offers {
		return out
	}
	m.seating = true // what nobody wants of it is for growth
	o := place.Offer(m.view(h, now), m.policy, place.Plain)
	m.fresh, m.at = false, now
	if len(o.Parts) == 0 {
		return out
	}
	return append(out, m.offer(o, now))
}

func (m *manager) offer(o *invasive.Offer, now time.Duration) invasive.Event {
	m.waits, m.last, m.judged, m.fresh, m.at = false, o, false, false, now
	return invasive.Event{Kind: invasive.OfferMade, Offer: o}
}

// load is that of a report; the iScheduler here goes by nothing else of it.
func (m *manager) load(h *invasive.Hypervisor) *invasive.Load {
	l := &invasive.Load{}
	for _, o := range h.Owners() {
		if o == 0 {
			l.FreeCores++
		}
	}
	return l
}
