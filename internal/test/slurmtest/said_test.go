// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a setting can't have is in slurmctld's log, once.
func TestFaultsOfSettingsAreSaid(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 8, 0)})
	before := c.cfg.SchedulerParameters
	said := func(t *testing.T, words string) {
		t.Helper()
		require.NoError(t, c.poll(t.Context(), patience, words, func() (bool, error) {
			return strings.Contains(c.Logs("slurmctld.log", 1<<20), words), nil
		}))
	}
	t.Run("status", func(t *testing.T) {
		dir := c.path("later")
		require.NoError(t, c.SetParameters(t.Context(), before+",auc_status="+dir+"/status"))
		fault := "can't write " + dir + "/status: No such file or directory"
		said(t, fault)
		time.Sleep(3 * time.Second) // some cycles
		require.Equal(t, 1, strings.Count(c.Logs("slurmctld.log", 1<<20), fault))
		require.NoError(t, os.Mkdir(dir, 0o755))
		said(t, dir+"/status is written again")
		require.FileExists(t, dir+"/status")
	})
	t.Run("library", func(t *testing.T) {
		require.NoError(t, c.SetParameters(t.Context(), before+",auc_library=/nonexistent.so"))
		said(t, "/nonexistent.so: cannot open shared object file")
		require.NoError(t, c.SetParameters(t.Context(), before))
		waitState(t, c, "on", "")
	})
}
