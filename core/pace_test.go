// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

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
