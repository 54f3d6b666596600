// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// holding is what one job of the twin has on one node.
type holding struct {
	seg  Segment
	uses Uses
}

// sharing counts what is held, job by job, whenever it is asked.
type sharing struct {
	nodes []Capacity
	size  []int64
	jobs  []holding
}

// held is what jobs hold of node n: cores, GPUs that are given whole, and shares by bin.
func (w *sharing) held(n int) (cores, gpus int, bins map[uint8]int64) {
	bins = map[uint8]int64{}
	for _, h := range w.jobs {
		if int(h.seg.First) <= n && n <= int(h.seg.Last) {
			cores, gpus = cores+int(h.seg.Cores), gpus+int(h.seg.GPUs)
			if h.uses != nil {
				bins[h.seg.Bin] += h.uses[0].PerNode
			}
		}
	}
	return cores, gpus, bins
}

// fits reports whether all that is held is there.
func (w *sharing) fits() bool {
	for n, c := range w.nodes {
		cores, gpus, bins := w.held(n)
		for bin, sum := range bins {
			if bin == 0 || int(bin) > 2*int(c.GPUs) || sum > w.size[n] {
				return false
			}
		}
		if cores > int(c.Cores) || gpus+len(bins) > int(c.GPUs) {
			return false
		}
	}
	return true
}

// agrees checks all that t says against the twin.
func (w *sharing) agrees(t require.TestingT, table *Table) {
	r, ok := table.Shares()
	require.True(t, ok)
	for n, c := range w.nodes {
		cores, gpus, bins := w.held(n)
		free := Capacity{c.Cores - uint16(cores), c.GPUs - uint8(gpus) - uint8(len(bins))}
		require.Equal(t, free, table.Free(n))
		largest := int64(0)
		if free.GPUs > 0 {
			largest = w.size[n]
		}
		for bin := 1; bin <= len(table.BinsLeft(n)); bin++ {
			sum, there := bins[uint8(bin)]
			left, inUse := table.BinFree(n, uint8(bin))
			require.Equal(t, there, inUse)
			if there {
				require.Equal(t, w.size[n]-sum, left)
				largest = max(largest, left)
			}
		}
		require.Equal(t, largest, table.FreeOf(r)[n])
		for g := range table.MaxGPUs() + 1 {
			require.Equal(t, free.Cores > 0 && int(free.GPUs) >= g, table.Usable(g).Has(n))
		}
	}
}

func drawSharing(t *rapid.T, rng *rand.Rand) (*Table, *sharing) {
	w := &sharing{}
	for range 1 + rng.IntN(130) {
		w.nodes = append(w.nodes, Capacity{Cores: uint16(1 + rng.IntN(9)), GPUs: uint8(rng.IntN(4))})
		w.size = append(w.size, []int64{0, 4, 10, 10}[rng.IntN(4)])
	}
	table, err := New(w.nodes)
	require.NoError(t, err)
	r, err := table.AddShares("share", w.size)
	require.NoError(t, err)
	require.Zero(t, r)
	for n := range w.nodes {
		if w.nodes[n].GPUs == 0 {
			w.size[n] = 0
		}
	}
	return table, w
}

// Whatever jobs take and give back, in whatever order, the table says what a count of all that is
// held says, and refuses what that does.
func TestSharesAgainstACount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 41))
		table, w := drawSharing(t, rng)
		for range 60 {
			if len(w.jobs) > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(len(w.jobs))
				h := w.jobs[i]
				require.NoError(t, table.Release([]Segment{h.seg}, h.uses...))
				w.jobs = append(w.jobs[:i], w.jobs[i+1:]...)
			} else {
				n := int32(rng.IntN(len(w.nodes)))
				h := holding{seg: Segment{First: n, Last: n, Cores: uint16(1 + rng.IntN(3)), GPUs: uint8(rng.IntN(2))}}
				if rng.IntN(3) > 0 {
					h.uses, h.seg.GPUs = Uses{{PerNode: 1 + rng.Int64N(10)}}, 0
					if rng.IntN(2) == 0 {
						h.seg.Bin = uint8(1 + rng.IntN(7))
					} else {
						h.seg.Bin = table.ChooseBin(int(n), h.uses[0].PerNode, nil)
						require.Equal(t, h.uses[0].PerNode <= table.FreeOf(0)[n], h.seg.Bin > 0)
					}
				}
				w.jobs = append(w.jobs, h)
				segs := []Segment{h.seg}
				err := table.Allocate(segs, h.uses...)
				require.Equal(t, w.fits(), err == nil)
				if err != nil {
					w.jobs = w.jobs[:len(w.jobs)-1]
				}
			}
			w.agrees(t, table)
		}
		var other Table
		other.CopyFrom(table)
		w.agrees(t, &other)
	})
}

