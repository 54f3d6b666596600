// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/place"
)

func TestJobs(t *testing.T) {
	const nodes, cores = 1408, 1408 * 12
	jobs, err := Jobs(nodes, 3000, 1)
	require.NoError(t, err)
	require.Len(t, jobs, 3000)
	asked, young, kinds := 0, 0, map[[2]bool]int{}
	for i := range jobs {
		j := &jobs[i]
		require.NoError(t, place.Validate(&j.Request), "job %d", i)
		require.LessOrEqual(t, float64(j.Cores), largest*cores+12)
		require.Positive(t, j.Duration)
		require.LessOrEqual(t, j.Duration, j.TimeLimit)
		require.Zero(t, j.TimeLimit%60)
		require.False(t, j.Contiguous)
		kinds[[2]bool{j.MinNodes > 0, j.MinGPUs > 0}]++
		if float64(asked) < cores*runningShare/2 && j.Duration < 60 {
			young++
		}
		if float64(asked) > cores*runningShare {
			require.GreaterOrEqual(t, j.Duration, int64(60), "job %d is new", i)
		}
		asked += j.Cores
	}
	require.Greater(t, asked, 4*cores, "a queue")
	require.Len(t, kinds, 3, "cores, nodes, nodes with GPUs")
	require.Greater(t, young, 20, "of those that fill the machine some end within the minute")
}

func TestJobsRepeat(t *testing.T) {
	a, err := Jobs(1408, 600, 7)
	require.NoError(t, err)
	b, err := Jobs(1408, 2000, 7)
	require.NoError(t, err)
	require.Equal(t, a, b[:600])
	c, err := Jobs(1408, 600, 8)
	require.NoError(t, err)
	require.NotEqual(t, a, c)
}

func TestJobsOfLargeMachine(t *testing.T) {
	jobs, err := Jobs(10_000, 20_100, 1)
	require.NoError(t, err)
	require.Len(t, jobs, 20_100)
	_, err = Jobs(0, 10, 1)
	require.Error(t, err)
}
