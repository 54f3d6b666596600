// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// writeRanges writes indices as Slurm does: "0-3,5".
func writeRanges(set []int) string {
	s := slices.Sorted(slices.Values(set))
	var parts []string
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(s[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", s[i], s[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func share(node int, cpus, gpus []int) NodeShare {
	return NodeShare{Node: NodeName(node), CPUs: cpus, GPUs: gpus, GPUCount: len(gpus)}
}

func runningJob(id uint32, shares ...NodeShare) Job {
	return Job{ID: id, State: "RUNNING", NumNodes: len(shares), Nodes: shares}
}

func TestRefereeFinds(t *testing.T) {
	m := (&Config{Groups: []Group{{Nodes: 3, Cores: 4, Threads: 2, GPUs: 2, MemoryMB: 100}}}).Machine()
	good := runningJob(1, share(1, []int{0, 1, 2, 3}, []int{0}), share(2, []int{6}, []int{1}))
	ask := Ask{CPUs: 5, MinNodes: 2, MaxNodes: 2, Contiguous: true, Including: []string{"n0001"}, Without: []string{"n0003"}}.GPURange(1, 2)
	require.Empty(t, CheckJobs(m, []Job{good, runningJob(2, share(1, []int{4}, []int{1}))}, map[uint32]Ask{1: ask}, time.Time{}))

	done := runningJob(2, share(1, []int{0}, nil))
	done.State = "COMPLETING"
	require.Empty(t, CheckJobs(m, []Job{good, done}, nil, time.Time{}), "it gives its nodes back")

	wrongCount := runningJob(2, share(3, []int{0}, []int{0}))
	wrongCount.Nodes[0].GPUCount = 2
	tooFew := runningJob(2, share(3, []int{0}, nil))
	tooFew.NumNodes = 2
	good.Nodes[0].MemoryMB = 60
	fat := runningJob(2, share(1, []int{4}, nil))
	fat.Nodes[0].MemoryMB = 50
	for want, c := range map[string]struct {
		job Job
		ask Ask
	}{
		// its other thread
		"core 0 is also job 1's":     {job: runningJob(2, share(1, []int{1}, nil))},
		"GPU 1 is also job 1's":      {job: runningJob(2, share(2, []int{0}, []int{1}))},
		"core 4, but it has 4":       {job: runningJob(2, share(3, []int{8}, nil))},
		"GPU 2, but it has 2":        {job: runningJob(2, share(3, []int{0}, []int{2}))},
		"no such node":               {job: runningJob(2, share(9, []int{0}, nil))},
		"listed twice":               {job: runningJob(2, share(3, []int{0}, nil), share(3, []int{2}, nil))},
		"holds no node":              {job: runningJob(2)},
		"no CPU of it":               {job: runningJob(2, share(3, nil, nil))},
		"2 GPUs, but indices [0]":    {job: wrongCount},
		"110 MB are held by now":     {job: fat},
		"0 MB, asked for 7":          {runningJob(2, share(3, []int{0}, nil)), Ask{MemoryMB: 7}},
		"NumNodes=2":                 {job: tooFew},
		"2 CPUs in all, asked for 1": {runningJob(2, share(3, []int{0, 1}, nil)), Ask{CPUs: 1}},
		"1 CPUs in all, asked for 2": {runningJob(2, share(3, []int{0}, nil)), Ask{MinCPUs: 2}},
		"asked for 2 a node":         {runningJob(2, share(3, []int{0}, nil)), Ask{CPUsPerNode: 2}},
		"asked for 2-3":              {runningJob(2, share(3, []int{0}, nil)), Ask{MinNodes: 2, MaxNodes: 3}},
		"asked for 0-1":              {runningJob(2, share(3, []int{0}, nil), share(2, []int{0}, nil)), Ask{MaxNodes: 1}},
		"1 GPUs, asked for 2-3":      {runningJob(2, share(3, []int{0}, []int{0})), Ask{}.GPURange(2, 3)},
		"2 GPUs, asked for 0-1":      {runningJob(2, share(3, []int{0}, []int{0, 1})), Ask{}.GPURange(0, 1)},
		"2 GPUs, but 1 on n0002": {runningJob(2, share(2, []int{0}, []int{0}),
			share(3, []int{0}, []int{0, 1})), Ask{}.GPURange(1, 2)},
		"1 GPUs in all, asked for 2":      {runningJob(2, share(3, []int{0}, []int{0})), Ask{GPUs: 2}},
		"are no neighbours":               {runningJob(2, share(1, []int{4}, nil), share(3, []int{0}, nil)), Ask{Contiguous: true}},
		"n0003: not a node that was":      {runningJob(2, share(3, []int{0}, nil)), Ask{Without: []string{"n0003"}}},
		"n0003: not a node that":          {runningJob(2, share(3, []int{0}, nil)), Ask{Within: []string{"n0001"}}},
		"n0002: asked for by name, not h": {runningJob(2, share(3, []int{0}, nil)), Ask{Including: []string{"n0002"}}},
	} {
		found := CheckJobs(m, []Job{good, c.job}, map[uint32]Ask{1: ask, 2: c.ask}, time.Time{})
		require.Len(t, found, 1, "%s: %v", want, found)
		require.Contains(t, found[0].What, want)
		require.EqualValues(t, 2, found[0].Job)
	}
	task := runningJob(8, share(3, []int{0}, nil))
	task.ArrayID = 5
	require.Len(t, CheckJobs(m, []Job{task}, map[uint32]Ask{5: {CPUs: 2}}, time.Time{}), 1, "an array's ask is its tasks'")
}

// A GPU is whole, or jobs have no more shares of it than there are.
func TestRefereeCountsShares(t *testing.T) {
	m := (&Config{Groups: sharedGPUs(1).Groups}).Machine()
	job := func(id uint32, core int, gpus []int, shards ...int) Job {
		j := runningJob(id, share(1, []int{core}, gpus))
		j.Nodes[0].Shards = shards
		return j
	}
	for want, jobs := range map[string][]Job{
		"": {job(1, 0, nil, 0, 3), job(2, 1, nil, 0, 1), job(3, 2, []int{0})},
		"5 shares of GPU 1 are held, but it has 4":           {job(1, 0, nil, 0, 3), job(2, 1, nil, 0, 2)},
		"GPU 0 is job 2's as a whole, and 1 shares of it":    {job(1, 0, nil, 1), job(2, 1, []int{0})},
		"GPU 1 is job 1's as a whole, and 2 shares of it":    {job(1, 0, []int{1}), job(2, 1, nil, 0, 2)},
		"1 shares of GPU 2 are held, but it has 4, of 2 GPU": {job(2, 1, nil, 0, 0, 1)},
	} {
		found := CheckJobs(m, jobs, nil, time.Time{})
		if want == "" {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1, "%s: %v", want, found)
		require.Contains(t, found[0].What, want)
	}
	for _, j := range []Job{job(1, 0, nil, 1, 1), job(1, 0, nil, 1), job(1, 0, nil)} {
		require.Len(t, CheckJobs(m, []Job{j}, map[uint32]Ask{1: {Shards: 2}}, time.Time{}), 1, "%v", j)
	}
}

// The referee finds an overlap if and only if counting by hand does.
func TestRefereeCounts(t *testing.T) {
	m := (&Config{Groups: Uniform(3, 3, 2)}).Machine()
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Job
		cores, gpus := map[string]int{}, map[string]int{}
		overlap := false
		for id := range rapid.IntRange(0, 5).Draw(t, "jobs") {
			node := rapid.IntRange(1, 3).Draw(t, "node")
			cpus := rapid.SliceOfNDistinct(rapid.IntRange(0, 2), 1, 2, rapid.ID[int]).Draw(t, "cpus")
			g := rapid.SliceOfNDistinct(rapid.IntRange(0, 1), 0, 1, rapid.ID[int]).Draw(t, "gpus")
			jobs = append(jobs, runningJob(uint32(id+1), share(node, cpus, g)))
			for _, c := range cpus {
				cores[fmt.Sprint(node, c)]++
				overlap = overlap || cores[fmt.Sprint(node, c)] > 1
			}
			for _, c := range g {
				gpus[fmt.Sprint(node, c)]++
				overlap = overlap || gpus[fmt.Sprint(node, c)] > 1
			}
		}
		require.Equal(t, overlap, len(CheckJobs(m, jobs, nil, time.Time{})) > 0)
	})
}

