// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
)

// Four jobs of a core and 40 GiB, of which nodes of 62 GB hold one each.
const memorySWF = `; MaxProcs: 16
1 0 -1 90 1 -1 -1 1 90 41943040 1 -1 -1 -1 -1 -1 -1 -1
2 0 -1 90 1 -1 -1 1 90 41943040 1 -1 -1 -1 -1 -1 -1 -1
3 0 -1 90 1 -1 -1 1 90 41943040 1 -1 -1 -1 -1 -1 -1 -1
4 0 -1 90 1 -1 -1 1 90 -1 1 -1 -1 -1 -1 -1 -1 -1
`

func TestCountMemory(t *testing.T) {
	dir := t.TempDir()
	swf, conf, none := filepath.Join(dir, "jobs.swf"), filepath.Join(dir, "nodes.txt"), filepath.Join(dir, "none.swf")
	require.NoError(t, os.WriteFile(swf, []byte(memorySWF), 0o600))
	require.NoError(t, os.WriteFile(none, []byte(memorySWF[strings.Index(memorySWF, "4 0"):]), 0o600))
	require.NoError(t, os.WriteFile(conf, []byte("n1 cores=8 memory=90000\nn2 cores=8 memory=30000\n"), 0o600))
	waits := func(args ...string) (mean []float64, errs string) {
		args = append([]string{"simulate", "--json", "--policy", "backfill,auction2", "--workload", swf}, args...)
		code, out, errs := aucsched(t, "", args...)
		require.Zero(t, code, errs)
		for line := range strings.Lines(out) {
			var r sim.Result
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			mean = append(mean, r.WaitMean)
		}
		return mean, errs
	}
	mean, _ := waits("--cluster", "2x8")
	require.Equal(t, []float64{0, 0}, mean, "memory does not count")
	mean, errs := waits("--cluster", "2x8", "--count-memory", "--memory", "62")
	require.Equal(t, []float64{90. / 4, 90. / 4}, mean, "the third waits for memory")
	require.Contains(t, errs, "does not say how much memory: takes none")
	mean, _ = waits("--cluster", "2x8", "--count-memory")
	require.Equal(t, []float64{0, 0}, mean, "128 GB hold three")
	mean, _ = waits("--cluster", conf, "--count-memory", "--memory", "1")
	require.Equal(t, []float64{90. / 4, 90. / 4}, mean, "the file says it: the first node holds two, the other none")

	mean, _ = waits("--cluster", "2x8", "--count-memory", "--memory", "0.06", "--memory-in-bytes")
	require.Equal(t, []float64{90. / 4, 90. / 4}, mean, "40 MiB each")

	for want, args := range map[string][]string{
		"--count-memory: does not go with --files":               {"--cluster", "2x8", "--count-memory", "--files"},
		"--memory: 0: must be above 0":                           {"--cluster", "2x8", "--count-memory", "--memory", "0"},
		"--bandwidth: goes with --files":                         {"--cluster", "2x8", "--count-memory", "--bandwidth", "3"},
		"--count-memory: no job of " + none + " asks for memory": {"--cluster", "2x8", "--count-memory", "--workload", none},
		"not one of 3 jobs ran: the first, 1: can never run: needs 40960 memory on a node, most has 9536": {
			"--cluster", "2x8", "--count-memory", "--memory", "10", "--first", "3"},
	} {
		code, _, errs := aucsched(t, "", append([]string{"simulate", "--workload", swf}, args...)...)
		require.NotZero(t, code)
		require.Contains(t, errs, want)
	}
}
