// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/localitylog"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// runLocality simulates the workload under each of the policies.
func runLocality(c *cobra.Command, f *simulate.Flags) error {
	mode, err := locality.ParseMode(f.Locality.Mode)
	if err != nil {
		return cli.BadInput(cli.Did(fmt.Errorf("--%w", err), f.Locality.Mode, simulate.ModeNames()))
	}
	policies := strings.Split(f.Policy.Policy, ",")
	if os.Getenv("GOGC") == "" {
		// A log is a long list that stays, and simulations leave little to collect on top of it.
		defer debug.SetGCPercent(debug.SetGCPercent(20))
	}
	nodes, jobs, err := localityInput(f)
	if err != nil {
		return cli.BadInput(err)
	}
	if f.DryRun {
		d := f.Checked(len(jobs), f.Workload)
		d.Nodes, d.Cores, d.GPUs = len(nodes), 0, 0
		for _, n := range nodes {
			d.Cores += n.Cores
		}
		return d.Print(c.OutOrStdout(), f.JSON)
	}
	page, err := openLocalityPage(f.HTML, f.Workload, nodes, jobs)
	if err != nil {
		return cli.BadInput(err)
	}
	defer page.discard()
	var results []*locality.Result
	for _, p := range policies {
		r, err := page.simulate(c.Context(), nodes, jobs, locality.Options{Policy: p, Mode: mode})
		if err != nil {
			return localityError(f.Workload, err)
		}
		results = append(results, r)
	}
	if err := page.write(report.CommandLine(c)); err != nil {
		return err
	}
	return printLocality(c.OutOrStdout(), results, f.JSON)
}

// localityInput reads the machine and the jobs.
func localityInput(f *simulate.Flags) ([]locality.Node, []locality.Job, error) {
	if err := f.Files.Check(); err != nil {
		return nil, nil, err
	}
	nodes, err := localityNodes(f)
	if err != nil {
		return nil, nil, fmt.Errorf("--cluster: %w", err)
	}
	if isRecords(f.Workload) {
		for _, name := range []struct {
			name string
			set  bool
		}{{"warm-up", f.Locality.WarmUp != 0}, {"evaluate", f.Locality.Evaluate != 0},
			{"sharers", f.Files.Sharers != 0}, {"first", f.Replay.First != 0}, {"rate", f.Replay.Rate != 1}} {
			if name.set {
				return nil, nil, fmt.Errorf("--%s: the workload's file says itself which jobs count and when they come", name.name)
			}
		}
		jobs, err := readRecords(f.Workload, localitylog.ReadWorkload)
		if err != nil {
			return nil, nil, fmt.Errorf("--workload: %w", err)
		}
		return nodes, jobs, nil
	}
	jobs, err := localityTrace(f, nodes)
	return nodes, jobs, err
}

// localityNodes reads the authors' format, or takes what other clusters say of cores.
func localityNodes(f *simulate.Flags) ([]locality.Node, error) {
	if isRecords(f.Cluster) {
		return readRecords(f.Cluster, localitylog.ReadCluster)
	}
	var err error
	if f.Replay.Config.Nodes, err = traces.ParseCluster(f.Cluster); err != nil {
		return nil, err
	}
	var nodes []locality.Node
	for i, n := range f.Replay.Config.Nodes {
		nodes = append(nodes, locality.Node{ID: i, Memory: f.Files.Memory, Bandwidth: f.Files.Bandwidth, Cores: int(n.Cores)})
	}
	return nodes, nil
}

// localityTrace makes jobs with files of a trace or a generated workload.
func localityTrace(f *simulate.Flags, nodes []locality.Node) ([]locality.Job, error) {
	for _, n := range nodes {
		if n.Cores != nodes[0].Cores || n.Memory != nodes[0].Memory {
			return nil, fmt.Errorf("--cluster: traces need nodes of equal size, as files are shares of a node's memory")
		}
	}
	if f.Replay.Config.Nodes == nil && strings.HasPrefix(f.Workload, generate.GeneratorPrefix) {
		return nil, fmt.Errorf("--workload: generated workloads need a cluster like 486x20")
	}
	w, err := f.Replay.Read(f.Workload)
	if err != nil {
		return nil, err
	}
	if f.Locality.WarmUp < 0 || f.Locality.Evaluate < 0 {
		return nil, fmt.Errorf("--warm-up, --evaluate: must not be negative")
	}
	traces.Independent(w)
	replay.WarnChanges(w)
	jobs, err := localitylog.FromTrace(w, localitylog.TraceOptions{
		CoresPerNode: nodes[0].Cores, MemoryPerNode: nodes[0].Memory, Sharers: f.Files.Sharers,
		WarmUp: int64(f.Locality.WarmUp / time.Second), Evaluate: int64(f.Locality.Evaluate / time.Second),
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
	if input.SkipMark(r) != nil {
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
		return simulate.PrintJSON(out, results, func(r *locality.Result) any { return r })
	}
	t := simulate.Table[*locality.Result]{Rows: []simulate.Row[*locality.Result]{
		{Name: "mode", Text: func(r *locality.Result) string { return r.Mode }},
		{Name: "jobs evaluated", Value: func(r *locality.Result) float64 { return float64(r.Jobs) }, Alone: true},
		{Name: "stretch, mean", Digits: 3, Good: -1, Value: func(r *locality.Result) float64 { return r.StretchMean }},
		{Name: "· greatest", Digits: 3, Good: -1, Value: func(r *locality.Result) float64 { return r.StretchMax }},
		{Name: "wait, mean", Unit: simulate.Seconds, Good: -1, Value: func(r *locality.Result) float64 { return r.WaitMean }},
		{Name: "· std. deviation", Unit: simulate.Seconds, Value: func(r *locality.Result) float64 { return r.WaitStd }, Alone: true},
		{Name: "loading files", Unit: simulate.Seconds, Good: -1, Value: func(r *locality.Result) float64 { return float64(r.Transfer) }},
		{Name: "waiting for others' loads", Unit: simulate.Seconds, Good: -1,
			Value: func(r *locality.Result) float64 { return float64(r.LoadWait) }},
		{Name: "files reused", Good: 1, Value: func(r *locality.Result) float64 { return float64(r.Reused) }},
		{Name: "CPU use", Unit: simulate.Share, Good: 1, Value: func(r *locality.Result) float64 { return r.CPUUtilization }},
		{Name: "runtime", Unit: simulate.Seconds, Good: -1, Value: func(r *locality.Result) float64 { return float64(r.Runtime) }},
	}}
	for _, r := range results {
		t.Columns = append(t.Columns, simulate.Column[*locality.Result]{Name: r.Policy, Runs: []*locality.Result{r}})
	}
	return t.Write(out, false)
}
