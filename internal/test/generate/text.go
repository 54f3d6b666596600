// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
)

// Text is a workload in readable form, a job a line.
func Text(w *workload.Workload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %d\n", w.Name, w.Start)
	for _, j := range w.Jobs {
		fmt.Fprintf(&b, "job %s submit=%d run=%d limit=%d priority=%d cores=%d",
			j.ID, j.Submit, j.Duration, j.TimeLimit, j.Priority, j.Cores)
		for _, f := range []struct {
			name string
			v    int
		}{{"min_nodes", j.MinNodes}, {"max_nodes", j.MaxNodes}, {"tasks_per_node", j.TasksPerNode},
			{"min_gpus", j.MinGPUs}, {"max_gpus", j.MaxGPUs}} {
			if f.v != 0 {
				fmt.Fprintf(&b, " %s=%d", f.name, f.v)
			}
		}
		if j.Contiguous {
			b.WriteString(" contiguous")
		}
		b.WriteByte('\n')
	}
	for _, t := range w.Skipped {
		fmt.Fprintf(&b, "skipped %d: %s\n", t.Jobs, t.Reason)
	}
	for _, t := range w.Adjusted {
		fmt.Fprintf(&b, "adjusted %d: %s\n", t.Jobs, t.Reason)
	}
	return b.String()
}

// Check reports the first job that is not as every reader and generator promises.
func Check(w *workload.Workload) error {
	if len(w.Jobs) == 0 || w.Jobs[0].Submit != 0 {
		return errors.New("no job at second 0")
	}
	ids, last := map[string]bool{}, int64(0)
	for _, j := range w.Jobs {
		if err := j.Validate(); err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
		if ids[j.ID] || j.Submit < last || j.Duration < 1 || j.TimeLimit < j.Duration || j.Priority < 1 {
			return fmt.Errorf("job %s: submitted at %d after %d, twice: %v, run %d, limit %d, priority %d",
				j.ID, j.Submit, last, ids[j.ID], j.Duration, j.TimeLimit, j.Priority)
		}
		ids[j.ID], last = true, j.Submit
	}
	return nil
}
