// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// Whole blocks come, at other times, jobs at theirs within; IDs and priorities are as of any trace.
func TestResample(t *testing.T) {
	w := &workload.Workload{Name: "w"}
	for i := range 60 {
		j := workload.Job{Job: core.Job{ID: fmt.Sprint(i + 1)}, Submit: int64(10*i) + int64(i%3), Duration: int64(i)}
		if i%10 == 5 { // one of the block, and one of the block before
			j.After, j.Think = fmt.Sprint(i), 7
		}
		if i%10 == 0 && i > 0 {
			j.After = fmt.Sprint(i)
		}
		w.Jobs = append(w.Jobs, j)
	}
	workload.AssignBasicPriorities(w.Jobs)
	before := slices.Clone(w.Jobs)
	seen := make(map[string]bool)
	for seed := range uint64(20) {
		r, err := Resample(w, 100, seed)
		require.NoError(t, err)
		again, err := Resample(w, 100, seed)
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Len(t, r.Jobs, 50, "of five whole blocks; the sixth is not whole")
		ids, text := make(map[string]bool), ""
		for i, j := range r.Jobs {
			old, k, _ := strings.Cut(j.ID, ".")
			var n int
			_, err := fmt.Sscan(old, &n)
			require.NoError(t, err)
			was := before[n-1]
			require.Equal(t, was.Submit%100, j.Submit%100)
			require.Equal(t, fmt.Sprint(j.Submit/100+1), k)
			require.Equal(t, was.Duration, j.Duration)
			require.Equal(t, j.Priority, before[i].Priority)
			require.False(t, ids[j.ID])
			ids[j.ID] = true
			if j.After != "" {
				require.True(t, ids[j.After], "it is of the same block")
			}
			require.Equal(t, n%10 == 6, j.After != "")
			text += old + " "
		}
		seen[text] = true
	}
	require.Equal(t, before, w.Jobs)
	require.Greater(t, len(seen), 15)
	_, err := Resample(w, 150, 1)
	require.ErrorContains(t, err, "w: 3 whole blocks of 2m30s: at least 5 are needed")
}
