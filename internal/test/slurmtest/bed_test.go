// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bed skips a test unless clusters may be started here.
func bed(t *testing.T) {
	t.Helper()
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("starts a real Slurm cluster: AUCSCHED_SLURM_TEST=1 to run it")
	}
	if _, err := Programs(); err != nil {
		t.Skipf("no real Slurm can run here: %v", err)
	}
}

// nodes is the size of the machine.
func nodes(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("AUCSCHED_SLURM_NODES"), "64"))
	require.NoError(t, err, "AUCSCHED_SLURM_NODES")
	require.GreaterOrEqual(t, n, 16, "AUCSCHED_SLURM_NODES")
	return n
}

// patience is for what takes seconds where there is time. It is half of what Slurm takes to do by
// itself what the auction should: its own intervals are a minute.
const patience = 30 * time.Second

// slow marks what takes long and is a variant of other tests: make slurm-test
// has it, make test not.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long and is a variant of others: go test without -short runs it")
	}
}

func long(t *testing.T) {
	t.Helper()
	if os.Getenv("AUCSCHED_SLURM_LONG") != "1" {
		t.Skip("takes long: AUCSCHED_SLURM_LONG=1 to run it")
	}
}

// pluginDir is where aucsched's plug-ins are; the test is skipped if there are none.
func pluginDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AUCSCHED_PLUGIN_DIR")
	if dir == "" {
		version, err := Version()
		require.NoError(t, err)
		dir = filepath.Join("..", "..", "..", "build", "slurm", version)
	}
	if dir == "none" {
		t.Skip("AUCSCHED_PLUGIN_DIR=none")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(dir, "sched_backfill.so")); err != nil {
		t.Skipf("aucsched's plug-ins are not built: no sched_backfill.so in %s", dir)
	}
	copying.Lock()
	defer copying.Unlock()
	if copiedPlugins == "" { // a build while the tests run must not change what they test
		copiedPlugins, err = os.MkdirTemp("", "slurmtest-plugins")
		require.NoError(t, err)
		require.NoError(t, os.CopyFS(copiedPlugins, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copiedPlugins, 0o755))
	}
	return copiedPlugins
}

// copiedPlugins is the copy of the plug-ins that this run tests; TestMain removes it.
var (
	copiedPlugins string
	copying       sync.Mutex
)

// starting keeps clusters that start at the same time from choosing the same ports.
var starting sync.Mutex

// beside has a test run beside others: one that mostly waits, and measures no times.
func beside(t *testing.T) {
	t.Helper()
	bed(t)
	t.Parallel()
}

// quick makes a cluster react fast enough for tests; the first two are stock
// Slurm's, and must hold for backfill too. Most tests are about what the auction decides:
// it decides about the first job of a queue too. auc_lab has settings count that sites can't change.
const (
	quickStock   = "batch_sched_delay=0,bf_interval=1"
	quickAuction = "auc_lab=yes,auc_interval=1,auc_deadline_ms=200,auc_at_once=no"
)

// A mode is a way to schedule a cluster.
type mode struct {
	name  string
	setup func(t *testing.T, c Config) Config
}

var stock = mode{"stock", func(_ *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", quickStock, c.SchedulerParameters)
	return c
}}

var auction = mode{"auction", func(t *testing.T, c Config) Config {
	return stock.setup(t, c.WithAuction(pluginDir(t), quickAuction))
}}

// plain is the auction of one moment, which plans nothing.
var plain = mode{"plain auction", func(t *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", "auc_preset=none", c.SchedulerParameters)
	return auction.setup(t, c)
}}

// standalone has aucsched's scheduler under its own name instead of backfill's.
var standalone = mode{"sched aucsched", func(t *testing.T, c Config) Config {
	c.SchedulerType = "sched/aucsched"
	return auction.setup(t, c)
}}

// bothModes runs a test that must hold with and without aucsched.
func bothModes(t *testing.T, test func(t *testing.T, m mode)) {
	for _, m := range []mode{stock, auction} {
		t.Run(m.name, func(t *testing.T) { test(t, m) })
	}
}

