// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/locality"
)

// localityPage has four jobs of one file of 10 s on two nodes: one that runs at first, one that
// warms up, two that count.
func localityPage(t *testing.T, policies ...string) *Page {
	nodes := []locality.Node{{ID: 0, Memory: 128, Bandwidth: 0.1, Cores: 2}, {ID: 1, Memory: 128, Bandwidth: 0.1, Cores: 2}}
	job := func(id, submit int64, class locality.Class) locality.Job {
		return locality.Job{ID: id, Submit: submit, Duration: 100, WallTime: 200,
			Cores: 2, User: "u", File: 1, FileSize: 1, Class: class, Started: 990, StartNode: 1}
	}
	jobs := []locality.Job{job(1, 50, locality.Running), job(2, 1000, locality.WarmUp),
		job(3, 1010, locality.Evaluated), job(4, 1020, locality.Evaluated), job(5, 5000, locality.Pressure)}
	p := NewLocalityPage("w", nodes, jobs)
	for _, name := range policies {
		log := new(Log)
		r, err := locality.Simulate(t.Context(), nodes, jobs, locality.Options{Policy: name, OnStart: p.Listen(log)})
		require.NoError(t, err)
		p.Add(r, log)
	}
	return &p.Page
}

// The data are those of the simulation: job 1 has its node until 1100, for its 10 s of load that
// the log did not show, job 2 the other one, and jobs 3 and 4 follow.
func TestLocalityPage(t *testing.T) {
	p := localityPage(t, "fcfs", "lea")
	d := p.data()
	require.Equal(t, []int64{10, 21}, d.Window, "the time begins with job 2")
	require.Equal(t, []int64{0, 0, 10, 20, 4000}, d.Jobs.Submit)
	run := d.Runs[0]
	require.Equal(t, []int{0, 1, 2, 3}, run.Job)
	require.Equal(t, []int64{0, 0, 100, 110}, run.Start)
	require.Equal(t, []int{0, 1, 2, 1, 1, 2, 0, 1, 2, 1, 1, 2}, run.Segs)
	require.Equal(t, []float64{1, 1, 0, 1}, []float64{run.CPU[0], run.Loading[0], run.Loading[10], run.Asked[20]})
	require.Equal(t, []string{"Jobs", "Stretch", "Wait"}, []string{p.metrics()[0].Name, p.metrics()[1].Name, p.metrics()[2].Name})
	require.Equal(t, []string{"2", "2"}, p.metrics()[0].Values)
	require.Len(t, d.Share, 2)
	require.Equal(t, 2, len(slices.DeleteFunc(d.Share[1], func(v float64) bool { return v == 0 })), "two jobs count")
	var out strings.Builder
	require.NoError(t, p.Write(&out))
	require.Contains(t, out.String(), "Job by job")
	require.NotContains(t, out.String(), "Over workloads")
}

func TestLocalityPageInBrowser(t *testing.T) {
	dom := browse(t, localityPage(t, "fcfs", "lea", "lead"),
		`<script>document.title = errors + " errors, " + document.querySelectorAll("#shares circle").length + " circles";</script>`)
	require.Contains(t, dom, "<title>0 errors, 4 circles</title>")
}
