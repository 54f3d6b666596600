// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "slices"

type agentGuard = guard[Agent]
type agentEffect = effect[Agent]

// Guards of the Agent's table.
var (
	ifAccepted = agentGuard{"accepted", func(a *Agent, ev *Event) bool {
		t := ev.Msg.Terms
		return ev.Msg.Accept && t.MinVersion >= a.wish.MinVersion && t.MaxVersion <= a.wish.MaxVersion && t.Attempts <= a.wish.Attempts
	}}
	ifNotAccepted = agentGuard{"not accepted", func(_ *Agent, ev *Event) bool { return !ev.Msg.Accept }}
	ifNew         = agentGuard{"new", func(a *Agent, ev *Event) bool { return a.find(ev.Job.ID) == nil }}
	ifNewNormal   = agentGuard{"new, not urgent", func(a *Agent, ev *Event) bool {
		return !ev.Job.Urgent && ifNew.holds(a, ev)
	}}
	ifNewUrgent = agentGuard{"new, urgent", func(a *Agent, ev *Event) bool { return ev.Job.Urgent && ifNew.holds(a, ev) }}
	ifWaits     = agentGuard{"waits", func(a *Agent, ev *Event) bool {
		e := a.find(ev.ID)
		return e != nil && e.at == queued
	}}
	ifTold    = agentGuard{"jobs waited at the start", func(a *Agent, _ *Event) bool { return a.told }}
	ifWaiting = agentGuard{"jobs wait", func(a *Agent, _ *Event) bool { return a.waiting() > 0 }}

	ifOffer = agentGuard{"in turn, jobs wait", func(a *Agent, ev *Event) bool {
		return a.inTurn(ev.Msg) && (a.waiting() > 0 || a.count(mapped) > 0)
	}}
	ifUselessOffer = agentGuard{"in turn, queue empty", func(a *Agent, ev *Event) bool { return a.inTurn(ev.Msg) }}

	ifAgreedWaiting = agentGuard{"agreed, jobs wait", func(a *Agent, ev *Event) bool { return a.agreement(ev.Msg) && a.waiting() > 0 }}
	ifAgreed        = agentGuard{"agreed", func(a *Agent, ev *Event) bool { return a.agreement(ev.Msg) }}
	ifClosing       = agentGuard{"closing", func(a *Agent, ev *Event) bool { return a.ours(ev.Msg) && ev.Msg.Outcome == Closing }}

	ifFinishing    = agentGuard{"finishing", func(a *Agent, ev *Event) bool { return a.finishing }}
	ifThis         = agentGuard{"this transaction", func(a *Agent, ev *Event) bool { return a.ours(ev.Msg) }}
	ifThisFinishes = agentGuard{"finishing", func(a *Agent, ev *Event) bool { return a.ours(ev.Msg) && a.finishing }}
	ifThisWaiting  = agentGuard{"jobs wait", func(a *Agent, ev *Event) bool { return a.ours(ev.Msg) && a.waiting() > 0 }}
	ifRefused      = agentGuard{"refused", func(a *Agent, ev *Event) bool {
		e := a.find(ev.Msg.ID)
		return !ev.Msg.Accept && e != nil && e.at == asked
	}}
)

// inTurn: offers come one by one, up to the agreed number of attempts.
func (a *Agent) inTurn(m *Message) bool {
	if a.phase == Waiting {
		return m.Transaction == a.transaction%a.wrap+1 && m.Attempt == 1
	}
	return m.Transaction == a.transaction && m.Attempt == a.attempt+1 && m.Attempt <= a.agreed.Attempts
}

// ours: an end may cross another attempt of its transaction.
func (a *Agent) ours(m *Message) bool { return m.Transaction == a.transaction }

func (a *Agent) agreement(m *Message) bool {
	return a.ours(m) && m.Attempt == a.attempt && m.Outcome == Agreed && a.accepted
}