// mostlyAuction is bothModes for tests that take long: they run without aucsched only
// where there is time, or no aucsched.
func mostlyAuction(t *testing.T, test func(t *testing.T, m mode)) {
	mostly(t, []mode{stock, auction}, test)
}

// mostly runs a test in some modes, in stock's only where there is time, or no aucsched.
func mostly(t *testing.T, modes []mode, test func(t *testing.T, m mode)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			if m.name == "stock" && os.Getenv("AUCSCHED_PLUGIN_DIR") != "none" {
				long(t)
			}
			test(t, m)
		})
	}
}

// cluster starts a cluster for the test. It ends with the test, which fails if
// slurmctld is gone by then.
func cluster(t *testing.T, m mode, cfg Config) *Cluster {
	t.Helper()
	bed(t)
	cfg = m.setup(t, cfg)
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	starting.Lock()
	c, err := Start(t.Context(), dir, cfg)
	starting.Unlock()
	if missing := (*ErrMissing)(nil); errors.As(err, &missing) {
		os.RemoveAll(dir)
		t.Skipf("no real Slurm can run here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		runs := c.controllerRuns()
		if !runs {
			t.Errorf("slurmctld is gone: %s", c.logTails())
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() || os.Getenv("AUCSCHED_SLURM_KEEP") == "1" {
			t.Logf("the cluster's files are kept in %s", dir)
		} else {
			os.RemoveAll(dir)
		}
	})
	return c
}

// submit submits a job that must be taken.
func submit(t *testing.T, c *Cluster, body string, args ...string) uint32 {
	t.Helper()
	id, err := c.Sbatch(t.Context(), args, c.Script(body))
	require.NoError(t, err)
	return id
}

// together has f submit jobs that the scheduler then finds all at once.
func together(t *testing.T, c *Cluster, f func()) {
	t.Helper()
	_, err := c.Scontrol(t.Context(), "update", "PartitionName=p", "State=DOWN")
	require.NoError(t, err)
	f()
	_, err = c.Scontrol(t.Context(), "update", "PartitionName=p", "State=UP")
	require.NoError(t, err)
}

// cancelAll clears the queue between tests that share a cluster. It cancels again what comes
// back: Slurm holds a job whose launch failed although it had been cancelled by then.
func cancelAll(t *testing.T, c *Cluster, users ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		for _, user := range append(users, "root") {
			require.NoError(t, c.Scancel(ctx, "--user="+user))
		}
		err := c.WaitEmpty(ctx, 5*time.Second)
		if err == nil {
			return
		}
		require.NoError(t, ctx.Err(), err)
	}
}

// watch starts a referee that must have nothing to say when the test ends.
func watch(t *testing.T, c *Cluster) *Watcher {
	t.Helper()
	w := c.Watch(t.Context())
	t.Cleanup(func() {
		if _, err := w.Look(context.Background()); err != nil {
			t.Error(err)
		}
		report := w.Stop()
		if err := report.Err(); err != nil {
			t.Errorf("referee: %v", err)
		}
	})
	return w
}

// running waits until all the jobs run at one moment, and returns them in order.
func running(t *testing.T, c *Cluster, limit time.Duration, ids ...uint32) []Job {
	t.Helper()
	found := make([]Job, len(ids))
	err := c.poll(t.Context(), limit, fmt.Sprintf("jobs %v to run at the same time", ids), func() (bool, error) {
		jobs, err := c.Jobs(t.Context())
		if err != nil {
			return false, nil
		}
		n := 0
		for i, id := range ids {
			for _, j := range jobs {
				if j.ID == id {
					found[i] = j
					if j.State == "RUNNING" {
						n++
					}
				}
			}
		}
		return n == len(ids), nil
	})
	if err != nil {
		for _, j := range found {
			t.Logf("job %d %s is %s (%s)", j.ID, j.Name, j.State, j.Reason)
		}
		require.NoError(t, err, "%s", c.Logs("slurmctld.log", 3000))
	}
	return found
}
