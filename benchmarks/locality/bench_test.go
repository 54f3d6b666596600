// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// simulateOnce runs a whole simulation for a benchmark and tells what memory the
// process has taken so far.
func simulateOnce(b *testing.B, nodes []Node, jobs []Job, o Options) {
	before := processorSeconds(b)
	for b.Loop() {
		_, err := Simulate(context.Background(), nodes, jobs, o)
		require.NoError(b, err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric((processorSeconds(b)-before)/float64(b.N), "cpu-s")
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(len(jobs))*1e6, "µs/job")
}

// processorSeconds is what the process has used so far. On a busy machine it tells
// more than the clock.
func processorSeconds(b *testing.B) float64 {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkLog is each scheduler over the authors' log.
func BenchmarkLog(b *testing.B) {
	nodes, jobs := authorsLog(b)
	for _, mode := range []Mode{Reference, Paper} {
		for _, p := range Policies() {
			b.Run(fmt.Sprintf("%v/%v", mode, p), func(b *testing.B) {
				simulateOnce(b, nodes, jobs, Options{Policy: p, Mode: mode})
			})
		}
	}
}

// BenchmarkScale is clusters that grow, each with 40 jobs a node and four fifths
// of its cores in use.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{500, 2000, 10000} {
		for _, name := range []string{"fcfs", "fcfs-bf", "lem", "lem-bf"} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				nodes, jobs := stream(n, 40*n)
				simulateOnce(b, nodes, jobs, Options{Policy: name})
			})
		}
	}
}

// stream is a cluster with jobs for four fifths of its cores.
func stream(nodes, jobs int) ([]Node, []Job) {
	ns, js := crowd(nodes, jobs)
	for i := range js {
		// A job takes 10.5 of a node's 20 cores on average, for an hour and the load of 67 GB.
		js[i].Submit = int64(float64(i) * (3600 + 670) * 10.5 / 20 / float64(nodes) / 0.8)
		js[i].WallTime = 7200
	}
	return ns, js
}
