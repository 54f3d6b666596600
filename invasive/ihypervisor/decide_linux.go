package ihypervisor

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/place"
)

// offers is what is known of the negotiation.
type offers struct {
	open    link.Question // an AskOffer that waits for something new
	waits   bool
	last    *invasive.Offer
	reason  place.Reason // of our last verdict
	judged  bool         // the last offer came to a verdict
	pending uint32       // jobs that wait at the iScheduler
	fresh   bool         // something is new since the last offer, here or there
	at      time.Time    // of the last offer
}

// do does the machine's actions that aren't the Runner's. Nothing here waits.
func (h *Hypervisor) do(a *invasive.Action, q link.Question) {
	h.meter.count(h.Clock.Now(), h.machine.Owners())
	switch a.Kind {
	case invasive.AskOffer:
		h.askOffer(q, a.Prompt)
	case invasive.AskVerdict:
		h.judge(q, a.Msg.Map)
	case invasive.AskUrgent:
		ok, text := place.Urgent(h.view(), &h.Policy, a.Job)
		h.runner.Answer(q, invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: ok, Text: text})
	case invasive.AskPlace:
		h.changed()
	case invasive.Launch:
		h.launch(a.Job, a.Cores)
	case invasive.Grow:
		h.grow(a.ID)
	case invasive.Reclaim:
		h.reclaim(a)
	case invasive.Forget:
		if err := h.launcher.Forget(a.ID); err != nil {
			h.Log.Warn("left behind", "job", uint64(a.ID), "why", err)
		}
	}
}

// hear notes how many jobs wait at the iScheduler, and whether it has any that it hasn't tried to place.
func (h *Hypervisor) hear(m *invasive.Message) {
	switch m.Kind {
	case invasive.Initialise:
		h.offers = offers{}
	case invasive.NegotiationStart, invasive.RequestResourceOffer:
		h.offers.pending, h.offers.fresh = m.Pending, true
	case invasive.ResponseNegotiationEnd:
		h.offers.pending = m.Pending
	case invasive.ResponseResourceOffer: // the rest of the queue may fit too
		h.offers.fresh = h.offers.fresh || len(m.Map) > 0
	}
}

// freed gives the machine an event by which cores come free, and what may be offered is new after it.
func (h *Hypervisor) freed(ev invasive.Event) {
	h.runner.Post(ev)
	h.runner.Call(func() { h.offers.fresh = true })
}

// view is what is decided from.
func (h *Hypervisor) view() *place.View {
	now := h.Clock.Now()
	v := &place.View{
		Partition: h.Topology.Partition, Owners: h.machine.Owners(), Jobs: h.machine.Jobs(nil), Wishes: h.wishes,
		Stubborn: map[invasive.JobID]invasive.How{}, Left: map[invasive.JobID]uint32{}, Pending: h.offers.pending,
		Grow: h.Grow && !h.offering(),
	}
	for id, s := range h.stubborn {
		if s.until.After(now) {
			v.Stubborn[id] = s.how
		}
	}
	for id, r := range h.runs {
		if at, ok := h.launcher.Started(id); ok && r.job.Limit > 0 {
			left := at.Add(time.Duration(r.job.Limit) * time.Second).Sub(now)
			v.Left[id] = uint32(max(0, left+time.Second-1) / time.Second)
		}
	}
	return v
}

// offering tells whether the free cores are on offer, or about to be. If they were in vain jobs may grow onto them, though others
// wait at the iScheduler: what they can spare stays on offer.
func (h *Hypervisor) offering() bool {
	switch h.machine.Phase() {
	case invasive.Offered, invasive.Judging:
		return true
	}
	return h.offers.waits && (h.offers.fresh || h.Clock.Now().Sub(h.offers.at) >= h.OfferEvery)
}

// changed: jobs wait for cores, or cores for jobs. Several changes are seen to together.
func (h *Hypervisor) changed() {
	if !h.seating {
		h.seating = true
		h.runner.Call(h.seat)
	}
}

// seat gives and takes cores. What the machine doesn't take because something has come between has
// called changed, so that this comes again.
func (h *Hypervisor) seat() {
	h.seating = false
	h.meter.waits(h.Clock.Now(), h.machine.Jobs(nil))
	for _, ev := range place.Seat(h.view(), &h.Policy) {
		h.runner.Post(ev)
	}
	h.runner.Call(h.offer) // what is left
}

func (h *Hypervisor) askOffer(q link.Question, prompt bool) {
	h.offers.open, h.offers.waits = q, true
	if prompt {
		style := place.Ahead
		if h.offers.judged && h.offers.reason == place.Torn {
			style = place.Blocks
		}
		h.make(place.Offer(h.view(), &h.Policy, style))
		return
	}
	h.runner.Call(h.offer)
}

// offer answers an AskOffer if there is something new, or if some time has passed.
func (h *Hypervisor) offer() {
	o := &h.offers
	if !o.waits || h.seating {
		return
	}
	if !o.fresh && h.Clock.Now().Sub(o.at) < h.OfferEvery {
		return
	}
	if offer := place.Offer(h.view(), &h.Policy, place.Plain); len(offer.Parts) > 0 {
		h.make(offer)
	}
}

func (h *Hypervisor) make(offer *invasive.Offer) {
	o := &h.offers
	o.waits, o.last, o.judged, o.fresh, o.at = false, offer, false, false, h.Clock.Now()
	h.runner.Answer(o.open, invasive.Event{Kind: invasive.OfferMade, Offer: offer})
}

func (h *Hypervisor) judge(q link.Question, mapping []invasive.Mapping) {
	reason, text := place.Judge(h.view(), &h.Policy, h.offers.last, mapping)
	h.offers.judged, h.offers.reason = true, reason
	if text != "" {
		h.Log.Info("a mapping was rejected", "why", text)
	}
	h.runner.Answer(q, invasive.Event{Kind: invasive.Verdict, Accept: reason == place.Taken})
}

// tick looks for what time alone changes.
func (h *Hypervisor) tick() {
	now := h.Clock.Now()
	for id, s := range h.stubborn {
		if !s.until.After(now) {
			delete(h.stubborn, id)
			h.changed()
		}
	}
	for id, r := range h.runs {
		at, ok := h.launcher.Started(id)
		if limit := time.Duration(r.job.Limit) * time.Second; h.Launcher == nil && ok && limit > 0 && !r.ending && now.Sub(at) >= limit {
			h.Log.Info("a job has reached its limit", "job", uint64(id))
			h.end(r)
		}
	}
	if h.Grow && !h.seating {
		h.seating = true
		h.runner.Call(h.seat)
	}
	h.offer()
}
