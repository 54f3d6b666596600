// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// singles is a machine of nodes with 8 GPUs each, half of them in use, and a queue of jobs of one
// node. No two limits are the same, so that nothing is known from another job.
func singles(nodes, jobs int) (*core.Snapshot, error) {
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 96, GPUs: 8})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s := &core.Snapshot{Nodes: table}
	for i := range 4 * nodes {
		n := int32(rng.IntN(nodes))
		segs := []nodeset.Segment{{First: n, Last: n, Cores: uint16(4 + rng.IntN(9)), GPUs: 1}}
		if table.Allocate(segs) == nil {
			s.Running = append(s.Running, core.Running{ID: fmt.Sprint("R", i), End: 1 + rng.Int64N(86400), Segs: segs})
		}
	}
	for i := range jobs {
		gpus := []int{0, 1, 1, 1, 2, 4, 8}[rng.IntN(7)]
		s.Pending = append(s.Pending, &core.Job{
			ID:       fmt.Sprint("J", i),
			Request:  bids.Request{Cores: 1 + 10*gpus, MinNodes: 1, MaxNodes: 1, MinGPUs: gpus, MaxGPUs: gpus},
			Priority: int64(jobs - i), TimeLimit: 60 + rng.Int64N(86400),
		})
	}
	return s, nil
}

// BenchmarkPrices is a cycle of the window that all stages are measured on, and of one where every job
// has its price.
func BenchmarkPrices(b *testing.B) {
	mixed, err := NewWindow(1024, 200, 1)
	require.NoError(b, err)
	single, err := singles(1024, 200)
	require.NoError(b, err)
	for _, w := range []struct {
		name string
		s    *core.Snapshot
	}{{"mixed", &mixed.Snapshot}, {"single", single}} {
		b.Run(w.name, func(b *testing.B) {
			a, err := core.NewAuction(core.Preset("none"), nil)
			require.NoError(b, err)
			var p core.Plan
			b.ReportAllocs()
			for range b.N {
				require.NoError(b, a.Decide(context.Background(), w.s, core.Limits{Seed: 1}, &p))
			}
			require.NoError(b, core.Verify(w.s, &p))
		})
	}
}
