// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

// reports are the files of a simulation, begun before it runs.
type reports struct {
	html *report.OutputFile
	jobs []*report.OutputFile // one a policy
	logs []*report.Log        // one a policy, or none
}

// open begins the files that are asked for.
func (f *Flags) open(policies []core.Policy) (*reports, error) {
	r := new(reports)
	if f.HTML == "" && f.jobs == "" {
		return r, nil
	}
	var err error
	if f.HTML != "" {
		if r.html, err = report.CreateOutput(f.HTML); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	for _, p := range policies {
		r.logs = append(r.logs, new(report.Log))
		if f.jobs == "" {
			continue
		}
		o, err := report.CreateOutput(jobsPath(f.jobs, p.Name(), len(policies)))
		if err != nil {
			r.discard()
			return nil, fmt.Errorf("--jobs-csv: %w", err)
		}
		r.jobs = append(r.jobs, o)
	}
	return r, nil
}

// jobsPath is the path of a policy's jobs: with several, its name stands before
// the suffix.
func jobsPath(path, policy string, policies int) string {
	if policies == 1 {
		return path
	}
	suffix := filepath.Ext(path)
	return strings.TrimSuffix(path, suffix) + "." + policy + suffix
}

// listener is what hears of the jobs of policy i as they end; nil if nobody asks.
func (r *reports) listener(i int) func(sim.Record) {
	if r.logs == nil {
		return nil
	}
	return r.logs[i].Add
}

func (r *reports) discard() {
	for _, o := range r.jobs {
		o.Discard()
	}
	if r.html != nil {
		r.html.Discard()
	}
}

// write fills the files and puts them in their places. The page comes with
// everything but its runs.
func (r *reports) write(p *report.Page, results []*sim.Result, bounds runtimeBounds, settings func(policy string) []report.Setting) error {
	if r.logs == nil {
		return nil
	}
	for i, res := range results {
		p.Runs = append(p.Runs, report.Run{Result: res, Bound: bounds[res], Log: r.logs[i], Settings: settings(res.Policy)})
	}
	for i, o := range r.jobs {
		if err := o.Fill(func(w io.Writer) error { return report.WriteJobsCSV(w, p.Workload, &p.Runs[i]) }); err != nil {
			return fmt.Errorf("--jobs-csv: %w", err)
		}
	}
	if r.html == nil {
		return nil
	}
	if err := r.html.Fill(p.Write); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
