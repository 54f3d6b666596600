// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// fitsTogether allocates all bids of a draft at once, on the machine and on what
// each reservation leaves to those who run into it.
func fitsTogether(t require.TestingT, s *Space, variants []Variant, b *Book, draft []int32) {
	for k := range len(s.Left) + 1 {
		var tab nodeset.Table
		if tab.CopyFrom(s.Now); k > 0 {
			tab.CopyFrom(s.Left[k-1])
		}
		for _, i := range draft {
			if variants[b.Bids[i].Job].Crosses >= k {
				require.NoError(t, tab.Allocate(b.Allocation(int(i))), "table %d, job %d", k, b.Bids[i].Job)
			}
		}
	}
}

// bestDraft has b be the best draft, and lists its bids.
func bestDraft(g *Generator, s *Space, variants []Variant, o Options, b *Book) (bids []int32) {
	o.BestDraft = true
	g.Generate(s, variants, o, b)
	for i := range b.Bids {
		bids = append(bids, int32(i))
	}
	return bids
}

func TestDraftsFitTogether(t *testing.T) {
	var g Generator
	var b Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants, o := drawVariants(t, s), drawOptions(t)
		keepSome(t, s, variants)
		g.Generate(s, variants, o, &b)
		require.LessOrEqual(t, len(g.drafts), o.Drafts)
		if o.Drafts > 0 && o.MaxBidsPerJob > 1 {
			require.NotEmpty(t, g.drafts)
		}
		fitsTogether(t, s, variants, &b, b.Kept)
		most := int64(0)
		for i := range g.drafts {
			most = max(most, g.drafts[i].worth)
		}
		worth, of, jobs := int64(0), jobsOf(variants), map[int]bool{}
		draft := bestDraft(&g, s, variants, o, &b)
		for _, i := range draft {
			j := b.Bids[i].Job
			require.False(t, jobs[of[j]], "job %d is in a draft twice", of[j])
			jobs[of[j]] = true
			worth += variants[j].Priority
		}
		fitsTogether(t, s, variants, &b, draft)
		require.Equal(t, most, worth)
	})
}

// A draft leaves nobody out who still has room behind all others.
func TestDraftsLeaveNoOneOut(t *testing.T) {
	var g Generator
	var b Book
	var p place.Placer
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants := drawVariants(t, s)
		for j := range variants {
			gpus := &variants[j].Spec.GPUs.PerNode
			gpus.Max = gpus.Min // GPUs that a range takes at the end are not missed by a loser
		}
		var rest place.Residual
		rest.Reset(s.Now, s.Left)
		in, job := map[int]bool{}, jobsOf(variants)
		for _, i := range bestDraft(&g, s, variants, Options{MaxBidsPerJob: 8, Drafts: 5}, &b) {
			j := int(b.Bids[i].Job)
			in[job[j]] = true
			require.NoError(t, rest.Take(&place.Spec{}, b.Allocation(int(i)), variants[j].Crosses))
		}
		for j := range variants {
			if _, ok := p.Place(nil, rest.View(variants[j].Crosses), &variants[j].Spec, variants[j].Spec.GPUs.PerNode.Min); ok {
				require.True(t, in[job[j]], "job %d has room and is not in the draft", j)
			}
		}
	})
}

func TestKeptBidsCountAgainstTheLimit(t *testing.T) {
	tab := draw.CoresFree(t, 4, 4, 0, 4, 4, 4, 4)
	keep := []nodeset.Segment{{First: 4, Last: 5, Cores: 4}}
	for most := 1; most <= 4; most++ {
		for drafts := range most + 1 {
			variants := []Variant{{Spec: requests.Spec(&bids.Request{Cores: 8}), Priority: 2, Fixed: keep},
				{Spec: requests.Spec(&bids.Request{Cores: 8}), Priority: 1}}
			var g Generator
			var b Book
			g.Generate(&Space{Now: tab}, variants, Options{MaxBidsPerJob: most, Drafts: drafts}, &b)
			require.Len(t, b.Of(0), most, "%d drafts", drafts)
			require.Equal(t, []int32{0}, b.Kept)
			require.Equal(t, keep, b.Allocation(0))
		}
	}
}

