// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waitSetting waits until the auction says that it runs with a setting.
func waitSetting(t *testing.T, c *Cluster, setting string) {
	t.Helper()
	var s Status
	require.NoError(t, c.poll(t.Context(), patience, "the auction to run with "+setting, func() (bool, error) {
		s, _ = c.Status()
		return s.State == "on" && strings.Contains(" "+s.Settings+" ", " "+setting+" "), nil
	}), "%+v", s)
}

// Without the library Slurm schedules as if aucsched were not there, and says why once.
func TestLibraryAbsent(t *testing.T) {
	beside(t)
	from := pluginDir(t)
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) // after the cluster's end
	require.NoError(t, os.CopyFS(filepath.Join(dir, "p"), os.DirFS(from)))
	require.NoError(t, os.Remove(filepath.Join(dir, "p", "libaucsched.so")))
	c := cluster(t, stock, Config{Groups: Uniform(8, 8, 2)}.WithAuction(filepath.Join(dir, "p"), quickAuction))
	w := watch(t, c)
	id := submit(t, c, "sleep 1", "-n4", "-N2", "--gres=gpu:1", "--time=1")
	w.Expect(id, Ask{CPUs: 4, MinNodes: 2, MaxNodes: 2}.GPURange(1, 1))
	_, err = c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, c.RanOnce([]uint32{id}))
	time.Sleep(3 * time.Second) // some intervals, to see that it is said once
	require.Len(t, logLines(t, c, `error: .*aucsched`), 1)
	s, err := c.Status()
	require.NoError(t, err)
	require.Equal(t, "no-library", s.State)
	require.Zero(t, s.Started)
}

// A library that was built for other plug-ins is refused by its number, before
// it is asked anything.
func TestLibraryOfAnotherABI(t *testing.T) {
	beside(t)
	from := pluginDir(t)
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.CopyFS(filepath.Join(dir, "p"), os.DirFS(from)))
	source, library := filepath.Join(dir, "old.c"), filepath.Join(dir, "p", "libaucsched.so")
	require.NoError(t, os.Remove(library))
	require.NoError(t, os.WriteFile(source, []byte(`#include <stdlib.h>
int aucsched_abi(void) { return 1; }
const char *aucsched_version(void) { return "0"; }
void aucsched_open(void) { abort(); }
void aucsched_configure(void) { abort(); }
void aucsched_cycle(void) { abort(); }
void aucsched_last_error(void) { abort(); }
void aucsched_close(void) { abort(); }
`), 0o600))
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := cluster(t, stock, Config{Groups: Uniform(8, 8, 2)}.WithAuction(filepath.Join(dir, "p"), quickAuction))
	id := submit(t, c, "sleep 1", "-n4", "--time=1")
	_, err = c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
	require.Len(t, logLines(t, c, `libaucsched.so has ABI 1, the plug-in was built for \d+; Slurm's own schedulers go on alone`), 1)
}

// logLines are the lines of slurmctld's log that match.
func logLines(t *testing.T, c *Cluster, pattern string) []string {
	t.Helper()
	var found []string
	re := regexp.MustCompile(pattern)
	for line := range strings.SplitSeq(c.Logs("slurmctld.log", 64<<20), "\n") {
		if re.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// auc_enabled=no hands the cluster to Slurm, and back again, under running jobs.
func TestOffAndOn(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(8, 8, 2), Daemonize: true})
	watch(t, c)
	ctx := t.Context()
	parameters := quickAuction + "," + quickStock
	first := submit(t, c, "sleep 60", "-n20", "--time=2")
	before := running(t, c, patience, first)[0]
	requireByAuction(t, c, first)

	require.NoError(t, c.SetParameters(ctx, parameters+",auc_enabled=no"))
	require.NoError(t, c.poll(ctx, patience, "the auction to be off", func() (bool, error) {
		s, err := c.Status()
		return s.State == "off", err
	}))
	second := submit(t, c, "sleep 60", "-n20", "--time=2")
	running(t, c, patience, second)
	routes, err := c.Routes()
	require.NoError(t, err)
	require.Zero(t, routes[second], "Slurm alone")

	require.NoError(t, c.SetParameters(ctx, parameters))
	waitSetting(t, c, "deadline_ms=200")
	third := submit(t, c, "sleep 60", "-n20", "--time=2")
	after := running(t, c, patience, first, second, third)[0]
	requireByAuction(t, c, third)
	require.Equal(t, before.Nodes, after.Nodes)
	require.Equal(t, before.Fields["StartTime"], after.Fields["StartTime"])
	require.Zero(t, after.Restarts)
	requireRestartKeepsJobs(t, c, first, second, third)
}

// requireRestartKeepsJobs restarts slurmctld with aucsched's plug-ins, without, and with
// them again: the state files are stock Slurm's, so that one can always go back.
func requireRestartKeepsJobs(t *testing.T, c *Cluster, ids ...uint32) {
	t.Helper()
	before := running(t, c, patience, ids...)
	var with Config
	without := func(cfg *Config) {
		with = *cfg
		cfg.PluginDirs, cfg.JobSubmitPlugins, cfg.CliFilterPlugins = nil, "", ""
	}
	for _, change := range []func(*Config){without, func(cfg *Config) { *cfg = with }} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		require.NoError(t, c.KillController(ctx, 15))
		require.NoError(t, c.SetConfig(change))
		require.NoError(t, c.StartController(ctx))
		cancel()
		after := running(t, c, patience, ids...)
		for i := range before {
			require.Equal(t, before[i].Nodes, after[i].Nodes)
			require.Zero(t, after[i].Restarts)
		}
	}
}

// A wrong setting is named, with its value, once; the rest works with its default.
func TestBadSettings(t *testing.T) {
	beside(t)
	m := mode{"bad", func(t *testing.T, c Config) Config {
		return stock.setup(t, c.WithAuction(pluginDir(t),
			"auc_interval=0,auc_preset=x,auc_nonsense=1,auc_preempt,auc_deadline_ms=250,auc_at_once=no,auc_window=5"))
	}}
	c := cluster(t, m, Config{Groups: Uniform(4, 8, 2)})
	id := submit(t, c, "sleep 30", "-n4", "--time=1")
	running(t, c, patience, id)
	for _, bad := range []string{"auc_interval=0", "auc_preset=x", "auc_nonsense=1", "auc_preempt"} {
		require.Len(t, logLines(t, c, `error: .*`+bad+`\b`), 1, bad)
	}
	s, err := c.Status()
	require.NoError(t, err)
	require.Equal(t, 3, s.Interval)
	require.NotContains(t, s.Settings, "preset=")
	require.Contains(t, s.Settings, "deadline_ms=250", "what is right is taken")
	require.Len(t, logLines(t, c, `auc_window has no effect any more, and is an error in the next version: presets say it`), 1)
	require.NotContains(t, s.Settings, "window=")
	require.Equal(t, c.ControllerPid(), s.Pid)
}
