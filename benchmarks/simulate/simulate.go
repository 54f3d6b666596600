// SPDX-License-Identifier: BSD-3-Clause

// Package simulate is the command simulate, which other commands run as well.
package simulate

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Flags are the settings of simulate.
type Flags struct {
	Policy            policy.Flags
	Replay            replay.Flags
	Files             FileFlags
	Locality          LocalityFlags
	Pods              PodFlags
	Cluster, Workload string
	HTML              string // the page's file
	JSON, DryRun      bool

	jobs         string // the file of --jobs-csv
	tree         treeFlags
	ranges       rangeFlags
	crews        crewFlags
	priority     string
	memoryCounts bool
	slurmBids    bool
	boundOnly    bool
}

// More is what the program does of simulate itself.
type More struct {
	// Locality and Pods run the policies of these kinds.
	Locality, Pods func(c *cobra.Command, f *Flags) error
	// Exact has pods ask for what their list says, and gives the machine that they ask.
	Exact func(*traces.Machine, *workload.Workload) ([]nodeset.Capacity, []sim.Resource, error)
	// Least is the least runtime that was possible for the jobs of a run, in seconds.
	Least func(r *sim.Result, cfg *sim.Config, jobs []workload.Job) (float64, error)
	// Bounds prints how soon the jobs that can run at all could be done.
	Bounds func(out io.Writer, cfg *sim.Config, jobs []workload.Job, asJSON bool) error
}

// Command is the command simulate.
func Command(more More) *cobra.Command {
	f := Flags{Policy: policy.Flags{Older: policies.Older()}, Replay: replay.Flags{Config: sim.NewConfig(nil)}}
	c := &cobra.Command{
		Use:   "simulate --cluster C --workload W",
		Short: "Replay a trace or a generated workload under a policy, and print the papers' metrics",
		Long: `simulate runs a workload through a policy in simulated time. Every start is checked
by a verifier that shares nothing with the policy.

C may be left out for a trace whose header says its machine (SWF: MaxProcs, MaxNodes). It
is NODESxCORES[xGPUS], several of these with commas for a mixed machine in node order
(20x80,48x12), or a file: a slurm.conf with what it includes, "COUNT CORES [GPUS]",
"HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB]", or the list of nodes of Alibaba's GPU
cluster.

W is a trace, - for standard input (SWF, the output of sacct --parsable2, Alibaba's pods or Philly's jobs; plain
or gzip) or generated:
  gen:esp, gen:esp-rand    ESP-2 with GPU twins (ipsched, section V) for machine C;
                           -rand: sizes that are no multiples of a node's cores
  gen:I.1 ... gen:V.3      mixes of jobs with and without GPUs (aucsched1, table 4) for
                           machine C; .1, .2, .3: no, half, all jobs contiguous
  gen:tsubame-1.NC ...     1.NC, 1.HC, 1.FC, 2.NC, 2.HC, 2.FC, and each with -ranges
                           (aucsched2, section 4), for 1408x12x3 whatever C is
  gen:lublin-LOAD          the model of Lublin and Feitelson (JPDC 2003): 4,000 jobs that ask
                           for cores, a load of LOAD percent of machine C

Policies:
  auctions       ` + strings.Join(beginning("auction"), ", ") + `
  as in Slurm    backfill
  EASY           ` + strings.Join(beginning("easy"), ", ") + `
  others         ipsched, plan
  data locality  ` + strings.Join(LocalityPolicies(), ", ") + `
  pods           ` + strings.Join(PodPolicies(), ", ") + `

All policies but the auctions give jobs with a range of GPUs the fewest, as Slurm knows no
ranges; --gpus-of-range fixes other numbers. easy reserves for the first blocked job only;
easy-sjf, -saf, -f1 and -wfp3 try those behind it in other orders: by time limit, by limit x
cores, and as in docs/simulation.md. plan anneals the order of a plan of the first 60 jobs.

The policies of data locality schedule jobs with input files, each job on one node
(--mode paper or reference). C and W may then be files in their authors' format too,
"{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }" a line; jobs of other workloads get
files as in the report: see benchmarks/locality/README.md.

The policies of pods place pods that ask for whole GPUs or a share of one (Weng et al.,
"Beware of Fragmentation", USENIX ATC'23). C and W are Alibaba's lists of nodes and of
pods: aucsched simulate --policy fgd,foresight --cluster openb_node_list_gpu_node.csv
--workload openb_pod_list_default.csv.gz. Pods come in random order and never end.

Several policies, with commas, run on the same workload one after the other: the
table then has a column for each, --json prints an object a line, --html shows them
side by side, and --jobs-csv puts the policy's name into that of its file
(jobs.csv: jobs.backfill.csv).`,
		Example: `  aucsched simulate --cluster 128x8x2 --workload gen:V.1
  aucsched simulate --policy backfill,auction2 --cluster 128x8x2 --workload gen:V.1 --html v1.html
  aucsched simulate --policy easy-sjf,auction2 --cluster 128x8 --workload examples/wide.swf
  aucsched simulate --policy auction2 --cluster 1408x12x3 --workload gen:tsubame-1.NC-ranges`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.Replay.Stdin = c.InOrStdin()
			if err := f.needed(c, &more); err != nil {
				return err
			}
			if err := f.Policy.Check(c.Flags(), policyNames()); err != nil {
				return err
			}
			if own, err := f.family(c.Flags(), &more); err != nil {
				return err
			} else if own != nil {
				return own.run(c, &f)
			}
			w, policies, err := f.prepare(c.Flags(), &more)
			if err != nil {
				return err
			}
			if f.DryRun {
				return f.Checked(len(w.Jobs), w.Name).Print(c.OutOrStdout(), f.JSON)
			}
			if f.boundOnly {
				return more.Bounds(c.OutOrStdout(), &f.Replay.Config, replay.Settled(&f.Policy, policies[0].Name(), w.Jobs), f.JSON)
			}
			return f.run(c, w, policies, more.Least)
		},
	}
	f.register(c.Flags())
	f.describe(c)
	return c
}

