// SPDX-License-Identifier: BSD-3-Clause

// Package simulate is the command simulate, which other commands run as well.
package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/report"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// simulateFlags are the settings of simulate.
type simulateFlags struct {
	policy        cli.PolicyFlags
	reports       reportFlags
	replay        ReplayFlags
	files         fileFlags
	locality      localityFlags
	cluster, load string
	priority      string
	slurmBids     bool
	asJSON        bool
	dryRun        bool
	boundOnly     bool
}

// ReplayFlags are those that do not depend on the policy.
type ReplayFlags struct {
	// Config is that of the simulator. Its nodes must be there before a workload is read.
	Config sim.Config
	// Seed is that of the workload, and of the policy.
	Seed uint64
	// Rate is how many times as fast as the workload says jobs come.
	Rate float64
	// LimitFactor makes time limits of durations, for traces that have none.
	LimitFactor float64
	// First is how many jobs of the workload count; 0: all.
	First int

	extend, nodespec bool
}

// Command is the command simulate.
func Command() *cobra.Command {
	f := simulateFlags{replay: ReplayFlags{Config: sim.NewConfig(nil)}}
	c := &cobra.Command{
		Use:   "simulate --cluster C --workload W",
		Short: "Replay a trace or a generated workload under a policy, and print the papers' metrics",
		Long: `simulate runs a workload through a policy in simulated time. Every start is checked
by a verifier that shares nothing with the policy.

C is NODESxCORES[xGPUS], several of these with commas for a mixed machine in node
order (20x80,48x12), or a file: slurm.conf's NodeName lines, "COUNT CORES [GPUS]", or
the list of nodes of Alibaba's GPU cluster.
W is a trace (SWF, the output of sacct --parsable2, Alibaba's pods or Philly's jobs; plain
or gzip) or generated:
  gen:esp, gen:esp-rand    ESP-2 with GPU twins (ipsched, section V) for machine C;
                           -rand: sizes that are no multiples of a node's cores
  gen:I.1 ... gen:V.3      mixes of jobs with and without GPUs (aucsched1, table 4) for
                           machine C; .1, .2, .3: no, half, all jobs contiguous
  gen:tsubame-1.NC ...     1.NC, 1.HC, 1.FC, 2.NC, 2.HC, 2.FC, and each with -ranges
                           (aucsched2, section 4), for 1408x12x3 whatever C is

backfill and ipsched give jobs with a range of GPUs the fewest, as Slurm knows no ranges.

The policies of data locality schedule jobs with input files, each job on one node
(--mode paper or reference). C and W may then be files in their authors' format too,
"{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }" a line; jobs of other workloads get
files as in the report: see docs/locality.md.

Several policies, with commas, run on the same workload one after the other: the
table then has a column for each, --json prints an object a line, --html shows them
side by side, and --jobs-csv puts the policy's name into that of its file
(jobs.csv: jobs.backfill.csv).`,
		Example: "  aucsched simulate --policy auction2 --cluster 1408x12x3 --workload gen:tsubame-1.NC-ranges",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if is, err := f.isLocality(c.Flags()); is || err != nil {
				if err != nil {
					return err
				}
				return f.runLocality(c)
			}
			w, policies, err := f.prepare(c.Flags())
			if err != nil || f.dryRun {
				return err
			}
			if f.boundOnly {
				return printBounds(c.OutOrStdout(), f.replay.Config.Nodes, f.policy.Settled(policies[0].Name(), w.Jobs), f.asJSON)
			}
			return f.run(c, w, policies)
		},
	}
	f.register(c.Flags())
	return c
}

