package invasive

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// The model: both machines, what they have saved, the connection between them, the deciders, the
// real jobs and their cores. Everything that takes time may take any time, and everything that may go
// wrong may go wrong any number of times, at any step.

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
	hasty    bool // H's decider gives cores to jobs without a look at who owns them
	agent    *table[Agent]
	hyper    *table[Hypervisor]

	// For checks of the checker:
	noTimers bool // timers never fire
	noMarks  bool // what was launched before a crash isn't found after it
}

// lanes of a direction: negotiation, urgent jobs, reports.
const laneCount = 3

// laneBound is how many messages a lane may have under way. It is checked, not enforced.
const laneBound = 5

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

// stepA and stepH take an event in a copy of the model, once for each action after which the machine may crash, if crashes
// are possible, and once as it should be.
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
	var todo []Action
	if isA {
		todo = c.a.Step(&ev, nil)
	} else {
		todo = c.h.Step(&ev, nil)
	}
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

// lasting are the actions that leave something behind.
var lasting = [actions]bool{Send: true, Save: true, Launch: true, Grow: true, Ended: true, Reclaim: true, Close: true}

// act does what a machine wants, up to and with the action last; all if it is -1.
func (m *model) act(isA bool, todo []Action, last int) {
	for i := range todo {
		if last >= 0 && i > last {
			return
		}
		m.do(isA, &todo[i])
	}
}

func (m *model) do(isA bool, a *Action) {
	job := -1
	if a.ID != 0 {
		job = m.index(a.ID)
	}
	switch a.Kind {
	case Send:
		m.send(isA, a.Msg)
	case Close:
		m.closeSide(isA)
	case Connect:
		m.wants = true
	case Save:
		saved := &m.hSaved
		if isA {
			saved = &m.aSaved
			if a.Record.Op == Add {
				m.submitted |= 1 << m.index(a.Record.Job.ID)
			}
			if a.Record.Op == Remove && m.ended>>m.index(a.Record.ID)&1 == 0 {
				m.cancelled |= 1 << m.index(a.Record.ID)
			}
		}
		*saved = Replay(slices.Clone(*saved), a.Record)
	case SetTimer:
		*m.timer(isA) = true
	case StopTimer:
		*m.timer(isA) = false
	case AskDecision:
		m.decision, m.final = a.Msg, a.Final
	case Ended:
		m.ended |= 1 << job
	case AskOffer:
		m.offer = true
	case AskVerdict:
		m.verdict = a.Msg
	case AskUrgent:
		if !slices.Contains(m.urgent, a.Job) { // it may still think about the job since the session before
			m.urgent = append(slices.Clone(m.urgent), a.Job)
		}
	case AskPlace:
		m.places = true
	case Launch:
		if m.launched>>job&1 == 1 {
			m.wrong = fmt.Sprintf("job %d is launched twice", a.ID)
		}
		m.launched |= 1 << job
		m.running |= 1 << job
		m.use(job, a.Cores)
	case Grow:
		m.use(job, a.Cores)
	case Reclaim:
		m.asked[job] = mask(a.Cores)
	case Violated:
		m.wrong = "out of turn: " + a.Msg.Kind.String()
	}
}

func (m *model) timer(isA bool) *bool {
	if isA {
		return &m.timerA
	}
	return &m.timerH
}

func (m *model) use(job int, cores []uint32) {
	if m.running>>job&1 == 0 {
		return
	}
	m.used[job] |= mask(cores)
	var all uint8
	for _, u := range m.used {
		if all&u != 0 {
			m.wrong = "a core is given twice"
		}
		all |= u
	}
}

func mask(cores []uint32) (b uint8) {
	for _, c := range cores {
		b |= 1 << c
	}
	return b
}

func unmask(b uint8) (cores []uint32) {
	for ; b != 0; b &= b - 1 {
		cores = append(cores, uint32(bits.TrailingZeros8(b)))
	}
	return cores
}

func (m *model) send(isA bool, msg *Message) {
	if side := map[bool]Side{true: IScheduler, false: IHypervisor}[isA]; !msg.Kind.SentBy(side) {
		m.wrong = "wrong direction: " + msg.Kind.String()
	}
	if err := m.complaint(msg); err != "" {
		m.wrong = err
	}
	to, there := &m.toA, m.linkA
	if isA {
		to, there = &m.toH, m.linkH
	}
	if m.broken || !there {
		return
	}
	lane := 0
	if m.b.lanes {
		lane = map[Kind]int{UrgentJob: 1, ResponseUrgentJob: 1, StatusReport: 2}[msg.Kind]
	}
	if to[lane] = append(slices.Clone(to[lane]), msg); len(to[lane]) > laneBound {
		m.wrong = "too many messages under way"
	}
}

// complaint holds every message against Check, and offers against the limit.
func (m *model) complaint(msg *Message) string {
	if err := msg.Check(); err != nil {
		return msg.Kind.String() + ": " + err.Error()
	}
	if msg.Attempt > m.b.limit {
		return "no agreement within the limit"
	}
	return ""
}