func (f *Flags) register(flags *pflag.FlagSet) {
	f.Policy.Register(flags)
	flags.Lookup("policy").Usage = "scheduling policies (see above), several with commas"
	f.Locality.register(flags)
	f.Pods.register(flags)
	flags.StringVar(&f.HTML, "html", "", "write a page with pictures of the runs to this `file`; it needs no network")
	flags.StringVar(&f.jobs, "jobs-csv", "", "write the jobs to this `file` as Batsim's jobs.csv")
	f.Replay.Register(flags)
	f.Files.register(flags)
	f.tree.register(flags)
	f.ranges.register(flags)
	f.crews.register(flags)
	flags.BoolVar(&f.DryRun, "dry-run", false, "check the input, and run nothing")
	flags.BoolVar(&f.boundOnly, "bound", false,
		"print only how soon the jobs could be done at all, by cores, GPUs and nodes, and simulate nothing")
	flags.StringVar(&f.Cluster, "cluster", "", "the machine (see above)")
	flags.StringVar(&f.Workload, "workload", "", "the workload (see above)")
	flags.StringVar(&f.priority, "priority", "basic",
		"basic: the jobs' own, generated ones as Slurm's priority/basic gives them; multifactor: "+
			"age and size with equal weights, recomputed for every cycle")
	flags.BoolVar(&f.Policy.Slurmctld, "slurmctld", false,
		"as a real slurmctld does: time limits count in minutes, rounded up, nodes are free 2 s "+
			"after the end of a job, and backfill begins 30 s after the last time (bf_interval)")
	flags.DurationVar(&f.Policy.BackfillTest, "backfill-test", 0,
		"with --slurmctld: how long backfill takes to look at a job, as sdiag shows it: the mean "+
			"cycle by the mean depth")
	flags.BoolVar(&f.memoryCounts, "count-memory", false,
		"nodes have memory, as their cluster's file says or --memory GB, and jobs take of it what "+
			"they ask for (SWF's field 10, sacct's ReqMem or ReqTRES, Alibaba's pods); auctions and backfill")
	flags.BoolVar(&f.Replay.ExactPods, "exact-pods", false,
		"Alibaba's pods on Alibaba's nodes: thousandths of cores, memory, shares of single GPUs and models of GPU "+
			"count as the lists say, and nothing is rounded; auction2 and backfill")
	flags.BoolVar(&f.Replay.MemoryInBytes, "memory-in-bytes", false,
		"--count-memory, SWF: field 10 is in bytes of the whole job, as in Metacentrum's files, not in "+
			"KiB a processor")
	flags.BoolVar(&f.slurmBids, "slurm-bids", false,
		"auctions: jobs of the window also bid for what Slurm's own selection would give them in "+
			"turn (aucsched1, section 5)")
	flags.BoolVar(&f.JSON, "json", false, "print JSON")
}

