package main

import (
	"fmt"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/papers"
	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/workload"
)

// The machine of aucsched2, section 4.
const (
	tsubameNodes = 1408
	tsubameCores = 12
	tsubameGPUs  = 3
)

// tsubameMethods are the rows of the demo's table.
var tsubameMethods = []struct {
	title, published string
	auction, ranges  bool
}{
	{"backfill", papers.SlurmBackfill, false, false},
	{"auction2", papers.Aucsched2, true, false},
	{"auction2, GPU ranges", papers.Aucsched2Ranges, true, true},
}

// tsubame simulates workloads of aucsched2 and prints a table beside the paper's.
func (d *demo) tsubame() error {
	d.say("(c) Workloads of the Tsubame machine, %d nodes of %d cores and %d GPUs (aucsched2, table 3)", tsubameNodes, tsubameCores, tsubameGPUs)
	d.say("    means over %s; in brackets what the paper prints; times in hours\n", count(d.seeds, "generated workload"))
	t := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    workload\tmethod\tCPU use %\tGPU use %\truntime\twait\tslowdown\tfragmentation\tspread")
	for _, v := range d.variants {
		for _, m := range tsubameMethods {
			mean, err := d.simulate(v, m.auction, m.ranges)
			if err != nil {
				return err
			}
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

// simulate runs one method on d.seeds workloads of a variant, two at a time.
func (d *demo) simulate(variant string, auction, ranges bool) (*tsubameMean, error) {
	results := make([]*sim.Result, d.seeds)
	group, ctx := errgroup.WithContext(d.ctx)
	group.SetLimit(2)
	for i := range results {
		group.Go(func() error {
			w, err := workload.Tsubame(workload.TsubameOptions{Variant: variant, Ranges: ranges, Seed: uint64(i + 1)})
			if err != nil {
				return badInput(err)
			}
			policy, err := tsubamePolicy(auction)
			if err != nil {
				return err
			}
			nodes := make([]nodeset.Capacity, tsubameNodes)
			for n := range nodes {
				nodes[n] = nodeset.Capacity{Cores: tsubameCores, GPUs: tsubameGPUs}
			}
			cfg := sim.NewConfig(nodes)
			cfg.Seed = uint64(i + 1)
			results[i], err = sim.Run(ctx, cfg, policy, w.Jobs)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return meanOf(results), nil
}

func tsubamePolicy(auction bool) (core.Policy, error) {
	if auction {
		return core.NewAuction(core.DefaultAuctionOptions(), nil)
	}
	return sim.NewBackfill(sim.DefaultBackfill())
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
