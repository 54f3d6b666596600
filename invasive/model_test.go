// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"slices"
)

// The model: both machines, what they have saved, the connection between them, the deciders, the
// real jobs and their cores. Everything that takes time may take any time, and everything that may
// go wrong may go wrong any number of times, at any step.

// bounds of a model.
type bounds struct {
	name  string
	jobs  []*Job
	cores uint32
	limit uint32 // attempts
	wrap  uint32 // transactions

	crash    bool // of either side, also between two actions of a step
	loss     bool // of the connection, with any part of what was on its way
	halfOpen bool // neither side is told of a loss
	lanes    bool // urgent jobs and reports overtake, and are overtaken
	finish   bool // either side may finish, and start again
	report   bool
	grow     bool
	cancel   bool // a waiting job may be cancelled
	groups   bool // two events may be done together
	hasty    bool // H's decider gives cores to jobs without a look at who owns them
	agent    *table[Agent]
	hyper    *table[Hypervisor]

	// For checks of the checker:
	noTimers bool // timers never fire
	noMarks  bool // what was launched before a crash isn't found after it
	// actsFirst: what was to be done after the records is done before.
	actsFirst bool
}

// lanes of a direction: negotiation, urgent jobs, reports.
const laneCount = 3

// laneBound is how many messages a lane may have under way. It is checked, not enforced.
const laneBound = 6

type channel [laneCount][]*Message

// model is a state of the model. Slices and maps it holds are never changed, only replaced.
type model struct {
	b *bounds

	a                *Agent      // nil: crashed
	h                *Hypervisor // nil: crashed
	aSaved, hSaved   []Saved
	toA, toH         channel
	linkA, linkH     bool // the side has not been told of an end of the connection
	broken           bool
	wants            bool // A wants a connection
	timerA, timerH   bool
	decision         *Message // the question to A's decider
	final            bool
	offer, places    bool     // questions to H's deciders
	verdict          *Message // also
	urgent           []*Job   // also
	submitted, ended uint8    // jobs, as bits by index
	launched         uint8
	cancelled        uint8
	running, exited  uint8
	used             [4]uint8 // cores, as bits, by job
	asked            [4]uint8 // cores that it shall let go of
	pending          []Action // of an event that another is done together with; nil: none
	wrong            string
}

func newModel(b *bounds) *model {
	m := &model{b: b}
	m.bootA()
	m.bootH()
	return m
}

func (m *model) index(id JobID) int {
	return slices.IndexFunc(m.b.jobs, func(j *Job) bool { return j.ID == id })
}

func (m *model) terms() Terms {
	return Terms{Attempts: m.b.limit, Reply: 1e9, Report: 1e9, Partition: Partition{Nodes: 1, Sockets: 1, CoresPerSocket: m.b.cores}}
}

func (m *model) bootA() {
	t := m.terms()
	t.Partition = Partition{}
	m.a = NewAgent(t, m.aSaved)
	m.a.table, m.a.wrap = m.b.agent, m.b.wrap
	m.act(true, m.a.Step(&Event{Kind: Start}, nil), -1)
}

func (m *model) bootH() {
	var seen []Seen
	for i, j := range m.b.jobs {
		if m.launched>>i&1 == 1 && !m.b.noMarks {
			seen = append(seen, Seen{ID: j.ID, Exited: m.exited>>i&1 == 1})
		}
	}
	h, todo := newHypervisor(m.b.hyper, m.terms(), m.hSaved, seen, nil)
	m.h, h.wrap = h, m.b.wrap
	m.act(false, h.Step(&Event{Kind: Start}, todo), -1)
	m.settle()
}

func (m *model) clone() *model {
	c := *m
	if m.a != nil {
		c.a = m.a.Clone()
	}
	if m.h != nil {
		c.h = m.h.Clone()
	}
	return &c
}

// stepA and stepH take an event in a copy of the model, once for each action after which the
// machine may crash, if crashes are possible, and once as it should be.
func (m *model) stepA(label string, ev Event, visit func(string, world), before func(*model)) {
	m.step(true, label, ev, visit, before)
}

func (m *model) stepH(label string, ev Event, visit func(string, world), before func(*model)) {
	m.step(false, label, ev, visit, before)
}

func (m *model) step(isA bool, label string, ev Event, visit func(string, world), before func(*model)) {
	c := m.clone()
	if before != nil {
		before(c)
	}
	if m.pending != nil && !posted(ev.Kind) {
		return
	}
	todo := slices.Clone(m.pending)
	c.pending = nil
	if isA {
		todo = c.a.Step(&ev, todo)
	} else {
		todo = c.h.Step(&ev, todo)
	}
	if m.b.groups && m.pending == nil && posted(ev.Kind) {
		c.stepMore(isA, label, todo, visit)
	}
	todo = together(todo, m.b.actsFirst)
	for last := range todo {
		if m.b.crash && last < len(todo)-1 && lasting[todo[last].Kind] {
			crashed := *c // what the machine would know is gone anyway
			crashed.act(isA, todo, last)
			crashed.crash(isA)
			crashed.settle()
			visit(label+"; crash after "+todo[last].Kind.String(), &crashed)
		}
	}
	c.act(isA, todo, -1)
	c.settle()
	visit(label, c)
}

// posted tells whether an event may wait to be done with others: it is no message, answer or timer.
func posted(k EventKind) bool {
	switch k {
	case Submit, Cancel, Place, Give, Take, Released, Exited:
		return true
	}
	return false
}

// stepMore has another event come before anything was done of the one before.
func (m *model) stepMore(isA bool, label string, todo []Action, visit func(string, world)) {
	g := m.clone()
	if g.pending = todo; todo == nil {
		g.pending = []Action{}
	}
	also := func(more string, w world) { visit(label+" and "+more, w) }
	if isA {
		g.agentSteps(also)
	} else {
		g.hyperSteps(also)
	}
}

// together is the order in which a Group, or several, do actions.
func together(actions []Action, actsFirst bool) (out []Action) {
	var g Group
	flush := func() {
		if actsFirst {
			out = append(out, g.Then...)
			g.Then = nil
		}
		for _, r := range g.Records {
			out = append(out, Action{Kind: Save, Record: r})
		}
		out = append(out, g.Then...)
		g.Reset()
	}
	for i := range actions {
		if !g.Add(&actions[i]) {
			flush()
			g.Add(&actions[i])
		}
	}
	flush()
	return out
}

func (m *model) check() string {
	if m.wrong != "" {
		return m.wrong
	}
	for i, j := range m.b.jobs {
		bit := uint8(1) << i
		has := func(saved []Saved) bool { return slices.ContainsFunc(saved, func(s Saved) bool { return s.Job == j }) }
		if m.cancelled&bit != 0 && (!m.b.cancel || m.launched&bit != 0) {
			return fmt.Sprintf("job %d is lost", j.ID)
		}
		if m.submitted&^m.cancelled&bit != 0 && !has(m.aSaved) && (m.exited&bit == 0 || m.ended&bit == 0) {
			return fmt.Sprintf("job %d is lost", j.ID)
		}
		if m.running&bit != 0 && !has(m.hSaved) {
			return fmt.Sprintf("job %d runs and is not known", j.ID)
		}
		for _, c := range unmask(m.used[i]) {
			if m.h != nil && m.h.owner[c] != j.ID {
				return fmt.Sprintf("job %d uses core %d and doesn't own it", j.ID, c)
			}
		}
	}
	return ""
}

func (m *model) done() bool {
	all := uint8(1)<<len(m.b.jobs) - 1
	return m.ended|m.cancelled == all && len(m.aSaved) == 0 && m.a != nil && m.h != nil
}
