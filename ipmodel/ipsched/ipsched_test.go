package ipsched

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/race"
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

// dumb tries, node after node, everything that the jobs could get there, and remembers what that makes of
// their cores and nodes in all. It knows nothing of cells, bounds or orders.
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

// How often the placing of jobs one after another finds the optimum of the program, and how far it and the
// bound are from it where it does not.
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
	t.Logf("%d windows: %d missed, by %.1f%% at most; %d proven; bounds %.1f%% above the optimum in the mean", windows, missed, 100*lost, proven, 100*loose/windows)
	require.LessOrEqual(t, missed, windows/100)
	require.GreaterOrEqual(t, proven, windows/2)
}

func TestTableI(t *testing.T) {
	// Jobs 2 and 3 can have all cores of no more than 4, 26 and 438 nodes. Job 1 has at most 7 of any other.
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

func TestDirectHasTheSizeOfTheTables(t *testing.T) {
	for _, c := range []struct{ m, n int }{{1, 1}, {3, 10}, {20, 16}} {
		p := &Problem{Free: uniform(c.n, 8, 2), Jobs: make([]Job, c.m)}
		for j := range p.Jobs {
			p.Jobs[j] = Job{Worth: 5, Cores: 4, GPUs: 1}
		}
		variables, constraints := PaperSize(c.m, c.n)
		d, err := Direct(p)
		require.NoError(t, err)
		require.Equal(t, variables, d.Columns())
		require.Equal(t, constraints-2*c.n+2*c.m, d.Rows(), "constraint 5 has two rows a job")
		p.NoNodeLimits = true
		d, err = Direct(p)
		require.NoError(t, err)
		require.Equal(t, constraints-2*c.n, d.Rows())
	}
}

func TestMPSOfTheDirectProgram(t *testing.T) {
	d, err := Direct(&Problem{Free: uniform(1, 3, 1), Jobs: []Job{{Worth: 7, Cores: 2, GPUs: 1, MinNodes: 1, MaxNodes: 1}}})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, d.WriteMPS(&out, "one"))
	require.Equal(t, `NAME one
OBJSENSE
 MAX
ROWS
 N obj
 L cores_0
 E request_0
 L gpus_0
 E packing_0
 G least_0
 L most_0
 G used_0_0
 L unused_0_0
COLUMNS
 M0 'MARKER' 'INTORG'
 s_0 obj 14
 s_0 request_0 -2
 s_0 least_0 -1
 s_0 most_0 -1
 C_0 obj -7
 C_0 packing_0 1
 C_0 least_0 1
 C_0 most_0 1
 x_0_0 obj 0
 x_0_0 cores_0 1
 x_0_0 request_0 1
 x_0_0 used_0_0 1
 x_0_0 unused_0_0 1
 t_0_0 obj 0
 t_0_0 gpus_0 1
 t_0_0 packing_0 -1
 t_0_0 used_0_0 -1
 t_0_0 unused_0_0 -2
 M1 'MARKER' 'INTEND'
RHS
 RHS cores_0 3
 RHS gpus_0 1
BOUNDS
 UP BND s_0 1
 UP BND C_0 1
 UP BND x_0_0 2
 UP BND t_0_0 1
ENDATA
`, out.String())
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

// queueOf is a window of jobs of many sizes on a machine that is in use.
func queueOf(seed uint64, nodes, jobs int) *Problem {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := &Problem{}
	for range nodes {
		p.Free = append(p.Free, nodeset.Capacity{Cores: uint16(rng.IntN(9)), GPUs: uint8(rng.IntN(3))})
	}
	for i := range jobs {
		j := Job{Worth: 4294901759 - int64(i), Cores: 1 + rng.IntN(nodes)}
		if rng.IntN(2) == 0 {
			j.GPUs = 1 + rng.IntN(2)
		}
		if rng.IntN(2) == 0 {
			j.MinNodes = 1 + j.Cores/(1+rng.IntN(8))
			j.MaxNodes = j.MinNodes
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// The same work and seed give the same answer, whatever was solved before.
func TestAnswersRepeat(t *testing.T) {
	used := New()
	var a, b Result
	for seed := range uint64(4) {
		p := queueOf(seed, 100, 60)
		solve(t, used, p, 300_000, &a)
		solve(t, New(), p, 300_000, &b)
		require.Equal(t, a.Worth, b.Worth)
		require.Equal(t, a.Bound, b.Bound)
		for j := range p.Jobs {
			require.Equal(t, b.Segments(j), a.Segments(j))
		}
	}
}

func TestDeadlineEndsTheSearch(t *testing.T) {
	var r Result
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	p := queueOf(1, 100, 60)
	require.NoError(t, New().Solve(context.Background(), p, ipmodel.Options{Deadline: now.Add(300 * time.Millisecond), Now: clock}, &r))
	require.True(t, r.Late)
	require.Positive(t, r.Worth)
	_, err := p.Check(r.Segments)
	require.NoError(t, err)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes code allocate that does not otherwise")
	}
	s, p := New(), queueOf(2, 200, 80)
	var r Result
	ctx := context.Background()
	o := ipmodel.Options{Work: 300_000}
	for range 10 {
		require.NoError(t, s.Solve(ctx, p, o, &r))
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = s.Solve(ctx, p, o, &r) }))
}

// Of nodes that are alike, a job gets the shortest run that is enough; and nodes that are all apart are given as well.
func TestRunsOfNodes(t *testing.T) {
	for _, c := range []struct {
		free  string // cores of each node
		cores int
		first int
	}{{"8884888848888848", 32, 4}, {"8884888848888848", 40, 9}, {"888488848484848484", 72, 0}} {
		p := &Problem{Jobs: []Job{{Worth: 1, Cores: c.cores}}}
		for _, digit := range c.free {
			p.Free = append(p.Free, nodeset.Capacity{Cores: uint16(digit - '0')})
		}
		var r Result
		solve(t, New(), p, 1000, &r)
		require.Equal(t, c.first, int(r.Segments(0)[0].First), c.free)
		require.Equal(t, c.cores/8, nodeset.Nodes(r.Segments(0)))
	}
	p := &Problem{Free: uniform(400, 8, 0), Jobs: []Job{{Worth: 1, Cores: 1600}}}
	for n := 0; n < 400; n += 2 {
		p.Free[n].Cores = 1
	}
	var r Result
	solve(t, New(), p, 1000, &r)
	require.Len(t, r.Segments(0), 200)
}

// What the bound knows of: in each of these windows, one job less starts than total cores and GPUs would allow, and
// that is proven.
func TestBoundKnowsWhy(t *testing.T) {
	first := nodeset.NewMask(3)
	first.Set(0)
	node := func(cores, gpus int) nodeset.Capacity {
		return nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
	}
	for name, p := range map[string]*Problem{
		"cores":           {Free: []nodeset.Capacity{node(9, 0), node(9, 0)}, Jobs: []Job{{Cores: 10}, {Cores: 9}}},
		"whole GPUs":      {Free: []nodeset.Capacity{node(8, 3), node(8, 3)}, Jobs: []Job{{Cores: 1, GPUs: 2}, {Cores: 1, GPUs: 2}, {Cores: 1, GPUs: 2}}},
		"cores with GPUs": {Free: []nodeset.Capacity{node(8, 2), node(8, 0)}, Jobs: []Job{{Cores: 5, GPUs: 1}, {Cores: 5, GPUs: 1}}},
		"GPUs":            {Free: []nodeset.Capacity{node(8, 3)}, Jobs: []Job{{Cores: 1, GPUs: 3}, {Cores: 1, GPUs: 1}}},
		"a core each":     {Free: []nodeset.Capacity{node(1, 2), node(1, 2), node(9, 2)}, Jobs: []Job{{Cores: 3, GPUs: 1, MinNodes: 3}, {Cores: 3, GPUs: 1, MinNodes: 3}}},
		"cores in lots":   {Free: []nodeset.Capacity{node(12, 0), node(12, 0)}, Jobs: []Job{{Cores: 7, MinCores: 7, MaxCores: 7}, {Cores: 7, MinCores: 7, MaxCores: 7}, {Cores: 7, MinCores: 7, MaxCores: 7}}},
		"masks":           {Free: []nodeset.Capacity{node(8, 0), node(8, 0), node(8, 0)}, Jobs: []Job{{Cores: 5, Eligible: first}, {Cores: 5, Eligible: first}}},
		"large nodes":     {Free: []nodeset.Capacity{node(12, 0), node(12, 0), node(4, 0), node(4, 0), node(4, 0), node(4, 0), node(4, 0)}, Jobs: []Job{{Cores: 20, MaxNodes: 2}, {Cores: 20, MaxNodes: 2}}},
	} {
		for j := range p.Jobs {
			p.Jobs[j].Worth = 10
		}
		var r Result
		solve(t, New(), p, 100_000, &r)
		require.Equal(t, ipmodel.Optimal, r.Status, name)
		starts := 0
		for j := range p.Jobs {
			starts += min(1, len(r.Segments(j)))
		}
		require.Equal(t, len(p.Jobs)-1, starts, name)
	}
}

// Windows of 200 jobs on machines in use: docs/architecture.md has the figures.
func TestLargeWindows(t *testing.T) {
	s, r := New(), Result{}
	for _, nodes := range []int{64, 256, 1024} {
		var worth, bound float64
		begin, starts := time.Now(), 0
		for seed := range uint64(3) {
			p := queueOf(seed, nodes, 200)
			solve(t, s, p, 10_000_000, &r)
			worth, bound = worth+float64(r.Worth), bound+float64(r.Bound)
			for j := range p.Jobs {
				starts += min(1, len(r.Segments(j)))
			}
		}
		m, n := len(r.start), nodes
		variables, constraints := PaperSize(m, n)
		t.Logf("%d jobs on %d nodes: tables II and III have %d variables and %d constraints; %d jobs start in the mean, bounds %.2f%% above the answers, %v each",
			m, n, variables, constraints, starts/3, 100*(bound/worth-1), (time.Since(begin) / 3).Round(time.Millisecond))
		require.Less(t, bound/worth, 1.01)
	}
}
