// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/race"
)

// whys are the reasons of an outcome's decisions.
func whys(out *Output) (why []uint8) {
	for _, d := range out.Decisions {
		why = append(why, d.Why)
	}
	return why
}

// policyCases are settings, and how many jobs of table I of ipsched start with them. Of the papers'
// five bids a job no three go together.
var policyCases = map[string]int{"policy=auction2": 3, "policy=auction1": 3, "policy=ipsched": 3,
	"policy=ipsched objective=size": 3, "policy=auction2 paper=yes": 2, "policy=auction1 paper=yes": 2}

func TestPoliciesDecideTableI(t *testing.T) {
	for settings, starts := range policyCases {
		t.Run(settings, func(t *testing.T) {
			e, in := open(t, settings+" deadline_ms=5000"), tableI()
			require.Equal(t, e.Settings().Policy.String(), e.policy.Name())
			var out Output
			require.NoError(t, e.Cycle(in, &out))
			require.NoError(t, check(in, &out))
			require.Equal(t, []any{starts, 3, false}, []any{out.Starts, out.Window, out.Late})
			require.Equal(t, e.Settings().Policy == IPSched, out.Decisions[0].BidClass == 'I')
			require.Equal(t, e.Settings().Policy == IPSched, out.Bids == 0)
		})
	}
}

// Each code of ipsched's, in one queue.
func TestWhyOfIPSched(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 4, FreeCores: 0, Up: 1}, {Cores: 4, FreeCores: 4, Up: 1}}}
	for i, cores := range []uint32{9, 8, 3, 4, 2, 4, 1} {
		in.Jobs = append(in.Jobs, Job{Priority: uint64(100 - i), Cores: cores, TimeLimit: 10, Mask: -1})
	}
	in.Jobs[4].Flags = Contiguous
	in.Jobs[5].Flags, in.Jobs[5].MinNodes, in.Jobs[5].MaxNodes = Contiguous, 1, 1
	var out Output
	require.NoError(t, open(t, "policy=ipsched window=4").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []uint8{WaitsNever, WaitsFit, Starts, WaitsLost, NotLookedAt, WaitsLost, NotLookedAt}, whys(&out),
		"its model does not know two nodes side by side")
}

// What a start is worth makes the winners.
func TestObjectivesOfIPSched(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 8, FreeCores: 8, Up: 1}}, Jobs: []Job{
		{Priority: 11, Cores: 1, TimeLimit: 9, Mask: -1},
		{Priority: 10, Cores: 1, TimeLimit: 8, Mask: -1},
		{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1},
	}}
	for settings, want := range map[string][]uint8{
		// 11 + 10 are worth more than 9
		"policy=ipsched":                {Starts, Starts, WaitsLost},
		"policy=ipsched throughput=yes": {Starts, Starts, WaitsLost}, // which is for auctions
		"policy=ipsched objective=size": {WaitsLost, WaitsLost, Starts},
	} {
		var out Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Equal(t, want, whys(&out), settings)
	}
}

// With keep_holes a job starts where what has lately started would miss it least; after a fault
// nothing is remembered.
func TestKeepHolesRemembers(t *testing.T) {
	gpuJob := func(gpus uint8) Job {
		return Job{Priority: 9, Cores: 1, MinGPUs: gpus, MaxGPUs: gpus, TimeLimit: 600, Mask: -1}
	}
	machine := func(gpus ...uint8) (nodes []Node) {
		for _, g := range gpus {
			nodes = append(nodes, Node{Cores: 16, FreeCores: 16, GPUs: 4, FreeGPUs: g, Up: 1})
		}
		return nodes
	}
	for _, c := range []struct {
		settings string
		usual    uint8 // GPUs of the jobs that have started before
		node     uint32
	}{{"keep_holes=yes", 2, 1}, {"keep_holes=yes", 3, 0}} {
		e := open(t, c.settings)
		before := &Input{Now: 1000, Nodes: machine(4, 4, 4, 4, 4, 4, 4, 4)}
		for range before.Nodes {
			before.Jobs = append(before.Jobs, gpuJob(c.usual))
		}
		var out Output
		require.NoError(t, e.Cycle(before, &out))
		require.Equal(t, slices.Repeat([]uint8{Starts}, len(before.Jobs)), whys(&out))
		now := &Input{Now: 1060, Nodes: machine(2, 3), Jobs: []Job{gpuJob(1)}}
		require.NoError(t, e.Cycle(now, &out))
		require.NoError(t, check(now, &out))
		require.Equal(t, c.node, out.Segments[0].First, "%s after jobs of %d", c.settings, c.usual)
		require.NotEmpty(t, e.demand.Recent())
		e.forget()
		require.Empty(t, e.demand.Recent())
	}
	off := open(t, "")
	require.NoError(t, off.Cycle(&Input{Nodes: machine(4), Jobs: []Job{gpuJob(1)}}, new(Output)))
	require.Empty(t, off.demand.Recent(), "nobody asks for it")
}

