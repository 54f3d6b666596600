// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// sharing is the configuration of a machine whose nodes have so much memory each, and share each of
// their GPUs in so many parts.
func sharing(nodes []nodeset.Capacity, memory, size int64) Config {
	cfg := NewConfig(nodes)
	cfg.Resources = []Resource{{Name: "memory", Total: slices.Repeat([]int64{memory}, len(nodes))},
		{Name: "share", Total: slices.Repeat([]int64{size}, len(nodes)), Shares: true}}
	return cfg
}

// pod asks for cores and memory of one node, and whole GPUs or a share of one.
func pod(number, cores int, memory, share int64, gpus int, submit, duration int64) workload.Job {
	r := bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: cores, MinGPUs: gpus, Uses: nodeset.Uses{{PerNode: memory}}}
	if share > 0 {
		r.Uses = append(r.Uses, nodeset.Use{Row: 1, PerNode: share})
	}
	return jobOf(number, r, submit, duration, duration)
}

// A GPU in shared use is nobody's as a whole, and shares that fit beside each other run together.
func TestSharesAreSimulated(t *testing.T) {
	jobs := []workload.Job{pod(1, 1, 1, 6, 0, 0, 90), pod(2, 1, 1, 6, 0, 0, 60), pod(3, 1, 1, 4, 0, 0, 300),
		pod(4, 1, 1, 0, 2, 1, 30), pod(5, 1, 1, 11, 0, 1, 30)}
	for name, p := range map[string]core.Policy{"backfill": backfill(t, nil), "auction": auction(t)} {
		got, res := recordsWith(t, sharing(nodesOf([3]int{1, 8, 2}), 100, 10), p, jobs)
		for _, id := range []string{"J1", "J2", "J3"} {
			require.Zero(t, got[id].Start, name)
			require.NotZero(t, got[id].Segs[0].Bin, name)
		}
		require.InDelta(t, 0.6, got["J1"].GPUs, 1e-12)
		require.Equal(t, 2.0, got["J4"].GPUs)
		require.EqualValues(t, 300, got["J4"].Start, "%s: J3 has a share of a GPU until then", name)
		require.Equal(t, []Unrun{{"J5", "can never run: needs 11 share on a node, most has 10"}}, res.Unrun)
		require.InDelta(t, (0.6*90+0.6*60+0.4*300+2*30)/(2*330), res.GPUUtilization, 1e-9, name)
	}
}

// drawPods is a small machine and pods for it.
func drawPods(t *rapid.T) (Config, []workload.Job) {
	var nodes []nodeset.Capacity
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		nodes = append(nodes, nodeset.Capacity{Cores: uint16(rapid.IntRange(2, 9).Draw(t, "cores")),
			GPUs: uint8(rapid.IntRange(0, 4).Draw(t, "GPUs"))})
	}
	cfg := sharing(nodes, 12, rapid.Int64Range(5, 12).Draw(t, "size"))
	mask := nodeset.NewMask(len(nodes))
	mask.Set(0)
	var jobs []workload.Job
	for i := range rapid.IntRange(1, 25).Draw(t, "pods") {
		share, gpus := int64(0), 0
		if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
			share = rapid.Int64Range(1, 9).Draw(t, "share")
		} else {
			gpus = rapid.IntRange(0, 3).Draw(t, "whole GPUs")
		}
		j := pod(i, rapid.IntRange(0, 3).Draw(t, "cores"), rapid.Int64Range(1, 5).Draw(t, "memory"), share, gpus,
			rapid.Int64Range(0, 200).Draw(t, "submit"), rapid.Int64Range(1, 200).Draw(t, "duration"))
		if rapid.IntRange(0, 5).Draw(t, "model") == 0 {
			j.Eligible = mask
		}
		jobs = append(jobs, j)
	}
	return cfg, jobs
}

// A twin puts each share on the GPU that its segment names, each whole GPU on one that is left, and
// finds no GPU of which more than all is given.
func TestPropertySharesKeepToGPUs(t *testing.T) {
	beside, draws := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		draws++
		cfg, jobs := drawPods(t)
		keeping, err := core.NewAuction(core.Preset("none"), nil)
		require.NoError(t, err)
		for _, p := range []core.Policy{backfill(t, nil), auction(t), keeping} {
			got, res := recordsWith(t, cfg, p, jobs)
			require.Len(t, jobs, len(got)+len(res.Unrun))
			for _, at := range got {
				type gpu struct{ node, bin int }
				whole, memory, taken := map[int]int{}, map[int]int64{}, map[gpu][]int64{}
				for _, r := range got {
					if r.Start > at.Start || at.Start >= r.End {
						continue
					}
					for _, s := range r.Segs {
						n := int(s.First)
						whole[n] += int(s.GPUs) * s.Len()
						memory[n] += r.Job.Uses[0].PerNode
						if len(r.Job.Uses) > 1 {
							taken[gpu{n, int(s.Bin)}] = append(taken[gpu{n, int(s.Bin)}], r.Job.Uses[1].PerNode)
						}
					}
				}
				for g, shares := range taken {
					sum := int64(0)
					for _, s := range shares {
						sum += s
					}
					require.LessOrEqual(t, sum, cfg.Resources[1].Total[0], "GPU %v", g)
					whole[g.node]++
					if len(shares) > 1 {
						beside++
					}
				}
				for n, c := range cfg.Nodes {
					require.LessOrEqual(t, whole[n], int(c.GPUs), "node %d", n)
					require.LessOrEqual(t, memory[n], int64(12), "node %d", n)
				}
			}
		}
	})
	require.Greater(t, beside, draws)
}

