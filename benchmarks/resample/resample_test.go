// SPDX-License-Identifier: BSD-3-Clause

package resample

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/benchmarks/locality"
)

var cluster = []locality.Node{{ID: 0, Memory: 128, Bandwidth: 0.1, Cores: 4}, {ID: 1, Memory: 128, Bandwidth: 0.1, Cores: 4}}

// drawLog draws the jobs of three users over two days, with files of their own as section 5.1 gives
// them. The duration of a job tells it from all others.
func drawLog(t *rapid.T) []locality.Job {
	var jobs []locality.Job
	add := func(class locality.Class, submit int64) {
		user, cores := rapid.IntRange(0, 2).Draw(t, "user"), rapid.IntRange(1, 4).Draw(t, "cores")
		n := int64(len(jobs) + 1)
		jobs = append(jobs, locality.Job{ID: n, Submit: submit, Duration: n, WallTime: 1000,
			Cores: cores, User: fmt.Sprint("u", user), Class: class, FileSize: float64(cores)})
	}
	for range rapid.IntRange(0, 4).Draw(t, "running") {
		add(locality.Running, rapid.Int64Range(0, 999).Draw(t, "submit"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "queued") {
		add(locality.Queued, rapid.Int64Range(0, 999).Draw(t, "submit"))
	}
	at := int64(1000)
	for range rapid.IntRange(1, 40).Draw(t, "jobs") {
		add(locality.WarmUp, at)
		at += rapid.SampledFrom([]int64{0, 5, 700, 3000}).Draw(t, "gap")
	}
	type key struct {
		user  string
		cores int
	}
	last := map[key]int{}
	for i := range jobs {
		j := &jobs[i]
		k := key{j.User, j.Cores}
		if p, ok := last[k]; ok && j.Submit >= jobs[p].Submit && j.Submit-jobs[p].Submit <= Gap {
			j.File = jobs[p].File
		} else {
			j.File = int64(i + 1)
		}
		last[k] = i
	}
	return jobs
}

func drawOptions(t *rapid.T) Options {
	return Options{Load: rapid.SampledFrom([]float64{0.3, 0.7, 1, 1.6, 3}).Draw(t, "load"),
		Scale: rapid.SampledFrom([]float64{0.3, 1}).Draw(t, "scale"),
		From:  rapid.Int64Range(0, 5000).Draw(t, "from"), Window: rapid.Int64Range(1, 20000).Draw(t, "window"),
		Spread: rapid.SampledFrom([]int64{0, 600}).Draw(t, "spread"), Seed: rapid.Uint64().Draw(t, "seed")}
}

// Jobs of a day share a file exactly if they did in the log and are of one copy of their session;
// but for their number, their file's and user's names, class, first node and a common shift they
// are those of the log.
func TestDayKeepsSharing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, o := drawLog(t), drawOptions(t)
		before := slices.Clone(log)
		day, err := Day(cluster, log, o)
		require.Equal(t, before, log, "the log is left alone")
		if err != nil {
			require.ErrorIs(t, err, locality.ErrNothingEvaluated)
			return
		}
		shift := map[string]int64{} // of each copy of a session, found by its file
		for i, j := range day {
			was := log[j.Duration-1]
			require.Equal(t, int64(i+1), j.ID)
			require.Equal(t, was.User, j.User[:2])
			require.Equal(t, []any{was.Cores, was.WallTime, was.FileSize}, []any{j.Cores, j.WallTime, j.FileSize})
			key := fmt.Sprint(j.File)
			if was.Class < locality.WarmUp {
				require.Equal(t, was.Submit, j.Submit)
				require.Equal(t, was.Class, j.Class)
				continue
			}
			if s, ok := shift[key]; ok {
				require.Equal(t, s, j.Submit-was.Submit)
			}
			shift[key] = j.Submit - was.Submit
			require.LessOrEqual(t, max(shift[key], -shift[key]), o.Spread)
			want := locality.WarmUp
			if j.Submit >= 1000+o.From {
				want = locality.Evaluated
			}
			if j.Submit >= 1000+o.From+o.Window {
				want = locality.Pressure
			}
			require.Equal(t, want, j.Class)
		}
		for i, a := range day {
			for _, b := range day[:i] {
				shared := log[a.Duration-1].File == log[b.Duration-1].File
				require.Equal(t, shared && a.User == b.User, a.File == b.File, "jobs %d and %d", a.ID, b.ID)
			}
		}
	})
}

