// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

const (
	hostileNodes = 8
	planInterval = 10 // seconds of the simulator's cycles
)

// hostile is a stream of small jobs, more than the machine can serve, with large ones in it.
func hostile(rng *rand.Rand) []workload.Job {
	var jobs []workload.Job
	for at := int64(0); at < 4000; at += 5 + rng.Int64N(40) {
		r := bids.Request{Cores: 1 + rng.IntN(4)}
		if rng.IntN(12) == 0 {
			r = bids.Request{MinNodes: 2 + rng.IntN(hostileNodes-1), TasksPerNode: 1 + rng.IntN(4)}
		}
		limit := 60 + rng.Int64N(600)
		jobs = append(jobs, workload.Job{Job: core.Job{ID: fmt.Sprint("j", len(jobs)), Request: r, TimeLimit: limit},
			Submit: at, Duration: 1 + rng.Int64N(limit)})
	}
	workload.AssignBasicPriorities(jobs)
	return jobs
}

// ranUnder simulates jobs under a preset with a promise, and returns them as they ran, by
// submission.
func ranUnder(t require.TestingT, preset string, promise int64, jobs []workload.Job) []sim.Record {
	machine := slices.Repeat([]nodeset.Capacity{{Cores: 4}}, hostileNodes)
	o := core.Preset(preset)
	o.Promise, o.Work = promise, 20_000
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	c := sim.NewConfig(machine)
	c.Interval = planInterval
	var out []sim.Record
	c.OnEnd = func(r sim.Record) { out = append(out, r) }
	_, err = sim.Run(context.Background(), c, a, jobs)
	require.NoError(t, err)
	require.Len(t, out, len(jobs))
	slices.SortFunc(out, func(a, b sim.Record) int { return int(a.Submit - b.Submit) })
	return out
}

// broken is how many jobs start later than a promise allows: from when a job has waited so long and
// none that is before it in the queue still waits, it can be held up by nothing but what runs then,
// until the limits of that.
func broken(ran []sim.Record, promise int64) (jobs, tried int) {
	head := int64(0) // when the last of those before it has started
	for i := range ran {
		j := &ran[i]
		from := max(j.Submit+promise, head)
		head = max(head, j.Start)
		if j.Start <= from {
			continue
		}
		tried++
		latest := from
		for k := range ran {
			if o := &ran[k]; o.Start <= from+planInterval && o.End > from && k != i {
				latest = max(latest, o.Start+o.Job.TimeLimit)
			}
		}
		if j.Start > latest+2*planInterval {
			jobs++
		}
	}
	return jobs, tried
}

// TestPromise: whatever comes behind it, a job is passed over for no longer than is promised.
func TestPromise(t *testing.T) {
	race.Slow(t)
	tried, without := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		preset := rapid.SampledFrom(settings.Planned()).Draw(t, "preset")
		if tried[preset] > 2000 && without[preset] > 10 {
			return
		}
		jobs := hostile(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5)))
		promise := rapid.Int64Range(60, 1200).Draw(t, "promise")
		late, n := broken(ranUnder(t, preset, promise, jobs), promise)
		require.Zero(t, late)
		tried[preset] += n
		late, _ = broken(ranUnder(t, preset, 0, jobs), promise)
		without[preset] += late
	})
	for _, preset := range settings.Planned() {
		require.Greater(t, tried[preset], 100, preset)
		require.Positive(t, without[preset], "%s: jobs that are passed over for longer where nothing is promised", preset)
	}
}

