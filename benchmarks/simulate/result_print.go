// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
)

// runtimeBounds are the least runtimes that were possible, in seconds.
type runtimeBounds map[*sim.Result]float64

// boundedResult is what simulate prints as JSON.
type boundedResult struct {
	*sim.Result
	// RuntimeBound is what no policy can undercut on the jobs that ran; 0 if that is not known.
	RuntimeBound float64 `json:"runtime_bound_s,omitempty"`
}

// printResults prints a column for each result and a row for each figure, or as JSON an object a
// line.
func printResults(out io.Writer, results []*sim.Result, bounds runtimeBounds, asJSON bool) error {
	if asJSON {
		return PrintJSON(out, results, func(r *sim.Result) any { return boundedResult{r, bounds[r]} })
	}
	t := NewTable(out, results)
	t.Line("policy", func(r *sim.Result) string { return r.Policy })
	t.Line("jobs run", func(r *sim.Result) string { return fmt.Sprint(r.Jobs) })
	t.Line("jobs that could not run", func(r *sim.Result) string { return fmt.Sprint(len(r.Unrun)) })
	t.Figure("runtime", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Runtime) })
	t.Line("· theoretical", func(r *sim.Result) string { return cli.Seconds(r.TheoreticalRuntime) })
	if len(bounds) > 0 {
		t.Line("· at least", func(r *sim.Result) string { return cli.Seconds(bounds[r]) })
	}
	t.Figure("CPU use", Percent, func(r *sim.Result) float64 { return r.CPUUtilization })
	t.Figure("· until the last submission", Percent, func(r *sim.Result) float64 { return r.CPUUtilizationLoaded })
	t.Figure("GPU use", Percent, func(r *sim.Result) float64 { return r.GPUUtilization })
	t.Figure("· until the last submission", Percent, func(r *sim.Result) float64 { return r.GPUUtilizationLoaded })
	waitRows(t)
	t.spread("fragmentation", func(r *sim.Result) (float64, float64) { return r.FragmentationMean, r.FragmentationStd })
	t.spread("spread", func(r *sim.Result) (float64, float64) { return r.SpreadMean, r.SpreadStd })
	t.Figure("packing factor", Digits(3), func(r *sim.Result) float64 { return r.PackingFactorMean })
	extraRows(t)
	t.Line("cycles", func(r *sim.Result) string { return fmt.Sprint(r.Cycles) })
	t.Line("· median", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsP50) })
	t.Line("· p99", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsP99) })
	t.Line("· longest", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsMax) })
	if len(results) > 1 {
		fmt.Fprintf(t, "(in brackets: as a multiple of %s's figure)\n", results[0].Policy)
	}
	return t.Flush()
}

// waitRows are the rows of waits and slowdowns; that of users only where jobs name them.
func waitRows(t *Table[*sim.Result]) {
	t.Figure("wait, mean", cli.Seconds, func(r *sim.Result) float64 { return r.WaitMean })
	t.Line("· standard deviation", func(r *sim.Result) string { return cli.Seconds(r.WaitStd) })
	t.Figure("· median", cli.Seconds, func(r *sim.Result) float64 { return r.Median })
	t.Figure("· p95", cli.Seconds, func(r *sim.Result) float64 { return r.P95 })
	t.Figure("· longest", cli.Seconds, func(r *sim.Result) float64 { return r.Max })
	t.Figure("· weighted by area", cli.Seconds, func(r *sim.Result) float64 { return r.AreaWeighted })
	t.Figure("· of the widest tenth", cli.Seconds, func(r *sim.Result) float64 { return r.Widest10 })
	if slices.ContainsFunc(t.results, func(r *sim.Result) bool { return r.UserWorst > 0 }) {
		t.Figure("· of the worst user", cli.Seconds, func(r *sim.Result) float64 { return r.UserWorst })
	}
	t.spread("slowdown", func(r *sim.Result) (float64, float64) { return r.SlowdownMean, r.SlowdownStd })
	t.Figure("· bounded", Digits(2), func(r *sim.Result) float64 { return r.BoundedSlowdown })
}

// extraRows are the rows of what only some simulations have.
func extraRows(t *Table[*sim.Result]) {
	first := t.results[0]
	if first.Leaves != nil {
		t.Figure("leaf switches of a job", Digits(3), func(r *sim.Result) float64 { return r.Leaves.Mean })
		t.Figure("· of one of several nodes", Digits(2), func(r *sim.Result) float64 { return r.Leaves.WideMean })
		t.Line("· below the fewest", func(r *sim.Result) string { return fmt.Sprintf("%d of %d", r.Leaves.Whole, r.Leaves.Wide) })
	}
	if first.GPUQueue != nil {
		t.Figure("GPUs idle while jobs wait", Percent, func(r *sim.Result) float64 { return r.GPUQueue.Idle })
		t.Figure("· stranded", Percent, func(r *sim.Result) float64 { return r.GPUQueue.Stranded })
		t.Figure("· for so long", cli.Seconds, func(r *sim.Result) float64 { return float64(r.GPUQueue.Seconds) })
		t.Figure("· stranded GPU hours", Digits(1), func(r *sim.Result) float64 { return *r.StrandedGPUHours })
	}
	if first.Files != nil {
		t.Figure("files loaded", Digits(0), func(r *sim.Result) float64 { return float64(r.Files.Loads) })
		t.Figure("· time of transfer", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Files.Seconds) })
		t.Line("· jobs on holders", func(r *sim.Result) string { return fmt.Sprintf("%d of %d", r.Files.Held, r.Files.Jobs) })
		t.Figure("· waited for files", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Files.Waiting) })
		t.spread("stretch", func(r *sim.Result) (float64, float64) { return r.Files.StretchMean, r.Files.StretchStd })
	}
	if first.Crews != nil {
		t.Line("malleable jobs", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Jobs) })
		t.Line("· companions", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Companions) })
		t.Line("· of these preempted", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Preempted) })
		t.Line("· changes of nodes", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Changes) })
		t.Line("· node hours", func(r *sim.Result) string { return fmt.Sprintf("%.0f", float64(r.Crews.Held)/3600) })
		t.Line("· of these lost", func(r *sim.Result) string {
			return fmt.Sprintf("%.2f%%", 100*float64(r.Crews.Lost)/float64(max(r.Crews.Held, 1)))
		})
		t.Figure("· wait, malleable", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Malleable.Wait })
		t.Figure("· wait, rigid", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Rigid.Wait })
		t.Figure("· turnaround, malleable", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Malleable.Turnaround })
		t.Figure("· turnaround, rigid", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Rigid.Turnaround })
	}
}
