// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// yearLimit ends a run of BenchmarkYear that takes longer.
const yearLimit = 5 * time.Minute

// BenchmarkYear is a year's log, 500 thousand jobs, on the authors' 486 nodes, and as many on 10000
// nodes in a twentieth of the time, at loads below and above what the cluster can do.
// AUCSCHED_LOCALITY_JOBS asks for another number of jobs.
func BenchmarkYear(b *testing.B) {
	count := 500_000
	if s := os.Getenv("AUCSCHED_LOCALITY_JOBS"); s != "" {
		_, err := fmt.Sscan(s, &count)
		require.NoError(b, err)
	}
	for _, n := range []int{486, 10000} {
		for _, percent := range []int{80, 95, 105} {
			for _, p := range Policies() {
				b.Run(fmt.Sprintf("%d/%d%%/%v", n, percent, p), func(b *testing.B) {
					simulateWithin(b, yearLimit, n, count, percent, p)
				})
			}
		}
	}
}

// simulateWithin runs a simulation, and reports its time and the heap it needs
// beside the list of jobs.
func simulateWithin(b *testing.B, limit time.Duration, n, count, percent int, p string) {
	nodes, jobs := repeated(b, n, count, float64(percent)/100)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := processorSeconds(b)
	var quarters quarters
	for b.Loop() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		quarters = newQuarters(b, count)
		got, err := Simulate(ctx, nodes, jobs, Options{Policy: p, OnStart: quarters.started})
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			b.Skipf("more than %v", limit)
		}
		require.NoError(b, err)
		b.ReportMetric(got.QueueMean/3600, "wait-h")
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric((processorSeconds(b)-used)/float64(b.N), "cpu-s")
	quarters.report()
	b.ReportMetric(float64(after.Sys)/1e6, "MB")
	b.ReportMetric(float64(before.HeapAlloc)/1e6, "MB-jobs")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(count)*1e6, "µs/job")
	runtime.KeepAlive(jobs)
}

// quarters tells what a job costs in each quarter of a log: one run shows growth,
// whatever the machine.
type quarters struct {
	b       *testing.B
	count   int
	started func(Start)
	at      *[5]float64
}

func newQuarters(b *testing.B, count int) quarters {
	at, n := &[5]float64{processorSeconds(b)}, 0
	return quarters{b, count, func(Start) {
		if n++; n*4%count < 4 {
			at[n*4/count] = processorSeconds(b)
		}
	}, at}
}

func (q quarters) report() {
	for i := range 4 {
		q.b.ReportMetric((q.at[i+1]-q.at[i])*4/float64(q.count)*1e6, fmt.Sprintf("µs/job-%d/4", i+1))
	}
}

// repeated makes a log of count jobs for n nodes out of the authors' day, or without it out of a
// synthetic one: the day's jobs over and over, each time with files of their own, at such a pace
// that the jobs' running times and loads are that share of what the cores can do.
func repeated(b testing.TB, n, count int, load float64) ([]Node, []Job) {
	day := templateDay(b)
	span := float64(day[len(day)-1].Submit + 1)
	// At this pace all copies together take as long as their work does. Their days overlap on
	// clusters larger than the authors'.
	const authors = 486
	together := float64(n) / authors
	pace := work(day) / (authors * 20 * load) / span
	fresh := int64(0)
	for i := range day {
		fresh = max(fresh, day[i].File)
	}
	jobs := make([]Job, 0, count)
	for c := 0; len(jobs) < count; c++ {
		for i := 0; i < len(day) && len(jobs) < count; i++ {
			j := day[i]
			j.ID = int64(len(jobs))
			if j.File != 0 {
				j.File += int64(c) * fresh
			}
			j.Submit = int64((float64(j.Submit) + float64(c)*span/together) * pace)
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 20}
	}
	return nodes, jobs
}

// templateDay is what repeated repeats: the jobs that were submitted in the authors'
// log, from second 0 on.
func templateDay(b testing.TB) []Job {
	if _, err := os.Stat(filepath.Join(logDir, "workload_2022-09-10.txt")); os.IsNotExist(err) {
		b.Logf("the authors' data are not there, this is a synthetic log: %v", err)
		_, jobs := crowd(486, 20_000)
		return jobs
	}
	_, all := authorsLog(b)
	var day []Job
	for _, j := range all {
		if j.Class < WarmUp {
			continue
		}
		j.Class = Evaluated
		day = append(day, j)
	}
	first := day[0].Submit
	for i := range day {
		day[i].Submit -= first
	}
	return day
}

// work is the core seconds of jobs that each load their file.
func work(jobs []Job) float64 {
	sum := 0.0
	for i := range jobs {
		j := &jobs[i]
		sum += float64(j.Cores) * math.Min(float64(j.Duration+transfer(j.FileSize, 0.1)), float64(j.WallTime))
	}
	return sum
}
