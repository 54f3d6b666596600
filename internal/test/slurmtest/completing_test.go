// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With CompleteWait nothing starts until all nodes of a job that has ended are free, so that a wide
// job's nodes do not go to small jobs one by one; without, a job takes the first of them.
func TestCompleteWait(t *testing.T) {
	beside(t)
	const cleaning = 12 * time.Second // of the second node
	for _, wait := range []int{0, 60} {
		t.Run(fmt.Sprintf("CompleteWait=%d", wait), func(t *testing.T) {
			mostlyAuction(t, func(t *testing.T, m mode) {
				epilog := filepath.Join(t.TempDir(), "epilog")
				text := fmt.Sprintf("#!/bin/sh\n[ \"$SLURMD_NODENAME\" != n0002 ] || sleep %d\n", cleaning/time.Second)
				require.NoError(t, os.WriteFile(epilog, []byte(text), 0o755))
				c := cluster(t, m, Config{Groups: Uniform(2, 4, 0), ExtraLines: []string{
					fmt.Sprint("CompleteWait=", wait), "Epilog=" + epilog, "UnkillableStepTimeout=120"}})
				wide := submit(t, c, "sleep 300", "-N2", "-n8", "--time=10")
				running(t, c, 15*time.Second, wide)
				small := submit(t, c, "sleep 300", "-N1", "-n4", "--time=10")
				require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(wide)))
				_, err := c.WaitFor(t.Context(), wide, 15*time.Second, "COMPLETING")
				require.NoError(t, err)
				ended := time.Now()
				running(t, c, cleaning+20*time.Second, small)
				if took := time.Since(ended); wait == 0 {
					require.Less(t, took, cleaning-time.Second)
				} else {
					require.Greater(t, took, cleaning-2*time.Second)
				}
				if m.name != "stock" {
					requireByAuction(t, c, small)
				}
			})
		})
	}
}
