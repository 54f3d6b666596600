// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// What a simulation says of itself, its records say too, in whatever order they come.
func TestMeasureIsWhatRunSays(t *testing.T) {
	compared := 0
	defer func() { require.Greater(t, compared, 10) }()
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		for i := range jobs {
			jobs[i].Work = rapid.SampledFrom([]int64{0, 0, 77}).Draw(t, "work")
		}
		var p core.Policy
		var err error
		if rapid.Bool().Draw(t, "auction") {
			p, err = core.NewAuction(core.Preset("none"), nil)
		} else {
			p, err = NewBackfill(smallOptions(t))
		}
		require.NoError(t, err)
		byName, want := records(t, p, nodes, jobs)
		if len(byName) == 0 {
			_, err := Measure(nodes, nil)
			require.ErrorContains(t, err, "no job ran")
			return
		}
		ran := rapid.Permutation(slices.SortedFunc(maps.Values(byName),
			func(a, b Record) int { return int(a.Start - b.Start) })).Draw(t, "order")
		got, err := Measure(nodes, ran)
		require.NoError(t, err)
		if len(want.Unrun) > 0 {
			return // a schedule does not say that others were submitted, and waited
		}
		compared++
		// Not of the schedule: who made it, when, and what it did while jobs waited.
		got.Policy, got.GPUQueue, got.StrandedGPUHours = want.Policy, want.GPUQueue, want.StrandedGPUHours
		got.Cycles, got.CycleMsP50, got.CycleMsP99, got.CycleMsMax = want.Cycles, want.CycleMsP50, want.CycleMsP99, want.CycleMsMax
		requireAlmostEqual(t, want, got)
	})
}

// requireAlmostEqual compares results; means are added up in another order.
func requireAlmostEqual(t require.TestingT, want, got *Result) {
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

func TestMeasureRefuses(t *testing.T) {
	nodes := nodesOf([3]int{2, 4, 1})
	good := func() Record {
		j := jobOf(1, bids.Request{Cores: 4}, 10, 100, 100)
		return Record{Job: &j, Submit: 10, Start: 20, End: 120, Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 2}}}
	}
	_, err := Measure(nodes, []Record{good()})
	require.NoError(t, err)
	for _, c := range []struct {
		want   string
		change func(r *Record)
	}{
		{"job J1: submitted at second 10, started at 9", func(r *Record) { r.Start = 9 }},
		{"out of order", func(r *Record) { r.End = r.Start }},
		{"ran on nodes [] of 2", func(r *Record) { r.Segs = nil }},
		{"of 2", func(r *Record) { r.Segs = []nodeset.Segment{{First: 1, Last: 2, Cores: 2}} }},
		{"can't run on this machine", func(r *Record) { r.Job.Cores = 9 }},
		{"alternative 1", func(r *Record) { r.Alternative = 1 }},
	} {
		bad := good()
		c.change(&bad)
		_, err := Measure(nodes, []Record{good(), bad})
		require.ErrorContains(t, err, c.want)
	}
	_, err = Measure(nil, []Record{good()})
	require.Error(t, err)
}

// With a job from second 0 whose place is taken until 100 and one that comes at that
// moment, two wait at once.
func TestMostPending(t *testing.T) {
	at := func(submit, start int64) Record { return Record{Submit: submit, Start: start} }
	require.Equal(t, 0, mostPending(nil))
	require.Equal(t, 1, mostPending([]Record{at(5, 5)}), "one that starts at once has waited")
	require.Equal(t, 2, mostPending([]Record{at(100, 200), at(0, 100)}))
	require.Equal(t, 1, mostPending([]Record{at(101, 200), at(0, 100)}))
}
