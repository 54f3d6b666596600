// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A checker that finds nothing may be blind: here it has to find errors that are
// put into the tables.

// change returns a copy of the rules in which do was applied to those on an event, with a guard of
// a name, if they begin in a phase. It fails if there is none.
func change[M any](t *testing.T, rules []rule[M], from Phase, on EventKind, when string, do func(*rule[M])) []rule[M] {
	t.Helper()
	rules = slices.Clone(rules)
	found := false
	for i := range rules {
		r := &rules[i]
		if r.on == on && r.when.name == when && slices.Contains(r.from, from) {
			do(r)
			found = true
		}
	}
	require.True(t, found, "no rule in %v on %v if %q", from, on, when)
	return rules
}

// drop makes a rule not apply.
func drop[M any](r *rule[M]) { r.from = nil }

// without leaves out an effect.
func without[M any](name string) func(*rule[M]) {
	return func(r *rule[M]) {
		r.do = slices.DeleteFunc(slices.Clone(r.do), func(e effect[M]) bool { return e.name == name })
	}
}

// does replaces the effects.
func does[M any](do ...effect[M]) func(*rule[M]) {
	return func(r *rule[M]) { r.do = do }
}

func TestMutants(t *testing.T) {
	crashes := base("", malleable)
	crashes.crash = true
	losses := base("", malleable)
	losses.loss, losses.report = true, true
	halfOpen := losses
	halfOpen.halfOpen = true
	finish := base("", malleable)
	finish.finish = true
	calm := base("", malleable, rigid)
	calm.report = true
	hasty := calm
	hasty.hasty = true
	cancels := calm
	cancels.cancel = true
	urgent := base("", malleable, pressing)
	urgent.report = true
	grows := base("", malleable, pressing)
	grows.crash, grows.grow = true, true

	type agentRule = func(*rule[Agent])
	type hyperRule = func(*rule[Hypervisor])
	onlyAck := agentEffect{"", func(a *Agent, ev *Event) {
		for _, k := range ev.Msg.Known {
			if k.State == Done {
				a.acks = []JobID{k.ID}
			}
		}
	}}
	lastOne := agentEffect{"", func(a *Agent, ev *Event) { // says no whenever asked
		a.accepted = false
		a.send(&Message{Kind: ResponseResourceOffer, Transaction: a.transaction, Attempt: a.attempt})
	}}
	saveFirst := agentEffect{"", func(a *Agent, ev *Event) {
		from := len(a.out)
		a.takeReport(ev.Msg.Known)
		slices.Reverse(a.out[from:])
	}}
	pendingNone := agentEffect{"", func(a *Agent, _ *Event) {
		a.send(&Message{Kind: ResponseNegotiationEnd, Transaction: a.transaction, Attempt: a.attempt})
	}}
	unsaved := func(e hyperEffect) hyperEffect { // leaves out Save
		return hyperEffect{"", func(h *Hypervisor, ev *Event) {
			from := len(h.out)
			e.run(h, ev)
			h.out = append(h.out[:from], slices.DeleteFunc(slices.Clone(h.out[from:]), func(a Action) bool { return a.Kind == Save })...)
		}}
	}
	forgetAtOnce := hyperEffect{"", func(h *Hypervisor, ev *Event) { h.forget([]JobID{ev.ID}) }}
	always := hyperGuard{"", nil}

	agents := []struct {
		name    string
		in      bounds
		from    Phase
		on      EventKind
		when    string
		do      agentRule
		finding string
	}{
		{"no request when a job comes", calm, Idle, Submit, "new, not urgent", without[Agent]("send REQUEST_RESOURCE_OFFER"), "no way"},
		{"no request after the start", calm, Starting, sends(ResponseNegotiationStart), "jobs wait", drop[Agent], "no way"},
		{"no request after an end", cancels, Ending, sends(ResponseNegotiationEnd), "jobs wait", drop[Agent], "no way"},
		{"says that no job waits", calm, Answered, sends(NegotiationEnd), "agreed, jobs wait", does(placeJobs, pendingNone), "no way"},
		{"rejects the last offer", calm, Deciding, Decided, "", does(lastOne), "out of turn"},
		{"takes a rejection for an agreement", calm, Answered, sends(ResourceOffer),
			"in turn, jobs wait", does(placeJobs, askDecision), "no way"},
		{"saves the end before it is told", losses, Idle, sends(StatusReport), "", does(saveFirst), "lost"},
		{"acknowledges without saving", calm, Idle, sends(StatusReport), "", does(onlyAck), "no way"},
		{"no rule for an offer that crosses an end", finish, Ending, sends(ResourceOffer), "", drop[Agent], "out of turn"},
		{"no rule for an end that crosses FINALISE", finish, Finalising, sends(NegotiationEnd), "", drop[Agent], "out of turn"},
		{"no rule for FINALISE that crosses FINALISE", finish, Finalising, sends(Finalise), "", drop[Agent], "out of turn"},
		{"a refused urgent job is not asked for again", urgent, Idle, sends(ResponseUrgentJob), "refused", drop[Agent], "no way"},
	}
	for _, c := range agents {
		t.Run(c.name, func(t *testing.T) {
			c.in.crash = c.in.crash || c.name == "saves the end before it is told"
			c.in.agent = newTable(change(t, agentRules(), c.from, c.on, c.when, c.do))
			finds(t, c.in, c.finding)
		})
	}
	hypers := []struct {
		name    string
		in      bounds
		from    Phase
		on      EventKind
		when    string
		do      hyperRule
		finding string
	}{
		{"accepts without saving", crashes, Judging, Verdict, "accepted", does(unsaved(acceptJobs), sendAgreed, askPlaces), "not known"},
		{"launches without saving", crashes, Idle, Place, "accepted, cores free", does(unsaved(placeJob)), "own it"},
		{"grows without saving", grows, Idle, Give, "runs, isn't being stopped, cores free", does(unsaved(giveCores)), "own it"},
		{"forgets before the acknowledgement", losses, Idle, Exited, "runs", does(endJob, forgetAtOnce, askPlaces), ""},
		{"judges the last mapping", calm, Offered, sends(ResponseResourceOffer),
			"accepts, last attempt", drop[Hypervisor], "within the limit"},
		{"places on cores that aren't free", hasty, Idle, Place, "accepted, cores free", func(r *rule[Hypervisor]) {
			r.when = hyperGuard{"", func(h *Hypervisor, ev *Event) bool { j := h.find(ev.ID); return j != nil && j.state == Accepted }}
		}, "twice"},
		{"frees cores that it only asked for", urgent, Idle, Take, "owned, not asked for", does(takeCores, freeCores), ""},
		{"no places after an exit", calm, Idle, Exited, "runs", does(endJob), "no way"},
		{"waits although jobs wait", calm, Ending, sends(ResponseNegotiationEnd), "jobs wait", drop[Hypervisor], "no way"},
		{"keeps the session's numbers", losses, Idle, Lost, "", without[Hypervisor]("forget the session"), "out of turn"},
		{"no rule for an answer that crosses an end", finish, Ending, sends(ResponseResourceOffer),
			"this transaction", drop[Hypervisor], "out of turn"},
		{"no rule for an answer to the end that crosses", finish, Finalising,
			sends(RequestResourceOffer), "", drop[Hypervisor], "out of turn"},
		{"accepts terms of any version", base("", malleable), Accepting, sends(Initialise), "common version", func(r *rule[Hypervisor]) {
			r.when = always
			r.do = append(slices.Clone(r.do), hyperEffect{"", func(h *Hypervisor, _ *Event) { h.out[len(h.out)-1].Msg.Terms.MaxVersion++ }})
		}, "terms"},
	}
	for _, c := range hypers {
		t.Run(c.name, func(t *testing.T) {
			c.in.hyper = newTable(change(t, hypervisorRules(), c.from, c.on, c.when, c.do))
			finds(t, c.in, c.finding)
		})
	}
	t.Run("timers that never fire", func(t *testing.T) {
		halfOpen.noTimers = true
		finds(t, halfOpen, "no way")
	})
	t.Run("groups that act before they save", func(t *testing.T) {
		b := grows
		b.actsFirst = true
		finds(t, b, "own it")
	})
	t.Run("launches that leave no mark", func(t *testing.T) {
		crashes.noMarks = true
		finds(t, crashes, "twice")
	})
}

func finds(t *testing.T, b bounds, what string) {
	t.Helper()
	g := explore(newModel(&b), 300_000)
	wrong := g.wrong
	if wrong == "" {
		wrong = g.stuck()
	}
	if os.Getenv("AUCSCHED_INVASIVE_LONG") != "" {
		t.Logf("%d states: %s", len(g.edges), wrong)
	}
	require.NotEmpty(t, wrong)
	require.NotContains(t, wrong, "too many states")
	require.Contains(t, wrong, what)
}
