// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hog has Alice submit an array of 900 whole nodes to an account that may have two of them, before
// 40 small jobs of Bob's. It returns how long Bob's have waited in the mean, or fails if they have
// not all ended within a minute. Six of the eight nodes are idle but for them.
func hog(t *testing.T, m mode) time.Duration {
	t.Helper()
	cfg := Site()
	cfg.PrologSlurmctld = "" // which has tests of its own
	c := cluster(t, m, cfg)
	_, err := c.Sbatch(t.Context(), as(Alice, "-A", "limited", "--nice=-200000",
		"-N1", "-n32", "--array=1-900", "--time=5", "-o", "/dev/null"),
		"#!/bin/sh\nsleep 300\n")
	require.NoError(t, err)
	require.NoError(t, c.poll(t.Context(), patience, "two of Alice's to run", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%i", "-u", Alice, "-t", "R")
		return len(strings.Fields(out)) == 2, err
	}))
	var bob []uint32
	for range 40 {
		bob = append(bob, submit(t, c, "sleep 4", as(Bob, "-N1", "-n8", "--time=1", "-o", "/dev/null")...))
	}
	var left string
	require.NoError(t, c.poll(t.Context(), time.Minute, "Bob's jobs to end", func() (bool, error) {
		var err error
		left, err = c.Squeue(t.Context(), "%i %T %r", "-u", Bob)
		return strings.TrimSpace(left) == "", err
	}), "of 40 are left:\n%s", left)
	require.NoError(t, c.RanOnce(bob))
	mean := waits(t, c, bob)
	t.Logf("%s: Bob's jobs waited %v in the mean", m.name, mean)
	out, err := c.Squeue(t.Context(), "%r", "-u", Alice, "-t", "PD")
	require.NoError(t, err)
	reasons := map[string]int{}
	for _, r := range strings.Fields(out) {
		reasons[r]++
	}
	assert.Equal(t, map[string]int{"AssocGrpCpuLimit": 898}, reasons, "what Alice is told")
	return mean
}

// A user at a limit is in nobody's way: jobs that can't start for it take no place in the window,
// and the others wait no longer than with Slurm alone, in whole seconds as Slurm tells them.
func TestHog(t *testing.T) {
	slow(t)
	beside(t)
	means := sideBySide(t, []string{"stock", "auction"}, func(t *testing.T, i int) time.Duration {
		return hog(t, []mode{siteStock, siteAuction}[i])
	})
	for _, mean := range means[1:] {
		require.Less(t, mean, means[0]+time.Second)
	}
}
