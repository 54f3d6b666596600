// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "slices"

type hyperGuard = guard[Hypervisor]
type hyperEffect = effect[Hypervisor]

// Guards of the Hypervisor's table.
var (
	ifCommon = hyperGuard{"common version", func(h *Hypervisor, ev *Event) bool {
		t := ev.Msg.Terms
		return t.MinVersion <= h.wish.MaxVersion && t.MaxVersion >= h.wish.MinVersion
	}}
	ifPending = hyperGuard{"jobs wait", func(_ *Hypervisor, ev *Event) bool { return ev.Msg.Pending > 0 }}

	ifFinal = hyperGuard{"accepts, last attempt", func(h *Hypervisor, ev *Event) bool {
		return h.answers(ev.Msg) && ev.Msg.Accept && h.attempt >= h.agreed.Attempts
	}}
	ifMapping   = hyperGuard{"accepts", func(h *Hypervisor, ev *Event) bool { return h.answers(ev.Msg) && ev.Msg.Accept }}
	ifRejection = hyperGuard{"rejects", func(h *Hypervisor, ev *Event) bool {
		return h.answers(ev.Msg) && !ev.Msg.Accept && h.attempt < h.agreed.Attempts
	}}
	ifYes = hyperGuard{"accepted", func(_ *Hypervisor, ev *Event) bool { return ev.Accept }}

	ifOurs          = hyperGuard{"this transaction", func(h *Hypervisor, ev *Event) bool { return h.ours(ev.Msg) }}
	ifOursFinishing = hyperGuard{"finishing", func(h *Hypervisor, ev *Event) bool { return h.ours(ev.Msg) && h.finishing }}
	ifOursPending   = hyperGuard{"jobs wait", func(h *Hypervisor, ev *Event) bool { return h.ours(ev.Msg) && ev.Msg.Pending > 0 }}
	ifFinishes      = hyperGuard{"finishing", func(h *Hypervisor, _ *Event) bool { return h.finishing }}
	ifNoOffer       = hyperGuard{"no offer yet", func(h *Hypervisor, _ *Event) bool { return h.attempt == 0 }}

	ifKnown = hyperGuard{"known", func(h *Hypervisor, ev *Event) bool { return h.find(ev.Msg.Job.ID) != nil }}
	ifFull  = hyperGuard{"too many", func(h *Hypervisor, ev *Event) bool {
		return h.asked(ev.Msg.Job.ID) < 0 && (len(h.urgent) >= MaxUrgent || h.room() == 0)
	}}
	ifUnasked  = hyperGuard{"not asked yet", func(h *Hypervisor, ev *Event) bool { return h.asked(ev.Msg.Job.ID) < 0 }}
	ifAskedYes = hyperGuard{"accepted", func(h *Hypervisor, ev *Event) bool { return ev.Accept && h.asked(ev.ID) >= 0 }}
	ifAsked    = hyperGuard{"refused", func(h *Hypervisor, ev *Event) bool { return h.asked(ev.ID) >= 0 }}

	ifPlaceable = hyperGuard{"accepted, cores free", func(h *Hypervisor, ev *Event) bool {
		j := h.find(ev.ID)
		return j != nil && j.state == Accepted && h.areOwnedBy(ev.Cores, 0) && j.uses(len(ev.Cores))
	}}
	// Who was asked for all its cores would be left with these alone, maybe fewer than it can use.
	ifGrows = hyperGuard{"runs, isn't being stopped, cores free", func(h *Hypervisor, ev *Event) bool {
		j := h.find(ev.ID)
		return j != nil && (j.state == Running || j.state == Suspended) && h.areOwnedBy(ev.Cores, 0) &&
			j.uses(len(j.cores)+len(ev.Cores)) && (j.taking == nil || len(j.taking) < len(j.cores))
	}}
	ifTakeable = hyperGuard{"owned, not asked for", func(h *Hypervisor, ev *Event) bool {
		j := h.find(ev.ID)
		if j == nil || ev.ID == 0 || !h.areOwnedBy(ev.Cores, ev.ID) || j.taking != nil {
			return false
		}
		left := len(j.cores) - len(ev.Cores)
		if ev.How == Shrink {
			return j.uses(left)
		}
		return left == 0
	}}
	ifOwns = hyperGuard{"owned", func(h *Hypervisor, ev *Event) bool {
		return h.find(ev.ID) != nil && ev.ID != 0 && h.areOwnedBy(ev.Cores, ev.ID)
	}}
	ifRuns = hyperGuard{"runs", func(h *Hypervisor, ev *Event) bool {
		j := h.find(ev.ID)
		return j != nil && (j.state == Running || j.state == Suspended)
	}}
)

