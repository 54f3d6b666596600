// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Behind a job that waits for nodes, what an account has left of its limit goes to those of its
// jobs that are worth most together, not to the first of them.
func TestLimitsAreTraded(t *testing.T) {
	beside(t)
	c := quotaCluster(t, plain, Accounting{Accounts: []Account{
		{Name: "few", Limits: "GrpTRES=cpu=64", Users: []User{{Name: Alice}}},
		{Name: "all", Users: []User{{Name: Bob}}},
	}})
	running(t, c, patience, submit(t, c, "sleep 300", as(Bob, "-N1", "-n32", "--time=10")...))
	var wide uint32
	var small []uint32
	together(t, c, func() {
		submit(t, c, "true", as(Bob, "-N4", "--exclusive", "--nice=-40000", "--time=10")...)
		wide = submit(t, c, "sleep 60", as(Alice, "-N2", "--ntasks-per-node=32", "--nice=-20000", "--time=2")...)
		for range 4 {
			small = append(small, submit(t, c, "sleep 60", as(Alice, "-N1", "-n16", "--time=2")...))
		}
	})
	running(t, c, patience, small...)
	require.NoError(t, c.poll(t.Context(), patience, "the wide job to wait for its limit", func() (bool, error) {
		j, err := c.ShowJob(t.Context(), wide)
		return err == nil && j.State == "PENDING" && j.Reason == "AssocGrpCpuLimit", err
	}))
	requireNoMisses(t, c)
}
