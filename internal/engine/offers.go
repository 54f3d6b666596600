// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"github.com/aucsched/aucsched/nodeset"
)

// loadOffers gives jobs their offers. Whether an offer is free, and what its job asks for,
// is core's to judge; here it only has to be an allocation. One that is none is left out;
// its job bids by itself.
func (s *snapshot) loadOffers(in *Input) {
	s.offers = s.offers[:0]
	if len(in.OfferSegments) > cap(s.offers) {
		// in one piece: jobs keep parts of it
		s.offers = make([]nodeset.Segment, 0, len(in.OfferSegments))
	}
	next := uint64(0) // the least job that may come
	for i := range in.Offers {
		o, from := &in.Offers[i], len(s.offers)
		fault := s.loadOffer(in, i, next)
		if fault.array != "" {
			s.offers = s.offers[:from]
			s.faults.add(fault, jobOr(o.Job, len(in.Jobs)))
			continue
		}
		s.jobs[o.Job].Offer = s.offers[from:len(s.offers):len(s.offers)]
		next = uint64(o.Job) + 1
	}
}

// jobOr is the index of one of so many jobs, or -1 if there is no such job.
func jobOr(j uint32, jobs int) int {
	if uint64(j) >= uint64(jobs) {
		return -1
	}
	return int(j)
}

// loadOffer appends the segments of offer i, or says what is wrong with it, in
// a flaw with an array.
func (s *snapshot) loadOffer(in *Input, i int, next uint64) flaw {
	o := &in.Offers[i]
	switch {
	case uint64(o.Job) < next:
		return flawed("offers", i, "job", o.Job, "must be at least %d, after the offers before it", next)
	case uint64(o.Job) >= uint64(len(in.Jobs)):
		return flawed("offers", i, "job", o.Job, "there are %d jobs", uint64(len(in.Jobs)))
	case uint64(o.FirstSegment)+uint64(o.Segments) > uint64(len(in.OfferSegments)):
		return flawed("offers", i, "segments", o.Segments,
			"with first_segment %d, these go beyond the %d offer_segments", uint64(o.FirstSegment), uint64(len(in.OfferSegments)))
	case len(s.offers)+int(o.Segments) > len(in.OfferSegments):
		return flawed("offers", i, "segments", o.Segments, "jobs share some")
	case o.Reserved != 0:
		return flawed("offers", i, "reserved", o.Reserved, "must be 0")
	}
	from := len(s.offers)
	for k := range int(o.Segments) {
		if fault := s.loadOfferSegment(in, int(o.FirstSegment)+k, from); fault.array != "" {
			return fault
		}
	}
	return flaw{}
}

// loadOfferSegment appends segment i to the offer that begins at from.
func (s *snapshot) loadOfferSegment(in *Input, i, from int) flaw {
	g := &in.OfferSegments[i]
	switch {
	case len(s.offers) > from && int64(g.First) <= int64(s.offers[len(s.offers)-1].Last):
		return flawed("offer_segments", i, "first", g.First, "the job's segments must be ascending")
	case g.Last < g.First:
		return flawed("offer_segments", i, "last", g.Last, "is before first, %d", uint64(g.First))
	case uint64(g.Last) >= uint64(len(in.Nodes)):
		return flawed("offer_segments", i, "last", g.Last, "there are %d nodes", uint64(len(in.Nodes)))
	case g.GPUs > MaxGPUsPerNode:
		return flawed("offer_segments", i, "gpus", g.GPUs, "must be at most %d", MaxGPUsPerNode)
	case g.Bin != 0:
		return flawed("offer_segments", i, "bin", g.Bin, "must be 0: the library chooses it")
	}
	s.offers = append(s.offers, nodeset.Segment{First: int32(g.First), Last: int32(g.Last), Cores: g.Cores, GPUs: g.GPUs})
	return flaw{}
}