// TestFairPays: on mixes that nothing was chosen on, waits are shorter than in queue order with as
// many places kept, the longest no longer.
func TestFairPays(t *testing.T) {
	race.Slow(t)
	machine := slices.Repeat([]nodeset.Capacity{{Cores: 8, GPUs: 2}}, 24)
	var mean, longest, slowdown [2]float64
	for seed := uint64(101); seed < 105; seed++ {
		w, err := generate.Mix(generate.MixOptions{Variant: "V.2", Seed: seed, Nodes: machine, Runtime: 7000})
		require.NoError(t, err)
		for k, goal := range []settings.Goal{settings.NoGoal, settings.Fair} {
			o := core.Preset("default")
			o.Goal, o.Work = goal, 20_000
			a, err := core.NewAuction(o, nil)
			require.NoError(t, err)
			c := sim.NewConfig(machine)
			c.Interval = 5
			r, err := sim.Run(context.Background(), c, a, w.Jobs)
			require.NoError(t, err)
			mean[k] += r.WaitMean
			longest[k] += r.Waits.Max
			slowdown[k] += r.BoundedSlowdown
		}
	}
	t.Log("mean, longest and slowdown without a goal and with: ", mean, longest, slowdown)
	require.Less(t, mean[1], 0.95*mean[0])
	require.Less(t, slowdown[1], 0.9*slowdown[0])
	require.Less(t, longest[1], 1.03*longest[0])
}

// TestShortAndMostPay: likewise, short has shorter waits than EASY with the shortest limits first,
// and throughput is done sooner than default, both without making anybody wait for much longer.
func TestShortAndMostPay(t *testing.T) {
	race.Slow(t)
	machine := slices.Repeat([]nodeset.Capacity{{Cores: 8, GPUs: 2}}, 24)
	preset := func(name string) core.Policy {
		o := core.Preset(name)
		o.Work = 20_000
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		return a
	}
	easy := sim.DefaultList()
	easy.Behind = sim.ShortestFirst
	sums := map[string]*sim.Result{}
	for seed := uint64(101); seed < 105; seed++ {
		w, err := generate.Mix(generate.MixOptions{Variant: "V.2", Seed: seed, Nodes: machine, Runtime: 7000})
		require.NoError(t, err)
		sjf, err := sim.NewList(easy)
		require.NoError(t, err)
		for name, p := range map[string]core.Policy{"easy-sjf": sjf, "default": preset("default"), "short": preset("short"),
			"throughput": preset("throughput")} {
			c := sim.NewConfig(machine)
			c.Interval = 5
			r, err := sim.Run(context.Background(), c, p, w.Jobs)
			require.NoError(t, err)
			sum := sums[name]
			if sum == nil {
				sum = new(sim.Result)
				sums[name] = sum
			}
			sum.Runtime += r.Runtime
			sum.WaitMean += r.WaitMean
			sum.Max += r.Max
			sum.BoundedSlowdown += r.BoundedSlowdown
			sum.Widest10 += r.Widest10
		}
	}
	for name, r := range sums {
		t.Logf("%s: runtime %d, mean %.0f, longest %.0f, widest %.0f, slowdown %.1f",
			name, r.Runtime, r.WaitMean, r.Max, r.Widest10, r.BoundedSlowdown)
	}
	fair, short, most, sjf := sums["default"], sums["short"], sums["throughput"], sums["easy-sjf"]
	require.Less(t, short.WaitMean, 0.97*sjf.WaitMean)
	require.Less(t, short.BoundedSlowdown, 0.95*sjf.BoundedSlowdown)
	require.Less(t, short.Max, 1.02*sjf.Max)
	require.LessOrEqual(t, short.Runtime, sjf.Runtime)
	require.Less(t, float64(most.Runtime), 0.97*float64(fair.Runtime))
	require.Less(t, most.Widest10, 0.8*fair.Widest10)
	require.Less(t, most.Max, 1.1*fair.Max)
}

