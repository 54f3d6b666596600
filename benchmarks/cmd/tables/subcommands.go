// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maker measures and makes a page; to its writer it tells what it is doing.
type maker func(context.Context, io.Writer) (string, error)

// subcommand makes one page.
type subcommand struct {
	name    string
	page    string // benchmarks/results/PAGE.md
	usage   string // its flags
	prepare func(*flag.FlagSet) maker
	// rows are the texts for -match with which each of the page's rows, or sections, can be
	// measured alone within a minute or two, from the traces in a directory if it needs them; nil
	// for pages whose figures depend on the machine, or that can only be measured whole.
	rows func() []string
}

var subcommands = []subcommand{
	{"performance", "performance", "[-runs N] [-cycles N]", preparePerformance, nil},
	{"deadlines", "deadlines", "[-cycles N]", prepareDeadlines, nil},
	{"simulation", "simulation", "[-seeds FIRST-LAST] [-traces DIR] [-match TEXT]", prepareSimulation, simulationRows},
	{"gpu", "gpu-traces", "-traces DIR [-match TEXT]", prepareGPU, gpuRows},
	{"topology", "topology", "-traces DIR [-match TEXT]", prepareTopology, topologyRows},
	{"pods", "pods", "-traces DIR [-seeds FIRST-LAST] [-csv FILE] [-match TEXT] [-j N]", preparePods, nil},
	{"backfill", "backfill", matchUsage, prepareMatch(1, 5, "seeds of the workloads", againstBackfill), backfillRows},
	{"worth", "worth", "[-seeds FIRST-LAST] [-traces DIR] [-match TEXT] [-plot FILE] [-dir DIR]", prepareWorth, worthNames},
	{"solver", "solver", "[-fresh N] [-seed S] [-instances DIR]", prepareSolver, nil},
	{"ablation", "solver-ablation", "[-seeds FIRST-LAST] [-work UNITS] [-fresh N] [-small N] " +
		"[-instances DIR] [-source DIR] [-match TEXT]", prepareAblation, nil},
	{"stages", "stage-ablation", "[-seeds FIRST-LAST] [-jobs N] [-traces DIR] [-match TEXT] [-dir DIR]", prepareStages, nil},
	{"layouts", "layouts", seedsUsage, prepareSeeds(1, 5, "seeds of the windows", layouts), nil},
	{"alternatives", "alternatives", matchUsage, prepareMatch(1, 5, "seeds of the workloads", alternatives), alternativeNames},
	{"preemption", "preemption", matchUsage, prepareMatch(1, 5, "seeds of the jobs", preemptions), preemptionRows},
	{"shares", "shares", matchUsage, prepareMatch(1, 5, "seeds of the jobs", fairShares), sharesRows},
	{"invasive", "invasive-simulation", "[-seeds FIRST-LAST] [-plot FILE]", prepareInvasive, nil},
	{"malleable", "malleable", "[-seeds FIRST-LAST] [-traces DIR] [-jobs N] [-dir DIR]", prepareMalleable, nil},
	{"negotiation", "negotiation", "", func(*flag.FlagSet) maker { return negotiations }, nil},
	{"load", "load", loadUsage, prepareLoad(loads), nil},
	{"load-long", "load-long", loadUsage, prepareLoad(longLoads), nil},
	{"locality", "locality-adaptive", "-data DIR [-seeds FIRST-LAST] [-shrink K] [-tried FIRST-LAST] " +
		"[-traces DIR] [-trace-days N] [-j N] [-dir DIR] [-html FILE] [-plot FILE]", prepareLocality, nil},
}

const (
	seedsUsage = "[-seeds FIRST-LAST]"
	matchUsage = seedsUsage + " [-match TEXT]"
	loadUsage  = "[-quick] [-dir DIR] [-seed S]"
)

// usage is how the command is called.
func usage() string {
	var all []string
	for _, c := range subcommands {
		all = append(all, "tables "+c.name+" [-into DIR] "+c.usage)
	}
	return strings.Join(all, " | ")
}

// errUsage is wrong use; run adds the right one.
var errUsage = errors.New("usage")

// find is the subcommand of a name; nil if there is none.
func find(name string) *subcommand {
	for i := range subcommands {
		if subcommands[i].name == name {
			return &subcommands[i]
		}
	}
	return nil
}

// prepareSeeds is for pages that depend on seeds alone.
func prepareSeeds(first, last uint64, of string,
	page func(context.Context, seedRange, io.Writer) (string, error)) func(*flag.FlagSet) maker {
	return func(flags *flag.FlagSet) maker {
		seeds := addSeeds(flags, first, last, of)
		return func(ctx context.Context, errs io.Writer) (string, error) { return page(ctx, *seeds, errs) }
	}
}

// prepareMatch is for pages that depend on seeds alone, and of which rows can be measured alone.
func prepareMatch(first, last uint64, of string,
	page func(context.Context, seedRange, string, io.Writer) (string, error)) func(*flag.FlagSet) maker {
	return func(flags *flag.FlagSet) maker {
		seeds, match := addSeeds(flags, first, last, of), addMatch(flags)
		return func(ctx context.Context, errs io.Writer) (string, error) { return page(ctx, *seeds, *match, errs) }
	}
}

func addMatch(flags *flag.FlagSet) *string {
	return flags.String("match", "", "measure only rows with this text in their names")
}

// matching are those of a page's cases with that name or, if there are none, with that text in
// their names; there has to be one.
func matching[T any](all []T, match string, name func(*T) string) ([]T, error) {
	exact := slices.ContainsFunc(all, func(x T) bool { return name(&x) == match })
	kept := slices.DeleteFunc(all, func(x T) bool {
		return exact && name(&x) != match || !strings.Contains(name(&x), match)
	})
	if len(kept) == 0 {
		return nil, fmt.Errorf("-match %q: no row has that in its name: %w", match, errUsage)
	}
	return kept, nil
}

