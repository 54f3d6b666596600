// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// twin counts what a Table with further resources does, node by node.
type twin struct {
	cores, gpus []int
	more        [][]int64 // by resource and node
}

func (w *twin) clone() *twin {
	c := &twin{slices.Clone(w.cores), slices.Clone(w.gpus), nil}
	for _, m := range w.more {
		c.more = append(c.more, slices.Clone(m))
	}
	return c
}

// add adds an allocation times sign, and reports whether all stays within 0 and total.
func (w *twin) add(segs []Segment, uses Uses, sign int64, total *twin) bool {
	ok := true
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			w.cores[n] += int(sign) * int(s.Cores)
			w.gpus[n] += int(sign) * int(s.GPUs)
			ok = ok && w.cores[n] >= 0 && w.cores[n] <= total.cores[n] && w.gpus[n] >= 0 && w.gpus[n] <= total.gpus[n]
			for _, u := range uses {
				free := &w.more[u.Row][n]
				*free += sign * (u.PerNode + u.PerCore*int64(s.Cores) + u.PerGPU*int64(s.GPUs))
				ok = ok && *free >= 0 && *free <= total.more[u.Row][n]
			}
		}
	}
	return ok
}

func drawResources(t *rapid.T, rng *rand.Rand) (*Table, *twin) {
	n, resources := 1+rng.IntN(200), rng.IntN(4)
	nodes, w := make([]Capacity, n), &twin{}
	for i := range nodes {
		nodes[i] = Capacity{Cores: uint16(rng.IntN(9)), GPUs: uint8(rng.IntN(4))}
		w.cores, w.gpus = append(w.cores, int(nodes[i].Cores)), append(w.gpus, int(nodes[i].GPUs))
	}
	table, err := New(nodes)
	require.NoError(t, err)
	for r := range resources {
		total := make([]int64, n)
		for i := range total {
			total[i] = rng.Int64N(40)
		}
		w.more = append(w.more, total)
		k, err := table.AddResource(string(rune('a'+r)), total)
		require.NoError(t, err)
		require.Equal(t, r, k)
	}
	return table, w
}

func drawTaking(rng *rand.Rand, nodes, resources int) (segs []Segment, uses Uses) {
	for n := rng.IntN(nodes); n < nodes && len(segs) < 3; n += 2 + rng.IntN(40) {
		last := min(n+rng.IntN(70), nodes-1)
		segs = append(segs, Segment{First: int32(n), Last: int32(last), Cores: uint16(rng.IntN(4)), GPUs: uint8(rng.IntN(8) / 6)})
		n = last
	}
	for r := range resources {
		if rng.IntN(3) > 0 {
			uses = append(uses, Use{Row: r, PerNode: rng.Int64N(6), PerCore: rng.Int64N(4), PerGPU: rng.Int64N(3)})
		}
	}
	return segs, uses
}

// Whatever is allocated and released, a Table with further resources has free what a twin counts,
// and takes what the twin has room for.
func TestFurtherResourcesAreCounted(t *testing.T) {
	took, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		table, total := drawResources(t, rng)
		free := total.clone()
		type held struct {
			segs []Segment
			uses Uses
		}
		var all []held
		for range 30 {
			if len(all) > 0 && rng.IntN(3) == 0 {
				k := rng.IntN(len(all))
				require.NoError(t, table.Release(all[k].segs, all[k].uses...))
				free.add(all[k].segs, all[k].uses, 1, total)
				all = slices.Delete(all, k, k+1)
				continue
			}
			segs, uses := drawTaking(rng, table.Len(), table.Resources())
			after := free.clone()
			fits := after.add(segs, uses, -1, total)
			require.Equal(t, fits, table.FitsWith(segs, uses))
			err := table.Allocate(segs, uses...)
			require.Equal(t, fits, err == nil, "%v", err)
			if fits {
				free, all = after, append(all, held{segs, uses})
				took++
			} else {
				refused++
			}
			over := free.clone()
			if !over.add(segs, uses, 1, total) {
				require.Error(t, table.Release(segs, uses...))
			}
		}
		var again Table
		again.CopyFrom(table)
		for n := range table.Len() {
			require.Equal(t, Capacity{uint16(free.cores[n]), uint8(free.gpus[n])}, again.Free(n))
			for r := range table.Resources() {
				require.Equal(t, free.more[r][n], again.FreeOf(r)[n])
			}
		}
	})
	require.Greater(t, took, 80)
	require.Greater(t, refused, 300)
}

