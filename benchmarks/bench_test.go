// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// measure times a stage in its steady state and checks its last answer.
func measure(b *testing.B, s Stage) {
	require.NoError(b, s.Run())
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Run(); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, s.Check())
	for _, x := range s.Sizes() {
		b.ReportMetric(float64(x.N), strings.ReplaceAll(x.Of, " ", "-"))
	}
}

// BenchmarkScan compares nodeset.Table with github.com/bits-and-blooms/bitset, plain arrays, and an
// array of structs.
func BenchmarkScan(b *testing.B) {
	for _, n := range NodeCounts {
		w, err := NewWindow(n, 1, 1)
		require.NoError(b, err)
		for _, q := range Queries(n) {
			name := fmt.Sprintf("N=%d/gpus=%d/mincores=%d/masked=%t/", n, q.GPUs, max(q.MinCores, 1), q.Eligible != nil)
			b.Run(name+"table", func(b *testing.B) { measure(b, Scan(w, q)) })
			b.Run(name+"bitset", func(b *testing.B) { measure(b, bitsetScan(w, q)) })
			b.Run(name+"arrays", func(b *testing.B) { measure(b, arrayScan(w, q)) })
			b.Run(name+"structs", func(b *testing.B) { measure(b, NodeLoop(w, q)) })
		}
	}
}

// BenchmarkScanFragmented is the same where only one node of twenty has something free, here and there.
func BenchmarkScanFragmented(b *testing.B) {
	for _, n := range []int{1024, 10_000} {
		w, err := NewWindow(n, 1, 1)
		require.NoError(b, err)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			free := nodeset.Capacity{}
			if r.IntN(20) == 0 {
				free = nodeset.Capacity{Cores: uint16(1 + r.IntN(CoresPerNode)), GPUs: uint8(r.IntN(3))}
			}
			require.NoError(b, w.Snapshot.Nodes.SetFree(i, free))
		}
		for _, q := range Queries(n) {
			name := fmt.Sprintf("N=%d/gpus=%d/mincores=%d/masked=%t/", n, q.GPUs, max(q.MinCores, 1), q.Eligible != nil)
			b.Run(name+"table", func(b *testing.B) { measure(b, Scan(w, q)) })
			b.Run(name+"bitset", func(b *testing.B) { measure(b, bitsetScan(w, q)) })
		}
	}
}

// perWindow runs a benchmark for every number of nodes and jobs.
func perWindow(b *testing.B, stage func(*Window) (Stage, error)) {
	for _, n := range NodeCounts {
		for _, j := range JobCounts {
			b.Run(fmt.Sprintf("N=%d/J=%d", n, j), func(b *testing.B) {
				w, err := NewWindow(n, j, 1)
				require.NoError(b, err)
				s, err := stage(w)
				require.NoError(b, err)
				measure(b, s)
			})
		}
	}
}

func BenchmarkBids(b *testing.B) {
	perWindow(b, func(w *Window) (Stage, error) { return Bids(w), nil })
}

func BenchmarkModel(b *testing.B) {
	perWindow(b, func(w *Window) (Stage, error) { return Model(w), nil })
}

func BenchmarkCycle(b *testing.B) { perWindow(b, Cycle) }

// The same window with six further resources as at a site.
func BenchmarkSite(b *testing.B) {
	for _, n := range []int{128, 1024, 10_000} {
		b.Run(fmt.Sprintf("N=%d/J=200", n), func(b *testing.B) {
			w, err := NewWindow(n, 200, 1)
			require.NoError(b, err)
			require.NoError(b, w.AddSite(1))
			s, err := Cycle(w)
			require.NoError(b, err)
			measure(b, s)
		})
	}
}

// The same with its nodes below 32 leaf switches.
func BenchmarkSiteWithTree(b *testing.B) {
	w, err := NewWindow(1024, 200, 1)
	require.NoError(b, err)
	require.NoError(b, w.AddSite(1))
	require.NoError(b, w.AddTree(32))
	s, err := Cycle(w)
	require.NoError(b, err)
	measure(b, s)
}

// The same window without further resources, and with ever more, of which each job wants another
// amount.
func BenchmarkResources(b *testing.B) {
	for _, resources := range []int{0, 1, 6} {
		b.Run(fmt.Sprintf("N=1024/J=200/resources=%d", resources), func(b *testing.B) {
			w, err := NewWindow(1024, 200, 1)
			require.NoError(b, err)
			require.NoError(b, w.AddResources(resources, 1))
			s, err := Cycle(w)
			require.NoError(b, err)
			measure(b, s)
		})
	}
}

// The same window without a topology, and below ever more leaves.
func BenchmarkTree(b *testing.B) {
	for _, leaves := range []int{0, 8, 32, 128} {
		b.Run(fmt.Sprintf("N=1024/J=200/leaves=%d", leaves), func(b *testing.B) {
			w, err := NewWindow(1024, 200, 1)
			require.NoError(b, err)
			require.NoError(b, w.AddTree(leaves))
			s, err := Cycle(w)
			require.NoError(b, err)
			measure(b, s)
		})
	}
}