// closeSide ends the connection for one side. The other still gets what was sent to it.
func (m *model) closeSide(isA bool) {
	if isA {
		m.linkA, m.toA, m.timerA = false, channel{}, false
	} else {
		m.linkH, m.toH, m.timerH = false, channel{}, false
	}
	if !m.linkA && !m.linkH {
		m.broken = false
	}
}

func (m *model) crash(isA bool) {
	m.closeSide(isA)
	if isA {
		m.a, m.wants, m.decision, m.final = nil, false, nil, false
	} else {
		m.h, m.offer, m.places, m.verdict, m.urgent, m.asked = nil, false, false, nil, nil, [4]uint8{}
	}
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

// key: the states of jobs in messages count only as far as the Agent looks at them, and fields of machines only in
// those phases in which a rule looks at them.
func (m *model) key() string {
	k := make([]byte, 0, 160)
	flags := []bool{m.linkA, m.linkH, m.broken, m.wants, m.timerA, m.timerH, m.final, m.offer, m.places}
	k = appendFlags(k, flags)
	k = append(k, m.submitted, m.ended, m.cancelled, m.launched, m.running, m.exited)
	k = append(append(k, m.used[:]...), m.asked[:]...)
	k = appendMessage(k, m.decision)
	k = appendMessage(k, m.verdict)
	for _, j := range m.urgent {
		k = append(k, byte(j.ID))
	}
	for _, c := range [2]*channel{&m.toA, &m.toH} {
		for _, lane := range c {
			k = append(k, 0xfe, byte(len(lane)))
			for _, msg := range lane {
				k = appendMessage(k, msg)
			}
		}
	}
	for _, saved := range [2][]Saved{m.aSaved, m.hSaved} {
		k = append(k, 0xfd)
		for _, s := range saved {
			k = append(k, byte(s.Job.ID), byte(s.State), mask(s.Cores))
		}
	}
	k = appendAgent(k, m.a)
	k = appendHypervisor(k, m.h)
	return string(append(k, m.wrong...))
}

func appendFlags(k []byte, flags []bool) []byte {
	var n uint32
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	return binary.LittleEndian.AppendUint16(k, uint16(n))
}

func appendMessage(k []byte, m *Message) []byte {
	if m == nil {
		return append(k, 0)
	}
	k = appendFlags(append(k, byte(m.Kind), byte(m.Transaction), byte(m.Attempt), byte(m.Outcome), byte(m.Pending), byte(m.ID)), []bool{m.Accept})
	if m.Kind == Initialise {
		k = append(k, byte(m.Terms.MinVersion))
	}
	k = append(k, byte(len(m.Acks)))
	for _, id := range m.Acks {
		k = append(k, byte(id))
	}
	k = append(k, byte(len(m.Known)))
	for _, s := range m.Known {
		k = append(k, byte(s.ID), b2i(s.State == Done))
	}
	k = appendOffer(k, m.Offer)
	k = append(k, byte(len(m.Map)))
	for _, e := range m.Map {
		k = append(k, byte(e.Job.ID), byte(e.Parts[0].Cores))
	}
	if m.Job != nil {
		k = append(k, byte(m.Job.ID))
	}
	return k
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendOffer(k []byte, o *Offer) []byte {
	if o == nil {
		return append(k, 0)
	}
	k = append(k, byte(len(o.Parts))+1, byte(o.Jobs))
	for _, p := range o.Parts {
		k = append(k, byte(p.Cores), byte(p.Delay))
	}
	return k
}

func appendAgent(k []byte, a *Agent) []byte {
	if a == nil {
		return append(k, 0xff)
	}
	k = appendFlags(append(k, byte(a.phase), byte(a.transaction), byte(a.attempt)), []bool{a.armed, a.accepted, a.told && a.phase == Starting, a.finishing && a.phase != Off})
	k = appendOffer(k, a.offer)
	for _, e := range a.jobs {
		k = append(k, byte(e.job.ID), byte(e.at), b2i(e.refused))
	}
	k = append(k, 0xff, byte(len(a.acks)))
	for _, id := range a.acks {
		k = append(k, byte(id))
	}
	return k
}

func appendHypervisor(k []byte, h *Hypervisor) []byte {
	if h == nil {
		return append(k, 0xff)
	}
	k = appendFlags(append(k, byte(h.phase), byte(h.transaction), byte(h.attempt)), []bool{h.armed, h.finishing && h.phase != Off})
	k = append(appendOffer(k, h.offer), byte(len(h.mapping)))
	for _, e := range h.mapping {
		k = append(k, byte(e.Job.ID))
	}
	for _, j := range h.jobs {
		k = append(k, byte(j.job.ID), byte(j.state), mask(j.cores), mask(j.taking))
	}
	k = append(k, 0xff)
	for _, j := range h.urgent {
		k = append(k, byte(j.ID))
	}
	for _, o := range h.owner {
		k = append(k, byte(o))
	}
	return k
}
