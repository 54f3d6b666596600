// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/localitylog"
	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/test/race"
)

// inventedDays are figures that nobody measured: scheduler k has a stretch of 2 + kind - k/10
// on days of each kind.
func inventedDays(schedulers []scheduler) []dayFigures {
	var out []dayFigures
	for day := range 6 {
		for k, s := range schedulers {
			out = append(out, dayFigures{fmt.Sprint("day ", day), s.name, 100,
				2 + float64(day%3) - float64(k%6)/10, int64(1000 - 50*k), []float64{0, 0.2, 3}[day%3]})
		}
	}
	return out
}

func TestLocalityPage(t *testing.T) {
	o := localityOptions{data: "DIR", traces: "DIR", traceDays: 20, seeds: seedRange{101, 102}, tried: seedRange{1, 2}, shrink: 4}
	f := localityFigures{Options: o, Nodes: 121, Days: inventedDays(append(policiesOf(plainPolicies...), policiesOf(backfilled...)...)),
		Tried: inventedDays(append(policiesOf(plainPolicies...), triedRules...))}
	text, err := f.page()
	require.NoError(t, err)
	goldenPage(t, "locality.golden", text)
}

func TestLocalityRatios(t *testing.T) {
	r := localityRatios([]dayFigures{
		{"a", "fcfs", 10, 4, 100, 0}, {"a", "x", 10, 2, 50, 9}, {"b", "fcfs", 10, 3, 100, 0.6}, {"b", "x", 10, 12, 200, 0},
	}, "fcfs", "fcfs")
	require.Equal(t, []int{0, 2}, r.kinds, "the baseline says what kind a day is of")
	require.Equal(t, []float64{2, 0.25}, r.stretch["x"])
	require.Equal(t, []float64{0.5, 2}, r.transfer["x"])
	require.Equal(t, []float64{0.25}, r.of(r.stretch["x"], 2))
	require.InDelta(t, 0.7071, stats.Geometric(r.stretch["x"]), 1e-4)
	require.Equal(t,
		"x against the best of the others, in geometric means over the days of a kind: "+
			"- under-used days: at least as good as fcfs (2.000, 1.000) "+
			"- saturated days: on its one day worse than fcfs (0.250, 1.000)",
		inWords(t, r.verdict("x", []string{"fcfs"})))
	require.Equal(t, []float64{0, 0}, gains([]float64{1.004, 1}, []float64{1, 1.004}))
	require.Positive(t, gains([]float64{1.006}, []float64{1})[0])
}

func inWords(t *testing.T, v verdict) string {
	var b strings.Builder
	require.NoError(t, pageTexts.ExecuteTemplate(&b, "verdict", v))
	return strings.Join(strings.Fields(b.String()), " ")
}

// What days of a kind differ by is told with what chance would have it.
func TestLocalityVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		lead []float64
		want string
	}{
		"better": {[]float64{1.1, 1.2, 1.15}, "at least as good as b (1.149, 1.000; +14.9%, 95% interval +3.2 to +28.0)"},
		"worse":  {[]float64{0.9, 0.8, 0.85}, "worse than b (0.849, 1.000; -15.1%, 95% interval -26.7 to -1.7)"},
		"chance": {[]float64{1.3, 0.8, 0.9}, "worse, by no more than chance, than b (0.978, 1.000; -2.2%, 95% interval -47.9 to +83.5)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ratios{kinds: []int{0, 0, 0}, stretch: map[string][]float64{"lead": c.lead, "a": {0.5, 1, 1}, "b": {1, 1, 1}}}
			require.Equal(t, "lead against the best of the others, in geometric means over the days of a kind: - under-used days: "+c.want,
				inWords(t, r.verdict("lead", []string{"a", "b"})))
		})
	}
}