// Nodes share GPUs in one number of parts.
func TestNodesShareAlike(t *testing.T) {
	cfg := sharing(nodesOf([3]int{1, 8, 2}), 99, 10)
	cfg.Nodes = nodesOf([3]int{2, 8, 2})
	cfg.Resources[0].Total, cfg.Resources[1].Total = []int64{9, 9}, []int64{10, 8}
	_, err := newSimulator(cfg, auction(t), []workload.Job{pod(1, 1, 1, 1, 0, 0, 9)})
	require.ErrorContains(t, err, "resource share: node 1 has 8 of each GPU, others 10")
}

// Backfill takes the first GPU that has room, as Slurm does; the auction the one that is fullest.
func TestSharesOnWhichGPU(t *testing.T) {
	jobs := []workload.Job{pod(1, 1, 1, 3, 0, 0, 90), pod(2, 1, 1, 8, 0, 0, 90), pod(3, 1, 1, 2, 0, 3, 90)}
	got, _ := recordsWith(t, sharing(nodesOf([3]int{1, 8, 4}), 100, 10), backfill(t, nil), jobs)
	require.Equal(t, got["J1"].Segs[0].Bin, got["J3"].Segs[0].Bin)
	got, _ = recordsWith(t, sharing(nodesOf([3]int{1, 8, 4}), 100, 10), auction(t), jobs)
	require.Equal(t, got["J2"].Segs[0].Bin, got["J3"].Segs[0].Bin)
}

// dumbParts is what a GPUQueue says at one moment, in the words of its definition, in parts.
func dumbParts(t *nodeset.Table, waits []bids.Request, size int64) (free, stuck int64) {
	for n := range t.Len() {
		// of says whether a GPU is of use that is in shared use with so much left, or whole.
		of := func(least int64, whole bool) bool {
			return slices.ContainsFunc(waits, func(r bids.Request) bool {
				share := int64(0)
				for _, u := range r.Uses {
					if u.Row == 1 {
						share = u.PerNode
					} else if t.FreeOf(0)[n] < u.PerNode {
						return false
					}
				}
				if !r.Eligible.Has(n) || int(t.Free(n).Cores) < r.TasksPerNode {
					return false
				}
				return share > 0 && share <= least || share == 0 && whole && int(t.Free(n).GPUs) >= r.MinGPUs
			})
		}
		whole := int64(t.Free(n).GPUs) * size
		free += whole
		if !of(size, true) {
			stuck += whole
		}
		for b := 1; b <= len(t.BinsLeft(n)); b++ {
			if left, inUse := t.BinFree(n, uint8(b)); inUse {
				free += left
				if !of(left, false) {
					stuck += left
				}
			}
		}
	}
	return free, stuck
}

// The meter says of parts of GPUs what its definition says.
func TestPropertyStrandedParts(t *testing.T) {
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		cfg, jobs := drawPods(t)
		nodes, err := cfg.Table()
		require.NoError(t, err)
		size := int64(1)
		for _, s := range nodes.TotalOf(1) {
			size = max(size, s)
		}
		m := strandedMeter{parts: gpuPartsOf(nodes)}
		var waits []bids.Request
		for _, j := range jobs {
			r := &j.Request
			share := nodes.ShareOf(r.Uses)
			if n := int32(rapid.IntRange(0, nodes.Len()-1).Draw(t, "node")); rapid.Bool().Draw(t, "runs") {
				segs := []nodeset.Segment{{First: n, Last: n, Cores: uint16(r.TasksPerNode), GPUs: uint8(r.MinGPUs)}}
				if place.ChooseBins(nodes, segs, r.Uses, nil) {
					_ = nodes.Allocate(segs, r.Uses...) // or it does not fit
				}
				continue
			}
			m.come(r)
			if r.MinGPUs > 0 || share > 0 {
				waits = append(waits, *r)
			}
		}
		m.look(nodes)
		free, stuck := dumbParts(nodes, waits, size)
		wanted := int64(0)
		for _, r := range waits {
			wanted += int64(r.MinGPUs)*size + nodes.ShareOf(r.Uses)
		}
		if len(waits) == 0 {
			return
		}
		require.Equal(t, []int64{wanted, free, stuck}, []int64{m.wanted, m.free, m.stuck})
		m.pass(10)
		idle := math.Min(float64(free), float64(wanted))
		require.InDelta(t, math.Max(0, idle-float64(free-stuck))/float64(100*size), m.result(100*size).Stranded, 1e-12)
		if stuck > 0 && stuck < free {
			some++
		}
	})
	require.Positive(t, some)
}