// Without node limits jobs need not have the nodes that they ask for; the plan is
// checked by what is left.
func TestNodeLimits(t *testing.T) {
	in := &Input{Jobs: []Job{
		{Priority: 9, Cores: 16, MinNodes: 4, MaxNodes: 4, TimeLimit: 9, Mask: -1},
		{Priority: 8, Cores: 6, MinNodes: 2, MaxNodes: 2, CoresPerNode: 3, TimeLimit: 9, Mask: -1},
	}}
	for range 4 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 8, Up: 1})
	}
	for settings, nodes := range map[string]uint32{"policy=ipsched": 4,
		"policy=ipsched node_limits=no": 2, "policy=auction2 node_limits=no": 4} {
		var out Output
		judged := *in
		if nodes == 2 {
			judged.Jobs = slices.Clone(in.Jobs)
			for i := range judged.Jobs {
				judged.Jobs[i].MinNodes, judged.Jobs[i].MaxNodes = 0, 0
			}
		}
		e := open(t, settings)
		for range 2 { // an engine that has dropped limits loads them again
			require.NoError(t, e.Cycle(in, &out))
			require.NoError(t, check(&judged, &out))
			require.Equal(t, 2, out.Starts)
			sum := uint32(0)
			for _, s := range out.Segments[:out.Decisions[0].Segments] {
				sum += s.Last - s.First + 1
			}
			require.Equal(t, nodes, sum, settings)
		}
		require.EqualValues(t, 4, in.Jobs[0].MinNodes, "the caller's")
	}
}

// After a time-out the best that is known starts, or none and the next window is halved.
func TestOnTimeout(t *testing.T) {
	in := &Input{}
	for range 40 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 8, GPUs: 2, FreeGPUs: 2, Up: 1})
	}
	for i := range uint32(16) {
		in.Jobs = append(in.Jobs, Job{Priority: 9, Cores: 100 + 7*i, MinGPUs: uint8(i % 3), MaxGPUs: 2, TimeLimit: 9, Mask: -1})
	}
	moment := time.Unix(0, 0)
	clock := func() time.Time { moment = moment.Add(time.Millisecond); return moment }
	for settings, windows := range map[string][]int{"on_timeout=incumbent": {8, 8, 8, 8}, "on_timeout=halve": {8, 4, 2, 4}} {
		e, err := New("policy=ipsched window=8 work=20000 "+settings, Options{Now: clock})
		require.NoError(t, err)
		for i, window := range windows {
			late := i < 2
			if in.Deadline = time.Hour; late {
				in.Deadline = time.Millisecond
			}
			var out Output
			require.NoError(t, e.Cycle(in, &out))
			require.NoError(t, check(in, &out))
			require.Equal(t, []any{late, window}, []any{out.Late, out.Window}, settings)
			require.Equal(t, slices.Repeat([]uint8{NotLookedAt}, 16-window), whys(&out)[window:])
			none := late && settings == "on_timeout=halve"
			require.Equal(t, none, out.Starts == 0)
			if none {
				require.Equal(t, slices.Repeat([]uint8{TimedOut}, window), whys(&out)[:window])
			}
			timedOut := 0
			for _, why := range whys(&out) {
				if why == TimedOut {
					timedOut++
				}
			}
			require.Equal(t, timedOut, out.TimedOut)
			require.Equal(t, late, timedOut > 0, "whoever does not start, late, may not have been decided on")
		}
	}
}

