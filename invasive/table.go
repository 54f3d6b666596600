// SPDX-License-Identifier: BSD-3-Clause

package invasive

// A Phase is a state of a machine. Some are those of one machine only.
type Phase uint8

const (
	// Off is the phase before the start and after the end of both.
	Off Phase = iota
	Connecting
	Initialising
	Starting
	Idle
	Waiting
	Deciding
	Answered
	Refused

	Listening
	Accepting
	Ready
	Offering
	Offered
	Judging

	Ending
	Finalising
	phases
	stay = phases
)

var phaseNames = [phases]string{
	Off: "Off", Connecting: "Connecting", Initialising: "Initialising", Starting: "Starting", Idle: "Idle",
	Waiting: "Waiting", Deciding: "Deciding", Answered: "Answered", Refused: "Refused", Listening: "Listening",
	Accepting: "Accepting", Ready: "Ready", Offering: "Offering", Offered: "Offered", Judging: "Judging",
	Ending: "Ending", Finalising: "Finalising",
}

// part is the phase of the paper (section 3.2) that a rule belongs to; there is a drawing of each.
type part uint8

const (
	initialisation part = iota
	negotiation
	feedback
	urgency
	finalisation
	resources
	parts
)

// A rule is one line of a machine's transition table: in one of the phases from, on the event on,
// and if when holds, do what do says, in that order, and go to the phase to, or stay. The first
// rule that fits counts. A message that none fits is out of turn, any other event is ignored.
type rule[M any] struct {
	part part
	from []Phase
	on   EventKind
	when guard[M]
	do   []effect[M]
	to   Phase
}

type guard[M any] struct {
	name  string
	holds func(*M, *Event) bool
}

type effect[M any] struct {
	name string
	run  func(*M, *Event)
}

// A table is a machine's rules, found by phase and event.
type table[M any] struct {
	rules []rule[M]
	index [phases][events][]uint16
}

func newTable[M any](rules []rule[M]) *table[M] {
	t := &table[M]{rules: rules}
	for i, r := range rules {
		for _, p := range r.from {
			t.index[p][r.on] = append(t.index[p][r.on], uint16(i))
		}
	}
	return t
}

// find returns the rule that fits, or nil.
func (t *table[M]) find(m *M, p Phase, ev *Event) *rule[M] {
	for _, i := range t.index[p][ev.Kind] {
		if r := &t.rules[i]; r.when.holds == nil || r.when.holds(m, ev) {
			return r
		}
	}
	return nil
}

// step has the machine m, whose line is l, do what the rule for the event says. A message that none
// fits ends the connection.
func (t *table[M]) step(m *M, l *line, ev *Event) {
	if ev.Kind == Timeout {
		l.armed = false
	}
	r := t.find(m, l.phase, ev)
	if r == nil && ev.Msg != nil {
		l.emit(Action{Kind: Violated, Msg: ev.Msg})
		l.emit(Action{Kind: Close})
		r = t.find(m, l.phase, &Event{Kind: Lost})
	}
	if r == nil {
		return
	}
	for _, e := range r.do {
		e.run(m, ev)
	}
	if r.to != stay {
		l.phase = r.to
	}
}

func in(p ...Phase) []Phase { return p }

func sends(k Kind) EventKind { return EventKind(k) }
