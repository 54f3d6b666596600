// SPDX-License-Identifier: BSD-3-Clause

package papers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableThreeIsComplete(t *testing.T) {
	require.Len(t, Tsubame(), 18)
	for _, w := range []string{"1.NC", "1.HC", "1.FC", "2.NC", "2.HC", "2.FC"} {
		for _, m := range []string{SlurmBackfill, Aucsched2, Aucsched2Ranges} {
			r, ok := TsubameResult(w, m)
			require.True(t, ok, "%s %s", w, m)
			// The table's own definition: utilisation is theoretical over observed
			// runtime. Means of ratios differ a little from ratios of means.
			require.InDelta(t, r.CPUUtilization, 100*r.TheoreticalRuntime/r.Runtime, 2.5, "%s %s", w, m)
		}
	}
	r, _ := TsubameResult("1.NC", SlurmBackfill)
	require.Equal(t, TsubameRow{"1.NC", SlurmBackfill, 350, 3.12, 64, 65, 4.87, 1.30, 1.36, 1.47, 1.01}, r)
	_, ok := TsubameResult("3.NC", Aucsched2)
	require.False(t, ok)
}

func TestIpschedTablesAreComplete(t *testing.T) {
	rows := Ipsched()
	var experiments []string
	for _, r := range rows {
		experiments = append(experiments, r.Table+" "+r.Experiment)
		require.Equal(t, r.Plugin == "Backfill", r.Objective == "", r.Experiment)
		require.Equal(t, r.Table == "VI", r.PackingMean > 1, r.Experiment)
		require.Contains(t, []string{"", ObjectiveSize, ObjectivePriority}, r.Objective)
	}
	require.Equal(t, []string{"V 1-SLURM", "V 2", "V 3", "V 4-SLURM", "V 5", "V 6", "VI 7-SLURM", "VI 8"}, experiments)
	require.Equal(t, IpschedRow{"VI", "8", "IPSCHED", "Multifactor", ObjectiveSize, 1.09, 1.111, 13.12, 16.78, 0.94, 1.016, 0.026}, rows[7])
}

func TestAucsched1TablesAreComplete(t *testing.T) {
	seen := make(map[[4]string]bool)
	perTable := make(map[int]int)
	var remarked []Aucsched1Row
	for _, r := range Aucsched1Tables() {
		key := [4]string{r.Machine, r.Workload, r.Variant, r.Method}
		require.False(t, seen[key], "%v twice", key)
		seen[key] = true
		perTable[r.Table]++
		require.Equal(t, map[string]int{"S": 128, "M": 256, "L": 1024}[r.Machine], r.Nodes)
		require.Contains(t, []string{Aucsched1, Aucsched1Backfill}, r.Method)
		// Utilisation is theoretical over observed runtime; means of ratios differ a
		// little, in table 6, I.1, as much as 7.1 points.
		require.InDelta(t, r.Utilization, 100*r.TheoreticalRuntime/r.Runtime, 7.5, "%v", key)
		if r.Remark != "" {
			remarked = append(remarked, r)
		}
	}
	require.Equal(t, map[int]int{5: 30, 6: 30, 7: 30, 8: 28}, perTable)
	require.Len(t, remarked, 1)
	require.Equal(t, []any{"V.2", NoSlurmBids, Aucsched1, 3.00},
		[]any{remarked[0].Workload, remarked[0].Variant, remarked[0].Method, remarked[0].Slowdown})
}
