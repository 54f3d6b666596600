// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// chained is a job of some cores that waits for another.
func chained(id int, submit, runs int64, cores int, after string, think int64) workload.Job {
	return workload.Job{Job: core.Job{ID: fmt.Sprint(id), Request: bids.Request{Cores: cores}, TimeLimit: runs, Priority: int64(1000 - id)},
		Submit: submit, Duration: runs, After: after, Think: think}
}

// runChained says when each job was submitted, started and ended.
func runChained(t require.TestingT, policy core.Policy, cores uint16, jobs []workload.Job) (map[string]Record, *Result) {
	cfg := NewConfig([]nodeset.Capacity{{Cores: cores}})
	cfg.Interval = 1
	ran := map[string]Record{}
	cfg.OnEnd = func(x Record) { ran[x.Job.ID] = x }
	r, err := Run(context.Background(), cfg, policy, jobs)
	require.NoError(t, err)
	return ran, r
}

// A job is submitted when the one before it has ended and its user has thought; not before its own
// time; by all policies, several of which may have the same jobs.
func TestAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []workload.Job
		for id := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			before := rapid.IntRange(-1, id-1).Draw(t, "before")
			j := chained(id, rapid.Int64Range(0, 50).Draw(t, "submit"), rapid.Int64Range(1, 30).Draw(t, "runs"),
				rapid.IntRange(1, 4).Draw(t, "cores"), "", 0)
			if before >= 0 {
				j.After, j.Think = fmt.Sprint(before), rapid.Int64Range(0, 20).Draw(t, "think")
			}
			jobs = append(jobs, j)
		}
		given := slices.Clone(jobs)
		auction, err := core.NewAuction(core.Preset("none"), nil)
		require.NoError(t, err)
		backfill, err := NewBackfill(DefaultBackfill())
		require.NoError(t, err)
		for _, policy := range []core.Policy{auction, backfill} {
			ran, r := runChained(t, policy, 4, jobs)
			require.Empty(t, r.Unrun)
			require.Len(t, ran, len(jobs))
			for _, j := range jobs {
				want := j.Submit
				if j.After != "" {
					want = max(want, ran[j.After].End+j.Think)
				}
				require.Equal(t, want, ran[j.ID].Submit, "job %s", j.ID)
				require.GreaterOrEqual(t, ran[j.ID].Start, want)
			}
			require.Equal(t, given, jobs, "the caller's jobs stay as they are")
		}
	})
}

// Who is submitted late has the priority of that time: those that came before go first.
func TestAfterComesLast(t *testing.T) {
	backfill, err := NewBackfill(DefaultBackfill())
	require.NoError(t, err)
	ran, _ := runChained(t, backfill, 1, []workload.Job{
		chained(1, 0, 10, 1, "", 0), chained(2, 1, 10, 1, "1", 5), chained(3, 2, 10, 1, "", 0), chained(4, 3, 10, 1, "", 0)})
	require.Equal(t, []int64{0, 30, 10, 20}, []int64{ran["1"].Start, ran["2"].Start, ran["3"].Start, ran["4"].Start})
	require.Equal(t, int64(15), ran["2"].Submit)
}

// Whoever waits for a job that can never run waits for none; nobody waits for himself.
func TestAfterOddJobs(t *testing.T) {
	backfill, err := NewBackfill(DefaultBackfill())
	require.NoError(t, err)
	ran, r := runChained(t, backfill, 1, []workload.Job{chained(1, 0, 10, 9, "", 0), chained(2, 1, 10, 1, "1", 5)})
	require.Len(t, r.Unrun, 1)
	require.Equal(t, int64(1), ran["2"].Submit)
	cfg := NewConfig([]nodeset.Capacity{{Cores: 1}})
	for want, jobs := range map[string][]workload.Job{
		"job 1: after: 2: it would come after itself": {chained(1, 0, 1, 1, "2", 0), chained(2, 0, 1, 1, "1", 0)},
		"job 1: after: 1: it would come after itself": {chained(1, 0, 1, 1, "1", 0)},
		"job 1: after: 7: no such job":                {chained(1, 0, 1, 1, "7", 0)},
		"job 1: think: -1: must be between 0 and":     {chained(1, 0, 1, 1, "", -1)},
	} {
		_, err := Run(t.Context(), cfg, backfill, jobs)
		require.ErrorContains(t, err, want)
	}
	leaves := chained(2, 0, 1, 1, "1", 0)
	leaves.Leaves = 9
	_, err = Run(t.Context(), cfg, backfill, []workload.Job{chained(1, 0, 1, 1, "", 0), leaves})
	require.ErrorContains(t, err, "job 2: after: 1: a job that waits for another can neither be malleable nor leave")
}
