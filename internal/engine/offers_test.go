// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// twoNodes is one job of 10 cores on two nodes of 8, with an offer.
func twoNodes(offer ...Segment) *Input {
	in := &Input{
		Nodes: []Node{{Cores: 8, FreeCores: 8, GPUs: 1, FreeGPUs: 1, Up: 1}, {Cores: 8, FreeCores: 8, GPUs: 1, FreeGPUs: 1, Up: 1}},
		Jobs:  []Job{{Priority: 1, Cores: 10, MinNodes: 2, MaxNodes: 2, TimeLimit: 60, Mask: -1}},
	}
	if len(offer) > 0 {
		in.Offers = []Offer{{Job: 0, Segments: uint32(len(offer))}}
		in.OfferSegments = offer
	}
	return in
}

func TestAnOfferIsBid(t *testing.T) {
	// With one bid a job there is room for the offer alone.
	e := open(t, "bids=1 drafts=0 reservations=0 depth=0")
	var out Output
	offer := []Segment{{First: 0, Last: 0, Cores: 3}, {First: 1, Last: 1, Cores: 7}}
	require.NoError(t, e.Cycle(twoNodes(offer...), &out))
	require.Equal(t, 1, out.Starts)
	require.Equal(t, byte('S'), out.Decisions[0].BidClass)
	require.Equal(t, offer, out.Segments)

	require.NoError(t, e.Cycle(twoNodes(), &out))
	require.Equal(t, 1, out.Starts)
	require.NotEqual(t, byte('S'), out.Decisions[0].BidClass, "the offer of the cycle before is forgotten")
}

func TestAnOfferThatDoesNotSuitIsNotBid(t *testing.T) {
	for name, offer := range map[string][]Segment{
		"more than is free":   {{First: 0, Last: 0, Cores: 9}, {First: 1, Last: 1, Cores: 1}},
		"too few cores":       {{First: 0, Last: 1, Cores: 4}},
		"one node":            {{First: 0, Last: 0, Cores: 8}},
		"GPUs, not asked for": {{First: 0, Last: 1, Cores: 5, GPUs: 1}},
		"more GPUs than are":  {{First: 0, Last: 1, Cores: 5, GPUs: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			in := twoNodes(offer...)
			var out Output
			require.NoError(t, open(t, "bids=15").Cycle(in, &out))
			require.NoError(t, check(in, &out))
			require.Equal(t, 1, out.Starts)
			require.NotEqual(t, byte('S'), out.Decisions[0].BidClass)
		})
	}
}

// An offer with a fault costs the job nothing but the offer.
func TestOfferFaults(t *testing.T) {
	good := Segment{First: 0, Last: 1, Cores: 5}
	for name, c := range map[string]struct {
		spoil func(*Input)
		want  string
		job   int // whose offer it is
	}{
		"no such job":      {func(in *Input) { in.Offers[0].Job = 1 }, "offers[0].job: 1:", -1},
		"two of a job":     {func(in *Input) { in.Offers = append(in.Offers, Offer{}) }, "offers[1].job: 0:", 0},
		"beyond":           {func(in *Input) { in.Offers[0].Segments = 2 }, "offers[0].segments: 2:", 0},
		"far beyond":       {func(in *Input) { in.Offers[0].FirstSegment = 1<<32 - 1 }, "offers[0].segments: 1:", 0},
		"reserved":         {func(in *Input) { in.Offers[0].Reserved = 1 }, "offers[0].reserved: 1:", 0},
		"no such node":     {func(in *Input) { in.OfferSegments[0].Last = 2 }, "offer_segments[0].last: 2:", 0},
		"backwards":        {func(in *Input) { in.OfferSegments[0].First = 2 }, "offer_segments[0].last: 1:", 0},
		"GPUs":             {func(in *Input) { in.OfferSegments[0].GPUs = 16 }, "offer_segments[0].gpus: 16:", 0},
		"segment reserved": {func(in *Input) { in.OfferSegments[0].Bin = 1 }, "offer_segments[0].bin: 1:", 0},
		"not ascending": {func(in *Input) {
			in.OfferSegments = append(in.OfferSegments, good)
			in.Offers[0].Segments = 2
		}, "offer_segments[1].first: 0:", 0},
		"shared": {func(in *Input) {
			in.Jobs = append(in.Jobs, in.Jobs[0])
			in.Offers = append(in.Offers, Offer{Job: 1, Segments: 1})
		}, "offers[1].segments: 1:", 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := twoNodes(good)
			c.spoil(in)
			out := decideInSpite(t, open(t, ""), in, c.job, c.want)
			require.Zero(t, out.LeftOut)
			require.Equal(t, 1, out.Starts, "by its own bids, if not by its offer")
		})
	}
}