// What fits into the least of two tables fits into both, in the bin that is chosen there.
func TestSharesOfTwoTables(t *testing.T) {
	fitted := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 43))
		a, w := drawSharing(t, rng)
		var b, least, lens Table
		b.CopyFrom(a)
		for range 80 {
			n := rng.IntN(len(w.nodes))
			uses := Uses{{PerNode: 1 + rng.Int64N(10)}}
			to := []*Table{a, &b}[rng.IntN(2)]
			_ = to.Allocate([]Segment{{First: int32(n), Last: int32(n), Cores: 1, Bin: uint8(rng.IntN(7))}}, uses...)
		}
		least.CopyFrom(a)
		least.SetLeast(0, least.Len()-1, &least, &b)
		for n := range w.nodes {
			share := 1 + rng.Int64N(10)
			uses := Uses{{PerNode: share}}
			segs := []Segment{{First: int32(n), Last: int32(n), Cores: 1}}
			bin := least.ChooseBin(n, share, nil)
			require.Equal(t, bin > 0, least.ChooseBin(n, share, a) > 0, "later, whatever is in use now")
			lens.CopyFreeFrom(&least)
			lens.LimitFrom(&least, n, n, uses, 0, false)
			require.Equal(t, least.Free(n).Cores > 0 && bin > 0, lens.Free(n).Cores > 0)
			if bin == 0 || least.Free(n).Cores == 0 {
				continue
			}
			fitted++
			segs[0].Bin = bin
			require.Same(t, &least, lens.Unlimited())
			require.NoError(t, a.Allocate(segs, uses...))
			require.NoError(t, b.Allocate(segs, uses...))
		}
	})
	require.Greater(t, fitted, 100)
}

func TestSharesFaults(t *testing.T) {
	table, err := NewUniform(2, Capacity{Cores: 4, GPUs: 1})
	require.NoError(t, err)
	require.ErrorContains(t, table.SetBin(0, 1, 3), "there is no GPU 1")
	_, err = table.AddShares("share", []int64{10, 0})
	require.NoError(t, err)
	_, err = table.AddShares("mps", []int64{100, 100})
	require.ErrorContains(t, err, "shared by share already")
	require.ErrorContains(t, table.SetFreeOf(0, 0, 3), "see SetBin")
	require.ErrorContains(t, table.SetBin(0, 1, 11), "11 shares are free of a GPU that has 10")
	require.ErrorContains(t, table.SetBin(1, 1, 1), "there is no GPU 1")
	require.NoError(t, table.SetBin(0, 2, 3))
	require.Zero(t, table.Free(0).GPUs)
	require.ErrorContains(t, table.SetBin(0, 1, 3), "no GPU free")
	require.NoError(t, table.SetBin(0, 2, 10), "it is whole again")
	require.EqualValues(t, 1, table.Free(0).GPUs)
	require.NoError(t, table.SetBin(0, 1, 10), "as it was")
	require.EqualValues(t, 1, table.Free(0).GPUs)
	require.NoError(t, table.SetBin(0, 2, 3))
	require.NoError(t, table.SetFree(0, Capacity{Cores: 4, GPUs: 1}))
	require.ErrorContains(t, table.SetBin(0, 2, 10), "would have more than 1 GPUs free")
	require.NoError(t, table.SetFree(0, Capacity{Cores: 4}))
	take := func(bin uint8, u Use) error {
		return table.Allocate([]Segment{{First: 0, Last: 0, Cores: 1, Bin: bin}}, Uses{u}...)
	}
	require.ErrorContains(t, take(2, Use{PerNode: 4}), "no GPU 2 in shared use with 4 shares free")
	require.ErrorContains(t, take(2, Use{PerNode: 1, PerCore: 1}), "by node, not by core")
	require.ErrorContains(t, take(0, Use{PerNode: 1}), "has no GPU 0 in shared use")
	require.NoError(t, take(2, Use{PerNode: 3}))
	var lens Table
	lens.CopyFreeFrom(table)
	_, shared := lens.Shares()
	require.False(t, shared)
}
