// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// wantedCores is what a job asks for, whichever way it says so.
func wantedCores(r *bids.Request) int { return max(r.Cores, r.MinNodes*r.TasksPerNode) }

func TestWindowIsHalfBusyAndAsksForThreeTimesWhatIsFree(t *testing.T) {
	for _, n := range []int{128, 1024, 10_000} {
		for _, j := range JobCounts {
			w, err := NewWindow(n, j, 1)
			require.NoError(t, err)
			free, _ := w.Snapshot.Nodes.SumFree()
			require.InDelta(t, 0.5, float64(free)/float64(n*CoresPerNode), 0.02, "free of %d nodes", n)
			wanted, contiguous, ranges, kinds := 0, 0, 0, map[bool]int{}
			for _, job := range w.Snapshot.Pending {
				require.NoError(t, place.CanEverRun(w.Snapshot.Nodes, &job.Request), job.ID)
				wanted += wantedCores(&job.Request)
				kinds[job.TasksPerNode > 0]++
				if job.Contiguous {
					contiguous++
				}
				if job.MaxGPUs > job.MinGPUs {
					ranges++
				}
			}
			require.Len(t, w.Snapshot.Pending, j)
			// Rounding to whole nodes weighs more where jobs are of a few cores.
			require.InDelta(t, Demand, float64(wanted)/float64(free), 0.6, "N=%d J=%d", n, j)
			require.InDelta(t, 0.25, float64(contiguous)/float64(j), 0.15)
			require.Positive(t, ranges)
			require.Positive(t, kinds[true])
			require.Positive(t, kinds[false])
		}
	}
}

func TestWindowIsItsSeeds(t *testing.T) {
	same, err := NewWindow(1024, 50, 7)
	require.NoError(t, err)
	again, err := NewWindow(1024, 50, 7)
	require.NoError(t, err)
	other, err := NewWindow(1024, 50, 8)
	require.NoError(t, err)
	wider, err := NewWindow(1024, 200, 7)
	require.NoError(t, err)
	require.Equal(t, same, again)
	require.NotEqual(t, same.Snapshot.Pending, other.Snapshot.Pending)
	require.NotEqual(t, same.Snapshot.Running, other.Snapshot.Running)
	require.Equal(t, same.Snapshot.Running, wider.Snapshot.Running, "the machine does not depend on the queue")
}

func TestWindowsRunningJobsHoldWhatIsNotFree(t *testing.T) {
	w, err := NewWindow(1000, 50, 3)
	require.NoError(t, err)
	for _, r := range w.Snapshot.Running {
		require.NoError(t, w.Snapshot.Nodes.Release(r.Segs), r.ID)
	}
	cores, gpus := w.Snapshot.Nodes.SumFree()
	require.EqualValues(t, 1000*CoresPerNode, cores)
	require.EqualValues(t, 1000*GPUsPerNode, gpus)
}

func TestWindowOfBadSize(t *testing.T) {
	for _, c := range [][2]int{{15, 1}, {nodeset.MaxNodes + 1, 1}, {128, 0}} {
		_, err := NewWindow(c[0], c[1], 1)
		require.ErrorContains(t, err, "must be 16 to")
	}
}
