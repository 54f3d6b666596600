// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// It is said of each running job whether the job that is explained may preempt it.
func TestExplainPreemption(t *testing.T) {
	s := running(t, 3, Running{Segs: partOf(0, 8), Price: 500, Class: 1}, Running{Segs: partOf(1, 8), Price: 510, Class: 2},
		Running{Segs: partOf(2, 8), Price: 2000, Class: 1, End: 500})
	s.Pending = []*Job{waiting("a", 1000, 8, 1<<1|1<<2), waiting("b", 900, 8, 1<<2), waiting("c", 400, 8, 1<<1)}
	o := Preset("none")
	o.Reservations = 0
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	e, err := NewExplainer(context.Background(), a, s, Limits{})
	require.NoError(t, err)
	require.NoError(t, Verify(s, e.Plan()))
	require.Equal(t, []Preemption{{0, []int{0}}, {1, []int{1}}}, e.Plan().Preempted)

	x, err := e.Explain(context.Background(), 0, ExplainOptions{})
	require.NoError(t, err)
	require.Len(t, x.Stops, 1)
	require.Equal(t, 0, x.Stops[0].Job)
	require.EqualValues(t, 500, x.Stops[0].Worth)
	require.True(t, x.Stops[0].Preemptable && x.Stops[0].Preempted)

	x, err = e.Explain(context.Background(), 2, ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, NoFit, x.Why)
	require.Len(t, x.Rivals, 1) // it ends first
	require.Equal(t, 2, x.Rivals[0].Job)
	require.True(t, x.Rivals[0].Preemptable)
	require.False(t, x.Rivals[0].Preempted)
	require.EqualValues(t, 2000, x.Rivals[0].Worth)
	require.True(t, x.Foreseen)

	s.Pending[2].Preempts = 1 << 2
	x, err = e.Explain(context.Background(), 2, ExplainOptions{})
	require.NoError(t, err)
	require.False(t, x.Rivals[0].Preemptable)
	require.Zero(t, x.Rivals[0].Worth)
}

// Explanations of windows in which jobs are preempted hold together, whatever is asked.
func TestExplainBesidePreemption(t *testing.T) {
	seen := 0
	checkUntil(t, func() bool { return seen > 30 }, func(t *rapid.T) {
		s, a := drawPreemptable(t), drawAuction(t)
		e, err := NewExplainer(context.Background(), a, s, Limits{Seed: 1})
		require.NoError(t, err)
		seen += len(e.Plan().Preempted)
		for j := range s.Pending {
			x, err := e.Explain(context.Background(), j, ExplainOptions{})
			require.NoError(t, err)
			for _, r := range x.Stops {
				require.True(t, r.Preemptable && r.Preempted && x.Decision.Start)
			}
		}
	})
}
