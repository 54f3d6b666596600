// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/bom"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/replay"
	"github.com/aucsched/aucsched/internal/localitylog"
	"github.com/aucsched/aucsched/internal/localitymode"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/locality"
)

// localityFlags are the settings of the locality-aware policies.
type localityFlags struct {
	mode             string
	warmUp, evaluate time.Duration
}

func (f *localityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.mode, "mode", localitymode.Paper.String(),
		"locality: paper: the report's text; reference: its authors' programme, decision for decision")
	flags.DurationVar(&f.warmUp, "warm-up", 0, "locality, traces: jobs submitted so long from the first on do not count")
	flags.DurationVar(&f.evaluate, "evaluate", 0, "locality, traces: jobs submitted so long from then on count; 0: to the end")
}

// modeNames are the values of --mode.
var modeNames = []string{localitymode.Paper.String(), localitymode.Reference.String()}

// localityOnly are the flags that other policies go without, localityTakes those that these take.
var (
	localityOnly  = []string{"mode", "warm-up", "evaluate"}
	localityTakes = slices.Concat([]string{"policy", "cluster", "workload", "json",
		"dry-run", "seed", "rate", "limit-factor", "first", "extend-limits",
		"nodespec", "verbose", "html"}, fileSettings, localityOnly)
)

// isLocality tells whether the policies are locality-aware; they go with no others.
func (f *simulateFlags) isLocality(flags *pflag.FlagSet) (bool, error) {
	names, known := strings.Split(f.policy.Policy, ","), locality.Policies()
	some := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) })
	if !some {
		for _, name := range localityOnly {
			if flags.Changed(name) {
				return false, cli.BadInput(fmt.Errorf("--%s: goes with the policies %s only", name, strings.Join(known, ", ")))
			}
		}
		return false, nil
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return true, cli.BadInput(fmt.Errorf("--policy: %q does not go with %s in one run", name, strings.Join(known, ", ")))
		}
	}
	var err error
	flags.Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains(localityTakes, flag.Name) {
			err = cli.BadInput(fmt.Errorf("--%s: does not go with policy %s", flag.Name, f.policy.Policy))
		}
	})
	return true, err
}

// runLocality simulates the workload under each of the policies.
func (f *simulateFlags) runLocality(c *cobra.Command) error {
	mode, err := localitymode.Parse(f.locality.mode)
	if err != nil {
		return cli.BadInput(cli.Did(fmt.Errorf("--%w", err), f.locality.mode, modeNames))
	}
	policies := strings.Split(f.policy.Policy, ",")
	for i, name := range policies {
		if slices.Contains(policies[:i], name) {
			return cli.BadInput(fmt.Errorf("--policy: %q is given twice", name))
		}
	}
	if os.Getenv("GOGC") == "" {
		// A log is a long list that stays, and simulations leave little to collect on top of it.
		defer debug.SetGCPercent(debug.SetGCPercent(20))
	}
	nodes, jobs, err := f.localityInput()
	if err != nil {
		return cli.BadInput(err)
	}
	if f.dryRun {
		d := f.checked(len(jobs), f.load)
		d.count(nodes)
		return d.print(c.OutOrStdout(), f.asJSON)
	}
	page, err := openLocalityPage(f.reports.html, f.load, nodes, jobs)
	if err != nil {
		return cli.BadInput(err)
	}
	defer page.discard()
	var results []*locality.Result
	for _, p := range policies {
		r, err := page.simulate(c.Context(), nodes, jobs, locality.Options{Policy: p, Mode: mode})
		if err != nil {
			return localityError(f.load, err)
		}
		results = append(results, r)
	}
	if err := page.write(cli.CommandLine(c)); err != nil {
		return err
	}
	return printLocality(c.OutOrStdout(), results, f.asJSON)
}

// localityInput reads the machine and the jobs.
func (f *simulateFlags) localityInput() ([]locality.Node, []locality.Job, error) {
	if err := f.files.check(); err != nil {
		return nil, nil, err
	}
	nodes, err := f.localityNodes()
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	if isRecords(f.load) {
		for _, name := range []struct {
			name string
			set  bool
		}{{"warm-up", f.locality.warmUp != 0}, {"evaluate", f.locality.evaluate != 0},
			{"sharers", f.files.sharers != 0}, {"first", f.replay.First != 0}, {"rate", f.replay.Rate != 1}} {
			if name.set {
				return nil, nil, fmt.Errorf("--%s: the workload's file says itself which jobs count and when they come", name.name)
			}
		}
		jobs, err := readRecords(f.load, localitylog.ReadWorkload)
		if err != nil {
			return nil, nil, fmt.Errorf("--workload: %w", err)
		}
		return nodes, jobs, nil
	}
	jobs, err := f.localityTrace(nodes)
	return nodes, jobs, err
}

