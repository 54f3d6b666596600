// SPDX-License-Identifier: BSD-3-Clause

package shares

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
)

// blind has all priorities be 1.
type blind struct{ core.Policy }

func (b blind) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	c := *s
	c.Pending = make([]*core.Job, len(s.Pending))
	for i, j := range s.Pending {
		same := *j
		same.Priority = 1
		c.Pending[len(s.Pending)-1-i] = &same
	}
	if err := b.Policy.Decide(ctx, &c, l, p); err != nil {
		return err
	}
	for i := range p.Decisions {
		p.Decisions[i].Job = len(s.Pending) - 1 - p.Decisions[i].Job
	}
	slices.SortFunc(p.Decisions, func(a, b core.Decision) int { return a.Job - b.Job })
	return nil
}

// Who is owed less gets less, unless the policy looks at no priority: then the figures say so.
func TestSharesAreMeasured(t *testing.T) {
	race.Slow(t)
	stock := func() core.Policy {
		p, err := sim.NewBackfill(sim.DefaultBackfill())
		require.NoError(t, err)
		return p
	}
	fair, err := Run(t.Context(), stock(), 1)
	require.NoError(t, err)
	backwards, err := Run(t.Context(), blind{stock()}, 1)
	require.NoError(t, err)
	require.Less(t, fair.Off, backwards.Off/2)
	require.Greater(t, fair.Least, backwards.Least)
	require.Less(t, fair.Passed, backwards.Passed)
	require.InDelta(t, 0.95, fair.Use, 0.05)
}
