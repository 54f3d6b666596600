// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// tsubameMethods are the rows of the demo's table.
var tsubameMethods = []struct {
	title, published string
	ranges           bool
	policy           func() (core.Policy, error)
}{
	{"backfill", papers.SlurmBackfill, false, newBackfill},
	{"auction2", papers.Aucsched2, false, newAuction},
	{"auction2, GPU ranges", papers.Aucsched2Ranges, true, newAuction},
}

func newBackfill() (core.Policy, error) { return sim.NewBackfill(sim.DefaultBackfill()) }

func newAuction() (core.Policy, error) { return core.NewAuction(core.Preset("none"), nil) }

// tsubame simulates workloads of aucsched2 and prints a table beside the paper's.
func (d *demo) tsubame() error {
	for _, v := range d.variants {
		if _, err := generate.Tsubame(generate.TsubameOptions{Variant: v}); err != nil {
			return cli.BadInput(fmt.Errorf("--variants: %w", err))
		}
	}
	if d.seeds < 1 {
		return cli.BadInput(fmt.Errorf("--seeds: %d: must be at least 1", d.seeds))
	}
	fmt.Fprintf(d.out, "(c) Workloads of the Tsubame machine, %d nodes of %d cores and %d GPUs (aucsched2, table 3)\n",
		benchmarks.TsubameNodes, benchmarks.TsubameCores, benchmarks.TsubameGPUs)
	fmt.Fprintf(d.out, "    means over %s; in brackets what the paper prints; times in hours\n\n", cli.Count(d.seeds, "generated workload"))
	t := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    workload\tmethod\tCPU use %\tGPU use %\truntime\twait\tslowdown\tfragmentation\tspread")
	for _, v := range d.variants {
		for _, m := range tsubameMethods {
			results, err := benchmarks.Tsubame(d.ctx, v, m.ranges, 1, d.seeds, m.policy)
			if err != nil {
				return err
			}
			mean := meanOf(results)
			p, known := papers.TsubameResult(v, m.published)
			beside := func(ours float64, format string, theirs float64) string {
				if !known {
					return fmt.Sprintf(format, ours)
				}
				return fmt.Sprintf(format+" ["+format+"]", ours, theirs)
			}
			fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t%.2f\n", v, m.title,
				beside(100*mean.CPUUtilization, "%.1f", p.CPUUtilization), beside(100*mean.GPUUtilization, "%.1f", p.GPUUtilization),
				beside(mean.runtime/3600, "%.2f", p.Runtime), beside(mean.WaitMean/3600, "%.2f", p.WaitMean),
				mean.SlowdownMean, beside(mean.FragmentationMean, "%.2f", p.FragmentationMean), mean.SpreadMean)
		}
	}
	return t.Flush()
}

// tsubameMean is a mean over several results.
type tsubameMean struct {
	sim.Result
	runtime float64
}

func meanOf(results []*sim.Result) *tsubameMean {
	var m tsubameMean
	k := 1 / float64(len(results))
	for _, r := range results {
		m.CPUUtilization += k * r.CPUUtilization
		m.GPUUtilization += k * r.GPUUtilization
		m.runtime += k * float64(r.Runtime)
		m.WaitMean += k * r.WaitMean
		m.SlowdownMean += k * r.SlowdownMean
		m.FragmentationMean += k * r.FragmentationMean
		m.SpreadMean += k * r.SpreadMean
	}
	return &m
}