// localityNodes reads the authors' format, or takes what other clusters say of cores.
func (f *simulateFlags) localityNodes() ([]locality.Node, error) {
	if isRecords(f.cluster) {
		return readRecords(f.cluster, localitylog.ReadCluster)
	}
	var err error
	if f.replay.Config.Nodes, err = workload.ParseCluster(f.cluster); err != nil {
		return nil, err
	}
	var nodes []locality.Node
	for i, n := range f.replay.Config.Nodes {
		nodes = append(nodes, locality.Node{ID: i, Memory: f.files.memory, Bandwidth: f.files.bandwidth, Cores: int(n.Cores)})
	}
	return nodes, nil
}

// localityTrace makes jobs with files of a trace or a generated workload.
func (f *simulateFlags) localityTrace(nodes []locality.Node) ([]locality.Job, error) {
	for _, n := range nodes {
		if n.Cores != nodes[0].Cores || n.Memory != nodes[0].Memory {
			return nil, fmt.Errorf("--cluster: traces need nodes of equal size, as files are shares of a node's memory")
		}
	}
	if f.replay.Config.Nodes == nil && strings.HasPrefix(f.load, workload.GeneratorPrefix) {
		return nil, fmt.Errorf("--workload: generated workloads need a cluster like 486x20")
	}
	w, err := f.replay.Read(f.load)
	if err != nil {
		return nil, err
	}
	if f.locality.warmUp < 0 || f.locality.evaluate < 0 {
		return nil, fmt.Errorf("--warm-up, --evaluate: must not be negative")
	}
	w.Independent()
	replay.WarnChanges(w)
	jobs, err := localitylog.FromTrace(w, localitylog.TraceOptions{
		CoresPerNode: nodes[0].Cores, MemoryPerNode: nodes[0].Memory, Sharers: f.files.sharers,
		WarmUp: int64(f.locality.warmUp / time.Second), Evaluate: int64(f.locality.evaluate / time.Second),
	})
	if err != nil {
		return nil, fmt.Errorf("--workload: %s: %w", w.Name, err)
	}
	return jobs, nil
}

// isRecords tells the authors' files by their first byte that is no space, an opening brace.
func isRecords(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if bom.Skip(r) != nil {
		return false // the reader of traces says why
	}
	start, _ := r.Peek(1 << 10)
	return strings.HasPrefix(strings.TrimSpace(string(start)), "{")
}

func readRecords[T any](path string, read func(io.Reader, string) (T, error)) (none T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	return read(f, path)
}

// localityError tells what is the input's fault.
func localityError(load string, err error) error {
	var job *locality.JobError
	if errors.As(err, &job) || errors.Is(err, locality.ErrNothingEvaluated) {
		return cli.BadInput(fmt.Errorf("--workload: %s: %w", load, err))
	}
	return err
}

// printLocality prints a column for each result, or as JSON an object a line.
func printLocality(out io.Writer, results []*locality.Result, asJSON bool) error {
	if asJSON {
		return printJSON(out, results, func(r *locality.Result) any { return r })
	}
	t := newResultTable(out, results)
	line := t.line
	line("policy", func(r *locality.Result) string { return r.Policy })
	line("mode", func(r *locality.Result) string { return r.Mode })
	line("jobs evaluated", func(r *locality.Result) string { return fmt.Sprint(r.Jobs) })
	t.figure("stretch, mean", digits(3), func(r *locality.Result) float64 { return r.StretchMean })
	t.figure("· greatest", digits(3), func(r *locality.Result) float64 { return r.StretchMax })
	t.figure("wait, mean", cli.Seconds, func(r *locality.Result) float64 { return r.WaitMean })
	line("· standard deviation", func(r *locality.Result) string { return cli.Seconds(r.WaitStd) })
	t.figure("loading files", cli.Seconds, func(r *locality.Result) float64 { return float64(r.Transfer) })
	t.figure("waiting for others' loads", cli.Seconds, func(r *locality.Result) float64 { return float64(r.LoadWait) })
	line("files reused", func(r *locality.Result) string { return fmt.Sprintf("%d", r.Reused) })
	t.figure("CPU use", percent, func(r *locality.Result) float64 { return r.CPUUtilization })
	t.figure("runtime", cli.Seconds, func(r *locality.Result) float64 { return float64(r.Runtime) })
	if len(results) > 1 {
		fmt.Fprintf(t, "(in brackets: as a multiple of %s's figure)\n", results[0].Policy)
	}
	return t.Flush()
}
