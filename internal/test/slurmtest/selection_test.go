// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/nodeset"
)

// Nodes that are full in part, alike in GPUs: a job gets those that the simulator's
// selection says, the fullest that will do if it asks for cores alone, and the lowest of the
// fewest in a row if for GPUs. Newer versions differ, which the simulator does not model: from 25.11
// on a node with GPUs counts as cores times GPUs (job_test.c: avail_res_prod), no longer as their sum,
// and from 26.05 on a job of one node gets the first that will do (_get_one_res).
func TestSelection(t *testing.T) {
	slow(t)
	beside(t)
	total := nodeset.Capacity{Cores: 8, GPUs: 3}
	taken := []nodeset.Capacity{{Cores: 2}, {Cores: 5, GPUs: 1}, {Cores: 4}, {Cores: 1, GPUs: 3}, {Cores: 1}, {}}
	c := cluster(t, stock, Config{Groups: []Group{{Nodes: len(taken), Cores: int(total.Cores), GPUs: int(total.GPUs)}}})
	table, err := nodeset.NewUniform(len(taken), total)
	require.NoError(t, err)
	var fill []uint32
	for n, x := range taken {
		if x.Cores > 0 {
			fill = append(fill, submit(t, c, "sleep 600", fmt.Sprintf("-wn%04d", n+1), "-N1", fmt.Sprint("-n", x.Cores),
				fmt.Sprint("--gres=gpu:", x.GPUs)))
			require.NoError(t, table.Allocate([]nodeset.Segment{{First: int32(n), Last: int32(n), Cores: x.Cores, GPUs: x.GPUs}}))
		}
	}
	running(t, c, time.Minute, fill...)
	version, err := Version()
	require.NoError(t, err)
	var sel selection.Selector
	for _, x := range []struct {
		args []string
		r    bids.Request
		want string // node by node, the cores

		changed, now string // the version from which on Slurm does otherwise, and how
	}{
		{[]string{"-N1", "-n2"}, bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1}, "n2:2", "26.05", "n1:2"},
		{[]string{"-N1", "-n2", "--gres=gpu:1"}, bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, "n5:2", "26.05", "n1:2"},
		{[]string{"-N1", "-n7"}, bids.Request{Cores: 7, MinNodes: 1, MaxNodes: 1}, "n4:7", "", ""},
		{[]string{"-N1", "-n7", "--gres=gpu:1"}, bids.Request{Cores: 7, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, "n5:7", "", ""},
		{[]string{"-N1", "-n1", "--gres=gpu:3"}, bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 3}, "n1:1", "", ""},
		{[]string{"-n1", "--gres=gpu:1"}, bids.Request{Cores: 1, MinGPUs: 1}, "n5:1", "26.05", "n1:1"},
		{[]string{"-N2", "-n2", "--gres=gpu:1"}, bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}, "n5:1 n6:1", "", ""},
		{[]string{"-N2", "-n6", "--gres=gpu:1"}, bids.Request{Cores: 6, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}, "", "25.11", "n5:5 n6:1"},
		{[]string{"-N2", "--ntasks-per-node=2", "--gres=gpu:1"}, bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 2, MinGPUs: 1}, "", "", ""},
		{[]string{"-n4", "--gres=gpu:1"}, bids.Request{Cores: 4, MinGPUs: 1}, "", "25.11", "n5:4"},
	} {
		t.Run(fmt.Sprint(x.args), func(t *testing.T) {
			segs, ok, err := sel.Select(table, &x.r, nil, nil)
			require.NoError(t, err)
			require.True(t, ok)
			said := ""
			for _, s := range segs {
				for n := s.First; n <= s.Last; n++ {
					said += fmt.Sprintf(" n%d:%d", n+1, s.Cores)
				}
			}
			id := submit(t, c, "sleep 600", x.args...)
			did := ""
			for _, share := range running(t, c, patience, id)[0].Nodes {
				var n int
				_, err := fmt.Sscanf(share.Node, "n%d", &n)
				require.NoError(t, err)
				did += fmt.Sprintf(" n%d:%d", n, len(share.CPUs))
			}
			require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(id)))
			_, err = c.WaitFor(t.Context(), id, patience, "CANCELLED")
			require.NoError(t, err)
			if x.changed != "" && version >= x.changed {
				require.Equal(t, " "+x.now, did)
				return
			}
			require.Equal(t, did, said)
			if x.want != "" {
				require.Equal(t, " "+x.want, did)
			}
		})
	}
}
