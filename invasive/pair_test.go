package invasive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/internal/golden"
)

// A pair connects the two machines in memory, with deciders of the test, and writes down who says what.
type pair struct {
	a    *Agent
	h    *Hypervisor
	toA  []*Message
	toH  []*Message
	up   bool
	log  strings.Builder
	term Terms

	saved []Saved
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
		p.note("%s", arrow(who, a.Msg))
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
	case Save:
		if isA {
			p.saved = Replay(p.saved, a.Record)
		}
	case SetTimer, StopTimer, Listen, Forget:
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

// place gives the lowest free cores to accepted jobs, urgent ones first, and asks malleable jobs for theirs.
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
			if n := len(j.Cores) - int(j.Job.MinCores); wait.Job.Urgent && j.Job.Flex == Malleable && j.State == Running && n >= need && len(j.Taking) == 0 {
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

func arrow(who Side, m *Message) string {
	ends := "iScheduler -> iHypervisor"
	if who == IHypervisor {
		ends = "iScheduler <- iHypervisor"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %v", ends, m.Kind)
	if m.Transaction > 0 {
		fmt.Fprintf(&b, " %d.%d", m.Transaction, m.Attempt)
	}
	if t := m.Terms; t != nil {
		fmt.Fprintf(&b, " version %d-%d, %d attempts", t.MinVersion, t.MaxVersion, t.Attempts)
		if t.Partition.Nodes > 0 {
			fmt.Fprintf(&b, ", partition %s of %d cores", t.Partition.Name, t.Partition.Cores())
		}
	}
	switch m.Kind {
	case ResponseInitialise, ResponseResourceOffer, ResponseUrgentJob:
		b.WriteString(map[bool]string{true: ", accepted", false: ", rejected"}[m.Accept])
	case NegotiationStart, RequestResourceOffer, ResponseNegotiationEnd:
		if who == IScheduler {
			fmt.Fprintf(&b, ", %d waiting", m.Pending)
		}
	case NegotiationEnd:
		fmt.Fprintf(&b, ", %v", m.Outcome)
	}
	if m.Offer != nil {
		for _, part := range m.Offer.Parts {
			fmt.Fprintf(&b, ", %d cores", part.Cores)
			if part.Delay > 0 {
				fmt.Fprintf(&b, " in %d s", part.Delay)
			}
		}
	}
	for _, e := range m.Map {
		fmt.Fprintf(&b, ", job %d on %d cores", e.Job.ID, e.Parts[0].Cores)
	}
	if m.Job != nil {
		fmt.Fprintf(&b, ", job %d", m.Job.ID)
	}
	b.WriteString(number(", job ", uint64(m.ID)))
	for _, k := range m.Known {
		fmt.Fprintf(&b, ", job %d %v", k.ID, k.State)
	}
	if len(m.Acks) > 0 {
		fmt.Fprintf(&b, ", acknowledges %v", m.Acks)
	}
	if m.Text != "" {
		fmt.Fprintf(&b, " (%s)", m.Text)
	}
	return b.String()
}

func number(before string, n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(before, n)
}

// The golden files are the paper's sequence diagrams (section 3.3) in words, and what they leave out.
func TestSequences(t *testing.T) {
	solid := func(id JobID, cores uint32) *Job { return &Job{ID: id, MinCores: cores, MaxCores: cores} }
	elastic := func(id JobID, from, to uint32) *Job {
		return &Job{ID: id, Flex: Malleable, MinCores: from, MaxCores: to}
	}
	submit := func(p *pair, jobs ...*Job) {
		for _, j := range jobs {
			p.doA(Event{Kind: Submit, Job: j})
		}
	}
	for _, s := range []struct {
		file string
		run  func(p *pair)
	}{
		{"figures4-5.txt", func(p *pair) {
			p.note("# Figures 4 and 5: several rounds until both agree, and then the next transaction.")
			offers := []*Offer{{Parts: []Part{{Cores: 2}}, Jobs: 9}, {Parts: []Part{{Cores: 6}}, Jobs: 9}, {Parts: []Part{{Cores: 8}}, Jobs: 9}}
			p.offer = func() *Offer {
				if len(offers) == 0 {
					return p.free()
				}
				o := offers[0]
				offers = offers[1:]
				return o
			}
			p.decide = func(m *Message, _ bool) Event {
				return Event{Accept: m.Offer.Parts[0].Cores > 2, Map: greedy(p.a.Queue(nil), m.Offer)}
			}
			p.judge = func(m *Message) Event { return Event{Accept: m.Attempt != 2} }
			submit(p, solid(1, 4), elastic(2, 4, 8), solid(3, 4))
			p.start()
			p.note("# Job 1 ends; its cores are offered.")
			p.doH(Event{Kind: Exited, ID: 1})
			p.run()
		}},
		{"figure6.txt", func(p *pair) {
			p.note("# Figure 6: the queue is empty at first, and runs empty again; the iHypervisor waits for a request.")
			p.start()
			p.note("# A job arrives.")
			submit(p, solid(1, 4))
			p.run()
			p.note("# The queue is empty. The job ends, and a report says so.")
			p.doH(Event{Kind: Exited, ID: 1})
			p.doH(Event{Kind: ReportDue, Load: &Load{FreeCores: 8}})
			p.run()
			p.note("# The next job arrives.")
			submit(p, solid(2, 8))
			p.run()
			p.note("# A job waits for cores, and is cancelled before they are offered.")
			submit(p, solid(3, 8))
			p.run()
			p.doA(Event{Kind: Cancel, ID: 3})
			p.doH(Event{Kind: Exited, ID: 2})
			p.run()
		}},
		{"limit.txt", func(p *pair) {
			p.note("# Both sides reject what they can; the last of 4 attempts must be accepted by both.")
			p.decide = func(m *Message, final bool) Event {
				return Event{Accept: m.Attempt%2 == 0, Map: greedy(p.a.Queue(nil), m.Offer)}
			}
			p.judge = func(*Message) Event { return Event{} }
			submit(p, solid(1, 4))
			p.start()
		}},
		{"virtual.txt", func(p *pair) {
			p.note("# Cores that will be free are offered; the job is accepted, and starts when they are.")
			submit(p, solid(1, 8))
			p.start()
			p.offer = func() *Offer { return &Offer{Parts: []Part{{Cores: 8, Delay: 60}}, Jobs: 9} }
			submit(p, solid(2, 8))
			p.run()
			p.doH(Event{Kind: Exited, ID: 1})
			p.run()
		}},
		{"urgent.txt", func(p *pair) {
			p.note("# An urgent job comes while a mapping is judged: the malleable job gives cores to it at once.")
			submit(p, elastic(1, 2, 8))
			p.start()
			p.offer = func() *Offer { return &Offer{Parts: []Part{{Cores: 2, Delay: 60}}, Jobs: 9} }
			p.decide = func(m *Message, _ bool) Event {
				p.hold = true
				return Event{Accept: true, Map: greedy(p.a.Queue(nil), m.Offer)}
			}
			submit(p, solid(2, 2))
			p.run()
			u := solid(3, 4)
			u.Urgent = true
			submit(p, u)
			p.run()
			p.note("# The job has let go.")
			p.doH(Event{Kind: Released, ID: 1, Cores: []uint32{4, 5, 6, 7}})
			p.note("# The verdict on the mapping.")
			p.release()
		}},
		{"urgent-refused.txt", func(p *pair) {
			p.note("# An urgent job is refused, and takes part in the negotiation like any other.")
			p.urgent = func(*Job) Event { return Event{Text: "power cap"} }
			p.start()
			u := solid(1, 4)
			u.Urgent = true
			submit(p, u)
			p.run()
		}},
		{"finalise-scheduler.txt", func(p *pair) {
			p.note("# The iScheduler finishes while its mapping is judged: nothing is accepted any more.")
			submit(p, solid(1, 4))
			p.judge = func(*Message) Event { return Event{Accept: true} }
			p.decide = func(m *Message, _ bool) Event {
				p.hold = true
				return Event{Accept: true, Map: greedy(p.a.Queue(nil), m.Offer)}
			}
			p.start()
			p.doA(Event{Kind: Finish})
			p.run()
			p.note("# The verdict comes too late.")
			p.release()
			p.note("# It starts again, and the job is still there.")
			p.decide = nil
			p.doA(Event{Kind: Start})
			p.run()
		}},
		{"finalise-hypervisor.txt", func(p *pair) {
			p.note("# The iHypervisor finishes while the iScheduler thinks about an offer.")
			submit(p, solid(1, 4))
			p.offer = func() *Offer { p.hold = true; return p.free() }
			p.start()
			p.doH(Event{Kind: Finish})
			p.run()
			p.release()
		}},
		{"version.txt", func(p *pair) {
			p.note("# The iScheduler speaks only versions 2 and 3.")
			p.a.wish.MinVersion, p.a.wish.MaxVersion = 2, 3
			p.start()
		}},
		{"loss.txt", func(p *pair) {
			p.note("# The connection breaks after a mapping was accepted; its answer is lost, and the next session tells.")
			submit(p, solid(1, 4), solid(2, 8))
			p.judge = func(*Message) Event { p.up = false; return Event{Accept: true} }
			p.start()
			p.note("# Both see the loss.")
			p.offer = func() *Offer { return nil }
			p.doH(Event{Kind: Lost})
			p.doA(Event{Kind: Lost})
			p.run()
		}},
		{"out-of-turn.txt", func(p *pair) {
			p.note("# A response that nobody asked for: the iHypervisor closes, and the next session begins.")
			p.start()
			p.toH = append(p.toH, &Message{Kind: ResponseResourceOffer, Transaction: 1, Attempt: 1, Accept: true})
			p.run()
			p.doA(Event{Kind: Lost})
			p.run()
		}},
	} {
		t.Run(s.file, func(t *testing.T) {
			p := newPair(8, 4)
			s.run(p)
			golden.Equal(t, s.file, p.log.String())
		})
	}
}
