// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// twoKinds are nodes 0-3 with GPUs, of the later tier, and 4-11 without.
func twoKinds(t require.TestingT, jobs ...*Job) *Snapshot {
	s := &Snapshot{Pending: jobs}
	var total []nodeset.Capacity
	for n := range 12 {
		c := nodeset.Capacity{Cores: 16}
		if n < 4 {
			c.GPUs = 4
		}
		total, s.Tiers = append(total, c), append(s.Tiers, map[bool]uint8{true: 10, false: 1}[n < 4])
	}
	var err error
	s.Nodes, err = nodeset.New(total)
	require.NoError(t, err)
	return s
}

// nodesOf are the nodes of the jobs that start, by job.
func nodesOf(p *Plan) map[int][]int {
	on := map[int][]int{}
	for _, d := range p.Decisions {
		for _, seg := range d.Segs {
			for n := seg.First; n <= seg.Last && d.Start; n++ {
				on[d.Job] = append(on[d.Job], int(n))
			}
		}
	}
	return on
}

// Jobs without GPUs are on the nodes without, as long as these suit them; jobs with GPUs have
// theirs; and no job waits because a later tier is all that is left.
func TestTiers(t *testing.T) {
	whole := func(id string, priority int64, nodes int) *Job {
		return &Job{ID: id, Priority: priority, TimeLimit: 60,
			Request: bids.Request{MinNodes: nodes, TasksPerNode: 16}}
	}
	for name, options := range policiesThatPrefer {
		t.Run(name, func(t *testing.T) {
			gpus := whole("gpus", 1, 4)
			gpus.MinGPUs, gpus.TasksPerNode = 4, 1
			s := twoKinds(t, whole("a", 9, 3), whole("b", 8, 3), whole("c", 7, 2), gpus)
			p := decideOn(t, auctionOf(t, options), s)
			require.NoError(t, Verify(s, p))
			on := nodesOf(p)
			require.Len(t, on, 4, "all start")
			for job := range 3 {
				require.GreaterOrEqual(t, slices.Min(on[job]), 4, "job %d", job)
			}

			s = twoKinds(t, whole("a", 9, 6), whole("b", 8, 6))
			p = decideOn(t, auctionOf(t, options), s)
			require.NoError(t, Verify(s, p))
			require.Len(t, nodesOf(p), 2, "both start, one of them beside GPUs")
		})
	}
}

// A job that is alone gets no node of a later tier if earlier ones suit it, whatever the tiers are;
// and who starts is the same with tiers as without.
func TestTiersCostNoStart(t *testing.T) {
	spared, split := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "nodes")
		tiers := rapid.SliceOfN(rapid.Uint8Range(0, rapid.SampledFrom([]uint8{2, 12, 255}).Draw(t, "most")), n, n).Draw(t, "tiers")
		nodes := uniformNodes(t, n, nodeset.Capacity{Cores: 4})
		for i := range n {
			free := nodeset.Capacity{Cores: uint16(rapid.IntRange(0, 4).Draw(t, "free"))}
			require.NoError(t, nodes.SetFree(i, free))
		}
		request := bids.Request{MinNodes: rapid.IntRange(1, 4).Draw(t, "wide"), TasksPerNode: 2}
		alone := func(tiers []uint8, within nodeset.Mask) (started bool, latest uint8) {
			job := &Job{ID: "J", Priority: 5, TimeLimit: 60, Request: request}
			job.Eligible = within
			s := &Snapshot{Nodes: nodes, Tiers: tiers, Pending: []*Job{job}}
			p := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
			require.NoError(t, Verify(s, p))
			for _, node := range nodesOf(p)[0] {
				if tiers != nil {
					latest = max(latest, tiers[node])
				}
			}
			return p.Decisions[0].Start, latest
		}
		plain, _ := alone(nil, nil)
		started, latest := alone(tiers, nil)
		require.Equal(t, plain, started)
		there := slices.Compact(slices.Sorted(slices.Values(tiers)))
		for _, tier := range there {
			mask := nodeset.NewMask(n)
			for i, of := range tiers {
				if of <= tier {
					mask.Set(i)
				}
			}
			if fits, _ := alone(nil, mask); fits {
				require.LessOrEqual(t, latest, tier)
				spared++
				break
			}
			split++
		}
	})
	require.Greater(t, spared, 20)
	require.Greater(t, split, 20)
}

// priorities is the sum over the jobs that start.
func priorities(s *Snapshot, p *Plan) (sum int64) {
	for job := range nodesOf(p) {
		sum += s.Pending[job].Priority
	}
	return sum
}

// Windows of many jobs start jobs of the same priorities, with tiers as without.
func TestTiersOfWindows(t *testing.T) {
	race.Slow(t)
	for seed := range 40 {
		var jobs []*Job
		for i := range 7 {
			jobs = append(jobs, &Job{ID: fmt.Sprint(i), Priority: int64(100 - i), TimeLimit: 60,
				Request: bids.Request{MinNodes: 1 + (i*seed)%4, TasksPerNode: 4 + (i+seed)%13}})
		}
		s := twoKinds(t, jobs...)
		with := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
		require.NoError(t, Verify(s, with))
		s.Tiers = nil
		without := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
		require.Equal(t, priorities(s, without), priorities(s, with), "seed %d", seed)
	}
}

