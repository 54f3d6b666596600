// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"io"
	"slices"
)

// printed is what simulate prints as JSON.
type printed struct {
	*ran
	// RuntimeBound is what no policy can undercut on the jobs that ran; 0 if that is not known.
	RuntimeBound float64 `json:"runtime_bound_s,omitempty"`
	Seed         uint64  `json:"seed"`
}

// print prints the runs as JSON, an object a line, as CSV, or as a table with a row for each figure.
func (f *Flags) print(out io.Writer, s *study, runs [][]*ran) error {
	all := slices.Concat(runs...)
	object := func(r *ran) any { return printed{r, r.bound, r.seed} }
	switch {
	case f.JSON:
		return PrintJSON(out, all, object)
	case f.csv:
		return writeCSV(out, all, object)
	}
	t := Table[*ran]{Rows: rows(all), Same: !s.drawn(), Draws: s.trace != nil}
	for i, v := range s.variants {
		t.Columns = append(t.Columns, Column[*ran]{v.short(), runs[i]})
	}
	return t.Write(out, f.markdown)
}

// rows are the figures that a table of these runs has.
func rows(all []*ran) []Row[*ran] {
	some := func(is func(*ran) bool) bool { return slices.ContainsFunc(all, is) }
	first := all[0]
	list := []Row[*ran]{{Name: "jobs run", Value: func(r *ran) float64 { return float64(r.Jobs) }, Alone: true}}
	add := func(more ...Row[*ran]) { list = append(list, more...) }
	add(Row[*ran]{Name: "jobs that could not run", Value: func(r *ran) float64 { return float64(len(r.Unrun)) }, Alone: true},
		Row[*ran]{Name: "runtime", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return float64(r.Runtime) }},
		Row[*ran]{Name: "· theoretical", Unit: Seconds, Value: func(r *ran) float64 { return r.TheoreticalRuntime }, Alone: true})
	if first.bound > 0 {
		add(Row[*ran]{Name: "· at least", Unit: Seconds, Value: func(r *ran) float64 { return r.bound }, Alone: true})
	}
	add(Row[*ran]{Name: "CPU use", Unit: Share, Good: 1, Value: func(r *ran) float64 { return r.CPUUtilization }},
		Row[*ran]{Name: "· until the last comes", Unit: Share, Good: 1, Value: func(r *ran) float64 { return r.CPUUtilizationLoaded }})
	if first.GPUQueue != nil {
		add(Row[*ran]{Name: "GPU use", Unit: Share, Good: 1, Value: func(r *ran) float64 { return r.GPUUtilization }},
			Row[*ran]{Name: "· until the last comes", Unit: Share, Good: 1, Value: func(r *ran) float64 { return r.GPUUtilizationLoaded }})
	}
	add(waitRows(some(func(r *ran) bool { return r.UserWorst > 0 }))...)
	add(Row[*ran]{Name: "fragmentation", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.FragmentationMean }},
		Row[*ran]{Name: "· std. deviation", Digits: 2, Value: func(r *ran) float64 { return r.FragmentationStd }, Alone: true},
		Row[*ran]{Name: "spread", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.SpreadMean }},
		Row[*ran]{Name: "· std. deviation", Digits: 2, Value: func(r *ran) float64 { return r.SpreadStd }, Alone: true},
		Row[*ran]{Name: "packing factor", Digits: 3, Good: -1, Value: func(r *ran) float64 { return r.PackingFactorMean }})
	add(extraRows(first)...)
	add(Row[*ran]{Name: "cycles", Value: func(r *ran) float64 { return float64(r.Cycles) }, Alone: true},
		Row[*ran]{Name: "· median", Unit: Milliseconds, Value: func(r *ran) float64 { return r.CycleMsP50 }, Alone: true},
		Row[*ran]{Name: "· p99", Unit: Milliseconds, Value: func(r *ran) float64 { return r.CycleMsP99 }, Alone: true},
		Row[*ran]{Name: "· longest", Unit: Milliseconds, Value: func(r *ran) float64 { return r.CycleMsMax }, Alone: true})
	return list
}

