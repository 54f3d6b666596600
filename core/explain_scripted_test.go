// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// scripted is a policy that starts the first job if it says so.
type scripted struct {
	starts func(*Job) bool
	limits []Limits
}

func (p *scripted) Name() string { return "scripted" }

func (p *scripted) Decide(_ context.Context, s *Snapshot, l Limits, plan *Plan) error {
	plan.reset()
	p.limits = append(p.limits, l)
	d := Decision{Reason: "the script says so"}
	if job := s.Pending[0]; p.starts(job) {
		d = Decision{Start: true, Class: market.ClassS}
		d.Segs, _ = requests.Place(s.Nodes, &job.Request, job.MinGPUs)
	}
	plan.Decisions = append(plan.Decisions, d)
	return nil
}

// Whichever of the smaller requests a policy starts, what is suggested starts, one less of
// either change does not, and there is a suggestion if the greatest change starts.
func TestSearchOnAnyPolicy(t *testing.T) {
	nodes, err := nodeset.NewUniform(12, nodeset.Capacity{Cores: 4, GPUs: 5})
	require.NoError(t, err)
	pairs := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		share := rapid.IntRange(2, 12).Draw(t, "one in")
		var table [13][6]bool // by nodes and GPUs
		for n := range table {
			for g := range table[n] {
				table[n][g] = rng.IntN(share) == 0
			}
		}
		table[12][5] = false
		if rapid.Bool().Draw(t, "pairs only") {
			for n := range table {
				table[n][5] = false
			}
			table[12] = [6]bool{}
			table[1][0] = true
		}
		p := &scripted{starts: func(j *Job) bool { return j.TasksPerNode == 1 && table[j.MinNodes][j.MinGPUs] }}
		s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{MinNodes: 12, MaxNodes: 12, TasksPerNode: 1, MinGPUs: 5})}
		x := explain(t, explainer(t, p, s), 0, ExplainOptions{Trials: 200})
		require.Empty(t, x.Cut)
		require.Zero(t, x.Why, "it has room")
		require.Equal(t, "the script says so", x.Decision.Reason)
		if table[1][5] || table[12][0] || table[1][0] {
			require.NotEmpty(t, x.Suggestions)
		}
		for _, c := range x.Suggestions {
			n, g := c.Job.MinNodes, c.Job.MinGPUs
			require.True(t, table[n][g])
			require.True(t, c.Smallest)
			if n < 12 && g < 5 {
				pairs++
			}
			require.False(t, n < 12 && table[n+1][g], "%d nodes and %d GPUs", n+1, g)
			require.False(t, g < 5 && table[n][g+1], "%d nodes and %d GPUs", n, g+1)
		}
	})
	require.Greater(t, pairs, 10)
}

// Each decision has the seed, and as much time as the first.
func TestTrialsHaveTheSameLimits(t *testing.T) {
	nodes, err := nodeset.NewUniform(12, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	now := time.Unix(1000, 0)
	var left []time.Duration
	p := &scripted{}
	p.starts = func(*Job) bool {
		left = append(left, p.limits[len(p.limits)-1].Deadline.Sub(now))
		now = now.Add(time.Second)
		return false
	}
	s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{MinNodes: 12, MaxNodes: 12, TasksPerNode: 2})}
	clock := func() time.Time { return now }
	e, err := newExplainer(context.Background(), p, s, Limits{Seed: 7, Deadline: now.Add(3 * time.Second)}, clock)
	require.NoError(t, err)
	x := explain(t, e, 0, ExplainOptions{Trials: 100, Deadline: now.Add(4500 * time.Millisecond)})
	require.Equal(t, 5, x.Trials, "the last begins before the deadline of all")
	require.Equal(t, "the search for changes ran out of time", x.Cut)
	for i := range left {
		require.Equal(t, 3*time.Second, left[i])
		require.EqualValues(t, 7, p.limits[i].Seed)
	}
}
