// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// tableI is table I: three jobs on nodes of 8 cores and 2 GPUs.
func tableI(nodes int) *Problem {
	p := &Problem{Free: uniform(nodes, 8, 2)}
	h := nodes / 2
	for i := range int64(3) {
		p.Jobs = append(p.Jobs, Job{Worth: 4294901759 - i, Cores: 4 * h, MinNodes: h, MaxNodes: h, GPUs: 2})
	}
	p.Jobs[0] = Job{Worth: 4294901759, Cores: 4 * nodes}
	return p
}

func uniform(nodes, cores, gpus int) []nodeset.Capacity {
	free := make([]nodeset.Capacity, nodes)
	for i := range free {
		free[i] = nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
	}
	return free
}

// small draws a window that can be solved by trying everything.
func small(rng *rand.Rand) *Problem {
	p := &Problem{NoNodeLimits: rng.IntN(4) == 0}
	for range 1 + rng.IntN(4) {
		p.Free = append(p.Free, nodeset.Capacity{Cores: uint16(rng.IntN(6)), GPUs: uint8(rng.IntN(4))})
	}
	n := len(p.Free)
	kind := rng.IntN(3)
	for i := range 1 + rng.IntN(4) {
		j := Job{Worth: 1000 - int64(i), Cores: 1 + rng.IntN(2+2*n)}
		if kind == 1 {
			j.Worth = 1 + rng.Int64N(20)
		} else if kind == 2 {
			j.Worth *= int64(j.Cores)
		}
		if rng.IntN(2) == 0 {
			j.GPUs = 1 + rng.IntN(3)
		}
		switch rng.IntN(4) {
		case 0:
			j.MinNodes = 1 + rng.IntN(min(n, j.Cores))
			j.MaxNodes = j.MinNodes + rng.IntN(2)
		case 1:
			j.MinCores = 1 + rng.IntN(3)
			j.MaxCores, j.Cores = j.MinCores, j.MinCores*(1+rng.IntN(n))
		case 2:
			j.MaxCores = 1 + rng.IntN(4)
		}
		if rng.IntN(5) == 0 {
			j.Eligible = nodeset.NewMask(n)
			for k := range n {
				if rng.IntN(3) > 0 {
					j.Eligible.Set(k)
				}
			}
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// dumb tries, node after node, everything that the jobs could get there, and remembers what that
// makes of their cores and nodes in all. It knows nothing of cells, bounds or orders.
type dumb struct {
	p      *Problem
	states map[[4][2]int]bool
}

func optimum(p *Problem) (best int64) {
	d := dumb{p, map[[4][2]int]bool{{}: true}}
	for i, f := range p.Free {
		next := make(map[[4][2]int]bool)
		for state := range d.states {
			d.node(i, 0, int(f.Cores), int(f.GPUs), state, next)
		}
		d.states = next
	}
	for state := range d.states {
		best = max(best, d.worth(state))
	}
	return best
}

func (d *dumb) node(i, job, cores, gpus int, state [4][2]int, next map[[4][2]int]bool) {
	if job == len(d.p.Jobs) {
		next[state] = true
		return
	}
	d.node(i, job+1, cores, gpus, state, next)
	j := &d.p.Jobs[job]
	for x := 1; x <= cores && state[job][0]+x <= j.Cores; x++ {
		if gpus >= j.GPUs && j.Eligible.Has(i) && x >= j.MinCores && (j.MaxCores == 0 || x <= j.MaxCores) {
			then := state
			then[job][0], then[job][1] = state[job][0]+x, state[job][1]+1
			d.node(i, job+1, cores-x, gpus-j.GPUs, then, next)
		}
	}
}

func (d *dumb) worth(state [4][2]int) (worth int64) {
	for job := range d.p.Jobs {
		j, cores, nodes := &d.p.Jobs[job], state[job][0], state[job][1]
		switch {
		case cores == 0:
		case cores != j.Cores:
			return -1
		case !d.p.NoNodeLimits && (nodes < j.MinNodes || (j.MaxNodes > 0 && nodes > j.MaxNodes)):
			return -1
		default:
			worth += j.Worth * int64(2*len(d.p.Free)-nodes)
		}
	}
	return worth
}

func solve(t require.TestingT, s *Solver, p *Problem, work int64, r *Result) {
	require.NoError(t, s.Solve(context.Background(), p, ipmodel.Options{Work: work, Seed: 1}, r))
	worth, err := p.Check(r.Segments)
	require.NoError(t, err)
	require.Equal(t, worth, r.Worth)
	require.LessOrEqual(t, r.Worth, r.Bound)
}

// Every answer is feasible and worth what it says, and no selection is worth more than the bound.
func TestBoundHolds(t *testing.T) {
	s, r := New(), Result{}
	rapid.Check(t, func(t *rapid.T) {
		p := small(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7)))
		solve(t, s, p, 20_000, &r)
		best := optimum(p)
		require.LessOrEqual(t, r.Worth, best)
		require.GreaterOrEqual(t, r.Bound, best)
		if r.Status == ipmodel.Optimal {
			require.Equal(t, best, r.Worth)
		}
	})
}

// How often the placing of jobs one after another finds the optimum of the program, and how far it
// and the bound are from it where it does not.
func TestSmallWindowsAreSolved(t *testing.T) {
	const windows = 2000
	s, r := New(), Result{}
	missed, proven, lost, loose := 0, 0, 0.0, 0.0
	for seed := range uint64(windows) {
		p := small(rand.New(rand.NewPCG(seed, 1)))
		solve(t, s, p, 60_000, &r)
		best := optimum(p)
		require.GreaterOrEqual(t, r.Bound, best)
		require.LessOrEqual(t, r.Worth, best)
		if r.Worth < best {
			missed++
			lost = max(lost, 1-float64(r.Worth)/float64(best))
			if testing.Verbose() && missed < 6 {
				t.Logf("seed %d: %d of %d: %+v", seed, r.Worth, best, *p)
			}
		}
		if r.Status == ipmodel.Optimal {
			proven++
		}
		if best > 0 {
			loose += float64(r.Bound)/float64(best) - 1
		}
	}
	t.Logf("%d windows: %d missed, by %.1f%% at most; %d proven; bounds %.1f%% above the optimum in the mean",
		windows, missed, 100*lost, proven, 100*loose/windows)
	require.LessOrEqual(t, missed, windows/100)
	require.GreaterOrEqual(t, proven, windows/2)
}

func TestTableI(t *testing.T) {
	// Jobs 2 and 3 can have all cores of no more than 4, 26 and 438 nodes. Job 1 has at
	// most 7 of any other.
	for nodes, job1 := range map[int]int{10: 6, 64: 38, 1024: 586} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			p := tableI(nodes)
			var r Result
			solve(t, New(), p, 1_000_000, &r)
			for j := range p.Jobs {
				require.NotEmpty(t, r.Segments(j))
			}
			require.Equal(t, job1, nodeset.Nodes(r.Segments(0)))
		})
	}
}

