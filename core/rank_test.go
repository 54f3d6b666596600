// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// shareTwin is a job's share in exact numbers.
func shareTwin(m totals, job *Job) *big.Rat {
	part := func(of, all int64) *big.Rat {
		r := big.NewRat(of, max(all, 1))
		if r.Cmp(big.NewRat(1, 1)) > 0 {
			return big.NewRat(1, 1)
		}
		return r
	}
	return new(big.Rat).Add(part(place.LeastCores(&job.Request), int64(m.cores)), part(leastGPUs(&job.Request), int64(m.gpus)))
}

func drawClaimant(t *rapid.T) (totals, *Job) {
	m := totals{rapid.Uint64Range(1, nodeset.MaxNodes*bids.MaxCoresPerNode).Draw(t, "cores"),
		rapid.Uint64Range(0, nodeset.MaxNodes*bids.MaxGPUsPerNode).Draw(t, "gpus")}
	job := &Job{TimeLimit: rapid.Int64Range(1, NoTimeLimit).Draw(t, "limit"),
		Priority: rapid.Int64Range(1, MaxPriority).Draw(t, "priority")}
	job.Cores = rapid.IntRange(1, bids.MaxCores).Draw(t, "job's cores")
	job.MinNodes = rapid.IntRange(0, nodeset.MaxNodes).Draw(t, "nodes")
	job.MinGPUs = rapid.IntRange(0, bids.MaxGPUsPerNode).Draw(t, "job's gpus")
	return m, job
}

func TestShareAndRateAreWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, job := drawClaimant(t)
		exact := shareTwin(m, job)
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(m.share(job)), new(big.Int).Lsh(big.NewInt(1), shareBits))
		require.LessOrEqual(t, got.Cmp(exact), 0, "rounded down")
		off := new(big.Rat).Sub(exact, got)
		require.Negative(t, off.Cmp(big.NewRat(2, 1<<shareBits)), "two parts, each off by less than a unit")

		rate := new(big.Rat).SetFrac(new(big.Int).SetUint64(m.rate(job)), new(big.Int).Lsh(big.NewInt(1), rateBits))
		off.Sub(new(big.Rat).Quo(got, big.NewRat(job.TimeLimit, 1)), rate)
		require.LessOrEqual(t, off.Abs(off).Cmp(big.NewRat(1, 1<<rateBits)), 0)
	})
}

// Jobs get places by priority x (share + waiting / patience), and 2 more for those that last longer
// than half of what all that there is to do would take.
func TestPlacesGoByClaim(t *testing.T) {
	race.Slow(t)
	lasts, others := 0, 0
	checkUntil(t, func() bool { return lasts > 100 && others > 100 }, func(t *rapid.T) {
		s := drawSnapshot(t)
		o := Preset("packed")
		o.Patience = rapid.Int64Range(1, 20_000).Draw(t, "patience")
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		decideOn(t, a, s)
		last := lastTwin(s)
		claim := func(j int32) float64 {
			job := a.window.jobs[j]
			waited := big.NewRat(s.Now-job.Since, o.Patience)
			sum := waited.Add(waited, shareTwin(totalsOf(s.Nodes), job))
			if big.NewRat(job.TimeLimit, 1).Cmp(last) > 0 {
				sum.Add(sum, big.NewRat(2, 1))
				lasts++
			} else {
				others++
			}
			f, _ := sum.Mul(sum, big.NewRat(job.Priority, 1)).Float64()
			return f
		}
		a.reservations.inRankOrder(s, &a.window)
		require.Len(t, a.reservations.order, len(a.window.jobs))
		for i := 1; i < len(a.reservations.order); i++ {
			require.GreaterOrEqual(t, claim(a.reservations.order[i-1]), claim(a.reservations.order[i])*(1-1e-7))
			if a.reservations.ranks[a.reservations.order[i-1]] == a.reservations.ranks[a.reservations.order[i]] {
				require.Less(t, a.reservations.order[i-1], a.reservations.order[i], "equals are in queue order")
			}
		}
	})
}

// lastTwin is half of the time, in exact numbers, that all cores or all GPUs need for what runs and
// what waits and can run.
func lastTwin(s *Snapshot) *big.Rat {
	var known place.Cache
	known.Reset(s.Nodes)
	m := totalsOf(s.Nodes)
	cores, gpus := new(big.Rat), new(big.Rat)
	add := func(seconds int64, c, g int64) {
		cores.Add(cores, big.NewRat(seconds*c, max(int64(m.cores), 1)))
		gpus.Add(gpus, big.NewRat(seconds*g, max(int64(m.gpus), 1)))
	}
	for _, r := range s.Running {
		for _, seg := range r.Segs {
			for range seg.Len() {
				add(max(r.End-s.Now, 1), int64(seg.Cores), int64(seg.GPUs))
			}
		}
	}
	var n normal
	n.reset(s)
	for _, job := range s.Pending {
		if n.read(job); n.never(&known, job) == "" {
			add(job.TimeLimit, place.LeastCores(&job.Request), leastGPUs(&job.Request))
		}
	}
	if cores.Cmp(gpus) < 0 {
		cores = gpus
	}
	return cores.Mul(cores, big.NewRat(1, 2))
}