// Effects of the Agent's table.
var (
	connect = agentEffect{"connect", func(a *Agent, _ *Event) {
		a.finishing = false
		a.emit(Action{Kind: Connect})
	}}
	closeLine  = agentEffect{"close", func(a *Agent, _ *Event) { a.emit(Action{Kind: Close}) }}
	stopped    = agentEffect{"stopped", func(a *Agent, _ *Event) { a.emit(Action{Kind: Stopped}) }}
	failed     = agentEffect{"failed", func(a *Agent, ev *Event) { a.emit(Action{Kind: Failed, Text: ev.Msg.Text}) }}
	noteFinish = agentEffect{"note the wish to finish", func(a *Agent, _ *Event) { a.finishing = true }}

	sendInitialise = agentEffect{"send INITIALISE", func(a *Agent, _ *Event) {
		a.agreed = a.wish
		terms := a.wish // messages share nothing that changes
		a.send(&Message{Kind: Initialise, Terms: &terms})
	}}
	takeTerms = agentEffect{"take terms", func(a *Agent, ev *Event) {
		a.agreed, a.transaction, a.attempt, a.accepted = *ev.Msg.Terms, 0, 0, false
	}}
	resynchronise = agentEffect{"resynchronise", func(a *Agent, ev *Event) { a.resynchronise(ev.Msg.Known) }}
	sendStart     = agentEffect{"send NEGOTIATION_START", func(a *Agent, _ *Event) {
		n := a.waiting()
		a.told = n > 0
		a.send(a.signed(&Message{Kind: NegotiationStart, Pending: n}))
	}}
	saveJob = agentEffect{"save job", func(a *Agent, ev *Event) {
		a.emit(Action{Kind: Save, Record: Record{Op: Add, Job: ev.Job}})
		i, _ := slices.BinarySearchFunc(a.jobs, ev.Job.ID, byID)
		a.jobs = slices.Insert(a.jobs, i, entry{job: ev.Job})
	}}
	cancelJob = agentEffect{"save without job", func(a *Agent, ev *Event) {
		i, _ := slices.BinarySearchFunc(a.jobs, ev.ID, byID)
		a.jobs = slices.Delete(a.jobs, i, i+1)
		a.emit(Action{Kind: Save, Record: Record{Op: Remove, ID: ev.ID}})
		a.emit(Action{Kind: Cancelled, ID: ev.ID})
	}}
	sendRequest = agentEffect{"send REQUEST_RESOURCE_OFFER", func(a *Agent, _ *Event) {
		a.send(a.signed(&Message{Kind: RequestResourceOffer, Pending: a.waiting()}))
	}}
	sendUrgent = agentEffect{"send URGENT_JOB", func(a *Agent, _ *Event) { a.sendUrgent() }}

	askDecision = agentEffect{"ask decision", func(a *Agent, ev *Event) {
		a.move(mapped, queued) // it rejects our mapping
		m := ev.Msg
		a.transaction, a.attempt, a.offer = m.Transaction, m.Attempt, m.Offer
		a.emit(Action{Kind: AskDecision, Msg: m, Final: m.Attempt >= a.agreed.Attempts})
	}}
	noteOffer = agentEffect{"note offer", func(a *Agent, ev *Event) {
		a.transaction, a.attempt, a.offer, a.accepted = ev.Msg.Transaction, ev.Msg.Attempt, nil, false
	}}
	sendResponse = agentEffect{"send RESPONSE_RESOURCE_OFFER", func(a *Agent, ev *Event) {
		m := &Message{Kind: ResponseResourceOffer, Transaction: a.transaction, Attempt: a.attempt, Text: ev.Text}
		if m.Accept = ev.Accept || a.attempt >= a.agreed.Attempts; ev.Accept {
			m.Map = a.mapping(ev.Map)
		}
		a.accepted, a.offer = m.Accept, nil
		a.send(a.signed(m))
	}}
	placeJobs = agentEffect{"jobs are placed", func(a *Agent, _ *Event) { a.move(mapped, placed) }}

	requeue       = agentEffect{"jobs wait again", func(a *Agent, _ *Event) { a.move(mapped, queued) }}
	forgetAnswers = agentEffect{"all unanswered jobs wait again", func(a *Agent, _ *Event) {
		a.move(mapped, queued)
		a.move(asked, queued)
		a.acks, a.offer, a.transaction, a.attempt, a.accepted = nil, nil, 0, 0, false
	}}
	sendEmpty   = agentEffect{"send NEGOTIATION_END queue empty", func(a *Agent, _ *Event) { a.sendEnd(QueueEmpty) }}
	sendClosing = agentEffect{"send NEGOTIATION_END closing", func(a *Agent, _ *Event) { a.sendEnd(Closing) }}
	respondEnd  = agentEffect{"send RESPONSE_NEGOTIATION_END", func(a *Agent, _ *Event) {
		a.send(a.signed(&Message{Kind: ResponseNegotiationEnd, Transaction: a.transaction, Attempt: a.attempt, Pending: a.waiting()}))
	}}
	sendFinalise    = agentEffect{"send FINALISE", func(a *Agent, _ *Event) { a.send(&Message{Kind: Finalise}) }}
	respondFinalise = agentEffect{"send RESPONSE_FINALISE", func(a *Agent, _ *Event) { a.send(&Message{Kind: ResponseFinalise}) }}

	takeUrgent = agentEffect{"take answer", func(a *Agent, ev *Event) {
		e := a.find(ev.Msg.ID)
		if e == nil || e.at != asked {
			return // a report was faster
		}
		if e.at = queued; ev.Msg.Accept {
			e.at = placed
		}
		e.refused = !ev.Msg.Accept
	}}
	takeReport = agentEffect{"take report", func(a *Agent, ev *Event) { a.takeReport(ev.Msg.Known) }}
)

