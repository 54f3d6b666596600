// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
)

// printResults prints a column for each result and a row for each figure, or as JSON an object a
// line.
func printResults(out io.Writer, results []*sim.Result, bounds runtimeBounds, asJSON bool) error {
	if asJSON {
		return printJSON(out, results, func(r *sim.Result) any { return boundedResult{r, bounds[r]} })
	}
	t := newResultTable(out, results)
	t.line("policy", func(r *sim.Result) string { return r.Policy })
	t.line("jobs run", func(r *sim.Result) string { return fmt.Sprint(r.Jobs) })
	t.line("jobs that could not run", func(r *sim.Result) string { return fmt.Sprint(len(r.Unrun)) })
	t.figure("runtime", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Runtime) })
	t.line("· theoretical", func(r *sim.Result) string { return cli.Seconds(r.TheoreticalRuntime) })
	t.line("· at least", func(r *sim.Result) string { return cli.Seconds(bounds[r]) })
	t.figure("CPU use", percent, func(r *sim.Result) float64 { return r.CPUUtilization })
	t.figure("· until the last submission", percent, func(r *sim.Result) float64 { return r.CPUUtilizationLoaded })
	t.figure("GPU use", percent, func(r *sim.Result) float64 { return r.GPUUtilization })
	t.figure("· until the last submission", percent, func(r *sim.Result) float64 { return r.GPUUtilizationLoaded })
	waitRows(t)
	t.spread("fragmentation", func(r *sim.Result) (float64, float64) { return r.FragmentationMean, r.FragmentationStd })
	t.spread("spread", func(r *sim.Result) (float64, float64) { return r.SpreadMean, r.SpreadStd })
	t.figure("packing factor", digits(3), func(r *sim.Result) float64 { return r.PackingFactorMean })
	extraRows(t)
	t.line("cycles", func(r *sim.Result) string { return fmt.Sprint(r.Cycles) })
	t.line("· median", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsP50) })
	t.line("· p99", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsP99) })
	t.line("· longest", func(r *sim.Result) string { return fmt.Sprintf("%.2f ms", r.CycleMsMax) })
	if len(results) > 1 {
		fmt.Fprintf(t, "(in brackets: as a multiple of %s's figure)\n", results[0].Policy)
	}
	return t.Flush()
}

// waitRows are the rows of waits and slowdowns; that of users only where jobs name them.
func waitRows(t *resultTable[*sim.Result]) {
	t.figure("wait, mean", cli.Seconds, func(r *sim.Result) float64 { return r.WaitMean })
	t.line("· standard deviation", func(r *sim.Result) string { return cli.Seconds(r.WaitStd) })
	t.figure("· median", cli.Seconds, func(r *sim.Result) float64 { return r.Median })
	t.figure("· p95", cli.Seconds, func(r *sim.Result) float64 { return r.P95 })
	t.figure("· longest", cli.Seconds, func(r *sim.Result) float64 { return r.Max })
	t.figure("· weighted by area", cli.Seconds, func(r *sim.Result) float64 { return r.AreaWeighted })
	t.figure("· of the widest tenth", cli.Seconds, func(r *sim.Result) float64 { return r.Widest10 })
	if slices.ContainsFunc(t.results, func(r *sim.Result) bool { return r.UserWorst > 0 }) {
		t.figure("· of the worst user", cli.Seconds, func(r *sim.Result) float64 { return r.UserWorst })
	}
	t.spread("slowdown", func(r *sim.Result) (float64, float64) { return r.SlowdownMean, r.SlowdownStd })
	t.figure("· bounded", digits(2), func(r *sim.Result) float64 { return r.BoundedSlowdown })
}

// extraRows are the rows of what only some simulations have.
func extraRows(t *resultTable[*sim.Result]) {
	first := t.results[0]
	if first.Leaves != nil {
		t.figure("leaf switches of a job", digits(3), func(r *sim.Result) float64 { return r.Leaves.Mean })
		t.figure("· of one of several nodes", digits(2), func(r *sim.Result) float64 { return r.Leaves.WideMean })
		t.line("· below the fewest", func(r *sim.Result) string { return fmt.Sprintf("%d of %d", r.Leaves.Whole, r.Leaves.Wide) })
	}
	if first.GPUQueue != nil {
		t.figure("GPUs idle while jobs wait", percent, func(r *sim.Result) float64 { return r.GPUQueue.Idle })
		t.figure("· stranded", percent, func(r *sim.Result) float64 { return r.GPUQueue.Stranded })
		t.figure("· for so long", cli.Seconds, func(r *sim.Result) float64 { return float64(r.GPUQueue.Seconds) })
		t.figure("· stranded GPU hours", digits(1), func(r *sim.Result) float64 { return *r.StrandedGPUHours })
	}
	if first.Files != nil {
		t.figure("files loaded", digits(0), func(r *sim.Result) float64 { return float64(r.Files.Loads) })
		t.figure("· time of transfer", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Files.Seconds) })
		t.line("· jobs on holders", func(r *sim.Result) string { return fmt.Sprintf("%d of %d", r.Files.Held, r.Files.Jobs) })
		t.figure("· waited for files", cli.Seconds, func(r *sim.Result) float64 { return float64(r.Files.Waiting) })
		t.spread("stretch", func(r *sim.Result) (float64, float64) { return r.Files.StretchMean, r.Files.StretchStd })
	}
	if first.Crews != nil {
		t.line("malleable jobs", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Jobs) })
		t.line("· companions", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Companions) })
		t.line("· of these preempted", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Preempted) })
		t.line("· changes of nodes", func(r *sim.Result) string { return fmt.Sprint(r.Crews.Changes) })
		t.line("· node hours", func(r *sim.Result) string { return fmt.Sprintf("%.0f", float64(r.Crews.Held)/3600) })
		t.line("· of these lost", func(r *sim.Result) string {
			return fmt.Sprintf("%.2f%%", 100*float64(r.Crews.Lost)/float64(max(r.Crews.Held, 1)))
		})
		t.figure("· wait, malleable", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Malleable.Wait })
		t.figure("· wait, rigid", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Rigid.Wait })
		t.figure("· turnaround, malleable", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Malleable.Turnaround })
		t.figure("· turnaround, rigid", cli.Seconds, func(r *sim.Result) float64 { return r.Crews.Rigid.Turnaround })
	}
}
