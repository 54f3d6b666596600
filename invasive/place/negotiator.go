// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A Negotiator answers a Hypervisor's questions, and says when: an offer that isn't prompt is made
// when there is something new, and jobs grow when no offer is about to be made of the free cores.
// If those were offered in vain jobs may grow onto them, though others wait at the iScheduler: what
// they can spare stays on offer. Times are since any moment. It is not safe for concurrent use.
type Negotiator struct {
	policy *Policy
	every  time.Duration

	pending uint32          // jobs that wait at the iScheduler
	waits   bool            // an AskOffer that isn't prompt is open
	fresh   bool            // something is new since the last offer, here or there
	seating bool            // cores or jobs have changed
	at      time.Duration   // of the last offer
	last    *invasive.Offer // that was made
	judged  bool            // last came to a verdict
	reason  Reason          // of it
}

// NewNegotiator returns a Negotiator that makes an offer again that was in vain after a time.
func NewNegotiator(p *Policy, every time.Duration) *Negotiator {
	return &Negotiator{policy: p, every: every, at: -every}
}

// Hear notes what the iScheduler says: how many jobs wait there, and whether it has any that it
// hasn't tried to place.
func (n *Negotiator) Hear(m *invasive.Message) {
	switch m.Kind {
	case invasive.Initialise:
		n.pending, n.waits, n.fresh, n.judged, n.last = 0, false, false, false, nil
	case invasive.NegotiationStart, invasive.RequestResourceOffer:
		n.pending, n.fresh = m.Pending, true
	case invasive.ResponseNegotiationEnd:
		n.pending = m.Pending
	case invasive.ResponseResourceOffer: // the rest of the queue may fit too
		n.fresh = n.fresh || len(m.Map) > 0
	}
}

// Freed notes that cores have come free.
func (n *Negotiator) Freed() { n.fresh = true }

// Changed notes that jobs may wait for cores, or cores for jobs: Next looks.
func (n *Negotiator) Changed() { n.seating = true }

// Answer returns the answer to a question, if it has one that comes at once; view is asked for what
// is decided from. The Text of a verdict says why a mapping is rejected.
func (n *Negotiator) Answer(a *invasive.Action, view func() *View, now time.Duration) (ev invasive.Event, ok bool) {
	switch a.Kind {
	case invasive.AskOffer:
		if !a.Prompt {
			n.waits, n.seating = true, true
			return ev, false
		}
		style := Ahead
		if n.judged && n.reason == Torn {
			style = Blocks
		}
		return n.offer(Offer(n.view(view), n.policy, style), now), true
	case invasive.AskVerdict:
		reason, text := Judge(n.view(view), n.policy, n.last, a.Msg.Map)
		n.judged, n.reason = true, reason
		return invasive.Event{Kind: invasive.Verdict, Accept: reason == Taken, Text: text}, true
	case invasive.AskUrgent:
		accept, text := Urgent(n.view(view), n.policy, a.Job)
		return invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: accept, Text: text}, true
	case invasive.AskPlace:
		n.seating = true
	}
	return ev, false
}

// Next returns what is to be done when all that has come is through: who gets cores and who gives
// some up, or else the offer that the open AskOffer is answered by. After events it is to be called
// again. A View's Grow is what the iHypervisor's owner allows.
func (n *Negotiator) Next(phase invasive.Phase, view func() *View, now time.Duration) []invasive.Event {
	n.waits = n.waits && phase == invasive.Offering
	offers := n.waits && (n.fresh || now-n.at >= n.every)
	if n.seating {
		n.seating = false
		v := n.view(view)
		v.Grow = v.Grow && !offers && phase != invasive.Offered && phase != invasive.Judging
		if events := Seat(v, n.policy); len(events) > 0 {
			return events
		}
	}
	if !offers {
		return nil
	}
	n.seating = true // what nobody wants of it is for growth
	o := Offer(n.view(view), n.policy, Plain)
	n.fresh, n.at = false, now
	if len(o.Parts) == 0 {
		return nil
	}
	return []invasive.Event{n.offer(o, now)}
}

func (n *Negotiator) view(of func() *View) *View {
	v := of()
	v.Pending = n.pending
	return v
}

func (n *Negotiator) offer(o *invasive.Offer, now time.Duration) invasive.Event {
	n.waits, n.last, n.judged, n.fresh, n.at = false, o, false, false, now
	return invasive.Event{Kind: invasive.OfferMade, Offer: o}
}

// Left is in how many seconds a job that has run for a while reaches its limit.
func Left(j *invasive.Job, ran time.Duration) uint32 {
	left := time.Duration(j.Limit)*time.Second - ran
	return uint32(max(0, left+time.Second-1) / time.Second)
}