// smallLog is a log of three days on eight nodes, more of it than they can do at times.
func smallLog(t *testing.T) (dir string) {
	dir = t.TempDir()
	var cluster strings.Builder
	for n := range 8 {
		fmt.Fprintf(&cluster, "{ id: %d memory: 128 bandwidth: 0.1 core: 4 }\n", n)
	}
	var jobs []locality.Job
	for k := range 600 {
		user := k / 6 % 7
		jobs = append(jobs, locality.Job{ID: int64(k), Submit: int64(k/6*2600 + k%6),
			Duration: int64(600 + k%11*900), WallTime: 14400, Cores: 1 + user%4,
			User: fmt.Sprint("u", user), File: int64(1 + k/6), FileSize: 32 * float64(1+user%4), Class: locality.WarmUp})
	}
	var text bytes.Buffer
	require.NoError(t, localitylog.WriteWorkload(&text, jobs))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cluster_486x20.txt"), []byte(cluster.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "workload_2022-09-10.txt"), text.Bytes(), 0o600))
	return dir
}

// The command goes on with what it has kept, even if its last line was cut off, and writes the same
// page with any number of simulations at once.
func TestLocalityGoesOn(t *testing.T) {
	race.Slow(t)
	data, kept := smallLog(t), t.TempDir()
	measure := func(more ...string) (page, told string) {
		var out, errs bytes.Buffer
		args := append([]string{"locality", "-data", data, "-shrink", "1", "-seeds", "1-2", "-tried", "3"}, more...)
		require.NoError(t, run(context.Background(), args, &out, &errs))
		return out.String(), errs.String()
	}
	page, told := measure("-j", "3", "-dir", kept)
	simulated := 2*len(dayLoads)*12 + len(dayLoads)*(6+len(triedRules))
	require.Equal(t, simulated, strings.Count(told, "\n"))
	path := filepath.Join(kept, "locality.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)-20], 0o600))
	again, told := measure("-j", "1", "-dir", kept)
	require.Equal(t, page, again)
	require.Equal(t, 1, strings.Count(told, "\n"), "only what was cut off is simulated again")
	again, told = measure("-dir", kept)
	require.Equal(t, page, again)
	require.Empty(t, told)
	require.NoError(t, os.WriteFile(path, []byte("nonsense\n"), 0o600))
	require.ErrorContains(t, run(context.Background(), []string{"locality", "-data",
		data, "-shrink", "1", "-seeds", "1", "-dir", kept}, new(bytes.Buffer), new(bytes.Buffer)),
		"locality.jsonl: after byte 0")
}

// The page has the schedulers of the first nearly saturated day, the plot all days.
func TestLocalityPictures(t *testing.T) {
	dir := t.TempDir()
	html, svg := filepath.Join(dir, "page.html"), filepath.Join(dir, "plot.svg")
	var out, errs bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"locality", "-data", smallLog(t),
		"-shrink", "1", "-seeds", "1", "-html", html, "-plot", svg}, &out, &errs))
	text, err := os.ReadFile(html)
	require.NoError(t, err)
	require.Contains(t, string(text), "fcfs, eft, lea, leo, lem, lead on log")
	text, err = os.ReadFile(svg)
	require.NoError(t, err)
	require.Contains(t, string(text), ">lead</text>")
}

func TestCutDay(t *testing.T) {
	var jobs []locality.Job
	for day := range 9 {
		jobs = append(jobs, locality.Job{ID: int64(day), Submit: int64(day * daySeconds)})
	}
	cut, evaluated := cutDay(jobs, 4*daySeconds)
	require.Equal(t, 1, evaluated)
	var got []int
	for _, j := range cut {
		got = append(got, int(j.ID), int(j.Class))
	}
	require.Equal(t, []int{1, 0, 2, 0, 3, 0, 4, 1, 5, 2}, got)
}

// One core of four is asked for during half of the evaluated time.
func TestQueueMeter(t *testing.T) {
	jobs := []locality.Job{{Submit: 50, Cores: 1, Class: locality.WarmUp},
		{Submit: 100, Cores: 2, Class: locality.Evaluated}, {Submit: 200, Cores: 2, Class: locality.Evaluated}}
	q := newQueueMeter([]locality.Node{{Cores: 3}, {Cores: 1}}, jobs)
	q.start(locality.Start{Job: 0, At: 150})
	q.start(locality.Start{Job: 1, At: 100})
	q.start(locality.Start{Job: 2, At: 300})
	require.InDelta(t, 0.125, q.mean(), 1e-12)
}
