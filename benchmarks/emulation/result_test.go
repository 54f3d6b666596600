// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestFaults(t *testing.T) {
	good := func() Result {
		return Result{Jobs: 2, records: make([]sim.Record, 2), DurationMean: 300,
			Overrun: Spread{Mean: 3, Max: 50}, Late: Spread{Mean: 5, Max: 60}}
	}
	for _, c := range []struct {
		want   []string
		change func(r *Result)
	}{
		{nil, func(*Result) {}},
		{[]string{"1 of 3 jobs did not complete"}, func(r *Result) { r.Jobs = 3 }},
		{[]string{"jobs lasted 3.1 s beyond their duration in the mean, more than 1% of it (300 s)"},
			func(r *Result) { r.Overrun.Mean = 3.1 }},
		{[]string{"jobs were submitted 5.1 s late in the mean"}, func(r *Result) { r.Late.Mean = 5.1 }},
		{nil, func(r *Result) { r.Points = &Spread{Mean: 2, Max: 9} }},
		{[]string{"priorities were 2.1 points off what age and size give in the mean, 9 at most"},
			func(r *Result) { r.Points = &Spread{Mean: 2.1, Max: 9} }},
		{[]string{"a cycle of backfill took 24.1 s in the mean, near its interval of 30 s"},
			func(r *Result) { r.Slurm.Backfill.Mean = 24_100_000 }},
		{nil, func(r *Result) { // beside the auction it does not matter
			r.Slurm.Backfill.Mean, r.Slurm.Auction = 24_100_000, &slurmtest.Status{State: "on",
				Interval: 5, Cycle: slurmtest.Figure{Mean: 3_900_000}}
		}},
		{[]string{"a cycle of the auction took 4.1 s in the mean, near its interval of 5 s"}, func(r *Result) {
			r.Slurm.Auction = &slurmtest.Status{State: "on", Interval: 5, Cycle: slurmtest.Figure{Mean: 4_100_000}}
		}},
		{[]string{"the auction was not on all the time: it is failing, 1 cycles failed, it gave up 2 times (-3: late)"}, func(r *Result) {
			r.Slurm.Auction = &slurmtest.Status{State: "failing", Interval: 5, CyclesFailed: 1, Fallbacks: 2, LastFailure: "-3: late"}
		}},
		{[]string{"2 of 2 jobs did not complete", "jobs lasted 9.0 s", "jobs were submitted 9.0 s late"}, func(r *Result) {
			r.records, r.Overrun.Mean, r.Late.Mean = nil, 9, 9
		}},
	} {
		r := good()
		c.change(&r)
		got := r.faults(30)
		require.Len(t, got, len(c.want), "%v", got)
		for i := range got {
			require.True(t, strings.HasPrefix(got[i], c.want[i]), "%q, not %q", got[i], c.want[i])
		}
	}
}

func TestBackfillInterval(t *testing.T) {
	for parameters, want := range map[string]int{"": 30, "bf_continue": 30,
		"bf_continue,bf_interval=60,bf_window=100": 60, "bf_interval=x": 30} {
		require.Equal(t, want, backfillInterval(parameters), parameters)
	}
	r := Result{Slurm: Slurm{Backfill: slurmtest.Cycles{Mean: 24_100_000}}}
	require.Len(t, r.faults(30), 1)
	require.Empty(t, r.faults(31))
}

func TestSpread(t *testing.T) {
	require.Equal(t, Spread{}, spread(nil))
	require.Equal(t, Spread{Mean: -2, Max: -1}, spread([]float64{-3, -1}))
	require.Equal(t, Spread{Mean: 2, Max: 5}, spread([]float64{1, 0, 5, 2}))
}

// A result that was stored as JSON has the lives of its jobs.
func TestResultReplay(t *testing.T) {
	jobs := []workload.Job{{Submit: 1}, {Submit: 2}, {Submit: 3}}
	records := []sim.Record{
		{Job: &jobs[2], Submit: 3, Start: 4, End: 9,
			Segs: []nodeset.Segment{{First: 0, Last: 3, Cores: 8, GPUs: 2}, {First: 7, Last: 7, Cores: 300}}},
		{Job: &jobs[0], Submit: 1, Start: 1, End: 5, Segs: []nodeset.Segment{{First: 5, Last: 5, Cores: 1}}},
	}
	before := &Result{Metrics: &sim.Result{Policy: "backfill", Jobs: 2,
		Unrun: []sim.Unrun{{ID: "1", Reason: "too large"}}}, Jobs: 2, NotCompleted: map[string]int{"TIMEOUT": 1},
		Overrun: Spread{1, 2}, DurationMean: 3, Late: Spread{4, 5}, Rate: 200, Busy: 1, FastSeconds: 6, SlowSeconds: 7, WallSeconds: 13,
		Slurm:  Slurm{ControllerCPU: 8, Main: slurmtest.Cycles{Count: 9}, Backfill: slurmtest.Cycles{Count: 10}},
		Faults: []string{"why"}, Lives: []Life{lifeOf(2, &records[0]), lifeOf(0, &records[1])}}
	text, err := json.Marshal(before)
	require.NoError(t, err)
	after := new(Result)
	require.NoError(t, json.Unmarshal(text, after))
	require.Equal(t, before, after)
	var heard []sim.Record
	require.NoError(t, after.Replay(jobs, func(r sim.Record) { heard = append(heard, r) }))
	require.Equal(t, records, heard)
	require.ErrorContains(t, after.Replay(jobs[:2], func(sim.Record) {}), "job 2 is not of the workload of 2")
}
