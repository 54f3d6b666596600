// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A backup controller goes on with the auction where a primary one was killed,
// and gives control back.
func TestBackupController(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 8, 0), Backup: true})
	ctx := t.Context()
	require.NoError(t, c.StartBackup(ctx))
	ids := []uint32{submit(t, c, "sleep 4", "-n4"), submit(t, c, "sleep 25", "-n4")}
	running(t, c, patience, ids...)
	waitSaved(t, c)
	require.NoError(t, c.KillController(ctx, syscall.SIGKILL))
	require.NoError(t, c.WaitControl(ctx, time.Minute))
	ids = append(ids, submit(t, c, "sleep 1", "-n4"))
	require.NoError(t, c.poll(ctx, patience, "the new job to end", func() (bool, error) {
		ended, err := c.Ended()
		return err == nil && len(ended) >= 2, nil
	}))
	require.Contains(t, c.Logs("backup.log", 1<<20), "aucsched: started JobId=3 on")
	require.NoError(t, c.StartController(ctx))
	require.NoError(t, c.WaitControl(ctx, time.Minute))
	require.NoError(t, c.KillBackup(ctx, syscall.SIGTERM))
	require.NoError(t, c.WaitEmpty(ctx, time.Minute))
	requireOneStartEach(t, c, ids)
	for _, words := range []string{"fatal", "Bad job state"} {
		require.NotContains(t, c.Logs("backup.log", 1<<20)+c.Logs("slurmctld.log", 1<<20), words)
	}
}
