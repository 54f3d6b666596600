// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/simulation"
	"github.com/aucsched/aucsched/nodeset"
)

// invasiveFlags are the settings of simulate-invasive.
type invasiveFlags struct {
	cfg                     simulation.Config
	flex                    simulation.Flexibility
	mix                     simulation.Mix
	partition, shares, load string
	means                   string
	seeds                   string
	first                   int
	rate                    float64
	asJSON                  bool
}

func simulateInvasiveCommand() *cobra.Command {
	f := invasiveFlags{cfg: simulation.NewConfig(invasive.Partition{}), flex: simulation.DefaultFlexibility(), mix: simulation.DefaultMix()}
	c := &cobra.Command{
		Use:   "simulate-invasive",
		Short: "Measure what malleable jobs are worth: iScheduler and iHypervisor in simulated time",
		Long: `simulate-invasive runs both sides of the negotiation of invasive/docs/protocol.md in simulated time, on
the same jobs with several shares of them malleable; the others are rigid. A referee that shares
nothing with either side checks every change of a job's cores, and that no work is lost.

Without --workload jobs are made: as many as --jobs, with sizes, durations and gaps by
chance, that would keep the share --load of the partition busy. Otherwise they are those of a trace or
a generator, as for simulate, without their GPUs.

Times in the table are means over the jobs that aren't urgent, then over the seeds with their standard deviation. The
latency of an urgent job is the time from its submission to its launch, over all seeds.`,
		Example: "  aucsched simulate-invasive --partition 64x2x8 --shares 0,0.25,0.5,0.75,1 --seeds 1-5",
		Args:    cli.ExactArgs(0),
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.register(c.Flags())
	replay.Complete(c)
	replay.CompleteList(c, "means", "shrink", "suspend", "kill")
	return c
}

func (f *invasiveFlags) register(flags *pflag.FlagSet) {
	set, p := &f.cfg, &f.cfg.Policy
	flags.StringVar(&f.partition, "partition", "64x2x8", "the partition, as NODESxSOCKETSxCORES of a socket")
	flags.StringVar(&f.shares, "shares", "0,0.25,0.5,0.75,1", "shares of the jobs that are malleable")
	flags.StringVar(&f.seeds, "seeds", "1-5", "seeds of the jobs and of the shares: FIRST-LAST, or some with commas")
	flags.StringVar(&f.load, "workload", "", "a trace or a generator, see simulate; none: jobs are made")
	flags.IntVar(&f.first, "first", 0, "--workload: only the first N jobs; 0: all")
	flags.Float64Var(&f.rate, "rate", 1, "--workload: have jobs come so many times as fast")
	flags.IntVar(&f.mix.Jobs, "jobs", f.mix.Jobs, "how many jobs are made")
	flags.Float64Var(&f.mix.Load, "load", f.mix.Load, "the share of the partition that they would keep busy; more than 1: ever more wait")
	flags.Float64Var(&f.mix.MaxShare, "max-share", f.mix.MaxShare, "the largest job's share of the partition")
	flags.Float64Var(&f.flex.Urgent, "urgent", f.flex.Urgent, "share of the jobs that are urgent; they are rigid")
	flags.Float64Var(&f.flex.Evolving, "evolving", f.flex.Evolving,
		"share of the others that are evolving: they ask for more or fewer cores twice as they run")
	flags.Float64Var(&f.flex.Moldable, "moldable", f.flex.Moldable,
		"share of the others that are moldable: the mapping says on how many cores they run")
	flags.Float64Var(&f.flex.Least, "least", f.flex.Least,
		"the fewest cores of a job that isn't rigid, as a factor of those that it asks for")
	flags.Float64Var(&f.flex.Most, "most", f.flex.Most, "the most cores, as a factor")
	flags.Float64Var(&f.flex.Serial, "serial", f.flex.Serial, "the share of a job's work that can't be done in parallel (Amdahl's law)")
	flags.DurationVar(&set.ResizeCost, "resize-cost", set.ResizeCost, "how long a job does no work after a change of its cores")
	flags.DurationVar(&set.Release, "release", set.Release, "how long a job takes to let go of cores")
	flags.DurationVar(&set.Latency, "latency", set.Latency, "how long a message takes")
	flags.DurationVar(&set.Think, "think", set.Think, "how long a decision of the iScheduler takes")
	flags.Uint32Var(&set.Attempts, "attempts", set.Attempts, "offers after which both sides must accept")
	flags.StringVar(&f.means, "means", "shrink,suspend",
		"how an urgent job may take cores from others, tried in this order: shrink, suspend, kill; none: empty")
	flags.Float64Var(&p.CapWatts, "power-cap", 0, "watts that the partition may draw; 0: any")
	flags.Float64Var(&p.SocketWatts, "socket-watts", 50, "watts of a socket of which a core is used")
	flags.Float64Var(&p.CoreWatts, "core-watts", 5, "watts of a core that is used")
	flags.Float64Var(&p.MinUse, "min-use", 0, "share of the offered cores that a mapping must use while more jobs wait")
	flags.BoolVar(&p.Compact, "compact", false, "reject mappings that lay a job on several sockets though it fits into one")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON, an object a run")
}

func (f *invasiveFlags) run(c *cobra.Command) error {
	study, err := f.study()
	if err != nil {
		return cli.BadInput(err)
	}
	if bar := cli.NewBar(c.ErrOrStderr(), len(study.Shares)*len(study.Seeds), "runs"); bar != nil {
		study.OnRun = func(done, _ int) { _ = bar.Set(done) }
		defer func() { _ = bar.Clear() }()
	}
	cases, err := study.Run(c.Context())
	if err != nil {
		return err
	}
	return printInvasive(c.OutOrStdout(), study.Shares, cases, f.asJSON)
}

// study checks all input.
func (f *invasiveFlags) study() (*simulation.Study, error) {
	p, err := parsePartition(f.partition)
	if err != nil {
		return nil, fmt.Errorf("--partition: %w", err)
	}
	f.cfg.Partition = p
	if err := f.cfg.Validate(); err != nil {
		return nil, err
	}
	if f.cfg.Policy.Means, err = parseMeans(f.means); err != nil {
		return nil, fmt.Errorf("--means: %w", err)
	}
	if f.cfg.Policy.CapWatts < 0 || f.cfg.Policy.SocketWatts < 0 || f.cfg.Policy.CoreWatts < 0 {
		return nil, fmt.Errorf("--power-cap %g, --socket-watts %g, --core-watts %g: must not be negative",
			f.cfg.Policy.CapWatts, f.cfg.Policy.SocketWatts, f.cfg.Policy.CoreWatts)
	}
	study := &simulation.Study{Config: f.cfg, Flexibility: f.flex}
	if study.Seeds, err = replay.ParseSeeds(f.seeds); err != nil {
		return nil, fmt.Errorf("--seeds: %w", err)
	}
	for _, text := range strings.Split(f.shares, ",") {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil || !(share >= 0 && share <= 1) {
			return nil, fmt.Errorf("--shares: %q: must be 0 to 1", text)
		}
		study.Shares = append(study.Shares, share)
	}
	study.Jobs = f.jobs
	if _, err := study.Jobs(study.Seeds[0]); err != nil {
		return nil, err
	}
	_, err = f.flex.Apply(nil, p.Cores())
	return study, err
}

// jobs are made, or read.
func (f *invasiveFlags) jobs(seed uint64) ([]simulation.Job, error) {
	p := f.cfg.Partition
	if f.load == "" {
		mix := f.mix
		mix.Seed = seed
		return mix.Generate(p.Cores())
	}
	nodes := make([]nodeset.Capacity, p.Nodes)
	for i := range nodes {
		nodes[i].Cores = uint16(min(p.Sockets*p.CoresPerSocket, math.MaxUint16))
	}
	r := replay.Flags{Seed: seed, Rate: f.rate, First: f.first, LimitFactor: generate.DefaultLimitFactor}
	r.Config.Nodes = nodes
	w, err := r.Read(f.load)
	if err != nil {
		return nil, err
	}
	traces.Independent(w)
	replay.WarnChanges(w)
	return simulation.FromWorkload(w), nil
}

// parseMeans reads ways to take cores from a job, with commas.
func parseMeans(text string) (means []invasive.How, err error) {
	known := map[string]invasive.How{"shrink": invasive.Shrink, "suspend": invasive.Suspend, "kill": invasive.Kill}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		how, ok := known[word]
		if !ok {
			return nil, fmt.Errorf("%q: must be shrink, suspend or kill", word)
		}
		means = append(means, how)
	}
	return means, nil
}

