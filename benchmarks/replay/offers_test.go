// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// drawState draws a machine and a queue of valid requests.
func drawState(t *rapid.T) *core.Snapshot {
	s := &core.Snapshot{Now: 100, Nodes: draw.Table(t)}
	for i := range rapid.IntRange(0, 12).Draw(t, "pending") {
		j := &core.Job{ID: fmt.Sprint("J", i), Request: requests.DrawWithCores(t, s.Nodes.Len()), Priority: int64(1000 - i),
			TimeLimit: rapid.Int64Range(1, 900).Draw(t, "limit")}
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
			j.Request = s.Pending[i-1].Request
		} else if place.Validate(&j.Request) != nil {
			j.Request = bids.Request{Cores: 1 + i}
		}
		s.Pending = append(s.Pending, j)
	}
	return s
}

// taker is a policy that starts every job on its offer, and keeps what it has been asked.
type taker struct{ pending []*core.Job }

func (k *taker) Name() string { return "taker" }

func (k *taker) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	k.pending, p.Decisions = s.Pending, p.Decisions[:0]
	for i, j := range s.Pending {
		p.Decisions = append(p.Decisions, core.Decision{Job: i, Start: j.Offer != nil, Segs: j.Offer, Uses: j.Uses})
	}
	return nil
}

// Every offer is free when those before it have been taken, is what the job asks for, and is what
// Slurm's selection takes then. The queue and the nodes are as they were.
func TestOffersFitInTurn(t *testing.T) {
	offered, late := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		var jobs []core.Job
		for _, j := range s.Pending {
			jobs = append(jobs, *j)
		}
		window := rapid.IntRange(0, len(s.Pending)+2).Draw(t, "window")
		k := new(taker)
		o := NewOffers(k, window)
		require.Equal(t, "taker", o.Name())
		var p core.Plan
		for range 2 { // the second time with used memory
			require.NoError(t, o.Decide(context.Background(), s, core.Limits{}, &p))
			require.Equal(t, before, s.Nodes)
			require.NoError(t, core.Verify(s, &p), "together they fit")
		}
		left := new(nodeset.Table)
		left.CopyFrom(before)
		var sel selection.Selector
		refused := false
		for i, j := range s.Pending {
			require.Equal(t, jobs[i], *j, "the caller's jobs stay as they are")
			got := k.pending[i].Offer
			if i >= window {
				require.Nil(t, got)
				require.Same(t, j, k.pending[i])
				continue
			}
			want, ok, err := sel.Select(left, &j.Request, nil, nil)
			require.NoError(t, err)
			require.Equal(t, ok, got != nil)
			if !ok {
				refused = true
				continue
			}
			require.Equal(t, want, got)
			require.NoError(t, place.CheckSegments(&j.Request, got, left.Len()))
			require.NoError(t, left.Allocate(got, j.Uses...))
			if offered++; refused {
				late++
			}
		}
	})
	require.Positive(t, offered)
	require.Positive(t, late, "jobs behind one without an offer have some")
}

// With offers an auction's best plan is worth at least what Slurm would start in queue order. Without,
// some windows are worth less. A search that ends early promises neither: its first choice is no
// offer, which is for the determiner of AUCSCHED1 only.
func TestAuctionsAreWorthTheirOffers(t *testing.T) {
	short, proven, windows := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		windows++
		s := drawState(t)
		o := core.Preset("paper")
		o.MaxBidsPerJob = 1
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		k := new(taker)
		var p core.Plan
		require.NoError(t, NewOffers(k, o.Window).Decide(context.Background(), s, core.Limits{}, &p))
		offers := startedWorth(s, &p)
		require.NoError(t, NewOffers(a, o.Window).Decide(context.Background(), s, core.Limits{}, &p))
		require.NoError(t, core.Verify(s, &p))
		require.GreaterOrEqual(t, p.Bound, p.Objective)
		if p.Stats.Bids == 0 {
			require.Zero(t, offers)
		} else if p.Stats.Status == "optimal" {
			proven++
			require.GreaterOrEqual(t, p.Objective, float64(offers))
		}
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
		if p.Objective < float64(offers) {
			short++
		}
	})
	require.Positive(t, short)
	require.Greater(t, 5*proven, windows, "about half of the windows have no bids, nearly all others are small")
}

// startedWorth is the sum of the priorities of the jobs that start.
func startedWorth(s *core.Snapshot, p *core.Plan) (sum int64) {
	for _, d := range p.Decisions {
		if d.Start {
			sum += s.Pending[d.Job].Priority
		}
	}
	return sum
}
