// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"strings"
	"time"
)

// A pair connects the two machines in memory, with deciders of the test, and
// writes down who says what.
type pair struct {
	a    *Agent
	h    *Hypervisor
	toA  []*Message
	toH  []*Message
	up   bool
	log  strings.Builder
	term Terms

	// The deciders; nil accepts everything.
	decide  func(m *Message, final bool) Event
	judge   func(m *Message) Event
	urgent  func(j *Job) Event
	offer   func() *Offer // nil: nothing to offer now
	wanted  bool          // an offer is asked for
	holding []func()      // answers that come when release is called
	hold    bool
}

func newPair(cores uint32, attempts uint32) *pair {
	p := &pair{term: Terms{Attempts: attempts, Reply: 5 * time.Second, Report: time.Second}}
	p.a = NewAgent(p.term, nil)
	t := p.term
	t.Partition = Partition{Name: "invasic", Nodes: 1, Sockets: 1, CoresPerSocket: cores}
	p.h, _ = NewHypervisor(t, nil, nil, nil)
	return p
}

func (p *pair) note(format string, args ...any) { fmt.Fprintf(&p.log, format+"\n", args...) }

// start starts both, and lets them talk until nobody has anything to say.
func (p *pair) start() {
	p.doH(Event{Kind: Start})
	p.doA(Event{Kind: Start})
	p.run()
}

func (p *pair) doA(ev Event) {
	for _, a := range p.a.Step(&ev, nil) {
		p.act(true, a)
	}
}

func (p *pair) doH(ev Event) {
	for _, a := range p.h.Step(&ev, nil) {
		p.act(false, a)
	}
}

// run delivers, first in first out, until both wait.
func (p *pair) run() {
	for {
		switch {
		case len(p.toH) > 0:
			m := p.toH[0]
			p.toH = p.toH[1:]
			p.doH(Event{Kind: sends(m.Kind), Msg: m})
		case len(p.toA) > 0:
			m := p.toA[0]
			p.toA = p.toA[1:]
			p.doA(Event{Kind: sends(m.Kind), Msg: m})
		case p.wanted && p.makeOffer():
		default:
			return
		}
	}
}

func (p *pair) makeOffer() bool {
	o := p.free()
	if p.offer != nil {
		o = p.offer()
	}
	if o == nil || len(o.Parts) == 0 {
		return false
	}
	p.wanted = false
	p.doH(Event{Kind: OfferMade, Offer: o})
	return true
}

// free is a real offer of all free cores.
func (p *pair) free() *Offer {
	var n uint32
	for _, o := range p.h.Owners() {
		if o == 0 {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &Offer{Parts: []Part{{Cores: n}}, Jobs: 100}
}

// later runs f at once, or, while hold is set, at release.
func (p *pair) later(f func()) {
	if p.hold {
		p.holding = append(p.holding, f)
		return
	}
	f()
}

func (p *pair) release() {
	p.hold = false
	list := p.holding
	p.holding = nil
	for _, f := range list {
		f()
	}
	p.run()
}

func (p *pair) act(isA bool, a Action) {
	who := map[bool]Side{true: IScheduler, false: IHypervisor}[isA]
	switch a.Kind {
	case Send:
		p.note("%s", a.Msg.Words(who))
		if isA && p.up {
			p.toH = append(p.toH, a.Msg)
		}
		if !isA && p.up {
			p.toA = append(p.toA, a.Msg)
		}
	case Connect:
		p.later(func() {
			p.up, p.toA, p.toH = true, nil, nil
			p.doH(Event{Kind: Connected})
			p.doA(Event{Kind: Connected})
		})
	case AskDecision:
		p.later(func() {
			ev := Event{Accept: true, Map: greedy(p.a.Queue(nil), a.Msg.Offer)}
			if p.decide != nil {
				ev = p.decide(a.Msg, a.Final)
			}
			ev.Kind = Decided
			p.doA(ev)
		})
	case AskOffer:
		p.wanted = true
	case AskVerdict:
		p.later(func() {
			ev := Event{Accept: true}
			if p.judge != nil {
				ev = p.judge(a.Msg)
			}
			ev.Kind = Verdict
			p.doH(ev)
		})
	case AskUrgent:
		ev := Event{Accept: true}
		if p.urgent != nil {
			ev = p.urgent(a.Job)
		}
		ev.Kind, ev.ID = UrgentVerdict, a.ID
		p.doH(ev)
	case AskPlace:
		p.place()
	case Save, SetTimer, StopTimer, Listen, Forget:
	case Launch:
		p.note("%*s job %d starts on cores %v", indent, "", a.ID, a.Cores)
	case Reclaim:
		p.note("%*s job %d is asked for cores %v", indent, "", a.ID, a.Cores)
	case Violated:
		p.note("%*s %v: out of turn: %v", indent, "", who, a.Msg.Kind)
	case Failed:
		p.note("%*s %v failed: %s", indent, "", who, a.Text)
	default:
		p.note("%*s %v: %v%s", indent, "", who, a.Kind, number(" ", uint64(a.ID)))
	}
}

const indent = 26

// place gives the lowest free cores to accepted jobs, urgent ones first, and asks
// malleable jobs for theirs.
func (p *pair) place() {
	for {
		var wait *Held
		jobs := p.h.Jobs(nil)
		for i, j := range jobs {
			if j.State == Accepted && (wait == nil || j.Job.Urgent && !wait.Job.Urgent) {
				wait = &jobs[i]
			}
		}
		if wait == nil {
			return
		}
		var free []uint32
		for c, o := range p.h.Owners() {
			if o == 0 {
				free = append(free, uint32(c))
			}
		}
		if len(free) >= int(wait.Job.MinCores) {
			p.doH(Event{Kind: Place, ID: wait.Job.ID, Cores: free[:min(len(free), int(wait.Job.MaxCores))]})
			continue
		}
		need := int(wait.Job.MinCores) - len(free)
		for _, j := range jobs {
			if n := len(j.Cores) - int(j.Job.MinCores); wait.Job.Urgent && j.Job.Flex == Malleable &&
				j.State == Running && n >= need && len(j.Taking) == 0 {
				p.doH(Event{Kind: Take, ID: j.Job.ID, Cores: j.Cores[len(j.Cores)-need:], How: Shrink})
				return
			}
		}
		return
	}
}

// greedy maps jobs in order with what they need at least, as long as they fit.
func greedy(queue []*Job, o *Offer) (m []Mapping) {
	left := o.Parts[0].Cores
	for _, j := range queue {
		if j.MinCores <= left {
			left -= j.MinCores
			m = append(m, Mapping{j, []Part{{Cores: j.MinCores}}})
		}
	}
	return m
}

func number(before string, n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(before, n)
}
