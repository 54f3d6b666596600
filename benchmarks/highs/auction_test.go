// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package highs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// both solves as the native solver does, and has HiGHS solve the same.
type both struct {
	ipmodel.Solver
	t      *testing.T
	highs  *Solver
	models int // that the native solver proves
	proven int // of them, by HiGHS
}

func (b *both) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	o.Work, o.Start = 0, nil
	err := b.Solver.Solve(ctx, m, o, r)
	require.NoError(b.t, err)
	var other ipmodel.Result
	require.NoError(b.t, b.highs.Solve(ctx, m, o, &other))
	worth, err := m.Check(other.Chosen)
	require.NoError(b.t, err)
	require.Equal(b.t, worth, other.Value)
	require.GreaterOrEqual(b.t, other.Bound, r.Value)
	require.GreaterOrEqual(b.t, r.Bound, other.Value)
	if r.Status != ipmodel.Optimal {
		return nil
	}
	require.Equal(b.t, r.Value, other.Value)
	if b.models++; other.Status == ipmodel.Optimal {
		b.proven++
	}
	return err
}

// randomWindow has up to 6 jobs of all types on a machine of which runs of nodes are busy: some have
// an alternative, and some count against a quota.
func randomWindow(seed uint64) *core.Snapshot {
	rng := rand.New(rand.NewPCG(seed, 41))
	cores, gpus := 2+rng.IntN(11), rng.IntN(4)
	nodes, err := nodeset.NewUniform(6+rng.IntN(40), nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)})
	if err != nil {
		panic(err)
	}
	for n := rng.IntN(8); n < nodes.Len(); n += 1 + rng.IntN(8) {
		if err := nodes.SetFree(n, nodeset.Capacity{Cores: uint16(rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}); err != nil {
			panic(err)
		}
	}
	request := func() (r bids.Request) {
		switch rng.IntN(3) {
		case 0:
			r.Cores = 1 + rng.IntN(3*cores)
		case 1:
			r.MinNodes = 1 + rng.IntN(4)
			r.Cores = r.MinNodes + rng.IntN(2*cores)
			r.MaxNodes = r.MinNodes + rng.IntN(3)
		default:
			r.MinNodes, r.TasksPerNode = 1+rng.IntN(6), 1+rng.IntN(cores)
			r.MaxNodes = r.MinNodes
		}
		if r.MinNodes > 0 {
			r.MinGPUs = rng.IntN(gpus + 1)
			r.MaxGPUs = r.MinGPUs + rng.IntN(gpus+1-r.MinGPUs)
		}
		r.Contiguous = rng.IntN(4) == 0
		return r
	}
	s := &core.Snapshot{Nodes: nodes, Quotas: []core.Quota{{Name: "few", Left: int64(1 + rng.IntN(3*cores))}}}
	for i := range 2 + rng.IntN(5) {
		j := &core.Job{ID: fmt.Sprint(i), Priority: int64(1000 - i), TimeLimit: 3600, Request: request()}
		if rng.IntN(3) == 0 {
			j.Alternatives = append(j.Alternatives, request())
		}
		if rng.IntN(3) == 0 {
			j.Charges = nodeset.Uses{{Row: 0, PerCore: 1}}
		}
		s.Pending = append(s.Pending, j)
	}
	return s
}

// Of the models that auctions make, with quotas and alternatives, HiGHS finds the optimum, which the
// native solver proves.
func TestModelsOfAuctions(t *testing.T) {
	b := &both{Solver: native.New(), t: t, highs: worker(t, "solve")}
	a, err := core.NewAuction(core.Preset("none"), b)
	require.NoError(t, err)
	windows := race.Fewer(200)
	for seed := range uint64(windows) {
		s, p := randomWindow(seed), core.Plan{}
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{Seed: seed}, &p), "window %d", seed)
		require.NoError(t, core.Verify(s, &p), "window %d", seed)
	}
	t.Logf("HiGHS finds the optimum of all %d models and claims %d of them", b.models, b.proven)
	require.Greater(t, b.models, windows/4, "most windows are contested")
	require.Positive(t, b.proven)
}
