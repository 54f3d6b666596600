// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// startAs starts the first pending job by one of its alternatives.
func startAs(alternative int, segs ...nodeset.Segment) scripted {
	return func(_ *core.Snapshot, p *core.Plan) error {
		p.Decisions = append(p.Decisions, core.Decision{Start: true, Alternative: alternative, Segs: segs})
		return nil
	}
}

// A start has to meet the request that it names, and the metrics are those of that.
func TestAlternativesAreChecked(t *testing.T) {
	j := jobOf(1, bids.Request{Cores: 8}, 0, 100, 100)
	j.Alternatives = []bids.Request{{Cores: 2, MinNodes: 2, MinGPUs: 1}}
	two := nodeset.Segment{First: 0, Last: 1, Cores: 1, GPUs: 1}
	for _, c := range []struct {
		alternative int
		seg         nodeset.Segment
		want        string
	}{
		{1, two, ""},
		{0, two, "instead of 0 to 0"},
		{1, nodeset.Segment{First: 0, Last: 1, Cores: 4}, "0 GPUs a node instead of 1 to 1"},
		{2, two, "alternative 2 of 1"},
		{-1, two, "alternative -1 of 1"},
	} {
		res, err := Run(context.Background(), NewConfig(nodesOf([3]int{2, 4, 1})), startAs(c.alternative, c.seg), []workload.Job{j})
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 200.0/8, res.TheoreticalRuntime, "2 cores for 100 s")
		require.Equal(t, 1.0, res.PackingFactorMean)
	}
}

// A job whose nodes give different numbers of GPUs runs as long as its GPUs in all say: 300 s
// with 1 on each of 3 nodes are 150 s with 6, and 225 s with 4.
func TestDurationByAllGPUs(t *testing.T) {
	for want, gpus := range map[int64][3]uint8{300: {1, 1, 1}, 150: {1, 2, 3}, 225: {1, 1, 2}, 100: {3, 3, 3}} {
		j := jobOf(1, bids.Request{Cores: 3, MinNodes: 3, MinGPUs: 1, MaxGPUs: 3, MixedGPUs: true}, 0, 300, 300)
		var segs []nodeset.Segment
		for n, g := range gpus {
			segs = append(segs, nodeset.Segment{First: int32(n), Last: int32(n), Cores: 1, GPUs: g})
		}
		res, err := Run(context.Background(), NewConfig(nodesOf([3]int{3, 4, 3})), startOn(segs...), []workload.Job{j})
		require.NoError(t, err)
		require.Equal(t, want, res.Runtime, "%v", gpus)
		j.MixedGPUs = false
		_, err = Run(context.Background(), NewConfig(nodesOf([3]int{3, 4, 3})), startOn(segs...), []workload.Job{j})
		require.Equal(t, gpus[0] != gpus[2], err != nil, "%v: all the same, or mixed", gpus)
	}
}

// Jobs that can run by an alternative only are simulated; backfill, which knows the first request
// only, leaves them.
func TestJobsThatRunByAlternativesOnly(t *testing.T) {
	j := jobOf(1, bids.Request{Cores: 100}, 0, 10, 10)
	j.Alternatives = []bids.Request{{Cores: 4, MinGPUs: 1}}
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	res, err := Run(context.Background(), NewConfig(nodesOf([3]int{2, 4, 1})), a, []workload.Job{j})
	require.NoError(t, err)
	require.Equal(t, 1, res.Jobs)
	require.Empty(t, res.Unrun)
	b, err := NewBackfill(DefaultBackfill())
	require.NoError(t, err)
	res, err = Run(context.Background(), NewConfig(nodesOf([3]int{2, 4, 1})), b, []workload.Job{j})
	require.NoError(t, err)
	require.Len(t, res.Unrun, 1)
	j.Alternatives[0].MinGPUs = 2
	res, err = Run(context.Background(), NewConfig(nodesOf([3]int{2, 4, 1})), a, []workload.Job{j})
	require.NoError(t, err)
	require.Equal(t, []Unrun{{"J1", "can never run: needs 100 cores, its nodes have at most 8"}}, res.Unrun)
}
