// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nodes that are powered down are woken for those who find no place on others, and for nobody else.
func TestSleepersAreWokenLast(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: Uniform(6, 4, 0), ExtraLines: []string{
			"SuspendProgram=/bin/true", "ResumeProgram=/bin/true", "SuspendTime=2", "SuspendTimeout=1", "ResumeTimeout=60",
			"SuspendExcNodes=n[0004-0006]",
		}})
		for _, n := range []string{"n0001", "n0002", "n0003"} {
			require.NoError(t, c.poll(t.Context(), 60*time.Second, n+" to be powered down", func() (bool, error) {
				fields, err := c.ShowNode(t.Context(), n)
				return strings.Contains(fields["State"], "POWERED_DOWN"), err
			}))
		}
		allocated := func(args ...string) (uint32, []string) {
			t.Helper()
			id := submit(t, c, "sleep 300", append(args, "--time=9")...)
			var names []string
			require.NoError(t, c.poll(t.Context(), patience, fmt.Sprintf("%v to have nodes", args), func() (bool, error) {
				j, err := c.ShowJob(t.Context(), id)
				names = nil
				for _, share := range j.Nodes {
					names = append(names, share.Node)
				}
				return len(names) > 0, err
			}))
			return id, names
		}
		awake := []string{"n0004", "n0005", "n0006"}
		var ids []uint32
		for _, args := range [][]string{{"-n1"}, {"-N2", "--ntasks-per-node=2"}, {"-n4", "-N1"}} {
			id, names := allocated(args...)
			require.Subset(t, awake, names, "%v", args)
			ids = append(ids, id)
		}
		id, names := allocated("-N2", "--ntasks-per-node=4") // one node at most is left
		ids = append(ids, id)
		require.True(t, slices.Contains(names, "n0001") || slices.Contains(names, "n0002") || slices.Contains(names, "n0003"), "%v", names)
		if m.name == "auction" {
			for _, id := range ids {
				requireByAuction(t, c, id)
			}
		}
	})
}
