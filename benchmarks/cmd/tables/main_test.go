// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/benchmarks/results"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"usage:", nil},
		{`"nonsense": usage:`, []string{"nonsense"}},
		{`"more": usage:`, []string{"performance", "more"}},
		{"-runs: 2: must be at least 5", []string{"performance", "-runs", "2"}},
		{"-seeds", []string{"simulation", "-seeds", "5-1"}},
		{"-into: a page with -match", []string{"shares", "-match", "backfill", "-into", "testdata/absent"}},
		{"-traces:", []string{"simulation", "-traces", "testdata/absent"}},
		{"-traces is needed", []string{"gpu"}},
		{"-data is needed", []string{"locality"}},
		{"-data: open testdata/absent/cluster_486x20.txt", []string{"locality", "-data", "testdata/absent"}},
		{"-shrink 0", []string{"locality", "-data", "testdata", "-shrink", "0"}},
		{"no such file", []string{"gpu", "-traces", "testdata/absent"}},
	} {
		var out, errs bytes.Buffer
		require.ErrorContains(t, run(context.Background(), c.args, &out, &errs), c.want, "%q", c.args)
		require.Empty(t, out.String(), "%q", c.args)
	}
}

func TestSeedRange(t *testing.T) {
	var r seedRange
	require.NoError(t, r.Set("3-12"))
	require.Equal(t, seedRange{3, 12}, r)
	require.Equal(t, 10, r.count())
	require.NoError(t, r.Set("7"))
	require.Equal(t, seedRange{7, 7}, r)
	for _, bad := range []string{"", "-", "1-", "2-1", "-1", "1-2-3", "a-b", "1-5000"} {
		require.Error(t, r.Set(bad), "%q", bad)
	}
	require.Equal(t, seedRange{7, 7}, r)
}

// A workload's figures are its seed's, whatever else is simulated.
func TestTsubameRepeats(t *testing.T) {
	race.Slow(t)
	m := methods()[3]
	require.Equal(t, methodPaper, m.name)
	first, err := benchmarks.Tsubame(context.Background(), "1.FC", m.ranges, 3, 1, m.policy)
	require.NoError(t, err)
	again, err := benchmarks.Tsubame(context.Background(), "1.FC", m.ranges, 3, 1, m.policy)
	require.NoError(t, err)
	for _, c := range simulatedColumns {
		require.Positive(t, c.of(first[0]), c.title)
		require.Equal(t, c.of(first[0]), c.of(again[0]), c.title)
	}
	require.Equal(t, 350, first[0].Jobs)
}

func TestReplay(t *testing.T) {
	command := filepath.Join(t.TempDir(), "aucsched")
	out, err := exec.Command("go", "build", "-o", command, "github.com/aucsched/aucsched/benchmarks/cmd/aucsched-lab").CombinedOutput()
	require.NoError(t, err, string(out))
	dir := filepath.Join("..", "..", "traces", "testdata", "swf")
	for _, policy := range []string{"backfill", "auction2"} {
		r, err := replay(context.Background(), command, dir, realTrace{"small", "small.swf", "8x8"}, policy)
		require.NoError(t, err)
		require.Equal(t, policy, r.Result.Policy)
		require.Positive(t, r.Result.Jobs)
		require.Positive(t, r.CPU)
	}
	_, err = replay(context.Background(), command, dir, realTrace{"small", "absent.swf", "8x8"}, "backfill")
	require.ErrorContains(t, err, "absent.swf")
}

// Each page that make has this command write is there under its name, with a finding.
func TestPagesHaveFindings(t *testing.T) {
	targets, err := os.ReadFile("../../targets.mk")
	require.NoError(t, err)
	pages := regexp.MustCompile(`call page,([a-z-]+)`).FindAllStringSubmatch(string(targets), -1)
	require.GreaterOrEqual(t, len(pages), 8)
	for _, p := range pages {
		c := find(p[1])
		require.NotNil(t, c, p[1])
		page, err := os.ReadFile(filepath.Join(resultsDir, c.page+".md"))
		require.NoError(t, err)
		finding, _ := results.Finding(string(page))
		require.NotEmpty(t, finding, c.page)
	}
}
