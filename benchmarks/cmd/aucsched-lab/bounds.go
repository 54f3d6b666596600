// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/benchmarks/crews"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// leastRuntime bounds the runtime of the jobs that ran in r.
func leastRuntime(r *sim.Result, cfg *sim.Config, jobs []workload.Job) (float64, error) {
	unrun := make(map[string]bool)
	for _, u := range r.Unrun {
		unrun[u.ID] = true
	}
	least, err := bound.Runtime(cfg.Nodes, without(soonest(jobs, cfg.Serial), func(j *workload.Job) bool { return unrun[j.ID] }))
	return least.Nodes, err
}

// without are the jobs that leave does not take out.
func without(jobs []workload.Job, leave func(*workload.Job) bool) []workload.Job {
	var rest []workload.Job
	for i := range jobs {
		if !leave(&jobs[i]) {
			rest = append(rest, jobs[i])
		}
	}
	return rest
}

// printBounds prints how soon the jobs that can run at all could be done.
func printBounds(out io.Writer, cfg *sim.Config, jobs []workload.Job, asJSON bool) error {
	table, err := cfg.Table()
	if err != nil {
		return cli.BadInput(fmt.Errorf("--cluster: %w", err))
	}
	machine := place.NewMachine(table)
	jobs = soonest(jobs, cfg.Serial)
	b, err := bound.Runtime(cfg.Nodes, without(jobs, func(j *workload.Job) bool { return machine.CanEverRun(&j.Request) != nil }))
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(b)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		name    string
		seconds float64
	}{{"cores", b.Cores}, {"GPUs", b.GPUs}, {"longest job", b.Longest}, {"nodes", b.Nodes}} {
		fmt.Fprintf(t, "%s\tat least %.2f h\n", line.name, line.seconds/3600)
	}
	return t.Flush()
}

// soonest are jobs of which the malleable ones are as short as they can be on any of their numbers
// of nodes, and as little work: what bounds the runtime of these bounds that of the malleable ones.
func soonest(jobs []workload.Job, serial int) []workload.Job {
	out := slices.Clone(jobs)
	for i := range out {
		j := &out[i]
		if j.Span == (workload.Span{}) {
			continue
		}
		n := j.Cores
		if j.TasksPerNode > 0 {
			n = max(j.MinNodes, 1)
		}
		least := float64(j.Span.Least) / crews.Speed(j.Span.Least, serial) / float64(n)
		j.Duration = int64(float64(min(j.Duration, j.TimeLimit)) * crews.Speed(n, serial) * min(1/crews.Speed(j.Span.Most, serial), least))
	}
	return out
}
