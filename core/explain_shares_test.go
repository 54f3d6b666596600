// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// sharedBy is a machine of four nodes of which the first has no GPU, and who runs there: node 1 has
// a GPU in shared use with 30 free and one given whole, node 2 one with 60 free of which two jobs
// have the rest, and node 3 has no core free.
func sharedBy(t *testing.T, jobs ...*Job) *Snapshot {
	table, err := nodeset.New([]nodeset.Capacity{{Cores: 4}, {Cores: 4, GPUs: 2}, {Cores: 4, GPUs: 1}, {Cores: 4, GPUs: 1}})
	require.NoError(t, err)
	_, err = table.AddShares("gpu_share", []int64{100, 100, 100, 100})
	require.NoError(t, err)
	s := &Snapshot{Nodes: table, Pending: jobs}
	for _, r := range []Running{
		{ID: "whole", End: 900, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 1, GPUs: 1}}},
		{ID: "most", End: 800, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 1, Bin: 2}}, Uses: nodeset.Uses{{PerNode: 70}}},
		{ID: "some", End: 500, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, Uses: nodeset.Uses{{PerNode: 15}}},
		{ID: "more", End: 700, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, Uses: nodeset.Uses{{PerNode: 25}}},
		{ID: "cores", End: 950, Segs: []nodeset.Segment{{First: 3, Last: 3, Cores: 4}}},
	} {
		require.NoError(t, table.Allocate(r.Segs, r.Uses...))
		s.Running = append(s.Running, r)
	}
	return s
}

// What is short of shares, who holds it, on which GPU there would be room, and which smaller share
// would do.
func TestExplainShares(t *testing.T) {
	for _, x := range []struct {
		name   string
		share  int64
		gpus   int
		cores  int
		down   int
		lack   Lack
		place  []nodeset.Segment
		rivals []string
		change *Change
	}{
		{"none has so much free", 70, 0, 1, -1,
			Lack{Row: "gpu_share", In: "shares", Needs: 70, Has: 60},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, []string{"some"}, &Change{"gpu_share", "70", "60"}},
		{"two have to end", 90, 0, 1, -1,
			Lack{Row: "gpu_share", In: "shares", Needs: 90, Has: 60},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, []string{"more", "some"}, &Change{"gpu_share", "90", "60"}},
		{"the node that has is down", 40, 0, 1, 2,
			Lack{Row: "gpu_share", In: "shares", Needs: 40, Has: 30},
			[]nodeset.Segment{{First: 1, Last: 1, Cores: 1, Bin: 1}}, []string{"most"}, &Change{"gpu_share", "40", "30"}},
		{"cores, beside shares", 10, 0, 4, -1,
			Lack{Row: "cores", In: "cores", Needs: 4, Has: 2},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 4, Bin: 1}}, []string{"more", "some"}, &Change{"cores", "4", "2"}},
		{"a whole one where cores are", 0, 1, 1, -1,
			Lack{Row: "cores_per_node", In: "nodes", Needs: 1},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, GPUs: 1}}, []string{"more", "some"}, &Change{"gpus_per_node", "1", "0"}},
		{"a whole one", 0, 1, 1, 3,
			Lack{Row: "gpus_per_node", In: "nodes", Needs: 1},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, GPUs: 1}}, []string{"more", "some"}, &Change{"gpus_per_node", "1", "0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := sharedBy(t, shareJob("j", x.cores, x.share, x.gpus, 9, 60))
			if x.down >= 0 {
				s.Nodes.SetUp(x.down, false)
			}
			e := explain(t, explainer(t, auctionOf(t, func(*AuctionOptions) {}), s), 0, ExplainOptions{Trials: 200})
			require.Equal(t, NoFit, e.Why)
			require.Len(t, e.Lacks, 1)
			l := e.Lacks[0]
			require.Equal(t, x.lack, Lack{Row: l.Row, In: l.In, Needs: l.Needs, Has: l.Has})
			require.Equal(t, x.place, e.Place)
			var rivals []string
			for _, r := range e.Rivals {
				require.Equal(t, s.Running[r.Job].Segs, r.Segs)
				rivals = append(rivals, s.Running[r.Job].ID)
			}
			require.Equal(t, x.rivals, rivals)
			require.NotEmpty(t, e.Suggestions)
			require.Contains(t, e.Suggestions[0].Changes, *x.change)
			require.Equal(t, x.share > 0, e.Suggestions[0].Segs[0].Bin > 0)
		})
	}
}

// Where cores are free there may be no GPU at all.
func TestExplainSharesWithoutNodes(t *testing.T) {
	s := sharedBy(t, shareJob("j", 3, 10, 0, 9, 60))
	for n := 1; n < 4; n++ {
		require.NoError(t, s.Nodes.SetFree(n, nodeset.Capacity{}))
	}
	x := explain(t, explainer(t, auctionOf(t, func(*AuctionOptions) {}), s), 0, ExplainOptions{})
	require.Len(t, x.Lacks, 1)
	require.Equal(t, "cores_per_node", x.Lacks[0].Row, "GPUs there are where no core is")
}

// The GPU that Place names has room for the share once the rivals are gone, and what is said of the
// GPUs is what a count says.
func TestExplainedSharesAreThere(t *testing.T) {
	short, lost := 0, 0
	checkUntil(t, func() bool { return short > 40 && lost > 40 }, func(t *rapid.T) {
		s, a := drawShared(t, 1+rapid.IntRange(0, 4).Draw(t, "nodes"), 14), drawAuction(t)
		for n := range s.Nodes.Len() {
			s.Nodes.SetUp(n, rapid.IntRange(0, 5).Draw(t, "up") > 0)
		}
		e := explainer(t, a, s)
		for i, job := range s.Pending {
			x := explain(t, e, i, ExplainOptions{})
			share := int64(0)
			if len(job.Uses) > 0 {
				share = job.Uses[0].PerNode
			}
			for _, l := range x.Lacks {
				if l.In != "shares" {
					continue
				}
				short++
				require.Equal(t, share, l.Needs)
				require.Less(t, l.Has, share)
				for n := range s.Nodes.Len() {
					can := s.Nodes.Up(n) && int(s.Nodes.Free(n).Cores) >= job.Cores && s.Nodes.TotalOf(0)[n] >= share
					for bin := 1; can && bin <= len(s.Nodes.BinsLeft(n)); bin++ {
						if free, inUse := s.Nodes.BinFree(n, uint8(bin)); inUse {
							require.LessOrEqual(t, free, l.Has)
						}
					}
				}
			}
			if x.Decision.Start || len(x.Place) == 0 {
				continue
			}
			require.Equal(t, share > 0, x.Place[0].Bin > 0)
			gone := map[suspect]bool{}
			for _, r := range x.Rivals {
				gone[suspect{r.Role, r.Job}] = true
			}
			var free nodeset.Table
			free.CopyFrom(s.Nodes)
			for k, r := range s.Running {
				if gone[suspect{roleRuns, k}] {
					require.NoError(t, free.Release(r.Segs, r.Uses...))
				}
			}
			for _, k := range e.started {
				if d := e.decisionOf(k); x.Why != NoFit && !gone[suspect{roleStarts, k}] {
					require.NoError(t, free.Allocate(d.Segs, d.Uses...))
					lost++
				}
			}
			require.NoError(t, free.Allocate(x.Place, job.Uses...))
		}
	})
}