// Queue order gives the first job the nodes that the others need. One draft can't
// serve all, the next orders can.
func TestDraftOrdersServeSpecialWishesFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []nodeset.Capacity
		reqs  []bids.Request
	}{
		{"GPUs", []nodeset.Capacity{{Cores: 8, GPUs: 1}, {Cores: 8, GPUs: 1}, {Cores: 8}, {Cores: 8}},
			[]bids.Request{{Cores: 16}, {MinNodes: 2, TasksPerNode: 8, MinGPUs: 1}}},
		{"named nodes", []nodeset.Capacity{{Cores: 8}, {Cores: 8}, {Cores: 8}, {Cores: 8}},
			[]bids.Request{{Cores: 16}, {MinNodes: 4, TasksPerNode: 2}, {MinNodes: 4, TasksPerNode: 2}}},
		{"the loser first", []nodeset.Capacity{{Cores: 4}, {Cores: 4}, {Cores: 4}, {Cores: 4}, {Cores: 4}, {Cores: 4}},
			[]bids.Request{{Cores: 12, MinNodes: 6}, {MinNodes: 3, TasksPerNode: 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var variants []Variant
			for i := range c.reqs {
				variants = append(variants, Variant{Spec: requests.Spec(&c.reqs[i]), Priority: 9 - int64(i)})
			}
			s := &Space{Now: draw.Machine(t, c.nodes, nil)}
			var g Generator
			var b Book
			best := func(n int) []int32 { return bestDraft(&g, s, variants, Options{MaxBidsPerJob: 15, Drafts: n}, &b) }
			require.Less(t, len(best(1)), len(variants), "queue order alone leaves someone out")
			if c.name == "the loser first" { // can't be served together: one of them each way
				g.Generate(s, variants, Options{MaxBidsPerJob: 15, Drafts: 7}, &b)
				for j := range variants {
					served := func(d draft) bool { return !d.got[j].empty() }
					require.True(t, slices.ContainsFunc(g.drafts, served), "some draft serves job %d", j)
				}
				return
			}
			require.Len(t, best(7), len(variants))
			require.Len(t, best(2), len(variants), "the second order is enough")
		})
	}
}

// GPUs that nobody took go to jobs with a range, in queue order.
func TestDraftsRaiseGPUs(t *testing.T) {
	tab := draw.Machine(t, []nodeset.Capacity{{Cores: 8, GPUs: 4}, {Cores: 8, GPUs: 4}}, nil)
	req := func(low, high int) *bids.Request {
		return &bids.Request{MinNodes: 2, TasksPerNode: 2, MinGPUs: low, MaxGPUs: high}
	}
	variants := []Variant{{Spec: requests.Spec(req(1, 4)), Priority: 3}, {Spec: requests.Spec(req(1, 4)), Priority: 2},
		{Spec: requests.Spec(req(1, 1)), Priority: 1}}
	var g Generator
	var b Book
	draft := bestDraft(&g, &Space{Now: tab}, variants, Options{MaxBidsPerJob: 15, Drafts: 7}, &b)
	require.Len(t, draft, 3, "taking the most GPUs at once would leave the others none")
	var gpus []uint8
	for _, i := range draft {
		gpus = append(gpus, b.Bids[i].GPUs)
	}
	require.Equal(t, []uint8{2, 1, 1}, gpus)
}

// place.Residual is its definition: what is free less what was taken, and of a view the least
// of the machine and the reservations.
func TestRestKeepsAccount(t *testing.T) {
	var rest place.Residual
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		var twin Space
		copyTable := func(o *nodeset.Table) *nodeset.Table {
			c := new(nodeset.Table)
			c.CopyFrom(o)
			return c
		}
		twin.Now = copyTable(s.Now)
		for _, left := range s.Left {
			twin.Left = append(twin.Left, copyTable(left))
		}
		rest.Reset(s.Now, s.Left)
		for range rapid.IntRange(0, 12).Draw(t, "takes") {
			crosses := rapid.IntRange(0, len(s.Left)).Draw(t, "crosses")
			first := rapid.IntRange(0, s.Now.Len()-1).Draw(t, "first")
			last := rapid.IntRange(first, min(first+3, s.Now.Len()-1)).Draw(t, "last")
			segs := []nodeset.Segment{{First: int32(first), Last: int32(last),
				Cores: uint16(rapid.IntRange(1, 3).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 1).Draw(t, "gpus"))}}
			room := true
			for n := first; n <= last; n++ {
				c, up := viewTwin(&twin, crosses, n)
				room = room && up && c.Cores >= segs[0].Cores && c.GPUs >= segs[0].GPUs
			}
			require.Equal(t, room, rest.Take(&place.Spec{}, segs, crosses) == nil)
			if room {
				require.NoError(t, twin.Now.Allocate(segs))
				for _, left := range twin.Left[:crosses] {
					require.NoError(t, left.Allocate(segs))
				}
			}
			for k := range len(s.Left) + 1 {
				for n := range s.Now.Len() {
					c, up := viewTwin(&twin, k, n)
					require.Equal(t, c, rest.View(k).Free(n))
					require.Equal(t, up, rest.View(k).Up(n))
				}
			}
		}
	})
}