// prepare checks all input: it makes the machine, the workload and the policies.
func (f *Flags) prepare(flags *pflag.FlagSet, more *More) (*workload.Workload, []core.Policy, error) {
	cfg := &f.Replay.Config
	w, machine, err := f.machine()
	if err != nil {
		return nil, nil, cli.BadInput(err)
	}
	cfg.Nodes = machine.Nodes
	for _, note := range machine.Notes {
		slog.Warn("slurm.conf was read with a file from elsewhere", "file", note)
	}
	if cfg.Interval < 1 {
		return nil, nil, cli.BadInput(fmt.Errorf("--interval: %d: must be at least 1 second", cfg.Interval))
	}
	switch d := f.Policy.BackfillTest; {
	case d != 0 && !f.Policy.Slurmctld:
		return nil, nil, cli.BadInput(fmt.Errorf("--backfill-test: goes with --slurmctld"))
	case d < 0 || d > time.Minute:
		return nil, nil, cli.BadInput(fmt.Errorf("--backfill-test: %v: must be between 0 and a minute", d))
	}
	if cfg.Topology, cfg.Blind, err = f.tree.read(flags, len(cfg.Nodes), machine.Names); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	if w == nil {
		if w, err = f.Replay.Read(f.Workload); err != nil {
			return nil, nil, cli.BadInput(err)
		}
		f.compareMachine(w)
	}
	if err := errors.Join(f.countMemory(machine, w), f.countExactly(more.Exact, machine, w)); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	if err := f.ranges.apply(cfg, w.Jobs); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	cfg.ShrinkLimits = slices.Contains(settings.Planned(), flags.Lookup("preset").Value.String())
	f.Policy.Serial, f.Policy.ShrinkLimits = cfg.Serial, cfg.ShrinkLimits
	if f.Replay.Files, err = f.Files.apply(flags, f.memoryCounts, w.Jobs, cfg.Nodes); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	f.Replay.Files.In(cfg)
	if f.Policy.Slurmctld {
		inMinutes(w.Jobs)
		cfg.Release = policy.SlurmRelease
	}
	if err := f.crews.apply(flags, cfg, w.Jobs, f.Replay.Seed); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	policies, err := replay.Policies(&f.Policy, flags)
	if err != nil {
		return nil, nil, err
	}
	if f.slurmBids {
		if err := replay.Offer(policies, flags); err != nil {
			return nil, nil, err
		}
	}
	if cfg.Priorities, err = priorities(f.priority, cfg.Nodes); err != nil {
		return nil, nil, cli.BadInput(err)
	}
	if cfg.Priorities != nil && f.crews.percent > 0 {
		return nil, nil, cli.BadInput(fmt.Errorf("--malleable: goes with --priority basic"))
	}
	return w, policies, nil
}

// needed checks that there is a workload, and a machine unless the workload's file may say it.
func (f *Flags) needed(c *cobra.Command, more *More) error {
	own, err := f.family(c.Flags(), more)
	if err != nil {
		return err
	}
	if own != nil || f.Workload == "" || strings.HasPrefix(f.Workload, generate.GeneratorPrefix) {
		return Needed(c, "cluster", "workload")
	}
	return Needed(c, "workload")
}

// machine is that of --cluster, or else that of the header of the workload, which it then has read.
func (f *Flags) machine() (w *workload.Workload, m *traces.Machine, err error) {
	if f.Cluster == "" {
		if w, err = f.Replay.Read(f.Workload); err != nil {
			return nil, nil, err
		}
		if f.Cluster, _ = traces.MachineOf(w.Header); f.Cluster == "" {
			return nil, nil, fmt.Errorf("--cluster: missing, and %s has no header that says MaxProcs or MaxNodes; "+
				"for example --cluster 128x8x2", w.Name)
		}
		slog.Warn("the machine is that of the trace's header: --cluster " + f.Cluster)
	}
	if m, err = traces.ParseMachine(f.Cluster); err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	return w, m, nil
}