func TestRefusals(t *testing.T) {
	for want, p := range map[string]*Problem{
		"0 nodes":          {},
		"job 0: worth 0":   {Free: uniform(2, 1, 0), Jobs: []Job{{Cores: 1}}},
		"job 1: worth ":    {Free: uniform(2, 1, 0), Jobs: []Job{{Worth: 1 << 58, Cores: 1}, {Worth: 1 << 59, Cores: 1}}},
		"job 0: 0 cores":   {Free: uniform(2, 1, 0), Jobs: []Job{{Worth: 1}}},
		"job 0: a negativ": {Free: uniform(2, 1, 0), Jobs: []Job{{Worth: 1, Cores: 1, GPUs: -1}}},
	} {
		_, err := Direct(p)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, New().Solve(context.Background(), p, ipmodel.Options{}, &Result{}), want)
	}
	p := queueOf(1, 100, MaxMasks+1)
	for j := range p.Jobs {
		p.Jobs[j].Eligible = nodeset.NewMask(100)
		p.Jobs[j].Eligible.Set(j)
	}
	require.ErrorContains(t, p.Validate(), "job 63: more than 63 different masks")
	p.Jobs[3].Eligible = p.Jobs[4].Eligible
	require.NoError(t, p.Validate())
	_, err := Direct(queueOf(1, 1<<20, 30))
	require.ErrorContains(t, err, "30 jobs on 1048576 nodes are too many")
}
