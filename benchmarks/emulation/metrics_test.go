// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// What a simulation says of itself, its records say too, in whatever order they come.
func TestMetricsAreWhatRunSays(t *testing.T) {
	for seed := range uint64(20) {
		gpus := uint8(seed % 2 * 2)
		nodes := slices.Repeat([]nodeset.Capacity{{Cores: 8, GPUs: gpus}}, 4)
		w, err := generate.Lublin(generate.LublinOptions{Nodes: nodes, Load: 0.9, Jobs: 60, Seed: seed, LimitFactor: 2})
		require.NoError(t, err)
		for i := range w.Jobs {
			w.Jobs[i].Work, w.Jobs[i].MinGPUs = int64(i%2*77), i%3*int(gpus)/2
		}
		p, err := sim.NewBackfill(sim.DefaultBackfill())
		require.NoError(t, err)
		var ran []sim.Record
		cfg := sim.NewConfig(nodes)
		cfg.OnEnd = func(r sim.Record) {
			r.Segs = slices.Clone(r.Segs)
			ran = append(ran, r)
		}
		want, err := sim.Run(t.Context(), cfg, p, w.Jobs)
		require.NoError(t, err)
		require.Empty(t, want.Unrun, "a schedule does not say that others were submitted, and waited")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(ran), func(i, j int) { ran[i], ran[j] = ran[j], ran[i] })
		got, err := metricsOf(nodes, ran)
		require.NoError(t, err)
		// Not of the schedule: who made it, when, and what it did while jobs waited.
		got.Policy, got.GPUQueue, got.StrandedGPUHours = want.Policy, want.GPUQueue, want.StrandedGPUHours
		got.Cycles, got.CycleMsP50, got.CycleMsP99, got.CycleMsMax = want.Cycles, want.CycleMsP50, want.CycleMsP99, want.CycleMsMax
		requireAlmostEqual(t, want, got)
	}
}

// requireAlmostEqual compares results; means are added up in another order.
func requireAlmostEqual(t require.TestingT, want, got *sim.Result) {
	a, b := reflect.ValueOf(*want), reflect.ValueOf(*got)
	for _, f := range reflect.VisibleFields(a.Type()) {
		x, y := a.FieldByIndex(f.Index), b.FieldByIndex(f.Index)
		switch {
		case f.Anonymous: // its fields are visible too
		case x.Kind() == reflect.Float64:
			require.InDelta(t, x.Float(), y.Float(), 1e-9*max(1, x.Float()), f.Name)
		default:
			require.Equal(t, x.Interface(), y.Interface(), f.Name)
		}
	}
}

func TestMetricsRefuse(t *testing.T) {
	nodes := []nodeset.Capacity{{Cores: 4, GPUs: 1}, {Cores: 4, GPUs: 1}}
	good := func() sim.Record {
		j := workload.Job{Submit: 10, Duration: 100,
			Job: core.Job{ID: "J1", Request: bids.Request{Cores: 4}, TimeLimit: 100}}
		return sim.Record{Job: &j, Submit: 10, Start: 20, End: 120, Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 2}}}
	}
	_, err := metricsOf(nodes, nil)
	require.ErrorContains(t, err, "no job ran")
	_, err = metricsOf(nodes, []sim.Record{good()})
	require.NoError(t, err)
	for _, c := range []struct {
		want   string
		change func(r *sim.Record)
	}{
		{"job J1: submitted at second 10, started at 9", func(r *sim.Record) { r.Start = 9 }},
		{"out of order", func(r *sim.Record) { r.End = r.Start }},
		{"ran on nodes [] of 2", func(r *sim.Record) { r.Segs = nil }},
		{"of 2", func(r *sim.Record) { r.Segs = []nodeset.Segment{{First: 1, Last: 2, Cores: 2}} }},
		{"can't run on this machine", func(r *sim.Record) { r.Job.Cores = 9 }},
		{"alternative 1", func(r *sim.Record) { r.Alternative = 1 }},
	} {
		bad := good()
		c.change(&bad)
		_, err := metricsOf(nodes, []sim.Record{good(), bad})
		require.ErrorContains(t, err, c.want)
	}
	_, err = metricsOf(nil, []sim.Record{good()})
	require.Error(t, err)
}

// With a job from second 0 whose place is taken until 100 and one that comes at that
// moment, two wait at once.
func TestMostPending(t *testing.T) {
	at := func(submit, start int64) sim.Record { return sim.Record{Submit: submit, Start: start} }
	require.Equal(t, 0, mostPending(nil))
	require.Equal(t, 1, mostPending([]sim.Record{at(5, 5)}), "one that starts at once has waited")
	require.Equal(t, 2, mostPending([]sim.Record{at(100, 200), at(0, 100)}))
	require.Equal(t, 1, mostPending([]sim.Record{at(101, 200), at(0, 100)}))
}