// While there is more to wait for than the window shows, nobody knows which jobs are the last.
func TestLastJobsAreKnownAtTheEndOnly(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 16}, bids.Request{Cores: 15}, bids.Request{Cores: 1})}
	for j, limit := range []int64{60, 60, 600} {
		// all of it: (16 x 60 + 15 x 60 + 600) / 16 = 154 s
		s.Pending[j].TimeLimit = limit
	}
	o := Preset("packed")
	for window, order := range map[int][]int32{3: {2, 0, 1}, 2: {0, 1}} {
		o.Window = window
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		decideOn(t, a, s)
		require.Equal(t, order, a.reservations.inRankOrder(s, &a.window), "window of %d", window)
	}
}

// Of equal priorities nobody is passed over by a job that comes later by more than
// four times the patience.
func TestNobodyIsPassedOverForLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	a, err := NewAuction(Preset("packed"), nil)
	require.NoError(t, err)
	a.window.machine = totals{cores: 1000, gpus: 100}
	passed, late := 0, 0
	for range 2000 {
		small := &Job{Priority: 7, Request: bids.Request{Cores: 1}, TimeLimit: 1, Since: rng.Int64N(100_000)}
		large := &Job{Priority: 7, Request: bids.Request{Cores: 1000, MinNodes: 100, MaxNodes: 100, MinGPUs: 1},
			TimeLimit: 1, Since: rng.Int64N(100_000)}
		large.TimeLimit += rng.Int64N(2) // and the last, if 2
		a.window.jobs = []*Job{small, large}
		a.window.waiting = backlog{cores: 2.5 * 1000}
		order := a.reservations.inRankOrder(&Snapshot{Now: 100_000 + rng.Int64N(100_000)}, &a.window)
		if large.Since >= small.Since+4*a.opts.Patience {
			require.EqualValues(t, []int32{0, 1}, order)
		} else if order[0] == 1 && large.Since > small.Since {
			passed++
			if large.Since > small.Since+2*a.opts.Patience {
				require.EqualValues(t, 2, large.TimeLimit)
				late++
			}
		}
	}
	require.Positive(t, passed, "until then it is")
	require.Positive(t, late, "for more than twice the patience by the last job only")
}

// On a machine of equal nodes that are up, to start in one block or two is always
// possible in the end.
func TestCompactJobsStayTogether(t *testing.T) {
	race.Slow(t)
	two, loose := 0, 0
	checkUntil(t, func() bool { return two > 3 && loose > 3 }, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 77))
		nodes, err := nodeset.NewUniform(8+rng.IntN(60), nodeset.Capacity{Cores: 8, GPUs: 2})
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes}
		for n := range nodes.Len() { // holes
			if rng.IntN(3) == 0 {
				seg := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: uint16(1 + rng.IntN(8))}}
				require.NoError(t, nodes.Allocate(seg))
				s.Running = append(s.Running, Running{ID: fmt.Sprint("R", n), End: 100, Segs: seg})
			}
		}
		for i := range 20 {
			r := randomRequest(rng, nodes.Len(), 8, 2)
			r.Eligible = nil
			s.Pending = append(s.Pending, &Job{ID: fmt.Sprint("J", i), Request: *r, Priority: 1000 - int64(i), TimeLimit: 60})
		}
		most := func(o AuctionOptions) (blocks int) {
			p := decide(t, o, s)
			for _, d := range p.Decisions {
				if d.Start {
					blocks = max(blocks, nodeset.Blocks(d.Segs))
				}
			}
			return blocks
		}
		o := Preset("none")
		o.Work = trialWork
		if most(o) > 2 {
			loose++
		}
		o.Compact = true
		together := most(o)
		require.LessOrEqual(t, together, 2)
		if together == 2 {
			two++
		}
	})
}

// Who waits because what is free lies apart is told that others come first: alone it would start there.
func TestCompactJobsAreToldWhy(t *testing.T) {
	nodes, err := nodeset.NewUniform(8, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 32}, bids.Request{MinNodes: 5, TasksPerNode: 4})}
	for n := int32(1); n < 6; n += 2 {
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 4}}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{ID: "R", End: 100, Segs: segs})
	}
	o := Preset("none")
	require.True(t, decide(t, o, s).Decisions[1].Start, "in four blocks, before the first job's turn")
	o.Compact = true
	d := decide(t, o, s).Decisions[1]
	require.Equal(t, []any{false, Lost, reasonLost}, []any{d.Start, d.Why, d.Reason})
}

// Where a job may only use nodes that lie apart, or nodes are down, it has as
// many blocks as it needs.
func TestCompactJobsStartWhereTheyMust(t *testing.T) {
	nodes, err := nodeset.NewUniform(9, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	odd := nodeset.NewMask(9)
	for n := 1; n < 9; n += 2 {
		odd.Set(n)
	}
	for _, o := range []AuctionOptions{Preset("none"), Preset("packed"), Preset("paper")} {
		o.Compact = true
		p := decide(t, o, &Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 16, Eligible: odd})})
		require.True(t, p.Decisions[0].Start, "every other node")
	}
	for _, n := range []int{2, 5} {
		nodes.SetUp(n, false)
	}
	o := Preset("packed")
	p := decide(t, o, &Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 28}, bids.Request{Cores: 1})})
	require.True(t, p.Decisions[0].Start, "three blocks between nodes that are down: the first by claim")
}