func (f *simulateFlags) register(flags *pflag.FlagSet) {
	f.policy.Register(flags)
	flags.Lookup("policy").Usage += ", and those of data locality: " + strings.Join(localityNames(), ", ") + "; several with commas"
	f.locality.register(flags)
	f.reports.register(flags)
	f.replay.Register(flags)
	f.files.register(flags)
	flags.BoolVar(&f.dryRun, "dry-run", false, "check the input, and run nothing")
	flags.BoolVar(&f.boundOnly, "bound", false, "print only how soon the jobs could be done at all, by cores, GPUs and nodes, and simulate nothing")
	flags.StringVar(&f.cluster, "cluster", "", "the machine (see above)")
	flags.StringVar(&f.load, "workload", "", "the workload (see above)")
	flags.StringVar(&f.priority, "priority", "basic", "basic: the jobs' own, generated ones as Slurm's priority/basic gives them; multifactor: age and size with equal weights, recomputed for every cycle")
	flags.BoolVar(&f.policy.Slurmctld, "slurmctld", false, "as a real slurmctld does: time limits count in minutes, rounded up, nodes are free 2 s after the end of a job, and backfill begins 30 s after the last time (bf_interval)")
	flags.DurationVar(&f.policy.BackfillTest, "backfill-test", 0, "with --slurmctld: how long backfill takes to look at a job, as sdiag shows it: the mean cycle by the mean depth")
	flags.BoolVar(&f.slurmBids, "slurm-bids", false, "auctions: jobs of the window also bid for what Slurm's own selection would give them in turn (aucsched1, section 5)")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
}

// Register has the flags in flags.
func (f *ReplayFlags) Register(flags *pflag.FlagSet) {
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of the generator and of the policy")
	flags.Int64Var(&f.Config.Interval, "interval", f.Config.Interval, "scheduling interval in seconds")
	flags.DurationVar(&f.Config.CycleLimit, "deadline", 0, "wall-clock time for a cycle; 0: none, runs then repeat bit for bit")
	flags.Float64Var(&f.Rate, "rate", 1, "have jobs come so many times as fast as the workload says; they run as long as ever")
	flags.Float64Var(&f.LimitFactor, "limit-factor", 1, "Alibaba's and Philly's traces, which have no time limits: limits are the durations times this")
	flags.IntVar(&f.First, "first", 0, "only the first N jobs of the workload; 0: all")
	flags.BoolVar(&f.extend, "extend-limits", false, "traces: lift time limits that a job has outlived, instead of ending it there")
	flags.BoolVar(&f.nodespec, "nodespec", false, "SWF: take nodes and cores per node from a 21st field N:ppn=K")
}

// prepare checks all input: it makes the machine, the workload and the policies.
func (f *simulateFlags) prepare(flags *pflag.FlagSet) (*workload.Workload, []core.Policy, error) {
	if f.cluster == "" || f.load == "" {
		return nil, nil, cli.BadInput(fmt.Errorf("--cluster and --workload are needed"))
	}
	cfg := &f.replay.Config
	var err error
	if cfg.Nodes, err = workload.ParseCluster(f.cluster); err != nil {
		return nil, nil, cli.BadInput(fmt.Errorf("--cluster: %w", err))
	}
	if cfg.Interval < 1 {
		return nil, nil, cli.BadInput(fmt.Errorf("--interval: %d: must be at least 1 second", cfg.Interval))
	}
	switch d := f.policy.BackfillTest; {
	case d != 0 && !f.policy.Slurmctld:
		return nil, nil, cli.BadInput(fmt.Errorf("--backfill-test: goes with --slurmctld"))
	case d < 0 || d > time.Minute:
		return nil, nil, cli.BadInput(fmt.Errorf("--backfill-test: %v: must be between 0 and a minute", d))
	}
	w, err := f.replay.Read(f.load)
	if err != nil {
		return nil, nil, cli.BadInput(err)
	}
	if cfg.Files, err = f.files.apply(flags, w.Jobs, cfg.Nodes); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	if f.policy.Slurmctld {
		inMinutes(w.Jobs)
		cfg.Release = cli.SlurmRelease
	}
	policies, err := f.policy.MakeAll(flags)
	if err != nil {
		return nil, nil, err
	}
	if f.slurmBids {
		if err := f.policy.AddOffers(policies, flags); err != nil {
			return nil, nil, err
		}
	}
	if cfg.Priorities, err = priorities(f.priority, cfg.Nodes); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	return w, policies, nil
}