// A job with an offer on nodes of a later tier goes by that; one on an earlier tier is bid there.
func TestOfferBeforeTiers(t *testing.T) {
	job := &Job{ID: "J", Priority: 5, TimeLimit: 60, Request: bids.Request{Cores: 8, MinNodes: 1, MaxNodes: 1}}
	s := twoKinds(t, job)
	p := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
	require.GreaterOrEqual(t, nodesOf(p)[0][0], 4)
	for _, offered := range []int32{2, 9} {
		job.Offer = []nodeset.Segment{{First: offered, Last: offered, Cores: 8}}
		a := auctionOf(t, func(o *AuctionOptions) { o.MaxBidsPerJob, o.Drafts, o.Reservations = 1, 0, 0 })
		p = decideOn(t, a, s)
		require.Equal(t, []int{int(offered)}, nodesOf(p)[0])
		require.Equal(t, market.ClassS, p.Decisions[0].Class)
	}
}

func TestTiersOfEveryNode(t *testing.T) {
	s := twoKinds(t)
	s.Tiers = s.Tiers[:5]
	require.EqualError(t, s.Validate(), "tiers: there are 5, for 12 nodes")
}

// A job alone gets the lightest nodes, of these those without GPUs if it asks for none, and of the
// next ones no more than it lacks: in the window, behind it and as planned, however wide it is.
func TestLightNodesComeFirst(t *testing.T) {
	mixed := 0
	for name, options := range map[string]func(o *AuctionOptions){
		"window": func(*AuctionOptions) {}, "papers": policiesThatPrefer["papers"],
		"behind":  func(o *AuctionOptions) { o.Window = 1 },
		"planned": func(o *AuctionOptions) { *o = Preset("default") },
		"short":   func(o *AuctionOptions) { *o = Preset("short") },
	} {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(2, 20).Draw(t, "nodes")
			s := &Snapshot{Tiers: rapid.SliceOfN(rapid.Uint8Range(0, 2), n, n).Draw(t, "tiers")}
			total, grades := []nodeset.Capacity{}, make([]int, n)
			for i := range n {
				total = append(total, nodeset.Capacity{Cores: 4, GPUs: uint8(rapid.IntRange(0, 1).Draw(t, "gpus"))})
				grades[i] = 2*int(s.Tiers[i]) + int(total[i].GPUs)
			}
			var err error
			s.Nodes, err = nodeset.New(total)
			require.NoError(t, err)
			wide, cores := rapid.IntRange(1, n).Draw(t, "wide"), rapid.IntRange(3, 4).Draw(t, "cores")
			job := &Job{ID: "J", Priority: 5, TimeLimit: 60, Request: bids.Request{MinNodes: wide, TasksPerNode: cores}}
			if name == "behind" {
				s.Pending = []*Job{{ID: "first", Priority: 9, TimeLimit: 60, Request: bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1}}}
				job.Request = bids.Request{MinNodes: min(wide, n-1), TasksPerNode: 4}
				if n == 1 || job.MinNodes == 0 {
					return
				}
			}
			s.Pending = append(s.Pending, job)
			p := decideOn(t, auctionOf(t, options), s)
			require.NoError(t, Verify(s, p))
			on := nodesOf(p)
			left := slices.Clone(grades)
			if name == "behind" {
				left = slices.Delete(left, on[0][0], on[0][0]+1)
				require.Equal(t, slices.Min(grades), grades[on[0][0]])
			}
			got := []int{}
			for _, node := range on[len(s.Pending)-1] {
				got = append(got, grades[node])
			}
			slices.Sort(left)
			slices.Sort(got)
			require.Equal(t, left[:job.MinNodes], got)
			if got[0] != got[len(got)-1] {
				mixed++
			}
		})
	}
	require.Greater(t, mixed, 50)
}

// GPUs that are a further resource count as GPUs: jobs that take none keep off their nodes.
func TestGPUsAsAResourceAreLeft(t *testing.T) {
	for name, gpu := range map[string]bool{"gpu": true, "gpu:a100": true, "nvidia.com/gpu": true, "gres/gpu:h100": true, "memory": false, "mygpu": false} {
		nodes := uniformNodes(t, 6, nodeset.Capacity{Cores: 8})
		r, err := nodes.AddResource(name, []int64{4, 4, 0, 0, 0, 4})
		require.NoError(t, err)
		wide := func(id string, uses nodeset.Uses) *Job {
			return &Job{ID: id, Priority: 5, TimeLimit: 60, Request: bids.Request{MinNodes: 2, TasksPerNode: 8, Uses: uses}}
		}
		s := &Snapshot{Nodes: nodes, Pending: []*Job{wide("cpu", nil)}}
		p := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
		require.Equal(t, gpu, slices.Min(nodesOf(p)[0]) > 1 && slices.Max(nodesOf(p)[0]) < 5, name)
		s.Pending = []*Job{wide("cpu", nil), wide("gpu", nodeset.Uses{{Row: r, PerNode: 4}}), wide("more", nil)}
		p = decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
		require.Len(t, nodesOf(p), 3)
	}
}
