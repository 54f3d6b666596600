// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/internal/engine"
)

func open(t *testing.T, settings string) *engine.Engine {
	t.Helper()
	e, err := engine.New(settings, engine.Options{Older: policies.Older()})
	require.NoError(t, err)
	return e
}

// whys are the reasons of an outcome's decisions.
func whys(out *engine.Output) (why []uint8) {
	for _, d := range out.Decisions {
		why = append(why, d.Why)
	}
	return why
}

// Table I of ipsched. Of the papers' five bids a job no three go together.
func TestTableI(t *testing.T) {
	in := &engine.Input{Now: 1_000_000, Seed: 1, Jobs: []engine.Job{
		{Priority: 30, Cores: 4096, TimeLimit: 600, Mask: -1},
		{Priority: 20, Cores: 2048, MinNodes: 512, MaxNodes: 512, TimeLimit: 600, MinGPUs: 2, MaxGPUs: 2, Mask: -1},
		{Priority: 10, Cores: 2048, MinNodes: 512, MaxNodes: 512, TimeLimit: 600, MinGPUs: 2, MaxGPUs: 2, Mask: -1},
	}}
	in.Nodes = slices.Repeat([]engine.Node{{Cores: 8, FreeCores: 8, GPUs: 2, FreeGPUs: 2, Up: 1}}, 1024)
	for settings, starts := range map[string]int{"policy=auction2": 3, "policy=auction1": 3, "policy=ipsched": 3,
		"policy=ipsched objective=size": 3, "policy=auction1 paper=yes": 2} {
		e := open(t, settings+" deadline_ms=5000")
		ipsched := e.Settings().Policy == engine.IPSched
		var out engine.Output
		require.NoError(t, e.Cycle(in, &out))
		require.Equal(t, []any{starts, 3, false}, []any{out.Starts, out.Window, out.Late}, settings)
		require.Equal(t, []bool{ipsched, ipsched}, []bool{out.Decisions[0].BidClass == 'I', out.Bids == 0}, settings)
	}
}

// They neither stop a job for another, nor does ipsched know a quota.
func TestOlderStopNobody(t *testing.T) {
	in := &engine.Input{Nodes: []engine.Node{{Cores: 8, Up: 1}, {Cores: 8, FreeCores: 8, Up: 1}},
		Running: []engine.Running{{End: 50, Segments: 1, Price: 1}}, Segments: []engine.Segment{{Cores: 8}},
		Jobs: []engine.Job{{Priority: 90, Cores: 16, TimeLimit: 9, Mask: -1, Preempts: 1},
			{Priority: 80, Cores: 8, TimeLimit: 9, Mask: -1}}}
	for _, settings := range []string{"policy=ipsched", "policy=auction1 reservations=0"} {
		var out engine.Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.Equal(t, []uint8{engine.WaitsFit, engine.Starts}, whys(&out), settings)
		require.Empty(t, out.Victims)
	}
	in.Quotas, in.JobCharges = []uint64{100}, []engine.Charge{{Of: 1, PerCore: 1}}
	var out engine.Output
	require.NoError(t, open(t, "policy=ipsched").Cycle(in, &out))
	require.Equal(t, engine.NotLookedAt, out.Decisions[1].Why)
	require.NoError(t, open(t, "policy=auction1 reservations=0").Cycle(in, &out))
	require.Equal(t, engine.Starts, out.Decisions[1].Why)
}

// Each code of ipsched's, in one queue.
func TestWhyOfIPSched(t *testing.T) {
	in := &engine.Input{Nodes: []engine.Node{{Cores: 4, FreeCores: 0, Up: 1}, {Cores: 4, FreeCores: 4, Up: 1}}}
	for i, cores := range []uint32{9, 8, 3, 4, 2, 4, 1} {
		in.Jobs = append(in.Jobs, engine.Job{Priority: uint64(100 - i), Cores: cores, TimeLimit: 10, Mask: -1})
	}
	in.Jobs[4].Flags = engine.Contiguous
	in.Jobs[5].Flags, in.Jobs[5].MinNodes, in.Jobs[5].MaxNodes = engine.Contiguous, 1, 1
	var out engine.Output
	require.NoError(t, open(t, "policy=ipsched window=4").Cycle(in, &out))
	require.Equal(t, []uint8{engine.WaitsNever, engine.WaitsFit, engine.Starts, engine.WaitsLost, engine.NotLookedAt,
		engine.WaitsLost, engine.NotLookedAt}, whys(&out), "its model does not know two nodes side by side")
}

