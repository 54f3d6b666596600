// SPDX-License-Identifier: BSD-3-Clause

package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/test/clitest"
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
	p := New("w", nodes, jobs)
	for _, name := range policies {
		log := new(report.Log)
		r, err := locality.Simulate(t.Context(), nodes, jobs, locality.Options{Policy: name, OnStart: p.Listen(log)})
		require.NoError(t, err)
		p.Add(r, log)
	}
	return p
}

// The data are those of the simulation: job 1 has its node until 1100, for its 10 s of load that
// the log did not show, job 2 the other one, and jobs 3 and 4 follow.
func TestPage(t *testing.T) {
	p := localityPage(t, "fcfs", "lea")
	require.Equal(t, report.Figure{Name: "Jobs", Meaning: "that count", Value: "2"}, p.Runs[0].Figures[0])
	var out strings.Builder
	require.NoError(t, p.Write(&out))
	for _, want := range []string{`"Window":[10,21]`, `"Submit":[0,0,10,20,4000]`, `"Job":[0,1,2,3]`, `"Start":[0,0,100,110]`,
		`"Segs":[0,1,2,1,1,2,0,1,2,1,1,2]`, `"Loading":[1`, "Job by job"} {
		require.Contains(t, out.String(), want)
	}
	clitest.Browse(t, map[string]string{"locality": out.String()})
}
