// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
)

// decode makes a message of a Packet, unchecked. One of unknown kind has Kind 0. Numbers that don't
// fit become ones that Check rejects.
func decode(p *pb.Packet) *invasive.Message {
	switch b := p.Body.(type) {
	case *pb.Packet_Initialise:
		return &invasive.Message{Kind: invasive.Initialise, Terms: decodeTerms(b.Initialise.Terms)}
	case *pb.Packet_ResponseInitialise:
		r := b.ResponseInitialise
		return &invasive.Message{Kind: invasive.ResponseInitialise, Accept: r.Accept,
			Terms: decodeTerms(r.Terms), Known: each(r.Known, decodeStatus), Text: r.Text}
	case *pb.Packet_Finalise:
		return &invasive.Message{Kind: invasive.Finalise, Text: b.Finalise.Text}
	case *pb.Packet_ResponseFinalise:
		return &invasive.Message{Kind: invasive.ResponseFinalise}
	case *pb.Packet_RequestResourceOffer:
		r := b.RequestResourceOffer
		return &invasive.Message{Kind: invasive.RequestResourceOffer, Pending: r.Pending, Acks: each(r.Acks, decodeID)}
	case *pb.Packet_ResourceOffer:
		r := b.ResourceOffer
		m := &invasive.Message{Kind: invasive.ResourceOffer, Transaction: r.Transaction, Attempt: r.Attempt, Text: r.Text}
		if r.Offer != nil {
			m.Offer = &invasive.Offer{Parts: each(r.Offer.Parts, decodePart), Jobs: r.Offer.Jobs}
		}
		return m
	case *pb.Packet_ResponseResourceOffer:
		r := b.ResponseResourceOffer
		return &invasive.Message{
			Kind: invasive.ResponseResourceOffer, Transaction: r.Transaction, Attempt: r.Attempt, Accept: r.Accept,
			Acks: each(r.Acks, decodeID), Map: each(r.Map, decodeMapping), Text: r.Text,
		}
	case *pb.Packet_NegotiationStart:
		r := b.NegotiationStart
		return &invasive.Message{Kind: invasive.NegotiationStart, Pending: r.Pending, Acks: each(r.Acks, decodeID)}
	case *pb.Packet_ResponseNegotiationStart:
		return &invasive.Message{Kind: invasive.ResponseNegotiationStart}
	case *pb.Packet_NegotiationEnd:
		r := b.NegotiationEnd
		return &invasive.Message{
			Kind: invasive.NegotiationEnd, Transaction: r.Transaction, Attempt: r.Attempt,
			Outcome: invasive.Outcome(narrow(r.Outcome)), Acks: each(r.Acks, decodeID), Text: r.Text,
		}
	case *pb.Packet_ResponseNegotiationEnd:
		r := b.ResponseNegotiationEnd
		return &invasive.Message{
			Kind: invasive.ResponseNegotiationEnd, Transaction: r.Transaction, Attempt: r.Attempt,
			Pending: r.Pending, Acks: each(r.Acks, decodeID),
		}
	case *pb.Packet_StatusReport:
		r := b.StatusReport
		return &invasive.Message{
			Kind: invasive.StatusReport, Known: each(r.Known, decodeStatus),
			Load: &invasive.Load{FreeCores: r.FreeCores, Busy: r.BusyPermille, Ended: r.Ended, Wait: r.WaitMs},
		}
	case *pb.Packet_UrgentJob:
		return &invasive.Message{Kind: invasive.UrgentJob, Job: decodeJob(b.UrgentJob.Job)}
	case *pb.Packet_ResponseUrgentJob:
		r := b.ResponseUrgentJob
		return &invasive.Message{Kind: invasive.ResponseUrgentJob, ID: decodeID(r.Id), Accept: r.Accept, Text: r.Text}
	}
	return &invasive.Message{}
}

func decodeID(id uint64) invasive.JobID { return invasive.JobID(id) }

// narrow keeps a number that is too great from becoming a small one.
func narrow(n uint32) uint8 { return uint8(min(n, 255)) }

func decodeTerms(t *pb.Terms) *invasive.Terms {
	if t == nil {
		return nil
	}
	out := &invasive.Terms{
		MinVersion: t.MinVersion, MaxVersion: t.MaxVersion, Attempts: t.Attempts,
		Reply: milliseconds(t.ReplyMs), Report: milliseconds(t.ReportMs), Shrink: milliseconds(t.ShrinkMs),
	}
	if p := t.Partition; p != nil {
		out.Partition = invasive.Partition{Name: p.Name, Nodes: p.Nodes, Sockets: p.Sockets, CoresPerSocket: p.CoresPerSocket}
	}
	return out
}

func milliseconds(n uint64) time.Duration {
	most := uint64(invasive.MaxTimer/time.Millisecond) + 1
	return time.Duration(min(n, most)) * time.Millisecond
}

func decodeStatus(s *pb.JobStatus) invasive.JobStatus {
	return invasive.JobStatus{ID: decodeID(s.Id), State: invasive.JobState(narrow(s.State)), Cores: s.Cores, Exit: s.Exit}
}

func decodePart(p *pb.Part) invasive.Part {
	return invasive.Part{Node: p.Node, Cores: p.Cores, Delay: p.DelayS}
}

func decodeMapping(m *pb.Mapping) invasive.Mapping {
	return invasive.Mapping{Job: decodeJob(m.Job), Parts: each(m.Parts, decodePart)}
}

func decodeJob(j *pb.Job) *invasive.Job {
	if j == nil {
		return nil
	}
	return &invasive.Job{
		ID: decodeID(j.Id), Flex: invasive.Flex(narrow(j.Flex)), MinCores: j.MinCores, MaxCores: j.MaxCores,
		MinNodes: j.MinNodes, MaxNodes: j.MaxNodes, Urgent: j.Urgent, Priority: j.Priority, Limit: j.LimitS,

		Args: each(j.Args, stringOf), Env: each(j.Env, stringOf), Dir: string(j.Dir),
	}
}

func stringOf(b []byte) string { return string(b) }
