// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/race"
)

// aucsched runs the command as a user would; HiGHS's worker is this test binary.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" {
		main()
	}
	os.Exit(m.Run())
}

// What a shell offers for arguments of the laboratory's commands.
func TestComplete(t *testing.T) {
	for want, args := range map[string][]string{
		"ipsched-5\nipsched-6\n:4\n":         {"reproduce", "ip"},
		"ipsched-6\n:4\n":                    {"reproduce", "ipsched-5", "ip"},
		"local\nslurm\n:4\n":                 {"reproduce", "--via", ""},
		"esp-basic\nesp-multifactor\n":       {"emulate", "experiments", "esp-"},
		"backfill,auction1\nbackfill,auc":    {"emulate", "--scheduler", "backfill,auc"},
		"shrink,suspend\nshrink,kill\n:38\n": {"simulate-invasive", "--means", "shrink,"},
		"emu\nfull\n:4\n":                    {"emulate", "--nodes", ""},
		"gen:V.1\ngen:V.2\ngen:V.3\n:0\n":    {"emulate", "--workload", "gen:V"},
	} {
		code, out, errs := aucsched(t, "", append([]string{"__complete"}, args...)...)
		require.Zero(t, code, errs)
		require.True(t, strings.HasPrefix(out, want), "%v: %s", args, out)
	}
}

func TestManPages(t *testing.T) {
	require.Equal(t, []string{"aucsched-demo", "aucsched-emulate", "aucsched-emulate-day",
		"aucsched-emulate-experiments", "aucsched-reproduce",
		"aucsched-simulate", "aucsched-simulate-invasive", "aucsched-solve"}, clitest.ManPages(t, newRoot()))
}

func TestMistakes(t *testing.T) { clitest.Mistakes(t, newRoot) }

// Its pages and texts are fit for people.
func TestPages(t *testing.T) {
	race.Slow(t)
	pages := make(map[string]string)
	for name, args := range map[string]string{
		"simulate": "simulate --policy backfill,easy,auction2 --cluster 16x8x2 --workload gen:V.1",
		"one":      "simulate --policy backfill --cluster 16x8 --workload gen:I.1",
		"files":    "simulate --cluster 16x8x2 --workload gen:V.1 --locality",
	} {
		file := filepath.Join(t.TempDir(), name+".html")
		code, out, errs := aucsched(t, "", append(strings.Fields(args), "--html", file)...)
		require.Zero(t, code, errs)
		clitest.Words(t, name, out+errs)
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[name] = string(page)
		clitest.Page(t, name, pages[name])
	}
	_, out, errs := aucsched(t, "", "simulate", "--help")
	clitest.Words(t, "help", out+errs)
	clitest.Browse(t, pages)
}