// compareMachine says if the machine has other cores than the header of the workload says.
func (f *Flags) compareMachine(w *workload.Workload) {
	total := int64(0)
	for _, n := range f.Replay.Config.Nodes {
		total += int64(n.Cores)
	}
	if spec, cores := traces.MachineOf(w.Header); cores > 0 && cores != total {
		slog.Warn(fmt.Sprintf("--cluster has %d cores, and the trace's header says %d: --cluster %s", total, cores, spec))
	}
}

// inMinutes rounds time limits up to whole minutes.
func inMinutes(jobs []workload.Job) {
	for i := range jobs {
		jobs[i].TimeLimit = (jobs[i].TimeLimit + 59) / 60 * 60
	}
}

// run simulates the workload under each policy and reports; least is that of [More].
func (f *Flags) run(c *cobra.Command, w *workload.Workload, policies []core.Policy,
	least func(*sim.Result, *sim.Config, []workload.Job) (float64, error)) error {
	out, err := f.open(policies)
	if err != nil {
		return cli.BadInput(err)
	}
	defer out.discard()
	cfg := f.Replay.Config
	cfg.Seed = f.Replay.Seed
	var results []*sim.Result
	bounds := make(runtimeBounds)
	for i, policy := range policies {
		cfg.OnEnd = out.listener(i)
		done := showProgress(c.ErrOrStderr(), &cfg, len(w.Jobs))
		jobs := replay.Settled(&f.Policy, policy.Name(), w.Jobs)
		r, err := sim.Run(c.Context(), cfg, policy, jobs)
		done()
		if err != nil {
			return err
		}
		if least != nil {
			if bounds[r], err = least(r, &cfg, jobs); err != nil {
				return err
			}
		}
		results = append(results, r)
	}
	replay.WarnChanges(w)
	for _, r := range results {
		replay.WarnUnrun(r)
	}
	if err := printResults(c.OutOrStdout(), results, bounds, f.JSON); err != nil {
		return err
	}
	page := report.Page{Workload: w, Nodes: cfg.Nodes, Command: report.CommandLine(c),
		Settings: slices.Concat(f.Replay.Settings(), f.ranges.settings(), f.crews.settings())}
	if err := out.write(&page, results, bounds,
		func(policy string) []report.Setting { return replay.PolicySettings(&f.Policy, policy, c.Flags()) }); err != nil {
		return err
	}
	return noneRan(results)
}

// noneRan is an error if a policy could run no job at all, so that its figures say nothing.
func noneRan(results []*sim.Result) error {
	for _, r := range results {
		if r.Jobs == 0 && len(r.Unrun) > 0 {
			return fmt.Errorf("policy %s: not one of %d jobs ran: the first, %s: %s",
				r.Policy, len(r.Unrun), r.Unrun[0].ID, r.Unrun[0].Reason)
		}
	}
	return nil
}

// priorityNames are the values of --priority.
var priorityNames = []string{"basic", "multifactor"}

// beginning are the policies whose names begin so.
func beginning(with string) []string {
	return slices.DeleteFunc(policy.Names(), func(name string) bool { return !strings.HasPrefix(name, with) })
}

// policyNames are all policies that simulate knows.
func policyNames() []string {
	return slices.Concat(policy.Names(), LocalityPolicies(), PodPolicies())
}

// priorities are those of that name for a machine; nil for the jobs' own.
func priorities(name string, nodes []nodeset.Capacity) (sim.Priorities, error) {
	switch name {
	case "basic":
		return nil, nil
	case "multifactor":
		return replay.MultifactorOf(nodes)
	}
	return nil, cli.Unknown("--priority", name, priorityNames)
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

// Needed is the error of those flags of c that must have a value and have none.
func Needed(c *cobra.Command, flags ...string) error {
	var missing []string
	for _, name := range flags {
		if c.Flags().Lookup(name).Value.String() == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return cli.Missing(c, missing...)
}
