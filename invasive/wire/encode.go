// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
)

// encode makes a Packet of a checked message.
func encode(m *invasive.Message) *pb.Packet {
	acks := each(m.Acks, func(id invasive.JobID) uint64 { return uint64(id) })
	switch m.Kind {
	case invasive.Initialise:
		return &pb.Packet{Body: &pb.Packet_Initialise{Initialise: &pb.Initialise{Terms: encodeTerms(m.Terms)}}}
	case invasive.ResponseInitialise:
		return &pb.Packet{Body: &pb.Packet_ResponseInitialise{ResponseInitialise: &pb.ResponseInitialise{
			Accept: m.Accept, Terms: encodeTerms(m.Terms), Known: each(m.Known, encodeStatus), Text: m.Text}}}
	case invasive.Finalise:
		return &pb.Packet{Body: &pb.Packet_Finalise{Finalise: &pb.Finalise{Text: m.Text}}}
	case invasive.ResponseFinalise:
		return &pb.Packet{Body: &pb.Packet_ResponseFinalise{ResponseFinalise: &pb.ResponseFinalise{}}}
	case invasive.RequestResourceOffer:
		request := &pb.RequestResourceOffer{Pending: m.Pending, Acks: acks}
		return &pb.Packet{Body: &pb.Packet_RequestResourceOffer{RequestResourceOffer: request}}
	case invasive.ResourceOffer:
		return &pb.Packet{Body: &pb.Packet_ResourceOffer{ResourceOffer: &pb.ResourceOffer{
			Transaction: m.Transaction, Attempt: m.Attempt, Text: m.Text,
			Offer: &pb.Offer{Parts: each(m.Offer.Parts, encodePart), Jobs: m.Offer.Jobs}}}}
	case invasive.ResponseResourceOffer:
		return &pb.Packet{Body: &pb.Packet_ResponseResourceOffer{ResponseResourceOffer: &pb.ResponseResourceOffer{
			Transaction: m.Transaction, Attempt: m.Attempt, Accept: m.Accept, Acks: acks, Text: m.Text,
			Map: each(m.Map, func(e invasive.Mapping) *pb.Mapping {
				return &pb.Mapping{Job: encodeJob(e.Job), Parts: each(e.Parts, encodePart)}
			})}}}
	case invasive.NegotiationStart:
		return &pb.Packet{Body: &pb.Packet_NegotiationStart{NegotiationStart: &pb.NegotiationStart{Pending: m.Pending, Acks: acks}}}
	case invasive.ResponseNegotiationStart:
		return &pb.Packet{Body: &pb.Packet_ResponseNegotiationStart{ResponseNegotiationStart: &pb.ResponseNegotiationStart{}}}
	case invasive.NegotiationEnd:
		return &pb.Packet{Body: &pb.Packet_NegotiationEnd{NegotiationEnd: &pb.NegotiationEnd{
			Transaction: m.Transaction, Attempt: m.Attempt, Outcome: uint32(m.Outcome), Acks: acks, Text: m.Text}}}
	case invasive.ResponseNegotiationEnd:
		return &pb.Packet{Body: &pb.Packet_ResponseNegotiationEnd{ResponseNegotiationEnd: &pb.ResponseNegotiationEnd{
			Transaction: m.Transaction, Attempt: m.Attempt, Pending: m.Pending, Acks: acks}}}
	case invasive.StatusReport:
		return &pb.Packet{Body: &pb.Packet_StatusReport{StatusReport: &pb.StatusReport{
			Known: each(m.Known, encodeStatus), FreeCores: m.Load.FreeCores, BusyPermille: m.Load.Busy,
			Ended: m.Load.Ended, WaitMs: m.Load.Wait}}}
	case invasive.UrgentJob:
		return &pb.Packet{Body: &pb.Packet_UrgentJob{UrgentJob: &pb.UrgentJob{Job: encodeJob(m.Job)}}}
	default: // Check knows no other
		return &pb.Packet{Body: &pb.Packet_ResponseUrgentJob{ResponseUrgentJob: &pb.ResponseUrgentJob{Id: uint64(m.ID),
			Accept: m.Accept, Text: m.Text}}}
	}
}

func each[A, B any](list []A, f func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

func encodeTerms(t *invasive.Terms) *pb.Terms {
	out := &pb.Terms{
		MinVersion: t.MinVersion, MaxVersion: t.MaxVersion, Attempts: t.Attempts,
		ReplyMs: uint64(t.Reply.Milliseconds()), ReportMs: uint64(t.Report.Milliseconds()), ShrinkMs: uint64(t.Shrink.Milliseconds()),
	}
	if p := t.Partition; p != (invasive.Partition{}) {
		out.Partition = &pb.Partition{Name: p.Name, Nodes: p.Nodes, Sockets: p.Sockets, CoresPerSocket: p.CoresPerSocket}
	}
	return out
}

func encodeStatus(s invasive.JobStatus) *pb.JobStatus {
	return &pb.JobStatus{Id: uint64(s.ID), State: uint32(s.State), Cores: s.Cores, Exit: s.Exit}
}

func encodePart(p invasive.Part) *pb.Part {
	return &pb.Part{Node: p.Node, Cores: p.Cores, DelayS: p.Delay}
}

func encodeJob(j *invasive.Job) *pb.Job {
	return &pb.Job{
		Id: uint64(j.ID), Flex: uint32(j.Flex), MinCores: j.MinCores, MaxCores: j.MaxCores, MinNodes: j.MinNodes, MaxNodes: j.MaxNodes,
		Urgent: j.Urgent, Priority: j.Priority, LimitS: j.Limit,
		Args: each(j.Args, bytesOf), Env: each(j.Env, bytesOf), Dir: []byte(j.Dir),
	}
}

func bytesOf(s string) []byte { return []byte(s) }