// TestMostKeepsPlacesForWideAndOld: of 16 nodes one is free, and a job waits for more until others
// end. The job behind it would take the free node for longer than that. It has to keep off only
// where the first is wide, or has waited for as long as AuctionOptions.Patience.
func TestMostKeepsPlacesForWideAndOld(t *testing.T) {
	const patience, ends, late = 60, 200, 20 // seconds; late: two cycles
	for name, c := range map[string]struct {
		nodes  int   // of the job that waits, of which one is free
		behind int64 // when the other comes
		kept   bool
	}{
		"narrow": {3, 20, false}, "narrow and old": {3, 120, true}, "wide": {4, 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := core.Preset("throughput")
			o.Patience = patience
			a, err := core.NewAuction(o, nil)
			require.NoError(t, err)
			job := func(id string, nodes int, submit, seconds int64) workload.Job {
				r := bids.Request{MinNodes: nodes, MaxNodes: nodes, TasksPerNode: 1}
				return workload.Job{Job: core.Job{ID: id, Request: r, TimeLimit: seconds}, Submit: submit, Duration: seconds}
			}
			jobs := []workload.Job{
				job("ends", c.nodes-1, 0, ends), job("stays", 16-c.nodes, 0, 100*ends),
				job("waits", c.nodes, 10, 10*ends), job("behind", 1, c.behind, 10*ends),
			}
			workload.AssignBasicPriorities(jobs)
			config := sim.NewConfig(slices.Repeat([]nodeset.Capacity{{Cores: 1}}, 16))
			config.Interval = planInterval
			starts := map[string]int64{}
			config.OnEnd = func(r sim.Record) { starts[r.Job.ID] = r.Start }
			_, err = sim.Run(context.Background(), config, a, jobs)
			require.NoError(t, err)
			if c.kept {
				require.InDelta(t, ends, starts["waits"], late)
				require.Greater(t, starts["behind"], int64(ends))
			} else {
				require.InDelta(t, c.behind, starts["behind"], late)
				require.Greater(t, starts["waits"], int64(ends+late))
			}
		})
	}
}

// TestRangesAreChosen: where more GPUs shorten all of a job, jobs with a range run as if they had
// asked for the greatest number; where they shorten nothing and are scarce, for the fewest.
func TestRangesAreChosen(t *testing.T) {
	race.Slow(t)
	machine := slices.Repeat([]nodeset.Capacity{{Cores: 12, GPUs: 3}}, 24)
	table, err := nodeset.New(machine)
	require.NoError(t, err)
	schedule := func(jobs []workload.Job, serial int) (starts map[string]int64) {
		o := core.Preset("short")
		o.Work, o.Serial, o.ShrinkLimits = 20_000, serial, true
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		c := sim.NewConfig(machine)
		c.Interval, c.Serial, c.ShrinkLimits = 5, serial, true
		starts = map[string]int64{}
		c.OnEnd = func(r sim.Record) { starts[r.Job.ID] = r.Start }
		_, err = sim.Run(context.Background(), c, a, jobs)
		require.NoError(t, err)
		return starts
	}
	for _, seed := range []uint64{7, 8} {
		rng := rand.New(rand.NewPCG(seed, 1))
		var jobs []workload.Job
		for i := range 150 {
			r := bids.Request{Cores: 4, MinNodes: 1 + rng.IntN(3), MinGPUs: 1, MaxGPUs: 3}
			r.MaxNodes, r.Cores = r.MinNodes, 4*r.MinNodes
			limit := 100 + rng.Int64N(2000)
			jobs = append(jobs, workload.Job{Job: core.Job{ID: fmt.Sprint("j", i), Request: r, TimeLimit: limit},
				Submit: int64(rng.IntN(3000)), Duration: 1 + rng.Int64N(limit)})
		}
		slices.SortFunc(jobs, func(a, b workload.Job) int { return int(a.Submit - b.Submit) })
		workload.AssignBasicPriorities(jobs)
		for serial, gpus := range map[int]int{sim.LinearSpeedup: generate.GreatestGPUs, sim.MaxSerial: 0} {
			fixed := slices.Clone(jobs)
			generate.FixGPUs(table, fixed, gpus, serial)
			require.Equal(t, schedule(fixed, serial), schedule(jobs, serial), "seed %d, %d thousandths serial", seed, serial)
		}
	}
}

func TestPresets(t *testing.T) {
	planned := settings.Planned()
	require.Equal(t, core.Preset("default"), core.Preset(""))
	for _, name := range settings.Names() {
		o := core.Preset(name)
		require.Equal(t, slices.Contains(planned, name), o.Goal != settings.NoGoal, name)
		_, err := core.NewAuction(o, nil)
		require.NoError(t, err)
	}
	_, err := core.NewAuction(core.Preset("fastest"), nil)
	require.EqualError(t, err, "preset fastest: must be one of default, none, short, throughput, packed, paper")
	o := core.Preset("none")
	o.Goal = 99
	_, err = core.NewAuction(o, nil)
	require.EqualError(t, err, "goal 99: must be none, fair, short or most")
}
