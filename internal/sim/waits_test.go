// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// waitOf is the record of a job with so many cores of a node of 100.
func waitOf(number, cores int, gpus uint8, submit, wait, runs int64, user string) Record {
	j := jobOf(number, bids.Request{Cores: cores, MinGPUs: int(gpus)}, submit, runs, runs)
	j.User = user
	return Record{Job: &j, Submit: submit, Start: submit + wait, End: submit + wait + runs,
		Segs: []nodeset.Segment{{Cores: uint16(cores), GPUs: gpus}}}
}

// measured is what a meter says of jobs.
func measured(t *testing.T, nodes []nodeset.Capacity, ran ...Record) *Result {
	t.Helper()
	table, err := nodeset.New(nodes)
	require.NoError(t, err)
	bySubmit := func(a, b Record) int { return cmp.Compare(a.Submit, b.Submit) }
	m, err := NewMeter(table, slices.MinFunc(ran, bySubmit).Submit, slices.MaxFunc(ran, bySubmit).Submit)
	require.NoError(t, err)
	for i := range ran {
		m.Add(&ran[i], &ran[i].Job.Request, ran[i].Job.Duration)
	}
	var r Result
	m.Fill(&r, nil)
	return &r
}

func TestWaitsOnPaper(t *testing.T) {
	// 20 jobs of 1 core wait 0, 10 ... 190 s, and a wide one with all GPUs 7 s.
	var ran []Record
	for i := range 20 {
		ran = append(ran, waitOf(i, 1, 0, int64(i), int64(10*i), 100, fmt.Sprint("u", i%2)))
	}
	ran = append(ran, waitOf(20, 2, 4, 5, 7, 5, ""))
	r := measured(t, nodesOf([3]int{1, 100, 4}), ran...)
	require.Equal(t, 90.0, r.Median, "7 and ten of 0 to 90 are the first eleven of 21")
	require.Equal(t, 180.0, r.P95, "20 of 21 wait no longer")
	require.Equal(t, 190.0, r.Max)
	require.Equal(t, 100.0, r.UserWorst, "10, 30 ... 190")
	// Two are the tenth: the one with the GPUs, and one of 20 that are equal.
	require.InDelta(t, (7+95.0)/2, r.Widest10, 1e-12)
	require.InDelta(t, (1900*0.01*100+7*1*5)/(20*0.01*100+5), r.AreaWeighted, 1e-12)
	require.InDelta(t, (20+19.0+1.2)/21, r.BoundedSlowdown, 1e-9, "a run of 5 s counts as 10: (7+5)/10")
}

// What is used behind the last submission does not count, nor the time in which it is.
func TestLoadedOnPaper(t *testing.T) {
	nodes := nodesOf([3]int{2, 100, 4})
	long, short := waitOf(1, 10, 2, 100, 0, 40, ""), waitOf(2, 20, 0, 110, 0, 5, "")
	r := measured(t, nodes, short, long)
	require.Equal(t, 10*10.0/(10*200), r.CPUUtilizationLoaded)
	require.Equal(t, 2*10.0/(10*8), r.GPUUtilizationLoaded)
	r = measured(t, nodes, long)
	require.Zero(t, r.CPUUtilizationLoaded, "a single job has no time until the last submission")
}

// Without a job that ran all is 0, and JSON can say so.
func TestWaitsOfNobody(t *testing.T) {
	_, r := records(t, backfill(t, nil), nodesOf([3]int{1, 4, 0}), []workload.Job{jobOf(1, bids.Request{Cores: 5}, 3, 1, 1)})
	require.Zero(t, r.Jobs)
	require.Equal(t, Waits{}, r.Waits)
	require.Zero(t, r.CPUUtilizationLoaded)
	require.Zero(t, r.GPUUtilizationLoaded)
}

// A share of a GPU is that part of one.
func TestWaitsWithShares(t *testing.T) {
	jobs := []workload.Job{pod(1, 1, 1, 5, 0, 0, 90), pod(2, 1, 1, 0, 1, 0, 60), pod(3, 4, 1, 0, 0, 30, 30)}
	_, r := recordsWith(t, sharing(nodesOf([3]int{1, 8, 2}), 100, 10), backfill(t, nil), jobs)
	require.InDelta(t, 1.5/2, r.GPUUtilizationLoaded, 1e-12)
	require.InDelta(t, 2.0/8, r.CPUUtilizationLoaded, 1e-12)
}
