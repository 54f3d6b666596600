// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// The page's figures are those of the simulations: few jobs, one seed. What is kept is not
// simulated again.
func TestMalleablePage(t *testing.T) {
	o := crewOptions{seeds: seedRange{1, 1}, jobs: 30, dir: t.TempDir()}
	text, err := malleableWorth(t.Context(), o, io.Discard)
	require.NoError(t, err)
	for _, want := range []string{
		"-seeds 1-1", "## gen:lublin-90 on 64 nodes, 30 jobs", "## gen:lublin-90 on 64 nodes, 5 jobs", "| one manager | 100%",
		"| easy-sjf", "| 10% of a job is serial", "over 1 pairs",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "NaN")
	again, err := malleableWorth(t.Context(), o, io.Discard)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

// Jobs are told apart by what they are at each share, whatever they are in the run.
func TestCrewGroups(t *testing.T) {
	jobs := make([]workload.Job, 3)
	jobs[0].ID, jobs[1].ID, jobs[2].ID = "a", "b", "c"
	jobs[1].Span = workload.Span{Least: 1, Most: 2}
	ends := map[string]sim.Record{"a": {Start: 2, End: 4}, "b": {Submit: 1, Start: 11, End: 31}, "c": {Start: 4, End: 8}}
	chosen, others := groupsOf(jobs, ends)
	require.Equal(t, crewGroup{10, 30}, chosen)
	require.Equal(t, crewGroup{3, 6}, others)
	chosen, _ = groupsOf(jobs[:1], ends)
	require.Zero(t, chosen)
}