// What a start is worth makes the winners.
func TestObjectivesOfIPSched(t *testing.T) {
	in := &engine.Input{Nodes: []engine.Node{{Cores: 8, FreeCores: 8, Up: 1}}, Jobs: []engine.Job{
		{Priority: 11, Cores: 1, TimeLimit: 9, Mask: -1},
		{Priority: 10, Cores: 1, TimeLimit: 8, Mask: -1},
		{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1},
	}}
	for settings, want := range map[string][]uint8{
		// 11 + 10 are worth more than 9. throughput=yes is for auctions.
		"policy=ipsched":                {engine.Starts, engine.Starts, engine.WaitsLost},
		"policy=ipsched throughput=yes": {engine.Starts, engine.Starts, engine.WaitsLost},
		"policy=ipsched objective=size": {engine.WaitsLost, engine.WaitsLost, engine.Starts},
	} {
		var out engine.Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.Equal(t, want, whys(&out), settings)
	}
}

// Without node limits jobs need not have the nodes that they ask for; the plan is
// checked by what is left.
func TestNodeLimits(t *testing.T) {
	in := &engine.Input{Jobs: []engine.Job{
		{Priority: 9, Cores: 16, MinNodes: 4, MaxNodes: 4, TimeLimit: 9, Mask: -1},
		{Priority: 8, Cores: 6, MinNodes: 2, MaxNodes: 2, CoresPerNode: 3, TimeLimit: 9, Mask: -1},
	}}
	for range 4 {
		in.Nodes = append(in.Nodes, engine.Node{Cores: 8, FreeCores: 8, Up: 1})
	}
	for settings, nodes := range map[string]uint32{"policy=ipsched": 4,
		"policy=ipsched node_limits=no": 2, "policy=auction2 node_limits=no": 4} {
		var out engine.Output
		e := open(t, settings)
		for range 2 { // an engine that has dropped limits loads them again
			require.NoError(t, e.Cycle(in, &out))
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
	in := &engine.Input{}
	for range 40 {
		in.Nodes = append(in.Nodes, engine.Node{Cores: 8, FreeCores: 8, GPUs: 2, FreeGPUs: 2, Up: 1})
	}
	for i := range uint32(16) {
		in.Jobs = append(in.Jobs, engine.Job{Priority: 9, Cores: 100 + 7*i, MinGPUs: uint8(i % 3), MaxGPUs: 2, TimeLimit: 9, Mask: -1})
	}
	moment := time.Unix(0, 0)
	clock := func() time.Time { moment = moment.Add(time.Millisecond); return moment }
	for settings, windows := range map[string][]int{"on_timeout=incumbent": {8, 8, 8, 8}, "on_timeout=halve": {8, 4, 2, 4}} {
		e, err := engine.New("policy=ipsched window=8 work=20000 "+settings, engine.Options{Now: clock, Older: policies.Older()})
		require.NoError(t, err)
		for i, window := range windows {
			late := i < 2
			if in.Deadline = time.Hour; late {
				in.Deadline = time.Millisecond
			}
			var out engine.Output
			require.NoError(t, e.Cycle(in, &out))
			require.Equal(t, []any{late, window}, []any{out.Late, out.Window}, settings)
			require.Equal(t, slices.Repeat([]uint8{engine.NotLookedAt}, 16-window), whys(&out)[window:])
			none := late && settings == "on_timeout=halve"
			require.Equal(t, none, out.Starts == 0)
			if none {
				require.Equal(t, slices.Repeat([]uint8{engine.TimedOut}, window), whys(&out)[:window])
			}
			timedOut := 0
			for _, why := range whys(&out) {
				if why == engine.TimedOut {
					timedOut++
				}
			}
			require.Equal(t, timedOut, out.TimedOut)
			require.Equal(t, late, timedOut > 0, "whoever does not start, late, may not have been decided on")
		}
	}
}
