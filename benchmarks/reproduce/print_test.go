// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/golden"
)

// fakeReport has made-up figures whose means and orders can be told by hand: on easy
// the auction wins in both, on hard it wins in the paper only, and on even nobody does.
func fakeReport(t *testing.T, seeds []uint64) *Report {
	t.Helper()
	table := Table{Name: "fake-1", Title: "a made-up table", Notes: []string{"Nothing here is real."}}
	utilisation := map[string][]float64{
		"easy backfill": {0.80, 0.82, 0.84}, "easy auction": {0.90, 0.92, 0.95},
		"hard backfill": {0.80, 0.82, 0.84}, "hard auction": {0.70, 0.72, 0.75},
		"even backfill": {0.80, 0.82, 0.84}, "even auction": {0.84, 0.82, 0.80},
	}
	for _, w := range []string{"easy", "hard", "even"} {
		for _, m := range []string{"backfill", "auction"} {
			row := Row{Workload: w, Method: m, Args: []string{w + " " + m}, Baseline: m == "backfill",
				Paper: map[string]float64{CPUUtilization: 60, Wait: 1.5, WaitStd: 0.5, Spread: 2}}
			if m == "auction" {
				row.Paper[CPUUtilization] = 66
			}
			table.Rows = append(table.Rows, row)
		}
	}
	table.Rows[3].Remark = "the paper prints this upside down"
	p := &Program{Settings: fakeSettings, Bound: func(_ context.Context, args []string) (float64, error) {
		return map[string]float64{"--seed=1": 12000, "--seed=2": 12800, "--seed=3": 14400}[args[1]], nil
	}}
	results := make(Results)
	for i, r := range table.Rows {
		for k, seed := range seeds {
			c, err := p.Prepare(Cell{Args: r.Args, Seed: seed})
			require.NoError(t, err)
			u := utilisation[r.Args[0]][k]
			s := &Stored{Program: "build1", Result: &sim.Result{CPUUtilization: u,
				Runtime: 14400, WaitMean: 7200 * u, WaitStd: 1800, FragmentationMean: 1,
				SlowdownMean: 20, SpreadMean: 1.5}}
			if i == 5 && k == 0 {
				s.Program, s.Result.Unrun = "build2", []sim.Unrun{{ID: "7", Reason: "left"}}
			}
			results[c.Key] = s
		}
	}
	report, err := NewReport(t.Context(), p, []Table{table}, seeds, results)
	require.NoError(t, err)
	return report
}

func TestReportGolden(t *testing.T) {
	r := fakeReport(t, []uint64{1, 2, 3})
	golden.Equal(t, "report.txt", r.Text())
	golden.Equal(t, "report.golden", r.Markdown("aucsched reproduce fake-1 --seeds 1-3"))
	text, err := json.MarshalIndent(r, "", " ")
	require.NoError(t, err)
	golden.Equal(t, "report.json", string(text)+"\n")
	golden.Equal(t, "one_seed.txt", fakeReport(t, []uint64{1}).Text())
}

func TestReportNeedsEveryCell(t *testing.T) {
	var f fake
	table := Table{Name: "T", Rows: []Row{{Workload: "W", Method: "M", Args: []string{"--x=1"}}}}
	_, err := NewReport(t.Context(), f.program(), []Table{table}, []uint64{1}, Results{})
	require.EqualError(t, err, "table T: no result of aucsched simulate --x=1 --seed=1")
}

// The misprint is said wherever the row is shown.
func TestMisprintIsRemarked(t *testing.T) {
	var f fake
	tables, err := Select(Selection{Tables: []string{"aucsched1-8"}, Only: "V.2, no SLURM bids"})
	require.NoError(t, err)
	cells, err := Cells(f.program(), tables, []uint64{1})
	require.NoError(t, err)
	r := Runner{Program: f.program(), Store: testStore(t), Jobs: 1}
	results, err := r.Run(t.Context(), cells)
	require.NoError(t, err)
	report, err := NewReport(t.Context(), f.program(), tables, []uint64{1}, results)
	require.NoError(t, err)
	require.Equal(t, 3.0, report.Tables[0].Rows[0].Paper[Slowdown])
	for _, text := range []string{report.Text(), report.Markdown("")} {
		text = strings.Join(strings.Fields(text), " ")
		require.Contains(t, text, "Remark on V.2, no SLURM bids, AUCSCHED: the printed slowdown, 3.00, repeats the spread")
	}
}

func TestPrintedHasThePapersDecimals(t *testing.T) {
	for _, c := range []struct {
		key  string
		v    float64
		want string
	}{
		{CPUUtilization, 95, "95"}, {CPUUtilization, 100 * 0.93, "93"}, {CPUUtilization, 100*0.93 - 100*0.90, "3"},
		{Wait, 1.6, "1.60"}, {WaitStd, 0.836, "0.836"}, {Wait, 0.91 - 1.60, "-0.69"}, {Packing, 1.02, "1.020"},
	} {
		for _, m := range metrics {
			if m.Key == c.key {
				require.Equal(t, c.want, m.printed(c.v))
			}
		}
	}
}
