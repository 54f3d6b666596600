// SPDX-License-Identifier: BSD-3-Clause

// Package simulate is the command simulate, which other commands run as well.
package simulate

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/program"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
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

	csv, markdown bool
	seeds         string
	parallel      int
	resample      time.Duration
	answerWithin  time.Duration
	errs          io.Writer // what other programs write to standard error

	jobs         string // the file of --jobs-csv
	plot         plotFlags
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
	f := Flags{Policy: policy.Flags{Others: Make}, Replay: replay.Flags{Config: sim.NewConfig(nil)}}
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
  programs       exec, as exec:PROGRAM (see below)
  presets        ` + strings.Join(presetPolicies(), ", ") + `: auction2 with that --preset
  data locality  ` + strings.Join(LocalityPolicies(), ", ") + `
  pods           ` + strings.Join(PodPolicies(), ", ") + `

All policies but the auctions give jobs with a range of GPUs the fewest, as Slurm knows no
ranges; --gpus-of-range fixes other numbers. easy reserves for the first blocked job only;
easy-sjf, -saf, -f1 and -wfp3 try those behind it in other orders: by time limit, by limit x
cores, and as in docs/reference/simulation.md. plan anneals the order of a plan of the first 60 jobs.

The policies of data locality schedule jobs with input files, each job on one node
(--mode paper or reference). C and W may then be files in their authors' format too,
"{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }" a line; jobs of other workloads get
files as in the report: see benchmarks/locality/README.md.

The policies of pods place pods that ask for whole GPUs or a share of one (Weng et al.,
"Beware of Fragmentation", USENIX ATC'23). C and W are Alibaba's lists of nodes and of
pods: aucsched simulate --policy fgd,auction2 --cluster openb_node_list_gpu_node.csv
--workload openb_pod_list_default.csv.gz. Pods come in random order and never end.
auction2 goes with these policies, by preset default.

Several policies, with commas, run on the same workload: the table then has a column
for each and its difference to the first, --json prints an object a line, --html shows
them side by side, and --jobs-csv puts the policy's name into that of its file
(jobs.csv: jobs.backfill.csv). A policy can have settings of its own behind colons, by the
names of the flags: auction2:window=50:depth=0. Settings beyond these are the same for all.

exec:PROGRAM ARGUMENTS has another program decide: in each cycle it reads a line of JSON,
the window (docs/reference/window.md), and writes a line, the plan, as aucsched plan --json
prints it: {"decisions": [{"job": "7", "start": true, "nodes": "n1,n2"}]}. Without nodes
the job gets what Slurm's selection finds. The verifier checks each decision.

With --seeds each policy runs with each seed, several at a time. The table has means, 95%
intervals, and the mean of the differences seed by seed with theirs; --json and --csv have
every run. A trace is the same for all seeds, unless --resample 24h draws another from its
days with each.`,
		Example: `  aucsched simulate --cluster 128x8x2 --workload gen:V.1
  aucsched simulate --policy backfill,default,short --cluster 128x8x2 --workload gen:V.1 --seeds 1-10
  aucsched simulate --policy backfill,easy,default --workload trace.swf.gz --plot figure.pdf
  aucsched simulate --policy auction2,auction2:window=50 --cluster 128x8x2 --workload gen:V.1 --csv >runs.csv
  aucsched simulate --policy backfill,exec:examples/policy/wfp3.py --cluster 64x8 --workload gen:lublin-80
  aucsched simulate --policy backfill,auction2 --cluster 128x8x2 --workload gen:V.1 --html v1.html
  aucsched simulate --policy easy-sjf,auction2 --cluster 128x8 --workload examples/wide.swf
  aucsched simulate --policy auction2 --cluster 1408x12x3 --workload gen:tsubame-1.NC-ranges`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.Replay.Stdin, f.errs = c.InOrStdin(), &oneByOne{to: c.ErrOrStderr()}
			if err := f.needed(c, &more); err != nil {
				return err
			}
			if err := f.known(c.Flags()); err != nil {
				return err
			}
			if own, err := f.family(c.Flags(), &more); err != nil {
				return err
			} else if own != nil {
				return own.run(c, &f)
			}
			s, err := f.prepare(c.Flags(), &more)
			if err != nil {
				return cli.BadInput(err)
			}
			if f.DryRun {
				return f.Checked(len(s.first.work.Jobs), s.first.work.Name).Print(c.OutOrStdout(), f.JSON)
			}
			if f.boundOnly {
				jobs := replay.Settled(&f.Policy, s.variants[0].policy, s.first.work.Jobs)
				return more.Bounds(c.OutOrStdout(), &s.first.cfg, jobs, f.JSON)
			}
			return f.run(c, s, more.Least)
		},
	}
	f.register(c.Flags())
	f.describe(c)
	return c
}

func (f *Flags) register(flags *pflag.FlagSet) {
	f.Policy.Register(flags)
	flags.Lookup("policy").Usage = "scheduling policies (see above), several with commas, settings of one behind colons"
	flags.StringVar(&f.seeds, "seeds", "", "run each policy with all of these seeds, as 1-10 or 1,4,7-9, and print means and differences")
	flags.DurationVar(&f.resample, "resample", 0,
		"traces: with each seed simulate another trace, of as many blocks of this length as the trace has, drawn from these")
	flags.IntVar(&f.parallel, "parallel", 0,
		"runs at a time; 0: as many as there are CPUs, and with --deadline one. More than one disturb the times of cycles")
	flags.DurationVar(&f.answerWithin, "answer-within", program.Defaults().Timeout, "policies exec: how long a program has for a cycle")
	flags.BoolVar(&f.csv, "csv", false, "print CSV, a row for each run and a column for each figure of --json")
	flags.BoolVar(&f.markdown, "markdown", false, "print the table as Markdown")
	f.Locality.register(flags)
	f.Pods.register(flags)
	flags.StringVar(&f.HTML, "html", "", "write a page with pictures of the runs to this `file`; it needs no network")
	flags.StringVar(&f.jobs, "jobs-csv", "", "write the jobs to this `file` as Batsim's jobs.csv")
	f.plot.register(flags)
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

// readMachine is that of --cluster, or else that of the header of the workload, which it then has read.
func (f *Flags) readMachine() (w *workload.Workload, m *traces.Machine, err error) {
	if f.Cluster == "" {
		if w, err = f.Replay.Read(f.Workload); err != nil {
			return nil, nil, err
		}
		if f.Cluster, _ = traces.MachineOf(w.Header); f.Cluster == "" {
			return nil, nil, fmt.Errorf("--cluster: missing, and no header says MaxProcs or MaxNodes in %s; "+
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

// oneByOne lets one goroutine at a time write.
type oneByOne struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneByOne) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// priorityNames are the values of --priority.
var priorityNames = []string{"basic", "multifactor"}

// beginning are the policies whose names begin so.
func beginning(with string) []string {
	return slices.DeleteFunc(policy.Names(), func(name string) bool { return !strings.HasPrefix(name, with) })
}

// policyNames are all policies that simulate knows.
func policyNames() []string {
	return slices.Concat(policy.Names(), LocalityPolicies(), PodPolicies(), []string{program.Prefix})
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
