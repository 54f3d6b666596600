// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With topology/tree jobs lie below one leaf if one has room, those that ask for that with
// --switches too; and where none has, jobs that do not ask start all the same.
func TestTopologyTree(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{{Nodes: 8, Cores: 4}}, Topology: []string{
			"SwitchName=s0 Nodes=n[0001-0004]", "SwitchName=s1 Nodes=n[0005-0008]", "SwitchName=s2 Switches=s[0-1]"}})
		submitWhole := func(seconds string, nodes string, more ...string) uint32 {
			args := append([]string{"-N" + nodes, "--ntasks-per-node=4", "--time=1"}, more...)
			return submit(t, c, "sleep "+seconds, args...)
		}
		leaves := func(id uint32) map[bool]int {
			seen := map[bool]int{}
			for _, on := range running(t, c, patience, id)[0].Nodes {
				seen[on.Node <= "n0004"]++
			}
			return seen
		}
		busy := submitWhole("60", "2", "--nodelist=n[0001-0002]")
		require.Equal(t, map[bool]int{true: 2}, leaves(busy))
		three := submitWhole("60", "3")
		require.Equal(t, map[bool]int{false: 3}, leaves(three), "not n[0003-0005], across leaves")
		require.Equal(t, map[bool]int{true: 1}, leaves(submitWhole("60", "1", "--nodelist=n0003")))

		few := submitWhole("60", "2", "--switches=1@10:00")
		time.Sleep(8 * time.Second)
		job, err := c.ShowJob(t.Context(), few)
		require.NoError(t, err)
		require.Equal(t, "PENDING", job.State, "n[0004,0008] are below two leaves")
		across := submitWhole("60", "2")
		require.Equal(t, map[bool]int{true: 1, false: 1}, leaves(across))
		require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(busy)))
		require.Equal(t, map[bool]int{true: 2}, leaves(few))
		if m.name == auction.name {
			routes, err := c.Routes()
			require.NoError(t, err)
			for _, id := range []uint32{three, across, few} {
				require.Equal(t, 1, routes[id].Started, "job %d: starts by the auction; %v", id, routes[id])
			}
		}
	})
}
