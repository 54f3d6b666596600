// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
)

// metric is a line of the page's table, a value for each run.
type metric struct {
	Name, Meaning string
	Values        []string
}

func (p *Page) metrics() []metric {
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
	var out []metric
	if len(p.Runs) > 0 && p.Runs[0].Figures != nil {
		return p.figures()
	}
	add := func(name, meaning string, value func(r *sim.Result) string) {
		m := metric{Name: name, Meaning: meaning}
		for i := range p.Runs {
			m.Values = append(m.Values, value(p.Runs[i].Result))
		}
		out = append(out, m)
	}
	add("Jobs", "that ran", func(r *sim.Result) string { return fmt.Sprint(r.Jobs) })
	if slices.ContainsFunc(p.Runs, func(r Run) bool { return len(r.Result.Unrun) > 0 }) {
		add("Unrun jobs", "that could not run", func(r *sim.Result) string { return fmt.Sprint(len(r.Unrun)) })
	}
	add("Runtime", "first submission to last end", func(r *sim.Result) string { return span(float64(r.Runtime)) })
	if m := p.bounds(); m != nil {
		out = append(out, *m)
	}
	add("Utilisation of cores", "core time asked for, of all core time",
		func(r *sim.Result) string { return percent(r.CPUUtilization) })
	_, gpus := total(p.Nodes)
	if gpus > 0 {
		add("Utilisation of GPUs", "GPU time allocated, of all GPU time",
			func(r *sim.Result) string { return percent(r.GPUUtilization) })
	}
	loaded := "until the last submission, without the tail of the workload"
	add("Utilisation of cores", loaded, func(r *sim.Result) string { return percent(r.CPUUtilizationLoaded) })
	if gpus > 0 {
		add("Utilisation of GPUs", loaded, func(r *sim.Result) string { return percent(r.GPUUtilizationLoaded) })
	}
	add("Mean wait", "submission to start", func(r *sim.Result) string { return span(r.WaitMean) })
	add("Standard deviation", "of the waits of jobs", func(r *sim.Result) string { return span(r.WaitStd) })
	add("Median wait", "", func(r *sim.Result) string { return span(r.Median) })
	add("p95 wait", "95% of the jobs wait no longer", func(r *sim.Result) string { return span(r.P95) })
	add("Longest wait", "", func(r *sim.Result) string { return span(r.Max) })
	add("Weighted wait", "mean weighted by width and run time; width: share of the cores or GPUs, the greater",
		func(r *sim.Result) string { return span(r.AreaWeighted) })
	add("Wait of wide jobs", "mean of the widest tenth", func(r *sim.Result) string { return span(r.Widest10) })
	add("Slowdown", "wait and run time, over run time",
		func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f", r.SlowdownMean, r.SlowdownStd) })
	add("Bounded slowdown", "the same, but at least 1, over at least 10 s",
		func(r *sim.Result) string { return fmt.Sprintf("%.2f", r.BoundedSlowdown) })
	add("Longest queue", "jobs waiting at once", func(r *sim.Result) string { return fmt.Sprint(r.PendingMax) })
	add("Fragmentation", "blocks of consecutive nodes a job has", func(r *sim.Result) string {
		return fmt.Sprintf("%.2f ± %.2f", r.FragmentationMean, r.FragmentationStd)
	})
	add("Spread", "from a job's first node to its last, over its nodes",
		func(r *sim.Result) string { return fmt.Sprintf("%.2f ± %.2f", r.SpreadMean, r.SpreadStd) })
	add("Packing factor", "a job's nodes, over the fewest that could have done",
		func(r *sim.Result) string { return fmt.Sprintf("%.3f", r.PackingFactorMean) })
	add("Scheduling cycles", "how often the policy decided", func(r *sim.Result) string { return fmt.Sprint(r.Cycles) })
	ms := func(v float64) string { return fmt.Sprintf("%.2f ms", v) }
	add("Median cycle", "wall clock", func(r *sim.Result) string { return ms(r.CycleMsP50) })
	add("p99 cycle", "wall clock", func(r *sim.Result) string { return ms(r.CycleMsP99) })
	add("Longest cycle", "wall clock", func(r *sim.Result) string { return ms(r.CycleMsMax) })
	return out
}

// span is a number of seconds, finer than [cli.Seconds] as runs are compared by it.
func span(s float64) string {
	if s >= 3600 {
		return fmt.Sprintf("%.2f h", s/3600)
	}
	return cli.Seconds(s)
}

// figures are the lines that the runs bring with them.
func (p *Page) figures() []metric {
	var out []metric
	for k, f := range p.Runs[0].Figures {
		m := metric{Name: f.Name, Meaning: f.Meaning}
		for i := range p.Runs {
			m.Values = append(m.Values, p.Runs[i].Figures[k].Value)
		}
		out = append(out, m)
	}
	return out
}

// bounds is the line of the least possible runtimes; nil if none is known.
func (p *Page) bounds() *metric {
	m, known := &metric{Name: "Least runtime possible", Meaning: "for the jobs that ran, under whatever policy (a lower bound)"}, false
	for i := range p.Runs {
		b := p.Runs[i].Bound
		known = known || b > 0
		m.Values = append(m.Values, span(b))
	}
	if !known {
		return nil
	}
	return m
}

// unrun counts the jobs that did not run, for the first maxReasons reasons of each policy.
func (p *Page) unrun() []unrunLine {
	var out []unrunLine
	for i := range p.Runs {
		r := p.Runs[i].Result
		line := make(map[string]int) // of out, by reason
		for _, u := range r.Unrun {
			k, ok := line[u.Reason]
			if !ok {
				if len(line) == maxReasons {
					continue
				}
				k = len(out)
				line[u.Reason] = k
				out = append(out, unrunLine{Policy: r.Policy, Reason: u.Reason, First: u.ID})
			}
			out[k].Jobs++
		}
	}
	return out
}

// maxReasons bounds the lines of a policy about jobs that did not run.
const maxReasons = 10

// unrunLine counts jobs that did not run for one reason.
type unrunLine struct {
	Policy, Reason, First string
	Jobs                  int
}
