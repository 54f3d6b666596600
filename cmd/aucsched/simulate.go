package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/workload"
)

func simulateCommand() *cobra.Command {
	var f policyFlags
	var asJSON, extend, nodespec bool
	var cluster, load string
	var seed uint64
	var rate, limitFactor float64
	cfg := sim.NewConfig(nil)
	c := &cobra.Command{
		Use:   "simulate --cluster C --workload W",
		Short: "Replay a trace or a generated workload under a policy, and print the papers' metrics",
		Long: `simulate runs a workload through a policy in simulated time. Every start is checked
by a verifier that shares nothing with the policy.

C is NODESxCORES[xGPUS], several of these with commas for a mixed machine in node
order (20x80,48x12), or a file: slurm.conf's NodeName lines, "COUNT CORES [GPUS]", or
the list of nodes of Alibaba's GPU cluster.
W is a trace (SWF, the output of sacct --parsable2, Alibaba's pods or Philly's jobs; plain
or gzip) or one of
` + strings.Join(workload.Generators(), ", ") + `.`,
		Example: "  aucsched simulate --policy auction2 --cluster 1408x12x3 --workload gen:tsubame-1.NC-ranges",
		Args:    exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if cluster == "" || load == "" {
				return badInput(fmt.Errorf("--cluster and --workload are needed"))
			}
			var err error
			if cfg.Nodes, err = workload.ParseCluster(cluster); err != nil {
				return badInput(fmt.Errorf("--cluster: %w", err))
			}
			if cfg.Interval < 1 {
				return badInput(fmt.Errorf("--interval: %d: must be at least 1 second", cfg.Interval))
			}
			o := workload.Options{SWF: workload.SWFOptions{ExtendLimit: extend, NodeSpec: nodespec}, Sacct: workload.SacctOptions{ExtendLimit: extend},
				GPU: workload.GPUTraceOptions{LimitFactor: limitFactor, GPUsPerNode: mostGPUs(cfg.Nodes)}}
			w, err := readWorkload(load, seed, o)
			if err != nil {
				return badInput(fmt.Errorf("--workload: %w", err))
			}
			if err := w.Accelerate(rate); err != nil {
				return badInput(fmt.Errorf("--%w", err))
			}
			policy, err := f.make(c.Flags())
			if err != nil {
				return err
			}
			cfg.Seed = seed
			done := showProgress(c.ErrOrStderr(), &cfg, len(w.Jobs))
			r, err := sim.Run(c.Context(), cfg, policy, w.Jobs)
			done()
			if err != nil {
				return err
			}
			for _, t := range w.Skipped {
				slog.Warn("jobs of the trace left out", "jobs", t.Jobs, "reason", t.Reason)
			}
			for _, t := range w.Adjusted {
				slog.Warn("jobs of the trace changed", "jobs", t.Jobs, "how", t.Reason)
			}
			warnUnrun(r.Unrun)
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(r)
			}
			return printResult(c.OutOrStdout(), r)
		},
	}
	f.register(c.Flags())
	flags := c.Flags()
	flags.StringVar(&cluster, "cluster", "", "the machine (see above)")
	flags.StringVar(&load, "workload", "", "the workload (see above)")
	flags.Uint64Var(&seed, "seed", 1, "seed of the generator and of the policy")
	flags.Int64Var(&cfg.Interval, "interval", cfg.Interval, "scheduling interval in seconds")
	flags.DurationVar(&cfg.CycleLimit, "deadline", 0, "wall-clock time for a cycle; 0: none, runs then repeat bit for bit")
	flags.Float64Var(&rate, "rate", 1, "have jobs come so many times as fast as the workload says; they run as long as ever")
	flags.Float64Var(&limitFactor, "limit-factor", 1, "Alibaba's and Philly's traces, which have no time limits: limits are the durations times this")
	flags.BoolVar(&extend, "extend-limits", false, "traces: lift time limits that a job has outlived, instead of ending it there")
	flags.BoolVar(&nodespec, "nodespec", false, "SWF: take nodes and cores per node from a 21st field N:ppn=K")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// mostGPUs is the most GPUs of any node.
func mostGPUs(nodes []nodeset.Capacity) int {
	most := uint8(0)
	for _, c := range nodes {
		most = max(most, c.GPUs)
	}
	return int(most)
}

// warnUnrun logs the jobs that did not run, a line for each reason.
func warnUnrun(jobs []sim.Unrun) {
	var reasons []string
	count, first := make(map[string]int), make(map[string]string)
	for _, u := range jobs {
		if count[u.Reason]++; count[u.Reason] == 1 {
			reasons = append(reasons, u.Reason)
			first[u.Reason] = u.ID
		}
	}
	for _, r := range reasons {
		slog.Warn("jobs not run", "jobs", count[r], "first", first[r], "reason", r)
	}
}

func readWorkload(spec string, seed uint64, o workload.Options) (*workload.Workload, error) {
	if strings.HasPrefix(spec, "gen:") {
		return workload.Generate(spec, seed)
	}
	return workload.ReadFile(spec, o)
}

// showProgress draws a bar of ended jobs on a terminal, for runs that take long.
// The function that it returns takes the bar away.
func showProgress(errs io.Writer, cfg *sim.Config, jobs int) func() {
	file, ok := errs.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	bar := progressbar.NewOptions(jobs, progressbar.OptionSetWriter(errs), progressbar.OptionSetDescription("jobs"),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true))
	cfg.OnCycle = func(p sim.Progress) { _ = bar.Set(p.End) }
	return func() { _ = bar.Clear() }
}

func printResult(out io.Writer, r *sim.Result) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	hours := func(s float64) float64 { return s / 3600 }
	fmt.Fprintf(t, "policy\t%s\n", r.Policy)
	fmt.Fprintf(t, "jobs\t%d run, %d not\n", r.Jobs, len(r.Unrun))
	fmt.Fprintf(t, "runtime\t%.2f h (theoretical %.2f h)\n", hours(float64(r.Runtime)), hours(r.TheoreticalRuntime))
	fmt.Fprintf(t, "utilisation\tCPU %.1f%%, GPU %.1f%%\n", 100*r.CPUUtilization, 100*r.GPUUtilization)
	fmt.Fprintf(t, "wait\t%.2f ± %.2f h\n", hours(r.WaitMean), hours(r.WaitStd))
	fmt.Fprintf(t, "slowdown\t%.2f ± %.2f\n", r.SlowdownMean, r.SlowdownStd)
	fmt.Fprintf(t, "fragmentation\t%.2f ± %.2f\n", r.FragmentationMean, r.FragmentationStd)
	fmt.Fprintf(t, "spread\t%.2f ± %.2f\n", r.SpreadMean, r.SpreadStd)
	fmt.Fprintf(t, "packing factor\t%.3f\n", r.PackingFactorMean)
	if q := r.GPUQueue; q != nil {
		fmt.Fprintf(t, "GPUs, as jobs wait\t%.1f%% idle, %.1f%% stranded, over %.2f h\n", 100*q.Idle, 100*q.Stranded, hours(float64(q.Seconds)))
	}
	fmt.Fprintf(t, "cycles\t%d; %.2f ms (median), %.2f ms (p99), %.2f ms (max)\n", r.Cycles, r.CycleMsP50, r.CycleMsP99, r.CycleMsMax)
	return t.Flush()
}
