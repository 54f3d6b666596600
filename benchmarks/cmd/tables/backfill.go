// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/nodeset"
)

// contest is one workload on one machine, decided by rivals.
type contest struct {
	Machine, Workload string
	Target            bool // of those on which the auction was to be better than backfill
	// Bound are the least runtimes that are possible, in seconds, a seed each.
	Bound []float64
	// Runs are the results of each of the rivals, a seed each.
	Runs [][]*sim.Result
}

// rivals are the policies of a contest. Backfill is the first, and what it is
// compared with the last.
var rivals = []contender{
	{"backfill", backfill},
	{"auction", auction(core.Preset("none"))},
	{"throughput", auction(core.Preset("packed"))},
}

// machines of aucsched1, section 6, and what else is looked at.
var (
	contestMachines  = []string{"128x8x2", "256x8x2", "1024x8x2"}
	contestWorkloads = []string{"IV.1", "IV.2", "IV.3", "V.1", "V.2", "V.3"}
	otherContests    = [][2]string{
		{"128x8x2", "I.1"}, {"128x8x2", "I.2"}, {"128x8x2", "II.1"}, {"128x8x2", "II.2"}, {"128x8x2", "III.1"}, {"128x8x2", "III.3"},
		{"1024x8x2", "esp"}, {"1024x8x2", "esp-rand"},
		{"1408x12x3", "tsubame-1.NC"}, {"1408x12x3", "tsubame-1.HC"}, {"1408x12x3", "tsubame-1.FC"},
		{"1408x12x3", "tsubame-2.NC"}, {"1408x12x3", "tsubame-2.HC"}, {"1408x12x3", "tsubame-2.FC"},
	}
)

// backfillRows are the names of the contests on the smallest machine.
func backfillRows() (names []string) {
	for _, c := range contests() {
		if c.Machine == "128x8x2" {
			names = append(names, c.name())
		}
	}
	return names
}

// name is what -match looks at.
func (c *contest) name() string { return c.Workload + ", " + c.Machine }

func contests() (all []*contest) {
	for _, m := range contestMachines {
		for _, w := range contestWorkloads {
			all = append(all, &contest{Machine: m, Workload: w, Target: true})
		}
	}
	for _, o := range otherContests {
		all = append(all, &contest{Machine: o[0], Workload: o[1]})
	}
	return all
}

// contestInterval is AUCSCHED's scheduling interval in seconds (aucsched1, section 6).
const contestInterval = 5

// againstBackfill has all rivals decide all contests, and writes the page.
func againstBackfill(ctx context.Context, seeds seedRange, match string, errs io.Writer) (string, error) {
	all, err := matching(contests(), match, func(c **contest) string { return (*c).name() })
	if err != nil {
		return "", err
	}
	for _, c := range all {
		fmt.Fprintf(errs, "simulating: %s on %s, seeds %s\n", c.Workload, c.Machine, seeds.String())
		if err := c.decide(ctx, seeds); err != nil {
			return "", fmt.Errorf("%s on %s: %w", c.Workload, c.Machine, err)
		}
	}
	return backfillPage(seeds, all)
}

func (c *contest) decide(ctx context.Context, seeds seedRange) error {
	nodes, err := traces.ParseCluster(c.Machine)
	if err != nil {
		return err
	}
	c.Bound, c.Runs = make([]float64, seeds.count()), make([][]*sim.Result, len(rivals))
	for r := range rivals {
		c.Runs[r] = make([]*sim.Result, seeds.count())
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range c.Bound {
		g.Go(func() error { return c.decideSeed(ctx, nodes, seeds.First+uint64(i), i) })
	}
	return g.Wait()
}

func (c *contest) decideSeed(ctx context.Context, nodes []nodeset.Capacity, seed uint64, i int) error {
	w, err := generate.Generate(generate.GeneratorPrefix+c.Workload, nodes, seed)
	if err != nil {
		return err
	}
	least, err := bound.Runtime(nodes, w.Jobs)
	if err != nil {
		return err
	}
	c.Bound[i] = least.Nodes
	for r, rival := range rivals {
		policy, err := rival.policy()
		if err != nil {
			return err
		}
		cfg := sim.NewConfig(nodes)
		cfg.Interval, cfg.Seed = contestInterval, seed
		res, err := sim.Run(ctx, cfg, policy, w.Jobs)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if len(res.Unrun) > 0 || float64(res.Runtime) < least.Nodes*(1-1e-9) {
			return fmt.Errorf("seed %d, %s: %d jobs did not run, in %d s where %.0f are the least",
				seed, rival.name, len(res.Unrun), res.Runtime, least.Nodes)
		}
		c.Runs[r][i] = res
	}
	return nil
}