// inMinutes rounds time limits up to whole minutes.
func inMinutes(jobs []workload.Job) {
	for i := range jobs {
		jobs[i].TimeLimit = (jobs[i].TimeLimit + 59) / 60 * 60
	}
}

// run simulates the workload under each policy and reports.
func (f *simulateFlags) run(c *cobra.Command, w *workload.Workload, policies []core.Policy) error {
	out, err := f.reports.open(policies)
	if err != nil {
		return cli.BadInput(err)
	}
	defer out.discard()
	cfg := f.replay.Config
	cfg.Seed = f.replay.Seed
	var results []*sim.Result
	bounds := make(runtimeBounds)
	for i, policy := range policies {
		cfg.OnEnd = out.listener(i)
		done := showProgress(c.ErrOrStderr(), &cfg, len(w.Jobs))
		jobs := f.policy.Settled(policy.Name(), w.Jobs)
		r, err := sim.Run(c.Context(), cfg, policy, jobs)
		done()
		if err != nil {
			return err
		}
		if err := bounds.add(r, cfg.Nodes, jobs); err != nil {
			return err
		}
		results = append(results, r)
	}
	warnTallies("jobs of the trace left out", "reason", w.Skipped)
	warnTallies("jobs of the trace changed", "how", w.Adjusted)
	for _, r := range results {
		WarnUnrun(r)
	}
	if err := printResults(c.OutOrStdout(), results, bounds, f.asJSON); err != nil {
		return err
	}
	page := report.Page{Workload: w, Nodes: cfg.Nodes, Settings: f.replay.Settings(), Command: cli.CommandLine(c)}
	return out.write(&page, results, bounds, func(policy string) []report.Setting { return f.policy.Settings(policy, c.Flags()) })
}

// priorities are those of that name for a machine; nil for the jobs' own.
func priorities(name string, nodes []nodeset.Capacity) (sim.Priorities, error) {
	switch name {
	case "basic":
		return nil, nil
	case "multifactor":
		return sim.MultifactorOf(nodes)
	}
	return nil, fmt.Errorf("--priority: %q is unknown; known are basic, multifactor", name)
}

// mostGPUs is the most GPUs of any node.
func mostGPUs(nodes []nodeset.Capacity) int {
	most := uint8(0)
	for _, c := range nodes {
		most = max(most, c.GPUs)
	}
	return int(most)
}

// WarnUnrun logs the jobs that did not run, a line for each reason.
func WarnUnrun(run *sim.Result) {
	var reasons []string
	count, first := make(map[string]int), make(map[string]string)
	for _, u := range run.Unrun {
		if count[u.Reason]++; count[u.Reason] == 1 {
			reasons = append(reasons, u.Reason)
			first[u.Reason] = u.ID
		}
	}
	for _, r := range reasons {
		slog.Warn("jobs not run", "policy", run.Policy, "jobs", count[r], "first", first[r], "reason", r)
	}
}

// Read reads or generates the workload for the machine of Config.
func (f *ReplayFlags) Read(spec string) (*workload.Workload, error) {
	o := workload.Options{
		SWF:   workload.SWFOptions{ExtendLimit: f.extend, NodeSpec: f.nodespec},
		Sacct: workload.SacctOptions{ExtendLimit: f.extend},
		GPU:   workload.GPUTraceOptions{LimitFactor: f.LimitFactor, GPUsPerNode: mostGPUs(f.Config.Nodes)},
	}
	read := func() (*workload.Workload, error) { return workload.ReadFile(spec, o) }
	if strings.HasPrefix(spec, workload.GeneratorPrefix) {
		read = func() (*workload.Workload, error) { return workload.Generate(spec, f.Config.Nodes, f.Seed) }
	}
	w, err := read()
	if err != nil {
		return nil, fmt.Errorf("--workload: %w", err)
	}
	if f.First < 0 {
		return nil, fmt.Errorf("--first: %d: must not be negative", f.First)
	}
	if f.First > 0 && f.First < len(w.Jobs) {
		w.Jobs = w.Jobs[:f.First]
		w.Name += fmt.Sprintf(", its first %d jobs", f.First)
	}
	if err := w.Accelerate(f.Rate); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return w, nil
}

