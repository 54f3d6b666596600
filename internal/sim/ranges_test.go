// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Amdahl's law in exact fractions.
func TestSpeedupIsExact(t *testing.T) {
	// 100 s with the fewest of which a quarter is left where all of it shrinks.
	for want, serial := range map[int64]int{25: LinearSpeedup, 33: 100, 48: 300, 100: MaxSerial} {
		require.Equal(t, want, workload.Lasts(100, &bids.Request{Cores: 1, MinGPUs: 1, MaxGPUs: 4}, []nodeset.Segment{{Cores: 1, GPUs: 4}}, serial))
	}
	exact := func(t require.TestingT, d int64, low, k, serial, nodes int, mixed bool) {
		r := bids.Request{Cores: nodes, MinGPUs: low, MaxGPUs: 255, MixedGPUs: mixed}
		segs := []nodeset.Segment{{Last: int32(nodes - 1), Cores: 1, GPUs: uint8(k)}}
		want := big.NewRat(d, 1)
		if low > 0 && k > low {
			share := big.NewRat(int64(1000-serial)*int64(low), 1000*int64(k))
			want.Mul(want, share.Add(share, big.NewRat(int64(serial), 1000)))
		}
		got := workload.Lasts(d, &r, segs, serial)
		require.True(t, big.NewRat(got, 1).Cmp(want) >= 0 && big.NewRat(got-1, 1).Cmp(want) < 0, "%d instead of %v", got, want)
	}
	// The greatest product of 64 bits.
	exact(t, math.MaxUint64/17000, 17, 255, LinearSpeedup, 1, false)
	rapid.Check(t, func(t *rapid.T) {
		exact(t, rapid.Int64Range(0, maxTime).Draw(t, "seconds"), rapid.IntRange(0, 9).Draw(t, "least"),
			rapid.IntRange(0, 255).Draw(t, "GPUs"), rapid.IntRange(0, 1000).Draw(t, "serial"),
			rapid.IntRange(1, 5).Draw(t, "nodes"), rapid.Bool().Draw(t, "mixed"))
	})
}

func TestSerialIsOfTheRun(t *testing.T) {
	j := jobOf(1, bids.Request{Cores: 1, MinGPUs: 1, MaxGPUs: 2}, 0, 100, 200)
	cfg := NewConfig(nodesOf([3]int{1, 4, 2}))
	cfg.Serial = 100
	got, res := recordsWith(t, cfg, startOn(nodeset.Segment{Cores: 1, GPUs: 2}), []workload.Job{j})
	require.Equal(t, int64(55), got["J1"].End)
	require.Equal(t, 25.0, res.TheoreticalRuntime, "its work is that with the fewest")
	for _, serial := range []int{-1, 1001} {
		cfg.Serial = serial
		_, err := Run(context.Background(), cfg, startOn(), []workload.Job{j})
		require.EqualError(t, err, fmt.Sprintf("serial: %d: must be between 0 and 1000 thousandths", serial))
	}
}

// Ranges on nodes of four and, one of them, three GPUs.
func TestFixGPUs(t *testing.T) {
	nodes := nodesOf([3]int{1, 4, 4}, [3]int{1, 4, 3})
	one := bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 4}
	both := bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 2, MaxGPUs: 4}
	plain := bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}
	for gpus, want := range map[int][2]int{0: {1, 2}, 1: {1, 2}, 2: {2, 2}, 3: {3, 3}, generate.GreatestGPUs: {4, 3}} {
		for _, serial := range []int{LinearSpeedup, 300} {
			jobs := []workload.Job{jobOf(1, one, 0, 100, 120), jobOf(2, both, 200, 100, 120), jobOf(3, plain, 400, 100, 120)}
			generate.FixGPUs(mustTable(t, nodes), jobs, gpus, serial)
			for i, least := range []int{1, 2} {
				k, share := want[i], float64(serial)/1000
				share += (1 - share) * float64(least) / float64(k)
				require.Equal(t, [2]int{k, k}, [2]int{jobs[i].MinGPUs, jobs[i].MaxGPUs}, "%d", gpus)
				require.Equal(t, int64(math.Ceil(100*share-1e-9)), jobs[i].Duration)
				require.Equal(t, int64(math.Ceil(120*share-1e-9)), jobs[i].TimeLimit)
			}
			require.Equal(t, jobOf(3, plain, 400, 100, 120), jobs[2])
			for _, p := range []core.Policy{backfill(t, nil), list(t, ShortestFirst, nil), auction(t)} {
				got, res := records(t, p, nodes, jobs)
				require.Equal(t, want[0], int(got["J1"].Segs[0].GPUs))
				require.Equal(t, jobs[0].Duration, got["J1"].End)
				require.Equal(t, 400.0/8, res.TheoreticalRuntime, "the work is that with the fewest")
			}
		}
	}
}

// Whatever the numbers, jobs ask for one of their range, and their work is what it was.
func TestPropertyFixGPUs(t *testing.T) {
	more := 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		was := slices.Clone(jobs)
		serial, gpus := rapid.IntRange(0, 1000).Draw(t, "serial"), rapid.IntRange(0, 4).Draw(t, "GPUs")
		generate.FixGPUs(mustTable(t, nodes), jobs, gpus, serial)
		cores, work := 0, 0.0
		for _, n := range nodes {
			cores += int(n.Cores)
		}
		got, res := records(t, backfill(t, nil), nodes, jobs)
		for i, j := range jobs {
			require.NoError(t, j.Validate())
			r, ran := got[j.ID]
			if ran {
				work += float64(max(1, min(was[i].Duration, was[i].TimeLimit))) * float64(cmp.Or(j.Cores, nodeset.Cores(r.Segs)))
			}
			if j.MinGPUs > was[i].MinGPUs {
				more++
				require.LessOrEqual(t, j.MinGPUs, min(gpus, was[i].MaxGPUs))
				require.LessOrEqual(t, j.TimeLimit, was[i].TimeLimit)
			}
		}
		require.InDelta(t, work/float64(cores), res.TheoreticalRuntime, 1e-9)
	})
	require.Positive(t, more)
}

func TestWorkIsChecked(t *testing.T) {
	j := jobOf(1, bids.Request{Cores: 1}, 0, 1, 1)
	j.Work = -1
	_, err := Run(context.Background(), NewConfig(nodesOf([3]int{1, 4, 2})), startOn(), []workload.Job{j})
	require.EqualError(t, err, "job J1: work: -1: must be between 0 and 1125899906842624")
}
