// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// trace reads the jobs of an SWF trace from shared/traces beside the checkout.
// It skips the test where that is absent.
func trace(t testing.TB, name string, limit int) []workload.Job {
	f, err := os.Open(beside.Shared(t, "traces/"+name))
	require.NoError(t, err)
	defer f.Close()
	return parseTrace(t, f, limit)
}

func parseTrace(t testing.TB, f io.Reader, limit int) (jobs []workload.Job) {
	r := bufio.NewReaderSize(f, 1<<20)
	if magic, _ := r.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		require.NoError(t, err)
		r = bufio.NewReaderSize(z, 1<<20)
	}
	first := int64(-1)
	for len(jobs) < limit {
		line, err := r.ReadString('\n')
		if f := strings.Fields(line); len(f) >= 18 && f[0][0] != ';' {
			v := func(i int) int64 {
				x, err := strconv.ParseFloat(f[i-1], 64)
				require.NoError(t, err)
				return int64(x)
			}
			if first < 0 {
				first = v(2)
			}
			cores := max(v(8), v(5))
			if cores > 0 && v(4) >= 0 && v(2) >= first {
				jobs = append(jobs, workload.Job{
					Job: core.Job{
						ID: f[0], Request: bids.Request{Cores: int(cores)},
						Priority: max(1, 4294901759-int64(len(jobs))), TimeLimit: max(v(9), v(4), 1),
					},
					Submit: v(2) - first, Duration: v(4),
				})
			}
		}
		if err == io.EOF {
			return jobs
		}
		require.NoError(t, err)
	}
	return jobs
}

// nodesOf is a machine of count x cores x GPUs, for each kind in this order.
func nodesOf(kinds ...[3]int) (nodes []nodeset.Capacity) {
	for _, k := range kinds {
		for range k[0] {
			nodes = append(nodes, nodeset.Capacity{Cores: uint16(k[1]), GPUs: uint8(k[2])})
		}
	}
	return nodes
}

// replay runs a trace under the referee and checks its totals against the trace.
func replay(t testing.TB, nodes []nodeset.Capacity, jobs []workload.Job) *Result {
	b := backfill(t, nil)
	res, err := Run(context.Background(), NewConfig(nodes), b, jobs)
	require.NoError(t, err)
	require.Empty(t, res.Unrun)
	require.Equal(t, len(jobs), res.Jobs)
	var work, cores, last int64
	for _, j := range jobs {
		d := max(1, min(j.Duration, j.TimeLimit))
		work += d * int64(j.Cores)
		last = max(last, j.Submit+d)
	}
	for _, n := range nodes {
		cores += int64(n.Cores)
	}
	require.InDelta(t, float64(work)/float64(cores), res.TheoreticalRuntime, 1e-6)
	require.GreaterOrEqual(t, res.Runtime, last)
	require.GreaterOrEqual(t, float64(res.Runtime), res.TheoreticalRuntime)
	require.InDelta(t, res.TheoreticalRuntime/float64(res.Runtime), res.CPUUtilization, 1e-12)
	return res
}

func metacentrum() []nodeset.Capacity { return nodesOf([3]int{20, 80, 0}, [3]int{48, 12, 0}) }

func TestMetacentrum(t *testing.T) {
	race.Slow(t)
	res := replay(t, metacentrum(), trace(t, "metacentrum-wagap-2013.swf", 1<<30))
	require.GreaterOrEqual(t, res.PackingFactorMean, 1.0)
	require.Less(t, res.CPUUtilization, 1.0)
}

func TestLCG(t *testing.T) {
	race.Slow(t)
	// About 1580 cores would be busy on average; with 480 the queue grows deep.
	res := replay(t, nodesOf([3]int{30, 16, 0}), trace(t, "LCG.swf.gz", 60_000))
	require.Greater(t, res.PendingMax, 30_000)
	require.Equal(t, 1.0, res.PackingFactorMean, "a job of one core has one node")
}

func BenchmarkTraces(b *testing.B) {
	for _, c := range []struct {
		name, file string
		nodes      []nodeset.Capacity
	}{
		{"Metacentrum", "metacentrum-wagap-2013.swf", metacentrum()},
		{"LCG/100x16", "LCG.swf.gz", nodesOf([3]int{100, 16, 0})},
		{"LCG/30x16", "LCG.swf.gz", nodesOf([3]int{30, 16, 0})},
	} {
		b.Run(c.name, func(b *testing.B) {
			jobs := trace(b, c.file, 1<<30)
			b.ReportAllocs()
			for b.Loop() {
				replay(b, c.nodes, jobs)
			}
		})
	}
}
