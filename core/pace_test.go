// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Of jobs that end by their limits the pace stays 1; of others it comes to the share that they run,
// by how much of the machine they hold; those without a limit, looks within a minute, and the
// first after a long time, say nothing.
func TestPace(t *testing.T) {
	m := totals{cores: 8}
	run := func(x *pacing, pace Pace, runs, limit int64, cores uint16) Pace {
		for k := range int64(40) {
			begin := 1_000_000 + k*100_000
			for at := begin; at <= begin+runs+600; at += 45 {
				s := &Snapshot{Now: at, Pace: pace}
				if at < begin+runs {
					s.Running = []Running{{ID: fmt.Sprint(k), End: begin + limit, Segs: []nodeset.Segment{{Cores: cores}}},
						{ID: "service", End: begin + NoTimeLimit, Segs: []nodeset.Segment{{Cores: 1}}}}
				}
				pace = x.look(s, m)
			}
		}
		return pace
	}
	exact := run(new(pacing), Pace{}, 7200, 7200, 4)
	require.Positive(t, exact.Ran)
	require.Equal(t, 1.0, exact.ratio(), "the same sums")
	require.Equal(t, 1.0, Pace{}.ratio(), "nothing is known")
	quarter := run(new(pacing), Pace{}, 7200, 4*7200, 4)
	require.InDelta(t, 0.25, quarter.ratio(), 0.02)
	x := new(pacing)
	both := run(x, run(x, Pace{}, 7200, 4*7200, 6), 7200, 7200, 2)
	require.InDelta(t, (6.0+2)/(4*6+2), both.ratio(), 0.01, "by width")
	require.True(t, both.valid())
}

// In which order the running jobs are listed means nothing.
func TestPaceKnowsNoOrder(t *testing.T) {
	m, random := totals{cores: 64}, rand.New(rand.NewPCG(1, 2))
	var running []Running
	var sorted, mixed pacing
	var want, got Pace
	for now := int64(0); now < 40_000; now += 120 {
		running = slices.DeleteFunc(running, func(Running) bool { return random.IntN(30) == 0 })
		for len(running) < 16 {
			r := Running{ID: fmt.Sprint(now, len(running)), End: now + 4000, Segs: []nodeset.Segment{{Cores: 4}}}
			running = append(running, r)
		}
		want = sorted.look(&Snapshot{Now: now, Pace: want, Running: running}, m)
		random.Shuffle(len(running), func(i, k int) { running[i], running[k] = running[k], running[i] })
		got = mixed.look(&Snapshot{Now: now, Pace: got, Running: running}, m)
		slices.SortFunc(running, func(a, b Running) int { return cmp.Or(cmp.Compare(a.End, b.End), strings.Compare(a.ID, b.ID)) })
	}
	require.Positive(t, want.Limits)
	require.Less(t, want.ratio(), 0.9)
	require.InDelta(t, want.ratio(), got.ratio(), 1e-9)
}

// The plan is made of the Pace that the snapshot has, and not of what the auction has seen itself.
func TestPaceIsTheSnapshots(t *testing.T) {
	a, err := NewAuction(Preset("default"), nil)
	require.NoError(t, err)
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Now: 1000, Nodes: nodes, Pace: Pace{Ran: -1}}
	require.ErrorContains(t, s.Validate(), "pace: -1 s were run")
	s.Pace = Pace{Ran: 100, Limits: 400}
	var p Plan
	require.NoError(t, a.Decide(t.Context(), s, Limits{}, &p))
	require.Equal(t, s.Pace, p.Pace)
}

// The machine of examples/wide.swf: its wide job lets the others go first, as long as nobody waits for
// longer than in queue order. Where jobs run to a tenth of their limits the wide job, which waits already,
// would: what the others would wait in queue order is not as long as it seems.
func TestPaceBoundsWaits(t *testing.T) {
	const hour = 3600
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 1})
	require.NoError(t, err)
	held := []nodeset.Segment{{Last: 2, Cores: 1}}
	require.NoError(t, nodes.Allocate(held))
	s := &Snapshot{Now: 100 * hour, Nodes: nodes, Running: []Running{{ID: "1", End: 106 * hour, Segs: held}}}
	for i, ask := range [][2]int64{{4, 4}, {1, 8}, {2, 1}, {2, 1}} {
		since := s.Now
		if i == 0 {
			since -= hour
		}
		s.Pending = append(s.Pending, &Job{ID: fmt.Sprint(i + 2), Priority: 1, Since: since, TimeLimit: ask[1] * hour,
			Request: bids.Request{Cores: int(ask[0]), MinNodes: int(ask[0]), MaxNodes: int(ask[0])}})
	}
	starts := func(pace Pace) (ids []string) {
		s.Pace = pace
		a, err := NewAuction(Preset("default"), nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(t.Context(), s, Limits{}, &p))
		require.NoError(t, Verify(s, &p))
		for _, d := range p.Decisions {
			if d.Start {
				ids = append(ids, s.Pending[d.Job].ID)
			}
		}
		return ids
	}
	require.Equal(t, []string{"3"}, starts(Pace{}))
	require.Empty(t, starts(Pace{Ran: 1e6, Limits: 1e7}))
}