func TestCheckRuns(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	start := func(restart int, s int64) ScriptStart { return ScriptStart{1, restart, at(s)} }
	end := Ended{ID: 1, State: "COMPLETED"}
	endAt := func(state string, s int64) Ended {
		return Ended{ID: 1, State: state, End: at(s).Format("2006-01-02T15:04:05")}
	}
	for name, c := range map[string]struct {
		starts []ScriptStart
		ended  []Ended
		kills  []time.Time
		fault  string
	}{
		"once":     {starts: []ScriptStart{start(0, 100)}, ended: []Ended{end}},
		"never":    {ended: []Ended{end}, fault: "never started"},
		"twice":    {starts: []ScriptStart{start(0, 100), start(0, 104)}, ended: []Ended{end}, fault: "started again"},
		"requeued": {starts: []ScriptStart{start(0, 100), start(1, 104)}, ended: []Ended{{ID: 1, State: "REQUEUED"}, end}},
		"forgotten": {starts: []ScriptStart{start(0, 100), start(0, 104)},
			ended: []Ended{end, end}, kills: []time.Time{at(102)}},
		"killed before the start": {starts: []ScriptStart{start(0, 100), start(0, 104)},
			ended: []Ended{end}, kills: []time.Time{at(98)}, fault: "started again"},
		"killed long after": {starts: []ScriptStart{start(0, 100), start(0, 104)},
			ended: []Ended{end}, kills: []time.Time{at(111)}, fault: "started again"},
		"forgotten end": {starts: []ScriptStart{start(0, 100)},
			ended: []Ended{endAt("COMPLETED", 102), endAt("TIMEOUT", 160)}, kills: []time.Time{at(103)}},
		"number used again": {starts: []ScriptStart{start(0, 100)},
			ended: []Ended{endAt("FAILED", 104)}, kills: []time.Time{at(103)}},
		"ended badly": {starts: []ScriptStart{start(0, 100)},
			ended: []Ended{endAt("COMPLETED", 102), endAt("TIMEOUT", 160)}, kills: []time.Time{at(150)},
			fault: "ended TIMEOUT"},
		"lost":            {starts: []ScriptStart{start(0, 100)}, fault: "no line"},
		"failed":          {starts: []ScriptStart{start(0, 100)}, ended: []Ended{{ID: 1, State: "FAILED"}}, fault: "ended FAILED"},
		"completed twice": {starts: []ScriptStart{start(0, 100)}, ended: []Ended{end, end}, fault: "completed 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			runs := CheckRuns([]uint32{1}, c.starts, c.ended, c.kills)
			require.Equal(t, name == "forgotten" || name == "number used again", len(runs.ForgottenStarts) == 1)
			require.Equal(t, name == "forgotten end", len(runs.ForgottenEnds) == 1)
			if c.fault == "" {
				require.Empty(t, runs.Faults)
				return
			}
			require.Len(t, runs.Faults, 1)
			require.Contains(t, runs.Faults[0], c.fault)
		})
	}
}

func TestReportErr(t *testing.T) {
	require.ErrorContains(t, (&Report{}).Err(), "never saw")
	require.NoError(t, (&Report{Looks: 1}).Err())
	require.ErrorContains(t, (&Report{Looks: 1, Violations: []Violation{{Job: 7, What: "x"}}, More: 3}).Err(), "3 more")
}
