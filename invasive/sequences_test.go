// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"testing"

	"github.com/aucsched/aucsched/internal/test/golden"
)

// The golden files are the paper's sequence diagrams (section 3.3) in words, and
// what they leave out.
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
			offers := []*Offer{{Parts: []Part{{Cores: 2}}, Jobs: 9}, {Parts: []Part{{Cores: 6}}, Jobs: 9},
				{Parts: []Part{{Cores: 8}}, Jobs: 9}}
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
