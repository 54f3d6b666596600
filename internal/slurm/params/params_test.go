// SPDX-License-Identifier: BSD-3-Clause

package params

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	p := Read("")
	require.Equal(t, &Params{Enabled: 1, Save: 1, AtOnce: 1, Preempt: 1, Interval: 3, DelayMs: 1000, StartMs: 500,
		LockPercent: 10, DeadlineMs: 500, NetS: 60, UsersShare: 100, ShadowMB: 16, Counts: true, Limit: 700,
		Engine: "deadline_ms=500"}, p)
	p = Read("bf_interval=5,auc_interval=7,auc_window=10 auc_depth=5,auc_enabled=no,auc_worker=/x/y,auc_status=/a,max_rpc_cnt=12,defer")
	require.Equal(t, []any{int32(7), int32(15), int32(0), "/a", int32(12)}, []any{p.Interval, p.Limit, p.Enabled, p.Status, p.MaxRPCs})
	require.Equal(t, "window=10 depth=5 worker=/x/y deadline_ms=500", p.Engine)
	// In shadow mode nobody is asked or started.
	p = Read("auc_mode=shadow,auc_net_s=9,auc_slurm_bids=9,auc_at_once=yes")
	require.Equal(t, []int32{1, 0, 0, 0, 0}, []int32{p.Shadow, p.NetS, p.Offers, p.AtOnce, p.Save})
	p = Read("auc_solver=auto,auc_policy=auction1,auc_preset=short")
	require.Equal(t, "solver=auto policy=auction1 preset=short worker="+Worker+" deadline_ms=500", p.Engine)
	require.False(t, p.Counts)
	require.EqualValues(t, 1000, p.Limit)
}

func TestSaid(t *testing.T) {
	for text, want := range map[string]Said{
		"auc_interval=0":     {true, "auc_interval=0: must be a whole number from 1 to 3600; using the default"},
		"auc_mode=off":       {true, "auc_mode=off: must be on, shadow; using the default"},
		"auc_library=lib.so": {true, "auc_library=lib.so: must be an absolute path; using the default"},
		"auc_partitions=":    {true, "auc_partitions=: must not be empty; using the default"},
		"auc_nonsense=1":     {true, "auc_nonsense=1: there is no such setting; ignored"},
		"auc_depth":          {true, "auc_depth: there is no such setting; ignored"},
		"auc_goal=fair":      {true, "auc_goal=fair: there is no such setting; ignored"},
		"auc_paper=yes":      {false, "auc_paper is deprecated, and the next version does not have it: use auc_preset=paper"},
		"auc_work=7":         {false, "auc_work is deprecated, and the next version does not have it: presets say it"},
	} {
		require.Equal(t, []Said{want}, Read(text).Said, text)
	}
}

// What is known of a setting is said by one table: each name is read without a fault by some value.
func TestEachName(t *testing.T) {
	require.Greater(t, len(Names()), 40)
	for _, name := range Names() {
		fits := false
		for _, value := range []string{"yes", "1", "/x", "word", "shadow", "wait", "rate", "paper", "auction1", "halve", "highs"} {
			why, ok := Wrong(name, value)
			require.True(t, ok, name)
			fits = fits || why == ""
		}
		require.True(t, fits, name)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("auc_interval=7,auc_partitions=a,b defer,c")
	f.Add("auc_window=x,auc_=,auc_max_rpc_cnt=99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		p := Read(text)
		require.True(t, p.Interval >= 1 && p.LockPercent >= 1 && p.DeadlineMs >= 1 && p.Limit >= 1 && p.MaxRPCs >= 0)
		for _, path := range []string{p.Status, p.ShadowFile} {
			require.True(t, path == "" || strings.HasPrefix(path, "/"))
		}
		require.NotContains(t, p.Engine, ",")
	})
}