// parsePartition reads NODESxSOCKETSxCORES.
func parsePartition(text string) (p invasive.Partition, err error) {
	fields := strings.Split(text, "x")
	if len(fields) != 3 {
		return p, fmt.Errorf("%q: must be NODESxSOCKETSxCORES", text)
	}
	for i, to := range []*uint32{&p.Nodes, &p.Sockets, &p.CoresPerSocket} {
		n, err := strconv.ParseUint(fields[i], 10, 32)
		if err != nil || n == 0 || n > invasive.MaxCores {
			return p, fmt.Errorf("%q: %q: must be a number from 1 to %d", text, fields[i], invasive.MaxCores)
		}
		*to = uint32(n)
	}
	p.Name = "invasic"
	return p, nil
}

// printInvasive prints a line for each share, or an object for each run.
func printInvasive(out io.Writer, shares []float64, cases []simulation.Case, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for i := range cases {
			if err := e.Encode(&cases[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"malleable\tutilisation\twait min\tturnaround min\tslowdown\tmakespan h\turgent p50 "+
			"s\tp99 s\tresized\tsuspended\tkilled\t")
	for _, share := range shares {
		figure := func(format string, scale float64, f func(*simulation.Result) float64) string {
			mean, deviation := simulation.Mean(cases, share, f)
			return fmt.Sprintf(format+" ± "+format, mean*scale, deviation*scale)
		}
		fmt.Fprintf(t, "%.0f%%\t%s%%\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\t%s\t%s\t\n", 100*share,
			figure("%.1f", 100, func(r *simulation.Result) float64 { return r.Utilisation }),
			figure("%.1f", 1./60, func(r *simulation.Result) float64 { return r.Wait }),
			figure("%.1f", 1./60, func(r *simulation.Result) float64 { return r.Turnaround }),
			figure("%.2f", 1, func(r *simulation.Result) float64 { return r.Slowdown }),
			figure("%.2f", 1./3600, func(r *simulation.Result) float64 { return r.Makespan }),
			simulation.UrgentLatency(cases, share, 0.5), simulation.UrgentLatency(cases, share, 0.99),
			figure("%.0f", 1, func(r *simulation.Result) float64 { return float64(r.Shrinks + r.Grows) }),
			figure("%.0f", 1, func(r *simulation.Result) float64 { return float64(r.Suspensions) }),
			figure("%.0f", 1, func(r *simulation.Result) float64 { return float64(r.Kills) }))
	}
	return t.Flush()
}
