// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/sim"
)

// waitLines are the lines of waits and slowdowns; that of users only where jobs name them.
func waitLines(t *resultTable[*sim.Result], results []*sim.Result) {
	hours := func(s float64) float64 { return s / 3600 }
	t.line("wait", func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f h", hours(r.WaitMean), hours(r.WaitStd)) })
	t.line("· quantiles", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f h (median), %.2f h (p95), %.2f h (max)", hours(r.Median), hours(r.P95), hours(r.Max))
	})
	t.line("· wide jobs", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f h by area, %.2f h the widest tenth", hours(r.AreaWeighted), hours(r.Widest10))
	})
	if slices.ContainsFunc(results, func(r *sim.Result) bool { return r.UserWorst > 0 }) {
		t.line("· worst user", func(r *sim.Result) string { return fmt.Sprintf("%.2f h", hours(r.UserWorst)) })
	}
	t.line("slowdown", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f ± %.2f; bounded %.2f", r.SlowdownMean, r.SlowdownStd, r.BoundedSlowdown)
	})
}
