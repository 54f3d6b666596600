// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/requests"
)

// What a submission asks for in Slurm's words means what the request that is made of it means.
func TestAsksMeanWhatRequestsMean(t *testing.T) {
	judged := 0
	judge := func(t require.TestingT, c requests.Case) {
		ask, ok := askOf(&c.Request, c.Nodes)
		if !ok {
			return
		}
		judged++
		m := (&Config{Groups: []Group{{Nodes: c.Nodes, Cores: 16, GPUs: 8}}}).Machine()
		found := CheckJobs(m, []Job{jobOn(c)}, map[uint32]Ask{1: ask}, time.Time{})
		require.Equal(t, c.OK, len(found) == 0, "%s: %+v on %+v: %v", c.Name, c.Request, c.Segs, found)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	require.Greater(t, judged, 30)
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}

// askOf is the ask for a request of --ntasks, --nodes, --ntasks-per-node, --gres, --contiguous and
// --nodelist. Ranges of different GPUs on the nodes have no words, and where --ntasks-per-node is
// the most only, Ask has none.
func askOf(r *bids.Request, nodes int) (Ask, bool) {
	ask := Ask{CPUs: r.Cores, MinNodes: r.MinNodes, MaxNodes: r.MaxNodes, CPUsPerNode: r.TasksPerNode, Contiguous: r.Contiguous}
	if r.Cores+r.TasksPerNode == 0 {
		return ask, false
	}
	if r.MixedGPUs || (r.TasksPerNode > 0 && r.Cores > 0 && (r.MinNodes+r.MaxNodes > 0 || r.Cores%r.TasksPerNode > 0)) {
		return ask, false
	}
	if r.Cores == 0 && r.MaxNodes == 0 {
		ask.MaxNodes = max(r.MinNodes, 1)
	}
	if r.Eligible != nil {
		ask.Within = []string{}
		for n := range nodes {
			if r.Eligible.Has(n) {
				ask.Within = append(ask.Within, NodeName(n+1))
			}
		}
	}
	return ask.GPURange(r.MinGPUs, max(r.MinGPUs, r.MaxGPUs)), true
}

// jobOn is a running job that has a case's allocation.
func jobOn(c requests.Case) Job {
	upTo := func(n int) (indices []int) {
		for i := range n {
			indices = append(indices, i)
		}
		return indices
	}
	var shares []NodeShare
	for _, s := range c.Segs {
		for n := s.First; n <= s.Last; n++ {
			shares = append(shares, share(int(n)+1, upTo(int(s.Cores)), upTo(int(s.GPUs))))
		}
	}
	return runningJob(1, shares...)
}
