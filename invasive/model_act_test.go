// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"math/bits"
	"slices"
)

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
		if !slices.Contains(m.urgent, a.Job) {
			// it may still think about the job since the session before
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
