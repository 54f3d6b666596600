// SPDX-License-Identifier: BSD-3-Clause

// Package page shows runs of locality-aware schedulers as a page of report.
package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Page is a page of locality-aware schedulers on one workload. The jobs that count are
// those submitted while evaluated ones are, and the time begins with the first job of class WarmUp:
// jobs that wait or run by then count as submitted then.
type Page struct {
	report.Page
	begin int64
}

// New makes a page without runs. name is the workload's.
func New(name string, nodes []locality.Node, jobs []locality.Job) *Page {
	p := &Page{begin: begin(jobs)}
	p.Workload = &workload.Workload{Name: name, Jobs: make([]workload.Job, len(jobs))}
	all := true
	for i := range jobs {
		j := &jobs[i]
		id := strconv.FormatInt(j.ID, 10)
		p.Workload.Jobs[i] = workload.Job{Job: core.Job{ID: id, Request: bids.Request{Cores: j.Cores},
			TimeLimit: j.WallTime}, Submit: p.submit(j), Duration: j.Duration, User: j.User}
		if j.Class != locality.Evaluated {
			all = false
			continue
		}
		if p.To == 0 {
			p.From = p.submit(j)
		}
		p.To = max(p.To, p.submit(j)+1)
	}
	if all {
		p.From, p.To = 0, 0
	}
	for i := range nodes {
		p.Nodes = append(p.Nodes, nodeset.Capacity{Cores: uint16(nodes[i].Cores)})
	}
	return p
}

// begin is when the simulation does.
func begin(jobs []locality.Job) int64 {
	if i := slices.IndexFunc(jobs, func(j locality.Job) bool { return j.Class == locality.WarmUp }); i >= 0 {
		return jobs[i].Submit
	}
	return 0
}

func (p *Page) submit(j *locality.Job) int64 {
	if j.Class < locality.WarmUp {
		return max(j.Submit, p.begin)
	}
	return j.Submit
}

// Listen is what to set as a simulation's OnStart so that log hears of its jobs.
func (p *Page) Listen(log *report.Log) func(locality.Start) {
	return func(s locality.Start) {
		j := &p.Workload.Jobs[s.Job]
		log.Add(sim.Record{Job: j, Submit: j.Submit, Start: s.At, End: s.End, Loading: min(s.Transfer+s.LoadWait, s.End-s.At),
			Segs: []nodeset.Segment{{First: int32(s.Node), Last: int32(s.Node), Cores: uint16(len(s.Cores))}}})
	}
}

// Add puts a run and its log on the page.
func (p *Page) Add(r *locality.Result, log *report.Log) {
	hours := func(s float64) string { return fmt.Sprintf("%.2f h", s/3600) }
	figure := func(name, meaning, value string) report.Figure {
		return report.Figure{Name: name, Meaning: meaning, Value: value}
	}
	p.Runs = append(p.Runs, report.Run{Result: &sim.Result{Policy: r.Policy, Jobs: log.Len()}, Log: log, Figures: []report.Figure{
		figure("Jobs", "that count", strconv.Itoa(r.Jobs)),
		figure("Stretch", "from submission to end, over what that would be on an empty cluster: mean, most",
			fmt.Sprintf("%.3f, %.1f", r.StretchMean, r.StretchMax)),
		figure("Wait", "submission to start: mean, most", fmt.Sprintf("%s, %s", hours(r.QueueMean), hours(float64(r.QueueMax)))),
		figure("Loads of files", "time that jobs spent loading", hours(float64(r.Transfer))),
		figure("Waits for loads", "time that jobs waited for another's load", hours(float64(r.LoadWait))),
		figure("Files reused", "jobs that found their file in memory, or on its way", strconv.Itoa(r.Reused)),
		figure("Utilisation of cores",
			"work of the jobs that count, of all core time from their first submission to their last end",
			fmt.Sprintf("%.1f%%", 100*r.CPUUtilization)),
	}})
}