// warnTallies logs what was done to jobs of a trace.
func warnTallies(what, key string, tallies []workload.Tally) {
	for _, t := range tallies {
		slog.Warn(what, "jobs", t.Jobs, key, t.Reason)
	}
}

// showProgress draws a bar of ended jobs on a terminal, for runs that take long.
// The function that it returns takes the bar away.
func showProgress(errs io.Writer, cfg *sim.Config, jobs int) func() {
	bar := cli.NewBar(errs, jobs, "jobs", progressbar.OptionSetPredictTime(true))
	if bar == nil {
		return func() {}
	}
	cfg.OnCycle = func(p sim.Progress) { _ = bar.Set(p.End) }
	return func() { _ = bar.Clear() }
}

// printResults prints a column for each result, or as JSON an object a line.
func printResults(out io.Writer, results []*sim.Result, bounds runtimeBounds, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		for _, r := range results {
			if err := e.Encode(boundedResult{r, bounds[r]}); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, cell func(r *sim.Result) string) {
		fmt.Fprint(t, name)
		for _, r := range results {
			fmt.Fprint(t, "\t", cell(r))
		}
		fmt.Fprintln(t)
	}
	hours := func(s float64) float64 { return s / 3600 }
	line("policy", func(r *sim.Result) string { return r.Policy })
	line("jobs", func(r *sim.Result) string { return fmt.Sprintf("%d run, %d not", r.Jobs, len(r.Unrun)) })
	line("runtime", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f h (theoretical %.2f h, at least %.2f h)", hours(float64(r.Runtime)), hours(r.TheoreticalRuntime), hours(bounds[r]))
	})
	line("utilisation", func(r *sim.Result) string {
		return fmt.Sprintf("CPU %.1f%%, GPU %.1f%%", 100*r.CPUUtilization, 100*r.GPUUtilization)
	})
	line("wait", func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f h", hours(r.WaitMean), hours(r.WaitStd)) })
	line("slowdown", func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f", r.SlowdownMean, r.SlowdownStd) })
	line("fragmentation", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f ± %.2f", r.FragmentationMean, r.FragmentationStd)
	})
	line("spread", func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f", r.SpreadMean, r.SpreadStd) })
	line("packing factor", func(r *sim.Result) string { return fmt.Sprintf("%.3f", r.PackingFactorMean) })
	if results[0].GPUQueue != nil {
		line("GPUs, as jobs wait", func(r *sim.Result) string {
			q := r.GPUQueue
			return fmt.Sprintf("%.1f%% idle, %.1f%% stranded, over %.2f h", 100*q.Idle, 100*q.Stranded, hours(float64(q.Seconds)))
		})
	}
	if results[0].Files != nil {
		line("files", func(r *sim.Result) string {
			f := r.Files
			return fmt.Sprintf("%d loads, %.2f h of transfer; %d of %d jobs on holders, %.2f h waited for files", f.Loads, hours(float64(f.Seconds)),
				f.Held, f.Jobs, hours(float64(f.Waiting)))
		})
		line("stretch", func(r *sim.Result) string {
			return fmt.Sprintf("%.3f ± %.3f", r.Files.StretchMean, r.Files.StretchStd)
		})
	}
	line("cycles", func(r *sim.Result) string {
		return fmt.Sprintf("%d; %.2f ms (median), %.2f ms (p99), %.2f ms (max)", r.Cycles, r.CycleMsP50, r.CycleMsP99, r.CycleMsMax)
	})
	return t.Flush()
}