// A node can give a request some cores and GPUs, and what they use, if and only if it has as many
// free as the request sees.
func TestLimitFromIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		table, _ := drawResources(t, rng)
		gpus := rng.IntN(3)
		var uses Uses
		fixed := false
		for r := range table.Resources() {
			u := Use{Row: r, PerNode: rng.Int64N(9), PerCore: rng.Int64N(5), PerGPU: rng.Int64N(5)}
			switch rng.IntN(4) {
			case 0:
				u.PerCore = 0
			case 1:
				u.PerGPU = 0
			default:
				fixed = fixed || u.PerCore > 0 && u.PerGPU > 0
			}
			uses = append(uses, u)
		}
		var seen Table
		seen.CopyFreeFrom(table)
		seen.LimitFrom(table, 0, table.Len()-1, uses, gpus, false)
		for n := range table.Len() {
			c := table.Total(n)
			for _, u := range uses {
				c = u.Limit(c, table.TotalOf(u.Row)[n], gpus)
			}
			require.Equal(t, seen.Free(n), c, "nothing is taken")
			for c := 1; c <= 9; c++ {
				for g := gpus; g <= 4; g++ {
					if fixed && g > gpus {
						continue
					}
					seg := []Segment{{First: int32(n), Last: int32(n), Cores: uint16(c), GPUs: uint8(g)}}
					require.Equal(t, table.FitsWith(seg, uses), seen.FitsWith(seg, nil), "node %d: %d cores, %d GPUs", n, c, g)
				}
			}
		}
		sets := seen.Scan(nil, Query{GPUs: gpus, MinCores: 2})
		for _, set := range sets {
			for n := set.First; n <= set.Last; n++ {
				require.True(t, table.FitsWith([]Segment{{First: n, Last: n, Cores: 2, GPUs: uint8(gpus)}}, uses))
			}
		}
	})
}

// What takes no core has GPUs of a node, and what it uses there, if and only if the node has a seat
// and the GPUs: whatever the node's cores, what is used by core, and whether it has any at all.
func TestLimitFromIsExactWithoutCores(t *testing.T) {
	full, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		table, _ := drawResources(t, rng)
		if rng.IntN(4) == 0 { // a machine without cores
			gpus, err := NewUniform(1+rng.IntN(70), Capacity{GPUs: uint8(rng.IntN(4))})
			require.NoError(t, err)
			table = gpus
		}
		table.SetUp(rng.IntN(table.Len()), false)
		var uses Uses
		for r := range table.Resources() {
			uses = append(uses, Use{Row: r, PerNode: rng.Int64N(20), PerCore: rng.Int64N(5), PerGPU: rng.Int64N(5)})
		}
		for range 5 {
			segs, uses := drawTaking(rng, table.Len(), table.Resources())
			_ = table.Allocate(segs, uses...) // where there is room
		}
		var seen, none Table
		seen.CopyFreeFrom(table)
		seen.LimitFrom(table, 0, table.Len()-1, uses, 0, true)
		none.CopyFrom(table)
		for n := range table.Len() {
			for g := range uint8(5) {
				seg := []Segment{{First: int32(n), Last: int32(n), GPUs: g}}
				fits := table.FitsWith(seg, uses)
				require.Equal(t, fits, seen.Usable(int(g)).Has(n) && len(seen.Usable(int(g))) > 0, "node %d: %d GPUs", n, g)
				if fits && table.Free(n).Cores == 0 {
					full++
				} else if !fits {
					refused++
				}
				require.Equal(t, fits, none.Allocate(seg, uses...) == nil)
				if fits {
					require.NoError(t, none.Release(seg, uses...))
				}
			}
			if seen.Free(n).Cores > 0 {
				require.Equal(t, max(table.Free(n).Cores, 1), seen.Free(n).Cores)
			}
		}
		require.Equal(t, state(table), state(&none), "what was taken and given back")
	})
	require.Greater(t, full, 200)
	require.Greater(t, refused, 200)
}

func TestFurtherResourcesRefuse(t *testing.T) {
	table, err := NewUniform(2, Capacity{Cores: 4})
	require.NoError(t, err)
	_, err = table.AddResource("memory", []int64{5, 6})
	require.NoError(t, err)
	for words, do := range map[string]func() error{
		"resource memory: there are two":             func() error { _, err := table.AddResource("memory", []int64{1, 2}); return err },
		"resource x: 1 numbers for 2 nodes":          func() error { _, err := table.AddResource("x", []int64{1}); return err },
		"resource x: node 1: -1 must be 0 to":        func() error { _, err := table.AddResource("x", []int64{1, -1}); return err },
		"node 1: 7 memory free of 6":                 func() error { return table.SetFreeOf(0, 1, 7) },
		"there is no resource 1 of 1":                func() error { return table.SetFreeOf(1, 0, 0) },
		"node 2 is outside 0-1":                      func() error { return table.SetFreeOf(0, 2, 0) },
		"resource 1 of 1":                            func() error { return table.Allocate([]Segment{{}}, Uses{{Row: 1}}...) },
		"resource 0 comes after resource 0":          func() error { return Uses{{}, {}}.check(1) },
		"resource 0: -1: must be 0 to":               func() error { return Uses{{PerCore: -1}}.check(1) },
		"resource 0: 2147483648: must be 0 to":       func() error { return Uses{{PerGPU: MaxAmount + 1}}.check(1) },
		"resource 0: 1: must be 0 to 0":              func() error { return Uses{{PerJob: 1}}.check(1) },
		"node 0 has 5 memory free: 8 are asked for":  func() error { return table.Allocate([]Segment{{Cores: 4}}, Uses{{PerCore: 2}}...) },
		"node 0 would have 6 of 5 memory free":       func() error { return table.Release([]Segment{{Cores: 1}}, Uses{{PerNode: 1}}...) },
		"segment 0: nodes 1-0 are out of order or o": func() error { return table.Allocate([]Segment{{First: 1}}, Uses{{}}...) },
	} {
		require.ErrorContains(t, do(), words)
	}
	require.Equal(t, []int64{5, 6}, table.FreeOf(0), "nothing has changed")
}