// The auction can be held to blocks of nodes.
func TestContiguousBids(t *testing.T) {
	in := &Input{Jobs: []Job{{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1}}}
	for _, free := range []uint16{4, 0, 4} {
		in.Nodes = append(in.Nodes, Node{Cores: 4, FreeCores: free, Up: 1})
	}
	for settings, why := range map[string]uint8{"": Starts, "contiguous_bids=yes reservations=0": WaitsFit,
		"policy=auction1 contiguous_bids=yes reservations=0": WaitsFit} {
		var out Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.Equal(t, why, out.Decisions[0].Why, settings)
	}
}

// AUCSCHED1's program may give a winner other cores of its nodes than AUCSCHED2's bid says.
func TestPoliciesDiffer(t *testing.T) {
	race.Slow(t)
	rng := rand.New(rand.NewPCG(12, 1))
	differ := map[string]int{}
	for range 30 {
		in := randomInput(rng, 60, 40)
		var outs [3]Output
		for i, policy := range policyNames {
			require.NoError(t, open(t, "deadline_ms=60000 work=100000 policy="+policy).Cycle(in, &outs[i]))
			require.NoError(t, check(in, &outs[i]))
			if i > 0 && !slices.Equal(outs[i].Segments, outs[0].Segments) {
				differ[policy]++
			}
		}
	}
	require.Len(t, differ, 2)
}

// What a panic has left of a policy is not used again.
func TestForgetKeepsThePolicy(t *testing.T) {
	for settings := range policyCases {
		e := open(t, settings)
		before := e.policy
		e.forget()
		require.NotSame(t, before, e.policy)
		require.Equal(t, before.Name(), e.policy.Name())
	}
}

func TestPoliciesHearOfTheEnd(t *testing.T) {
	for _, name := range policyNames {
		_, ok := open(t, "policy="+name).policy.(ender)
		require.True(t, ok, name)
	}
}

// Words alone are no reason to the library.
func TestReasonsHaveCodes(t *testing.T) {
	for why, want := range map[core.Why]bool{0: false, core.NoFit: true, core.OverQuota: true, core.OverQuota + 1: false} {
		code, ok := codeOf(why)
		require.Equal(t, want, ok, "reason %d", why)
		require.Equal(t, want, code != 0)
	}
}

// A look at the clock can cost as much as a step of a search.
func TestClockIsAskedSeldom(t *testing.T) {
	race.Slow(t)
	for settings := range policyCases {
		looks := 0
		var mu sync.Mutex
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); looks++; return time.Now() }
		e, err := New(settings+" deadline_ms=600000", Options{Now: clock})
		require.NoError(t, err)
		var out Output
		require.NoError(t, e.Cycle(largeInput(64, 50), &out))
		require.Positive(t, out.Starts)
		t.Logf("%s: %d looks in %v", settings, looks, out.Elapsed)
		require.Less(t, looks, 50_000, settings)
	}
}

// A job whose own request is beyond all machines, and whose alternative starts, is remembered by
// the alternative: later cycles take neither time nor memory for what it might have been.
func TestRememberedIsWhatStarted(t *testing.T) {
	e := open(t, "keep_holes=yes work=100000")
	in := &Input{Now: 1000, Nodes: slices.Repeat([]Node{{Cores: 64, FreeCores: 64, GPUs: 4, FreeGPUs: 4, Up: 1}}, 64),
		Jobs:         []Job{{Priority: 9, Cores: 1<<31 - 1, TimeLimit: 60, MinGPUs: 1, MaxGPUs: 1, MinNodes: 1, MaxNodes: 1, Mask: -1}},
		Alternatives: []Alternative{{Cores: 2, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 1, Mask: -1}}}
	var out Output
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4 {
		require.NoError(t, e.Cycle(in, &out))
		require.Equal(t, 1, out.Starts)
		in.Now += 3
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "bytes, in all")
	require.Len(t, e.demand.Recent(), 1)
	require.InDelta(t, 2, e.demand.Recent()[0].Cores, 1e-9)
}