// signed adds the acknowledgements. If the message is lost, the iHypervisor reports the jobs again.
func (a *Agent) signed(m *Message) *Message {
	m.Acks, a.acks = a.acks, nil
	return m
}

func (a *Agent) sendEnd(o Outcome) {
	a.send(a.signed(&Message{Kind: NegotiationEnd, Transaction: a.transaction, Attempt: a.attempt, Outcome: o}))
}

func (a *Agent) sendUrgent() {
	room := MaxUrgent - a.count(asked)
	for i := range a.jobs {
		e := &a.jobs[i]
		if room > 0 && e.at == queued && !e.waits() {
			e.at = asked
			room--
			a.send(&Message{Kind: UrgentJob, Job: e.job})
		}
	}
}

func (a *Agent) move(from, to place) {
	for i := range a.jobs {
		if a.jobs[i].at == from {
			a.jobs[i].at = to
		}
	}
}

// mapping returns the part of a decision that still holds, with its jobs on their way. A decision
// that doesn't keep to the offer counts as an empty one.
func (a *Agent) mapping(want []Mapping) []Mapping {
	m := slices.DeleteFunc(slices.Clone(want), func(w Mapping) bool {
		e := a.find(w.Job.ID)
		return e == nil || !e.waits()
	})
	if !a.offer.Covers(m) {
		return nil
	}
	for _, w := range m {
		a.find(w.Job.ID).at = mapped
	}
	return m
}

// resynchronise takes over what the iHypervisor knows at the beginning of a session. It forgets a
// job only after an acknowledgement, and those come after the job was removed here: so a job that
// it doesn't know it has never accepted.
func (a *Agent) resynchronise(known []JobStatus) {
	a.acks = nil
	for i := range a.jobs {
		a.jobs[i].at = queued
	}
	a.takeReport(known)
}

// takeReport: a job that isn't in a report may be on its way, but one that is there was accepted.
func (a *Agent) takeReport(known []JobStatus) {
	for _, k := range known {
		i, ok := slices.BinarySearchFunc(a.jobs, k.ID, byID)
		if ok && k.State != Done {
			a.jobs[i].at = placed
		}
		if k.State != Done {
			continue
		}
		if ok {
			a.jobs = slices.Delete(a.jobs, i, i+1)
			a.emit(Action{Kind: Ended, ID: k.ID, Exit: k.Exit}) // once more rather than never
			a.emit(Action{Kind: Save, Record: Record{Op: Remove, ID: k.ID}})
		}
		if i, is := slices.BinarySearch(a.acks, k.ID); !is && len(a.acks) < MaxJobs {
			a.acks = slices.Insert(a.acks, i, k.ID)
		}
	}
}