func addSeeds(flags *flag.FlagSet, first, last uint64, of string) *seedRange {
	seeds := &seedRange{first, last}
	flags.Var(seeds, "seeds", of+", FIRST-LAST")
	return seeds
}

func preparePerformance(flags *flag.FlagSet) maker {
	runs := flags.Int("runs", 11, "how often each figure is measured; the median is shown")
	cycles := flags.Int("cycles", 10_000, "how many cycles are held against a deadline; fewer on large machines")
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return performance(ctx, *runs, *cycles, errs)
	}
}

func prepareDeadlines(flags *flag.FlagSet) maker {
	cycles := flags.Int("cycles", 500, "how many cycles of each preset are held against a deadline; fewer on large machines")
	return func(ctx context.Context, errs io.Writer) (string, error) { return presetDeadlines(ctx, *cycles, errs) }
}

func prepareSimulation(flags *flag.FlagSet) maker {
	seeds := addSeeds(flags, 1, 10, "seeds of the generated workloads")
	traces := flags.String("traces", "", "directory with the real traces; without it they are left out")
	match := addMatch(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return simulation(ctx, *seeds, *traces, *match, errs)
	}
}

func prepareGPU(flags *flag.FlagSet) maker {
	traces := flags.String("traces", "", "directory with the GPU traces")
	match := addMatch(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return gpuTraces(ctx, *traces, *match, errs)
	}
}

func prepareWorth(flags *flag.FlagSet) maker {
	o := worthOptions{seeds: seedRange{21, 25}}
	flags.Var(&o.seeds, "seeds", "seeds of the workloads, FIRST-LAST")
	flags.StringVar(&o.traces, "traces", "", "directory with the traces of MetaCentrum, LCG, Alibaba and Philly; none: leave them out")
	flags.StringVar(&o.match, "match", "", "only workloads with this text in their names")
	flags.StringVar(&o.plot, "plot", "", "SVG to draw into what the mean wait gains, and the longest pays")
	flags.StringVar(&o.dir, "dir", "", "keep figures in this directory, and go on with what is there")
	return func(ctx context.Context, errs io.Writer) (string, error) { return worth(ctx, o, errs) }
}

func prepareTopology(flags *flag.FlagSet) maker {
	traces := flags.String("traces", "", "directory with the traces of MetaCentrum and Philly")
	match := addMatch(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return topologyPages(ctx, *traces, *match, errs)
	}
}

func prepareSolver(flags *flag.FlagSet) maker {
	fresh := flags.Int("fresh", 12, "how many windows are made")
	seed := flags.Uint64("seed", 1, "seed of all these")
	instances := flags.String("instances", "", "directory with MPS files; without it only what is made is solved")
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return solvers(ctx, *fresh, *seed, *instances, errs)
	}
}

func addPicture(flags *flag.FlagSet) *string {
	return flags.String("plot", "", "write the plot, SVG, to this file")
}

func prepareAblation(flags *flag.FlagSet) maker {
	var o ablationOptions
	o.register(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) { return ablate(ctx, o, errs) }
}

func prepareStages(flags *flag.FlagSet) maker {
	o := stageOptions{seeds: seedRange{31, 35}}
	flags.Var(&o.seeds, "seeds", "seeds of the workloads, FIRST-LAST")
	flags.IntVar(&o.jobs, "jobs", 120, "jobs of a workload")
	flags.StringVar(&o.traces, "traces", "", "directory with the traces of MetaCentrum and LCG; none: leave them out")
	flags.StringVar(&o.match, "match", "", "turn only stages off whose name has this in it")
	flags.StringVar(&o.dir, "dir", "", "keep figures in this directory, and go on with what is there")
	return func(ctx context.Context, errs io.Writer) (string, error) { return stageAblation(ctx, o, errs) }
}

func prepareInvasive(flags *flag.FlagSet) maker {
	seeds, picture := addSeeds(flags, 1, 5, "seeds of the jobs and of the shares"), addPicture(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) {
		return invasiveWorth(ctx, *seeds, *picture, errs)
	}
}

func prepareMalleable(flags *flag.FlagSet) maker {
	o := crewOptions{seeds: seedRange{1, 5}}
	flags.Var(&o.seeds, "seeds", "seeds of the generated workload, FIRST-LAST")
	flags.StringVar(&o.traces, "traces", "", "directory with the trace of MetaCentrum; none: leave it out")
	flags.IntVar(&o.jobs, "jobs", 600, "jobs of a workload")
	flags.StringVar(&o.dir, "dir", "", "keep figures in this directory, and go on with what is there")
	return func(ctx context.Context, errs io.Writer) (string, error) { return malleableWorth(ctx, o, errs) }
}

func prepareLoad(page func(context.Context, loadOptions, io.Writer) (string, error)) func(*flag.FlagSet) maker {
	return func(flags *flag.FlagSet) maker {
		var o loadOptions
		flags.BoolVar(&o.quick, "quick", false, "a small machine for a short time, to try it")
		flags.StringVar(&o.dir, "dir", "", "keep queues and figures in this directory, whose path must be "+
			"short, and go on with what is there")
		flags.Uint64Var(&o.seed, "seed", 1, "seed of the jobs")
		return func(ctx context.Context, errs io.Writer) (string, error) { return page(ctx, o, errs) }
	}
}

func prepareLocality(flags *flag.FlagSet) maker {
	o := localityOptions{seeds: seedRange{301, 312}}
	o.register(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) { return localityDays(ctx, o, errs) }
}
