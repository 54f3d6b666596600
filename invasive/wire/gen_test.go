// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"pgregory.net/rapid"
)

func genJob(t *rapid.T) *invasive.Job {
	u32 := rapid.Uint32Range(1, 1000)
	j := &invasive.Job{
		ID:   invasive.JobID(rapid.Uint64Range(1, 1<<63).Draw(t, "id")),
		Flex: invasive.Flex(rapid.IntRange(0, 3).Draw(t, "flex")), Urgent: rapid.Bool().Draw(t, "urgent"),
		MinCores: u32.Draw(t, "min"), MinNodes: rapid.Uint32Range(0, 3).Draw(t, "nodes"),
		Priority: rapid.Uint32().Draw(t, "priority"), Limit: u32.Draw(t, "limit"),
	}
	j.MaxCores = j.MinCores
	if j.Flex != invasive.Rigid {
		j.MaxCores += u32.Draw(t, "more")
	}
	j.MaxNodes = j.MinNodes + 1
	word := rapid.StringMatching(`[ -~\x{80}-\x{200}]{0,9}`)
	if n := rapid.IntRange(0, 2).Draw(t, "args"); n > 0 {
		j.Args, j.Env, j.Dir = rapid.SliceOfN(word, n, n).Draw(t, "args"), []string{"A=\xff"}, "/tmp/\xfe"
	}
	return j
}

func genParts(t *rapid.T, delay bool) []invasive.Part {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) invasive.Part {
		p := invasive.Part{Node: rapid.Uint32Range(0, 99).Draw(t, "node"), Cores: rapid.Uint32Range(1, 99).Draw(t, "cores")}
		if delay {
			p.Delay = rapid.Uint32Range(0, 99).Draw(t, "delay")
		}
		return p
	}), 1, 4).Draw(t, "parts")
}

func genKnown(t *rapid.T) []invasive.JobStatus {
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) invasive.JobStatus {
		return invasive.JobStatus{
			ID: invasive.JobID(rapid.Uint64Range(1, 99).Draw(t, "id")), State: invasive.JobState(rapid.IntRange(1, 4).Draw(t, "state")),
			Cores: rapid.Uint32Range(0, 99).Draw(t, "cores"), Exit: rapid.Int32().Draw(t, "exit"),
		}
	}), 0, 4).Draw(t, "known")
	if len(list) == 0 {
		return nil
	}
	return list
}

// genMessage makes a valid message of a kind.
func genMessage(t *rapid.T, kind invasive.Kind) *invasive.Message {
	m := &invasive.Message{Kind: kind}
	rapid.Bool().Draw(t, "") // a generator has to draw something
	turn := func() {
		m.Transaction, m.Attempt = rapid.Uint32Range(1, 1<<31).Draw(t, "transaction"), rapid.Uint32Range(1, 1000).Draw(t, "attempt")
	}
	acks := func() {
		m.Pending = rapid.Uint32().Draw(t, "pending")
		for range rapid.IntRange(0, 3).Draw(t, "acks") {
			m.Acks = append(m.Acks, invasive.JobID(rapid.Uint64Range(1, 1<<63).Draw(t, "ack")))
		}
	}
	text := rapid.StringN(0, 9, 60)
	terms := func() {
		m.Terms = &invasive.Terms{MinVersion: 1, MaxVersion: 1, Attempts: rapid.Uint32Range(1, 1000).Draw(t, "attempts"),
			Reply: time.Duration(rapid.IntRange(1, 1<<20).Draw(t, "reply")) * time.Millisecond, Report: time.Hour}
	}
	switch kind {
	case invasive.Initialise:
		terms()
	case invasive.ResponseInitialise:
		terms()
		m.Terms.Partition = invasive.Partition{Name: text.Draw(t, "name"), Nodes: 1024,
			Sockets: 2, CoresPerSocket: rapid.Uint32Range(1, 64).Draw(t, "cores")}
		m.Terms.Shrink = time.Duration(rapid.IntRange(0, 1<<20).Draw(t, "shrink")) * time.Millisecond
		m.Accept, m.Known, m.Text = rapid.Bool().Draw(t, "accept"), genKnown(t), text.Draw(t, "text")
	case invasive.Finalise:
		m.Text = text.Draw(t, "text")
	case invasive.RequestResourceOffer, invasive.NegotiationStart:
		acks()
	case invasive.ResourceOffer:
		turn()
		m.Offer = &invasive.Offer{Parts: genParts(t, true), Jobs: rapid.Uint32Range(0, 99).Draw(t, "jobs")}
		m.Text = text.Draw(t, "text")
	case invasive.ResponseResourceOffer:
		turn()
		acks()
		m.Pending, m.Text = 0, text.Draw(t, "text")
		if m.Accept = rapid.Bool().Draw(t, "accept"); m.Accept {
			for range rapid.IntRange(0, 3).Draw(t, "jobs") {
				m.Map = append(m.Map, invasive.Mapping{Job: genJob(t), Parts: genParts(t, false)})
			}
		}
	case invasive.NegotiationEnd:
		turn()
		acks()
		m.Pending, m.Outcome = 0, invasive.Outcome(rapid.IntRange(1, 3).Draw(t, "outcome"))
	case invasive.ResponseNegotiationEnd:
		turn()
		acks()
	case invasive.StatusReport:
		m.Known, m.Load = genKnown(t), &invasive.Load{FreeCores: 7,
			Busy: rapid.Uint32Range(0, 1000).Draw(t, "busy"), Ended: 3, Wait: rapid.Uint32().Draw(t, "wait")}
	case invasive.UrgentJob:
		m.Job = genJob(t)
	case invasive.ResponseUrgentJob:
		m.ID, m.Accept, m.Text = 5, rapid.Bool().Draw(t, "accept"), text.Draw(t, "text")
	}
	return m
}

// sender returns one of the sides that send a kind.
func sender(k invasive.Kind) invasive.Side {
	if k.SentBy(invasive.IScheduler) {
		return invasive.IScheduler
	}
	return invasive.IHypervisor
}
