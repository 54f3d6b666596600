// SPDX-License-Identifier: BSD-3-Clause

package inputs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// reads is a job on so many cores of one node that reads a file for 10 s and works for 100.
func reads(id string, submit int64, cores int, file uint64) workload.Job {
	return workload.Job{
		Job:    core.Job{ID: id, Request: bids.Request{Cores: cores, MinNodes: 1, MaxNodes: 1}, Priority: 1, TimeLimit: 110},
		Submit: submit, Duration: 100, Input: workload.Input{File: file, Bytes: 1000},
	}
}

// nodesOf has what each job ran from, until, and where it began.
func withFiles(t *testing.T, f Files, nodes int, policy core.Policy, jobs []workload.Job) (*sim.Result, map[string][3]int64) {
	t.Helper()
	cfg := sim.NewConfig(make([]nodeset.Capacity, nodes))
	for n := range cfg.Nodes {
		cfg.Nodes[n].Cores = 4
	}
	cfg.Interval = 1
	f.In(&cfg)
	ran := map[string][3]int64{}
	loading := int64(0)
	cfg.OnEnd = func(r sim.Record) {
		ran[r.Job.ID] = [3]int64{r.Start, r.End, int64(r.Segs[0].First)}
		loading += r.Loading
	}
	r, err := sim.Run(context.Background(), cfg, policy, jobs)
	require.NoError(t, err)
	if r.Files != nil {
		require.Equal(t, r.Files.Waiting, loading, "the records tell of each wait")
	}
	return r, ran
}

// Loads by hand: one that is whole, one that another job has begun, none, and one that pushes out.
func TestLoads(t *testing.T) {
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	jobs := []workload.Job{
		reads("loads", 0, 2, 1),
		reads("beside", 4, 2, 1),    // 6 s of the load are left
		reads("has it", 110, 2, 1),  // on the first's cores
		reads("other", 112, 2, 2),   // on the second's; both fit
		reads("third", 400, 4, 3),   // 1 was read first and goes
		reads("again", 600, 4, 1),   // 2 goes
		reads("no file", 800, 4, 0), //
	}
	r, ran := withFiles(t, Files{Bandwidth: 100, Memory: 2000}, 1, backfill, jobs)
	for id, want := range map[string][3]int64{
		"loads": {0, 110}, "beside": {4, 110}, "has it": {110, 210}, "other": {112, 222},
		"third": {400, 510}, "again": {600, 710}, "no file": {800, 900},
	} {
		require.Equal(t, want, ran[id], id)
	}
	f := *r.Files
	require.InDelta(t, (1+106./110+100./110+1+1+1+1)/7, f.StretchMean, 1e-12)
	f.StretchMean, f.StretchStd = 0, 0
	require.Equal(t, sim.FileUse{Jobs: 6, Held: 2, Loads: 4, Seconds: 40, Waiting: 46}, f)
}

// A load counts against the limit, and each node of a job loads.
func TestLoadsOfSeveralNodesAndLimits(t *testing.T) {
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	j := reads("a", 0, 12, 1)
	j.MinNodes, j.MaxNodes, j.TimeLimit = 3, 3, 105
	r, ran := withFiles(t, Files{Bandwidth: 100, Memory: 1 << 30}, 3, backfill, []workload.Job{j})
	require.Equal(t, [3]int64{0, 105, 0}, ran["a"])
	require.Equal(t, int64(3), r.Files.Loads)
	require.Equal(t, int64(10), r.Files.Waiting)
}

// What runs keeps its file, however much is read after it.
func TestRunningJobsKeepTheirFile(t *testing.T) {
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	long := reads("long", 0, 1, 1)
	long.Duration, long.TimeLimit = 10_000, 20_000
	jobs := []workload.Job{long}
	for i := range 5 {
		jobs = append(jobs, reads(fmt.Sprint(i), 200*int64(i+1), 1, uint64(i+2)))
	}
	jobs = append(jobs, reads("same", 2000, 1, 1))
	r, ran := withFiles(t, Files{Bandwidth: 100, Memory: 2000}, 1, backfill, jobs)
	require.Equal(t, [3]int64{2000, 2100, 0}, ran["same"])
	require.Equal(t, 1, r.Files.Held)
}

// With the preference jobs go where their file is, and without they do not; without a
// file nothing changes.
func TestAuctionPrefersHolders(t *testing.T) {
	run := func(prefer bool, jobs []workload.Job) (*sim.Result, map[string][3]int64) {
		o := core.Preset("none")
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		return withFiles(t, Files{Bandwidth: 100, Memory: 2000, Prefer: prefer}, 8, a, jobs)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs, fileless []workload.Job
	for i := range 200 {
		j := reads(fmt.Sprint(i), int64(40*i), 1+rng.IntN(4), 1+rng.Uint64N(6))
		j.Duration = 20 + rng.Int64N(100)
		jobs = append(jobs, j)
		j.Input = workload.Input{}
		fileless = append(fileless, j)
	}
	with, _ := run(true, jobs)
	without, _ := run(false, jobs)
	require.Less(t, with.Files.Loads, without.Files.Loads*2/3)
	require.Less(t, with.Files.StretchMean, without.Files.StretchMean)
	require.Equal(t, with.Jobs, without.Jobs)

	a, same := run(true, fileless)
	b, as := run(false, fileless)
	require.Equal(t, as, same)
	require.Equal(t, a.Files, b.Files)
	require.Zero(t, a.Files.Loads)
}

// A wide job is not kept waiting by jobs that prefer nodes of its place, however many come.
func TestPreferencesStarveNobody(t *testing.T) {
	for _, patience := range []int64{0, 3600} {
		o := core.Preset("none")
		o.Patience = patience
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		var jobs []workload.Job
		for i := range 200 {
			jobs = append(jobs, reads(fmt.Sprint(i), int64(10*i), 4, 1+uint64(i)%3))
		}
		wide := reads("wide", 55, 16, 9)
		wide.MinNodes, wide.MaxNodes = 4, 4
		_, ran := withFiles(t, Files{Bandwidth: 100, Memory: 2000, Prefer: true}, 4, a, append(jobs, wide))
		require.LessOrEqual(t, ran["wide"][0], int64(55+2*110), "patience %d", patience)
	}
}

func TestFilesReject(t *testing.T) {
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	for want, f := range map[string]Files{
		"there is nothing to prefer": {Prefer: true},
		"bandwidth -1":               {Bandwidth: -1},
		"memory -1":                  {Bandwidth: 1, Memory: -1},
	} {
		cfg := sim.NewConfig([]nodeset.Capacity{{Cores: 4}})
		f.In(&cfg)
		_, err := sim.Run(context.Background(), cfg, backfill, []workload.Job{reads("a", 0, 1, 1)})
		require.ErrorContains(t, err, want)
	}
	bad := reads("a", 0, 1, 1)
	bad.Input.Bytes = 0
	_, err = sim.Run(context.Background(), sim.NewConfig([]nodeset.Capacity{{Cores: 4}}), backfill, []workload.Job{bad})
	require.ErrorContains(t, err, "input: 0 bytes")
}
