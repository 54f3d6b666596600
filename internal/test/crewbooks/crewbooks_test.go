// SPDX-License-Identifier: BSD-3-Clause

package crewbooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// The referee of malleable jobs finds what is wrong.
func TestReferee(t *testing.T) {
	job := workload.Job{Job: core.Job{ID: "J1", TimeLimit: 10, Request: bids.Request{Cores: 2}}, Duration: 10,
		Span: workload.Span{Least: 1, Most: 3}}
	begin := func() *Referee {
		f := New(1, 0, true, true)
		require.NoError(t, f.Start(0, 0, &job, 0))
		require.NoError(t, f.Start(0, 5, &job, 4))
		return f
	}
	f := begin() // 4 + 2 x 8
	require.ErrorContains(t, f.End(0, 13), "1 companions go on")
	require.NoError(t, f.Free(0, 5, 13))
	require.NoError(t, f.End(0, 13))
	require.NoError(t, f.Finish(1, 13+9))
	require.ErrorContains(t, f.Finish(1, 13), "node seconds")
	require.ErrorContains(t, f.Finish(2, 13+9), "node seconds")

	f = begin()
	require.ErrorContains(t, f.Finish(0, 0), "have not ended")
	require.NoError(t, f.Free(0, 5, 12))
	require.ErrorContains(t, f.End(0, 12), "job J1 has done 18 of its work of 20")
	f = begin()
	require.NoError(t, f.Free(0, 5, 14))
	require.ErrorContains(t, f.End(0, 15), "a second before its end")

	f = begin()
	require.ErrorContains(t, f.Start(0, 0, &job, 5), "started twice")
	require.ErrorContains(t, f.Start(0, 5, &job, 5), "started twice")
	require.ErrorContains(t, f.Start(1, 9, &job, 5), "which does not run")
	require.NoError(t, f.Start(0, 6, &job, 5))
	require.ErrorContains(t, f.Start(0, 7, &job, 5), "works on 4 nodes")
	require.ErrorContains(t, f.Leave(0, 9, 6), "does not work")
	require.ErrorContains(t, f.Free(0, 9, 6), "does not have it")
	require.ErrorContains(t, f.End(3, 6), "does not run")
	require.ErrorContains(t, f.Leave(0, 5, 4), "after one at 5")
}
