// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func queue(limit int64, reqs ...bids.Request) []*core.Job {
	var jobs []*core.Job
	for i, r := range reqs {
		jobs = append(jobs, &core.Job{ID: fmt.Sprintf("J%d", i+1), Request: r, Priority: 4294901759 - int64(i), TimeLimit: limit})
	}
	return jobs
}

func started(p *core.Plan) int {
	n := 0
	for _, d := range p.Decisions {
		if d.Start {
			n++
		}
	}
	return n
}

// drawSnapshot draws a machine with running jobs and a queue. Its size shrinks; the
// rest comes from a seed.
func drawSnapshot(t *rapid.T) *core.Snapshot {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 23))
	size := rapid.SampledFrom([]int{60, 60, 60, 60, 60, 12, 3}).Draw(t, "size")
	upTo := func(most int) int { return rng.IntN(min(most, size) + 1) }
	cores, gpus := 1+rng.IntN(12), rng.IntN(4)
	total := make([]nodeset.Capacity, 1+upTo(50))
	odd := rng.IntN(2) == 0
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
		if odd && rng.IntN(4) == 0 {
			total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		}
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	s := &core.Snapshot{Now: rng.Int64N(1000), Nodes: nodes}
	for i := range upTo(12) {
		r := randomRequest(rng, len(total), cores, gpus)
		segs, ok := requests.Place(nodes, r, r.MinGPUs)
		if !ok {
			continue
		}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, core.Running{ID: fmt.Sprint("R", i), End: s.Now - 20 + rng.Int64N(500), Segs: segs})
	}
	for range max(0, upTo(4)-2) {
		nodes.SetUp(rng.IntN(len(total)), false)
	}
	kind := rng.IntN(3)
	for i := range upTo(24) {
		r := randomRequest(rng, len(total)+1, cores, gpus)
		if i > 0 && rng.IntN(4) == 0 { // like one before
			*r = s.Pending[rng.IntN(i)].Request
		}
		job := &core.Job{ID: fmt.Sprint("J", i), Request: *r, Priority: 4294901759 - int64(i), TimeLimit: 1 + 50*rng.Int64N(12)}
		if kind == 1 {
			job.Priority = 1 + rng.Int64N(50_000)
		} else if kind == 2 {
			job.Priority = 1 + rng.Int64N(3)
		}
		s.Pending = append(s.Pending, job)
	}
	slices.SortStableFunc(s.Pending, func(a, b *core.Job) int { return cmp.Compare(b.Priority, a.Priority) })
	for _, job := range s.Pending {
		job.Since = s.Now - rng.Int64N(7200)
	}
	return s
}

func randomRequest(rng *rand.Rand, nodes, cores, gpus int) *bids.Request {
	r := &bids.Request{Contiguous: rng.IntN(3) == 0}
	y := 1 + rng.IntN(nodes)
	if rng.IntN(2) == 0 {
		y = 1 + rng.IntN(min(y, 4))
	}
	switch rng.IntN(3) {
	case 0:
		r.Cores = 1 + rng.IntN(y*cores)
	case 1:
		r.MinNodes, r.MaxNodes = y, y+rng.IntN(3)
		r.Cores = r.MaxNodes + rng.IntN(y*cores)
	default:
		r.MinNodes, r.TasksPerNode = y, 1+rng.IntN(cores)
	}
	if gpus > 0 && rng.IntN(2) == 0 {
		r.MinGPUs = rng.IntN(gpus + 1)
		r.MaxGPUs = r.MinGPUs + rng.IntN(gpus+1-r.MinGPUs)
	}
	if rng.IntN(6) == 0 {
		r.Eligible = nodeset.NewMask(nodes)
		for n := range nodes {
			if rng.IntN(3) > 0 {
				r.Eligible.Set(n)
			}
		}
	}
	return r
}
