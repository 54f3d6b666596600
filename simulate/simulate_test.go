// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/nodeset"
)

func machine(n int) []nodeset.Capacity {
	nodes := make([]nodeset.Capacity, n)
	for i := range nodes {
		nodes[i] = nodeset.Capacity{Cores: 8, GPUs: 2}
	}
	return nodes
}

// It is what the command simulates.
func TestRunIsTheSimulators(t *testing.T) {
	w, err := generate.Generate("gen:lublin-80", machine(64), 3)
	require.NoError(t, err)
	var jobs []Job
	for _, j := range w.Jobs[:80] {
		job := j.Job
		job.Priority = 0
		jobs = append(jobs, Job{Job: job, Submit: j.Submit, Duration: j.Duration, User: j.User})
	}
	require.Less(t, jobs[39].Submit, jobs[40].Submit)
	jobs = append(jobs[40:], jobs[:40]...) // the order does not matter, but of jobs that come together
	easy, err := EASY("f1")
	require.NoError(t, err)
	got, ran, err := Run(context.Background(), jobs, easy, Options{Nodes: machine(64), Interval: 7, Seed: 5})
	require.NoError(t, err)

	o := sim.DefaultList()
	o.Behind = sim.F1
	list, err := sim.NewList(o)
	require.NoError(t, err)
	cfg := sim.NewConfig(machine(64))
	cfg.Interval, cfg.Seed = 7, 5
	starts := make(map[string]int64)
	cfg.OnEnd = func(r sim.Record) { starts[r.Job.ID] = r.Start }
	want, err := sim.Run(context.Background(), cfg, list, w.Jobs[:80])
	require.NoError(t, err)
	text, err := json.Marshal(want) // the figures by the names of the simulator's JSON
	require.NoError(t, err)
	var figures map[string]float64
	_ = json.Unmarshal(text, &figures)
	value := reflect.ValueOf(*got)
	for i := range value.NumField() {
		if field := value.Type().Field(i); field.Name != "Unrun" {
			name := words.ReplaceAllStringFunc(field.Name, func(w string) string { return "_" + strings.ToLower(w) })[1:]
			if strings.Contains(name, "wait") || name == "runtime" {
				name += "_s"
			}
			require.Contains(t, figures, name)
			require.InDelta(t, figures[name], value.Field(i).Convert(reflect.TypeFor[float64]()).Float(), 1e-9, name)
		}
	}
	require.Len(t, ran, 80)
	for i, r := range ran {
		require.Equal(t, starts[jobs[i].ID], r.Start, jobs[i].ID)
		require.NotEmpty(t, r.Segs)
	}
}

var words = regexp.MustCompile(`CPU|GPU|[A-Z][a-z]*[0-9]*`)

func TestRunRefuses(t *testing.T) {
	job := Job{Job: core.Job{ID: "a", TimeLimit: 60, Request: bids.Request{Cores: 1}}, Duration: 60}
	nodes := Options{Nodes: machine(1)}
	_, _, err := Run(context.Background(), []Job{job, job}, Backfill(), nodes)
	require.ErrorContains(t, err, "job a: the ID is there twice")
	job.TimeLimit = 0
	_, _, err = Run(context.Background(), []Job{job}, Backfill(), nodes)
	require.ErrorContains(t, err, "job a: time_limit_s: 0")
	job.TimeLimit, job.Cores = 60, 99
	m, ran, err := Run(context.Background(), []Job{job}, Backfill(), nodes)
	require.NoError(t, err)
	require.Len(t, m.Unrun, 1)
	require.Contains(t, m.Unrun["a"], "99 cores")
	require.Equal(t, []Ran{{Start: -1}}, ran)
	_, _, err = Run(context.Background(), nil, Backfill(), nodes)
	require.ErrorContains(t, err, "no jobs")
	_, err = EASY("fastest")
	require.ErrorContains(t, err, `order "fastest" is unknown; known are [queue sjf saf f1 wfp3]`)
}