func (j *held) uses(cores int) bool {
	return cores >= int(j.job.MinCores) && cores <= int(j.job.MaxCores)
}

// ours: an end may cross another attempt of its transaction.
func (h *Hypervisor) ours(m *Message) bool { return m.Transaction == h.transaction }

// answers: the response is to the last offer, and keeps to it.
func (h *Hypervisor) answers(m *Message) bool {
	return h.ours(m) && m.Attempt == h.attempt && h.offer.Covers(m.Map)
}

func (h *Hypervisor) asked(id JobID) int {
	return slices.IndexFunc(h.urgent, func(j *Job) bool { return j.ID == id })
}

// Effects of the Hypervisor's table.
var (
	listen = hyperEffect{"listen", func(h *Hypervisor, _ *Event) {
		h.finishing = false
		h.emit(Action{Kind: Listen})
	}}
	hyperClose   = hyperEffect{"close", func(h *Hypervisor, _ *Event) { h.emit(Action{Kind: Close}) }}
	hyperStopped = hyperEffect{"stopped", func(h *Hypervisor, _ *Event) { h.emit(Action{Kind: Stopped}) }}
	hyperFinish  = hyperEffect{"note the wish to finish", func(h *Hypervisor, _ *Event) { h.finishing = true }}
	endSession   = hyperEffect{"forget the session", func(h *Hypervisor, _ *Event) {
		h.transaction, h.attempt, h.offer, h.mapping, h.urgent = 0, 0, nil, nil, nil
	}}

	acceptTerms = hyperEffect{"send RESPONSE_INITIALISE", func(h *Hypervisor, ev *Event) {
		terms := h.agree(ev.Msg.Terms)
		h.agreed = terms
		h.send(&Message{Kind: ResponseInitialise, Accept: true, Terms: &terms, Known: h.status()})
	}}
	refuseTerms = hyperEffect{"send RESPONSE_INITIALISE refused", func(h *Hypervisor, _ *Event) {
		terms := h.wish
		h.send(&Message{Kind: ResponseInitialise, Terms: &terms, Text: "no common version of the protocol"})
	}}
	respondStart = hyperEffect{"send RESPONSE_NEGOTIATION_START", func(h *Hypervisor, _ *Event) {
		h.send(&Message{Kind: ResponseNegotiationStart})
	}}
	takeAcks = hyperEffect{"forget acknowledged jobs", func(h *Hypervisor, ev *Event) { h.forget(ev.Msg.Acks) }}

	newTransaction = hyperEffect{"ask offer", func(h *Hypervisor, _ *Event) {
		h.transaction, h.attempt = h.transaction%h.wrap+1, 0
		h.emit(Action{Kind: AskOffer})
	}}
	askAgain = hyperEffect{"ask another offer", func(h *Hypervisor, _ *Event) {
		h.offer, h.mapping = nil, nil
		h.emit(Action{Kind: AskOffer, Prompt: true})
	}}
	sendOffer = hyperEffect{"send RESOURCE_OFFER", func(h *Hypervisor, ev *Event) {
		h.attempt++
		h.offer = &Offer{Parts: ev.Offer.Parts, Jobs: min(ev.Offer.Jobs, uint32(h.room()))}
		h.send(&Message{Kind: ResourceOffer, Transaction: h.transaction, Attempt: h.attempt, Offer: h.offer, Text: ev.Text})
	}}
	askVerdict = hyperEffect{"ask verdict", func(h *Hypervisor, ev *Event) {
		h.mapping = ev.Msg.Map
		h.emit(Action{Kind: AskVerdict, Msg: ev.Msg})
	}}
	noteMapping = hyperEffect{"take mapping", func(h *Hypervisor, ev *Event) { h.mapping = ev.Msg.Map }}
	acceptJobs  = hyperEffect{"save and accept jobs", func(h *Hypervisor, _ *Event) {
		for _, m := range h.mapping {
			h.accept(m.Job, m.Parts)
		}
		h.offer, h.mapping = nil, nil
	}}
	sendAgreed = hyperEffect{"send NEGOTIATION_END agreed", func(h *Hypervisor, _ *Event) { h.sendEnd(Agreed) }}
	sendsClose = hyperEffect{"send NEGOTIATION_END closing", func(h *Hypervisor, _ *Event) {
		h.offer, h.mapping = nil, nil
		h.sendEnd(Closing)
	}}
	hyperRespondEnd = hyperEffect{"send RESPONSE_NEGOTIATION_END", func(h *Hypervisor, _ *Event) {
		h.offer, h.mapping = nil, nil
		h.send(&Message{Kind: ResponseNegotiationEnd, Transaction: h.transaction, Attempt: h.attempt})
	}}
	hyperFinalise        = hyperEffect{"send FINALISE", func(h *Hypervisor, _ *Event) { h.send(&Message{Kind: Finalise}) }}
	hyperRespondFinalise = hyperEffect{"send RESPONSE_FINALISE", func(h *Hypervisor, _ *Event) { h.send(&Message{Kind: ResponseFinalise}) }}

	askUrgent = hyperEffect{"ask urgent", func(h *Hypervisor, ev *Event) {
		h.urgent = append(h.urgent, ev.Msg.Job)
		h.emit(Action{Kind: AskUrgent, Job: ev.Msg.Job, ID: ev.Msg.Job.ID})
	}}
	acceptKnown = hyperEffect{"send RESPONSE_URGENT_JOB accepted", func(h *Hypervisor, ev *Event) {
		h.send(&Message{Kind: ResponseUrgentJob, ID: ev.Msg.Job.ID, Accept: true})
	}}
	refuseFull = hyperEffect{"send RESPONSE_URGENT_JOB refused", func(h *Hypervisor, ev *Event) {
		h.send(&Message{Kind: ResponseUrgentJob, ID: ev.Msg.Job.ID, Text: "too many jobs"})
	}}
	acceptUrgent = hyperEffect{"save and accept job", func(h *Hypervisor, ev *Event) {
		h.accept(h.urgent[h.asked(ev.ID)], nil)
	}}
	respondUrgent = hyperEffect{"send RESPONSE_URGENT_JOB", func(h *Hypervisor, ev *Event) {
		i := h.asked(ev.ID)
		h.urgent = slices.Delete(h.urgent, i, i+1)
		h.send(&Message{Kind: ResponseUrgentJob, ID: ev.ID, Accept: ev.Accept, Text: ev.Text})
	}}

	sendReport = hyperEffect{"send STATUS_REPORT", func(h *Hypervisor, ev *Event) {
		h.send(&Message{Kind: StatusReport, Known: h.status(), Load: ev.Load})
	}}

	askPlaces = hyperEffect{"ask places", func(h *Hypervisor, _ *Event) { h.askPlace() }}
	placeJob  = hyperEffect{"save cores, launch", func(h *Hypervisor, ev *Event) { h.place(h.find(ev.ID), ev.Cores) }}
	giveCores = hyperEffect{"save cores, grow", func(h *Hypervisor, ev *Event) { h.give(h.find(ev.ID), ev.Cores) }}
	takeCores = hyperEffect{"reclaim cores", func(h *Hypervisor, ev *Event) { h.take(h.find(ev.ID), ev.Cores, ev.How) }}
	freeCores = hyperEffect{"save and free cores", func(h *Hypervisor, ev *Event) { h.release(h.find(ev.ID), ev.Cores) }}
	keepCores = hyperEffect{"note refusal", func(h *Hypervisor, ev *Event) { h.find(ev.ID).taking = nil }}
	endJob    = hyperEffect{"save end", func(h *Hypervisor, ev *Event) {
		h.end(h.find(ev.ID), ev.Exit)
	}}
)

// agree joins both wishes.
func (h *Hypervisor) agree(t *Terms) Terms {
	v := min(t.MaxVersion, h.wish.MaxVersion)
	return Terms{
		MinVersion: v, MaxVersion: v,
		Attempts: min(t.Attempts, h.wish.Attempts),
		Reply:    max(t.Reply, h.wish.Reply), Report: max(t.Report, h.wish.Report),
		Partition: h.wish.Partition, Shrink: h.wish.Shrink,
	}
}

func (h *Hypervisor) sendEnd(o Outcome) {
	h.send(&Message{Kind: NegotiationEnd, Transaction: h.transaction, Attempt: h.attempt, Outcome: o})
}
