// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The library counts licences: a job that has no nodes yet keeps none of them from another, which
// the auction starts and not Slurm; and never more start than there are licences for.
func TestLicencesBehindAWideJob(t *testing.T) {
	slow(t)
	beside(t)
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{{Name: "all", Users: []User{{Name: Alice}, {Name: Bob}}}}})
	others := []string{"-n8"}
	for range 3 {
		others = append(others, "-n32")
	}
	var ids []uint32
	for _, n := range others {
		ids = append(ids, submit(t, c, "sleep 300", as(Bob, "-N1", n, "--time=10")...))
	}
	running(t, c, patience, ids...)
	var wide uint32
	var small []uint32
	together(t, c, func() {
		wide = submit(t, c, "true", as(Alice, "-N2", "--ntasks-per-node=32", "-L", "matlab:2", "--nice=-20000", "--time=5")...)
		for range 3 {
			small = append(small, submit(t, c, "sleep 60", as(Bob, "-N1", "-n4", "-L", "matlab:1", "--time=6")...))
		}
	})
	running(t, c, patience, small[:2]...)
	routes, err := c.Routes()
	require.NoError(t, err)
	for _, id := range small[:2] {
		require.Equal(t, 1, routes[id].Started, "by the auction")
	}
	var reasons []string
	require.NoError(t, c.poll(t.Context(), patience, "the others to wait for licences", func() (bool, error) {
		reasons = nil
		for _, id := range []uint32{wide, small[2]} {
			j, err := c.ShowJob(t.Context(), id)
			if err != nil {
				return false, err
			}
			reasons = append(reasons, j.State+" "+j.Reason)
		}
		return reasons[0] == "PENDING Licenses" && reasons[1] == "PENDING Licenses", nil
	}), "%v", reasons)
	requireNoMisses(t, c)
}

// Licences that slurmdbd hands out are counted as those of slurm.conf.
func TestRemoteLicences(t *testing.T) {
	slow(t)
	beside(t)
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{{Name: "all", Users: []User{{Name: Alice}}}}})
	_, err := c.Sacctmgr(t.Context(), "add", "resource", "name=ansys", "server=flex", "count=4", "type=license",
		"cluster=slurmtest", "percentallowed=50")
	require.NoError(t, err)
	require.NoError(t, c.poll(t.Context(), patience, "slurmctld to hear of them", func() (bool, error) {
		out, err := c.Scontrol(t.Context(), "show", "licenses", "ansys@flex")
		return err == nil && strings.Contains(out, "Total=2"), nil
	}))
	together(t, c, func() {
		submit(t, c, "sleep 60", as(Alice, "-n1", "-L", "ansys@flex:1", "--array=1-20", "--time=2")...)
	})
	require.NoError(t, c.poll(t.Context(), patience, "two to run and the others to wait", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%T %r", "-r")
		return strings.Count(out, "RUNNING") == 2 && strings.Count(out, "PENDING Licenses") == 18, err
	}))
	s, err := c.Status()
	require.NoError(t, err)
	require.Equal(t, int64(2), s.Started)
	requireNoMisses(t, c)
}
