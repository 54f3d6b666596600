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
		require.NoError(t, table.AllocateWith(r.Segs, r.Uses))
		s.Running = append(s.Running, r)
	}
	return s
}

// What is short of shares, who holds it, on which GPU there would be room, and which smaller share
// would do.
func TestExplainShares(t *testing.T) {
	for _, x := range []struct {
		name     string
		share    int64
		gpus     int
		cores    int
		down     int
		shortage Shortage
		place    []nodeset.Segment
		rivals   []string
		change   *Change
	}{
		{"none has so much free", 70, 0, 1, -1,
			Shortage{Resource: "gpu_share", Need: 1, CoresPerNode: 1, Eligible: 4, WithGPUs: 4, WithCores: 3,
				Further: []FurtherStage{{"gpu_share", 70, 0}}, Share: &ShareShortage{nodeset.Mask{0b110}, 2, 1, 60}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, []string{"some"}, &Change{"gpu_share", "70", "60"}},
		{"two have to end", 90, 0, 1, -1,
			Shortage{Resource: "gpu_share", Need: 1, CoresPerNode: 1, Eligible: 4, WithGPUs: 4, WithCores: 3,
				Further: []FurtherStage{{"gpu_share", 90, 0}}, Share: &ShareShortage{nodeset.Mask{0b110}, 2, 1, 60}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, []string{"more", "some"}, &Change{"gpu_share", "90", "60"}},
		{"the node that has is down", 40, 0, 1, 2,
			Shortage{Resource: "gpu_share", Need: 1, CoresPerNode: 1, Eligible: 3, WithGPUs: 3, WithCores: 2,
				Further: []FurtherStage{{"gpu_share", 40, 0}}, Share: &ShareShortage{nodeset.Mask{0b10}, 1, 1, 30}},
			[]nodeset.Segment{{First: 1, Last: 1, Cores: 1, Bin: 2}}, []string{"most"}, &Change{"gpu_share", "40", "30"}},
		{"cores, beside shares", 10, 0, 4, -1,
			Shortage{Resource: "cores", Need: 4, Have: 2, CoresPerNode: 1, Eligible: 4, WithGPUs: 4, WithCores: 3,
				Further: []FurtherStage{{"gpu_share", 10, 2}}, Run: 2, Cores: 2, LimitedBy: "gpu_share"},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 4, Bin: 1}}, []string{"more", "some"}, &Change{"cores", "4", "2"}},
		{"a whole one where cores are", 0, 1, 1, -1,
			Shortage{Resource: "cores_per_node", Need: 1, CoresPerNode: 1, GPUsPerNode: 1, Eligible: 4, WithGPUs: 1},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, GPUs: 1}}, []string{"more", "some"}, &Change{"gpus_per_node", "1", "0"}},
		{"a whole one", 0, 1, 1, 3,
			Shortage{Resource: "gpus_per_node", Need: 1, CoresPerNode: 1, GPUsPerNode: 1, Eligible: 3,
				Share: &ShareShortage{nodeset.Mask{0b110}, 2, 1, 60}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1, GPUs: 1}}, []string{"more", "some"}, &Change{"gpus_per_node", "1", "0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := sharedBy(t, shareJob("j", x.cores, x.share, x.gpus, 9, 60))
			if x.down >= 0 {
				s.Nodes.SetUp(x.down, false)
			}
			e := explain(t, explainer(t, auctionOf(t, func(*AuctionOptions) {}), s), 0, ExplainOptions{Trials: 200})
			require.Equal(t, NoFit, e.Why)
			require.Equal(t, &x.shortage, e.Shortage)
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
	require.Equal(t, "gpu_share", x.Shortage.Resource)
	require.Equal(t, &ShareShortage{Nodes: nodeset.Mask{0}}, x.Shortage.Share)
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
			if x.Shortage != nil && x.Shortage.Share != nil {
				short++
				h, shared, whole := x.Shortage.Share, 0, 0
				require.True(t, share == 0 || h.Most < share)
				for n := range s.Nodes.Len() {
					can := s.Nodes.Up(n) && (s.Nodes.Free(n).Cores > 0 || job.Cores == 0) && s.Nodes.TotalOf(0)[n] >= share
					if share == 0 {
						can = s.Nodes.Up(n) && int(s.Nodes.Total(n).GPUs) >= job.MinGPUs
					}
					require.Equal(t, can, h.Nodes.Has(n))
					for _, r := range s.Running {
						if can && int(r.Segs[0].First) == n {
							whole += int(r.Segs[0].GPUs)
						}
					}
					for bin := 1; can && bin <= s.Nodes.Bins(n); bin++ {
						if free, inUse := s.Nodes.BinFree(n, uint8(bin)); inUse {
							require.LessOrEqual(t, free, h.Most)
							shared++
						}
					}
				}
				require.Equal(t, [2]int{shared, whole}, [2]int{h.Shared, h.Whole})
			}
			if x.Decision.Start || len(x.Place) == 0 {
				continue
			}
			require.Equal(t, share > 0, x.Place[0].Bin > 0)
			gone := map[[2]int]bool{}
			for _, r := range x.Rivals {
				gone[[2]int{int(r.Role), r.Job}] = true
			}
			var free nodeset.Table
			free.CopyFrom(s.Nodes)
			for k, r := range s.Running {
				if gone[[2]int{int(Holds), k}] {
					require.NoError(t, free.ReleaseWith(r.Segs, r.Uses))
				}
			}
			for _, k := range e.started {
				if d := e.decisionOf(k); x.Why != NoFit && !gone[[2]int{int(Wins), k}] {
					require.NoError(t, free.AllocateWith(d.Segs, d.Uses))
					lost++
				}
			}
			require.NoError(t, free.AllocateWith(x.Place, job.Uses))
		}
	})
}
