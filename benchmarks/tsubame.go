// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/nodeset"
)

// The machine of aucsched2, section 4.
const (
	TsubameNodes = 1408
	TsubameCores = 12 // of a node
	TsubameGPUs  = 3  // of a node
)

// atOnce is how many seeds are simulated at a time.
const atOnce = 2

// Tsubame simulates n generated workloads of a variant of aucsched2, table 3, with the
// seeds first, first+1, ..., each under a policy of its own, and returns their results
// in that order. It fails for an unknown variant, and if a job did not run.
func Tsubame(ctx context.Context, variant string, ranges bool, first uint64, n int,
	policy func() (core.Policy, error)) ([]*sim.Result, error) {
	results := make([]*sim.Result, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range results {
		group.Go(func() (err error) {
			seed := first + uint64(i)
			if results[i], err = simulateTsubame(ctx, variant, ranges, seed, policy); err != nil {
				return fmt.Errorf("workload %s, seed %d: %w", variant, seed, err)
			}
			return nil
		})
	}
	return results, group.Wait()
}

func simulateTsubame(ctx context.Context, variant string, ranges bool, seed uint64,
	policy func() (core.Policy, error)) (*sim.Result, error) {
	w, err := generate.Tsubame(generate.TsubameOptions{Variant: variant, Ranges: ranges, Seed: seed})
	if err != nil {
		return nil, err
	}
	p, err := policy()
	if err != nil {
		return nil, err
	}
	nodes := make([]nodeset.Capacity, TsubameNodes)
	for i := range nodes {
		nodes[i] = nodeset.Capacity{Cores: TsubameCores, GPUs: TsubameGPUs}
	}
	cfg := sim.NewConfig(nodes)
	cfg.Seed = seed
	r, err := sim.Run(ctx, cfg, p, w.Jobs)
	if err != nil {
		return nil, err
	}
	if len(r.Unrun) > 0 {
		return nil, fmt.Errorf("job %s did not run: %s", r.Unrun[0].ID, r.Unrun[0].Reason)
	}
	return r, nil
}