// The same input gives the same day, and more load the same sessions and more.
func TestDayRepeatsAndGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, o := drawLog(t), drawOptions(t)
		o.From, o.Window, o.Scale = 0, 1<<30, 1
		day, err := Day(cluster, log, o)
		again, errAgain := Day(cluster, log, o)
		require.Equal(t, err, errAgain)
		require.Equal(t, day, again)
		o.Load += rapid.Float64Range(0, 2).Draw(t, "more")
		more, _ := Day(cluster, log, o)
		copies := map[int64]int{}
		for _, j := range more {
			copies[j.Duration]++
		}
		for _, j := range day {
			copies[j.Duration]--
		}
		for id, n := range copies {
			require.GreaterOrEqual(t, n, 0, "job %d", id)
		}
	})
}

// A load of 1 keeps each session once, a whole scale each job: the day is the log, but for
// running jobs' nodes.
func TestDayOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		day, err := Day(cluster, log, Options{Load: 1, Scale: 1, Window: 1 << 30, Seed: 3})
		require.NoError(t, err)
		require.Len(t, day, len(log))
		at := [2]int{}
		for _, j := range day {
			require.Equal(t, log[j.Duration-1].File, j.File)
			if j.StartNode > 0 {
				at[j.StartNode-1] += j.Cores
			}
		}
		require.LessOrEqual(t, max(at[0], at[1]), 4, "running jobs have cores of their own")
		_, err = locality.Simulate(context.Background(), cluster, day, locality.Options{Policy: "lea"})
		require.NoError(t, err)
	})
}

// A scale keeps its share of a session, which here is all jobs.
func TestScale(t *testing.T) {
	var log []locality.Job
	for i := range 400 {
		log = append(log, locality.Job{ID: int64(i), Submit: 100, Duration: 1, WallTime: 2,
			Cores: 1, User: "u", File: int64(1 + i%7), FileSize: 1})
	}
	day, err := Day(cluster, log, Options{Load: 1, Scale: 0.25, Window: 10, Seed: 1})
	require.NoError(t, err)
	require.Len(t, day, 100)
}

func TestSessions(t *testing.T) {
	job := func(user string, submit, file int64) locality.Job {
		return locality.Job{User: user, Submit: submit, File: file}
	}
	log := []locality.Job{job("a", 0, 1), job("b", 10, 2), job("a", 800, 3), job("a", 1601, 4),
		job("b", 5000, 2), job("a", 9000, 0), job("b", 9000, 0)}
	require.Equal(t, [][]locality.Job{{log[0], log[2]}, {log[1], log[4]}, {log[3]}, {log[5]}, {log[6]}}, sessions(log),
		"by gaps of more than 800 s, but not through a file; no file is no bond")
}

func TestFaults(t *testing.T) {
	log := []locality.Job{{ID: 1, Submit: 5, Duration: 1, WallTime: 1, Cores: 1, User: "u"}}
	good := Options{Load: 1, Scale: 1, Window: 10}
	_, err := Day(cluster, log, good)
	require.NoError(t, err)
	for want, change := range map[string]func(o *Options){
		"load: 0: must be above 0 and at most 100": func(o *Options) { o.Load = 0 },
		"load: 101: must be above 0":               func(o *Options) { o.Load = 101 },
		"scale: 1.5: must be above 0":              func(o *Options) { o.Scale = 1.5 },
		"from: -1: must be in 0..":                 func(o *Options) { o.From = -1 },
		"window: 0: must be in 1..":                func(o *Options) { o.Window = 0 },
		"spread: -1: must be in 0..":               func(o *Options) { o.Spread = -1 },
		"no job of class 1":                        func(o *Options) { o.From = 1 },
	} {
		o := good
		change(&o)
		_, err := Day(cluster, log, o)
		require.ErrorContains(t, err, want)
	}
	log[0].Class = locality.Evaluated
	_, err = Day(cluster, log, good)
	require.ErrorContains(t, err, "no job of class 0, with which the day would begin")
}