// waitRows are the rows of waits and slowdowns; that of users only where jobs name them.
func waitRows(users bool) []Row[*ran] {
	list := []Row[*ran]{
		{Name: "wait, mean", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.WaitMean }},
		{Name: "· std. deviation", Unit: Seconds, Value: func(r *ran) float64 { return r.WaitStd }, Alone: true},
		{Name: "· median", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.Median }},
		{Name: "· p95", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.P95 }},
		{Name: "· longest", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.Max }},
		{Name: "· weighted by area", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.AreaWeighted }},
		{Name: "· of the widest 10%", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.Widest10 }},
	}
	if users {
		list = append(list, Row[*ran]{Name: "· of the worst user", Unit: Seconds, Good: -1,
			Value: func(r *ran) float64 { return r.UserWorst }})
	}
	return append(list,
		Row[*ran]{Name: "slowdown, mean", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.SlowdownMean }},
		Row[*ran]{Name: "· std. deviation", Digits: 2, Value: func(r *ran) float64 { return r.SlowdownStd }, Alone: true},
		Row[*ran]{Name: "· bounded", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.BoundedSlowdown }})
}

// extraRows are the rows of what only some simulations have, as the first run says.
func extraRows(first *ran) (list []Row[*ran]) {
	if first.Leaves != nil {
		list = append(list,
			Row[*ran]{Name: "leaf switches of a job", Digits: 3, Good: -1, Value: func(r *ran) float64 { return r.Leaves.Mean }},
			Row[*ran]{Name: "· of several nodes", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.Leaves.WideMean }},
			Row[*ran]{Name: "· below the fewest", Unit: Share, Good: 1,
				Value: func(r *ran) float64 { return float64(r.Leaves.Whole) / float64(max(r.Leaves.Wide, 1)) }})
	}
	if first.GPUQueue != nil {
		list = append(list,
			Row[*ran]{Name: "GPUs idle, jobs waiting", Unit: Share, Good: -1, Value: func(r *ran) float64 { return r.GPUQueue.Idle }},
			Row[*ran]{Name: "· stranded", Unit: Share, Good: -1, Value: func(r *ran) float64 { return r.GPUQueue.Stranded }},
			Row[*ran]{Name: "· for so long", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return float64(r.GPUQueue.Seconds) }},
			Row[*ran]{Name: "· stranded GPU hours", Digits: 1, Good: -1, Value: func(r *ran) float64 { return *r.StrandedGPUHours }})
	}
	if first.Files != nil {
		list = append(list,
			Row[*ran]{Name: "files loaded", Good: -1, Value: func(r *ran) float64 { return float64(r.Files.Loads) }},
			Row[*ran]{Name: "· time of transfer", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return float64(r.Files.Seconds) }},
			Row[*ran]{Name: "· jobs on holders", Unit: Share, Good: 1,
				Value: func(r *ran) float64 { return float64(r.Files.Held) / float64(max(r.Files.Jobs, 1)) }},
			Row[*ran]{Name: "· waited for files", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return float64(r.Files.Waiting) }},
			Row[*ran]{Name: "stretch, mean", Digits: 2, Good: -1, Value: func(r *ran) float64 { return r.Files.StretchMean }},
			Row[*ran]{Name: "· std. deviation", Digits: 2, Value: func(r *ran) float64 { return r.Files.StretchStd }, Alone: true})
	}
	if first.Crews != nil {
		list = append(list,
			Row[*ran]{Name: "malleable jobs", Value: func(r *ran) float64 { return float64(r.Crews.Jobs) }, Alone: true},
			Row[*ran]{Name: "· companions", Value: func(r *ran) float64 { return float64(r.Crews.Companions) }},
			Row[*ran]{Name: "· of these preempted", Value: func(r *ran) float64 { return float64(r.Crews.Preempted) }},
			Row[*ran]{Name: "· changes of nodes", Value: func(r *ran) float64 { return float64(r.Crews.Changes) }},
			Row[*ran]{Name: "· node hours", Value: func(r *ran) float64 { return float64(r.Crews.Held) / 3600 }},
			Row[*ran]{Name: "· of these lost", Unit: Share, Good: -1,
				Value: func(r *ran) float64 { return float64(r.Crews.Lost) / float64(max(r.Crews.Held, 1)) }},
			Row[*ran]{Name: "· wait, malleable", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.Crews.Malleable.Wait }},
			Row[*ran]{Name: "· wait, rigid", Unit: Seconds, Good: -1, Value: func(r *ran) float64 { return r.Crews.Rigid.Wait }},
			Row[*ran]{Name: "· turnaround, malleable", Unit: Seconds, Good: -1,
				Value: func(r *ran) float64 { return r.Crews.Malleable.Turnaround }},
			Row[*ran]{Name: "· turnaround, rigid", Unit: Seconds, Good: -1,
				Value: func(r *ran) float64 { return r.Crews.Rigid.Turnaround }})
	}
	return list
}
