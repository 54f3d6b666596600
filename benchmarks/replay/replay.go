// SPDX-License-Identifier: BSD-3-Clause

// Package replay is the flags of simulations that do not depend on the policy, and reads the
// workload that they name.
package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/inputs"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Flags are the settings of a simulation that do not depend on the policy.
type Flags struct {
	// Config is that of the simulator. Its nodes must be there before a workload is read.
	Config sim.Config
	// CycleLimit is the wall-clock time for a cycle: see [Limited].
	CycleLimit time.Duration
	// Files is what input files cost.
	Files inputs.Files
	// Seed is that of the workload, and of the policy.
	Seed uint64
	// Rate is how many times as fast as the workload says jobs come.
	Rate float64
	// LimitFactor makes time limits of durations, for traces that have none.
	LimitFactor float64
	// First is how many jobs of the workload count; 0: all.
	First int
	// MemoryInBytes is that of traces.SWFOptions.
	MemoryInBytes bool
	// Stdin is what the workload - is read from.
	Stdin io.Reader
	// ExactPods is that of traces.GPUTraceOptions.
	ExactPods bool

	extend, nodespec bool
}

// Register has the flags in flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of the generator and of the policy")
	flags.Int64Var(&f.Config.Interval, "interval", f.Config.Interval, "scheduling interval in seconds")
	flags.DurationVar(&f.CycleLimit, "deadline", 0, "wall-clock time for a cycle; 0: none, runs then repeat bit for bit")
	flags.Float64Var(&f.Rate, "rate", 1, "have jobs come so many times as fast as the workload says; they run as long as ever")
	flags.Float64Var(&f.LimitFactor, "limit-factor", 1,
		"Alibaba's and Philly's traces, which have no time limits: limits are the durations times this")
	flags.IntVar(&f.First, "first", 0, "only the first N jobs of the workload; 0: all")
	flags.BoolVar(&f.extend, "extend-limits", false, "traces: lift time limits that a job has outlived, instead of ending it there")
	flags.BoolVar(&f.nodespec, "nodespec", false, "SWF: take nodes and cores per node from a 21st field N:ppn=K")
}

// Read reads or generates the workload for the machine of Config.
func (f *Flags) Read(spec string) (*workload.Workload, error) {
	o := traces.Options{
		SWF:   traces.SWFOptions{ExtendLimit: f.extend, NodeSpec: f.nodespec, MemoryInBytes: f.MemoryInBytes, First: f.First},
		Sacct: workload.SacctOptions{ExtendLimit: f.extend},
		GPU:   traces.GPUTraceOptions{LimitFactor: f.LimitFactor, GPUsPerNode: mostGPUs(f.Config.Nodes), Exact: f.ExactPods},
	}
	if f.First < 0 {
		return nil, fmt.Errorf("--first: %d: must not be negative", f.First)
	}
	read := func() (*workload.Workload, error) { return traces.ReadFile(spec, o) }
	if spec == "-" && f.Stdin != nil {
		read = func() (*workload.Workload, error) { return traces.Read(f.Stdin, "standard input", o) }
	}
	if strings.HasPrefix(spec, generate.GeneratorPrefix) {
		read = func() (*workload.Workload, error) { return generate.Generate(spec, f.Config.Nodes, f.Seed) }
	}
	w, err := read()
	if generator := generate.GeneratorPrefix + spec; errors.Is(err, fs.ErrNotExist) && slices.Contains(generate.Generators(), generator) {
		return nil, fmt.Errorf("--workload: %w: did you mean the generator %q?", err, generator)
	}
	if err != nil {
		return nil, fmt.Errorf("--workload: %w", err)
	}
	if f.First > 0 && f.First <= len(w.Jobs) {
		traces.Keep(w, f.First)
		w.Name += fmt.Sprintf(", its first %d jobs", f.First)
	}
	if err := traces.Accelerate(w, f.Rate); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return w, nil
}

// mostGPUs is the most GPUs of any node.
func mostGPUs(nodes []nodeset.Capacity) int {
	most := uint8(0)
	for _, c := range nodes {
		most = max(most, c.GPUs)
	}
	return int(most)
}

// WarnChanges logs how many jobs of a trace were left out or changed, a line for each reason.
func WarnChanges(w *workload.Workload) {
	warn := func(what string, tallies []workload.Tally) {
		for _, t := range tallies {
			slog.Warn(fmt.Sprintf("%s of the trace %s: %s", cli.Count(t.Jobs, "job"), what, t.Reason))
		}
	}
	warn("left out", w.Skipped)
	warn("changed", w.Adjusted)
}

// maxReasons is how many reasons of one policy are logged: with memory there may be hundreds.
const maxReasons = 10

// WarnUnrun logs the jobs that did not run, a line for each reason, those that
// most jobs have first.
func WarnUnrun(run *sim.Result) {
	var reasons []string
	count, first := make(map[string]int), make(map[string]string)
	for _, u := range run.Unrun {
		if count[u.Reason]++; count[u.Reason] == 1 {
			reasons = append(reasons, u.Reason)
			first[u.Reason] = u.ID
		}
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return count[b] - count[a] })
	for i, r := range reasons {
		if i == maxReasons {
			slog.Warn(fmt.Sprintf("policy %s: more jobs were not run, for %d other reasons", run.Policy, len(reasons)-i))
			break
		}
		slog.Warn(fmt.Sprintf("policy %s: %s not run, the first %s: %s", run.Policy, cli.Count(count[r], "job"), first[r], r))
	}
}
