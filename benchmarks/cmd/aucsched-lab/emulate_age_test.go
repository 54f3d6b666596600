// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Without a slurmdbd Slurm's own multifactor priorities have no age. In an emulation jobs age all
// the same, and it is checked.
func TestEmulateAges(t *testing.T) {
	b := newKillBed(t)
	d := b.start(t, []string{"emulate", "--scheduler=backfill", "--priority=multifactor",
		"--cluster=8x8x2", "--workload=gen:V.1", "--first=40",
		"--rate=200", "--json", "--out=" + t.TempDir()})
	d.wait(t, 2*time.Minute)
	require.True(t, d.cmd.ProcessState.Success(), d.errs.String())
	d.nothingLeft(t, true)
	var r emulated
	require.NoError(t, json.NewDecoder(&d.out).Decode(&r))
	require.Empty(t, r.Result.Faults)
	require.NotNil(t, r.Result.Points)
	require.LessOrEqual(t, r.Result.Points.Max, 3.0)
	require.Greater(t, r.Result.Metrics.WaitMean, 10*60.0, "long enough for ages to count")
}
