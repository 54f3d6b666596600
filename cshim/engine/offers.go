package engine

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// loadOffers gives jobs their offers. Whether an offer is free, and what its job asks
// for, is core's to judge; here it only has to be an allocation.
func (s *snapshot) loadOffers(in *Input) error {
	s.offers = s.offers[:0]
	if len(in.OfferSegments) > cap(s.offers) {
		s.offers = make([]nodeset.Segment, 0, len(in.OfferSegments)) // in one piece: jobs keep parts of it
	}
	next := uint64(0) // the least job that may come
	for i := range in.Offers {
		o := &in.Offers[i]
		switch {
		case uint64(o.Job) < next:
			return &InputError{"offers", i, "job", o.Job, fmt.Sprintf("must be at least %d, after the offers before it", next)}
		case uint64(o.Job) >= uint64(len(in.Jobs)):
			return &InputError{"offers", i, "job", o.Job, fmt.Sprintf("there are %d jobs", len(in.Jobs))}
		case uint64(o.FirstSegment)+uint64(o.Segments) > uint64(len(in.OfferSegments)):
			return &InputError{"offers", i, "segments", o.Segments,
				fmt.Sprintf("with first_segment %d, these go beyond the %d offer_segments", o.FirstSegment, len(in.OfferSegments))}
		case len(s.offers)+int(o.Segments) > cap(s.offers):
			return &InputError{"offers", i, "segments", o.Segments, "jobs share some"}
		case o.Reserved != 0:
			return &InputError{"offers", i, "reserved", o.Reserved, "must be 0"}
		}
		from := len(s.offers)
		for k := range in.OfferSegments[o.FirstSegment:][:o.Segments] {
			if err := s.loadOfferSegment(in, int(o.FirstSegment)+k, from); err != nil {
				return err
			}
		}
		s.jobs[o.Job].Offer = s.offers[from:len(s.offers):len(s.offers)]
		next = uint64(o.Job) + 1
	}
	return nil
}

// loadOfferSegment appends segment i to the offer that begins at from.
func (s *snapshot) loadOfferSegment(in *Input, i, from int) error {
	g := &in.OfferSegments[i]
	fault := func(field string, value any, why string) error {
		return &InputError{"offer_segments", i, field, value, why}
	}
	switch {
	case len(s.offers) > from && int64(g.First) <= int64(s.offers[len(s.offers)-1].Last):
		return fault("first", g.First, "the job's segments must be ascending")
	case g.Last < g.First:
		return fault("last", g.Last, fmt.Sprintf("is before first, %d", g.First))
	case uint64(g.Last) >= uint64(len(in.Nodes)):
		return fault("last", g.Last, fmt.Sprintf("there are %d nodes", len(in.Nodes)))
	case g.Cores == 0:
		return fault("cores", g.Cores, "must be at least 1")
	case g.GPUs > MaxGPUsPerNode:
		return fault("gpus", g.GPUs, fmt.Sprintf("must be at most %d", MaxGPUsPerNode))
	case g.Reserved != 0:
		return fault("reserved", g.Reserved, "must be 0")
	}
	s.offers = append(s.offers, nodeset.Segment{First: int32(g.First), Last: int32(g.Last), Cores: g.Cores, GPUs: g.GPUs})
	return nil
}
