// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ihypervisor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
)

type cores = map[invasive.JobID]int

func size(sockets, cores uint32) invasive.Partition {
	return invasive.Partition{Nodes: 1, Sockets: sockets, CoresPerSocket: cores}
}

// A job's life, and what it finds when it starts.
func TestJobs(t *testing.T) {
	b := newBed(t, size(1, 2), nil)
	script := `echo $AUCSCHED_INVASIVE_JOB $AUCSCHED_INVASIVE_CORES $A; grep Cpus_allowed_list /proc/self/status; exit 3`
	b.submit(&invasive.Job{ID: 1, MinCores: 1, MaxCores: 1, Args: []string{"sh", "-c", script}, Env: []string{"A=\xff"}})
	require.EqualValues(t, 3, b.exit(1))
	require.Equal(t, "1 1 \xff\nCpus_allowed_list:\t0\n", b.output(1))
	b.submit(&invasive.Job{ID: 2, MinCores: 2, MaxCores: 2, Args: []string{"no-such-programme"}})
	require.EqualValues(t, launch.NotFound, b.exit(2))
	limited := b.sleeps(3, 1)
	limited.Limit = 1
	b.submit(limited)
	require.EqualValues(t, 128+15, b.exit(3))
	require.Eventually(t, func() bool { // acknowledged and forgotten
		left, err := os.ReadDir(filepath.Join(b.root, "state", "jobs"))
		require.NoError(t, err)
		// an acknowledgement rides on it
		b.submit(&invasive.Job{ID: 4, MinCores: 1, MaxCores: 1, Args: []string{"true"}})
		return len(left) <= 1
	}, patience, 10*time.Millisecond)
	b.stopHypervisor()
}

// A malleable job grows over what is free, and shrinks for those who come.
func TestGrowAndShrink(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), func(c *Config) { c.Grow = true })
	b.submit(b.adapts(1, "adapt", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	b.submit(b.sleeps(2, 1)) // gets an offer of what will come free
	b.eventually(cores{1: 1, 2: 1})
	require.Contains(t, b.output(1), "cores 0-1\ncores 0\n")
	b.endAll()
	require.Zero(t, b.exit(1))
	require.Zero(t, b.exit(2))
}

func TestUrgentShrinksOthers(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), nil)
	b.submit(b.adapts(1, "adapt", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	b.submit(urgent(b.sleeps(2, 1)))
	b.eventually(cores{1: 1, 2: 1})
	require.NotContains(t, b.output(1), "cores 1\n") // it kept the first core
	b.endAll()
	require.Zero(t, b.exit(2))
}

// Who refuses is suspended for an urgent job, by the policy, and goes on after it.
func TestRefusalAndSuspension(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), func(c *Config) { c.Retry = time.Hour })
	b.submit(b.adapts(1, "keep", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	short := &invasive.Job{ID: 2, MinCores: 1, MaxCores: 1, Urgent: true, Args: []string{"sleep", "0.3"}}
	b.submit(short)
	b.eventually(cores{1: 0, 2: 1})
	require.Equal(t, invasive.Suspended, b.state()[1].State)
	for _, pid := range b.h.launcher.(*launch.Launcher).Processes(1) {
		text, err := os.ReadFile("/proc/" + itoa(pid) + "/status")
		require.NoError(t, err)
		require.Regexp(t, `State:\t(T|D)`, string(text))
	}
	require.Zero(t, b.exit(2))
	b.eventually(cores{1: 2})
	b.endAll()
	require.Zero(t, b.exit(1))
}

// With no other means than to ask, an urgent job that needs more is refused, and waits like others.
func TestRefusalIsLeft(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), func(c *Config) { c.Policy.Means, c.Retry = c.Policy.Means[:1], time.Hour })
	b.submit(b.adapts(1, "keep", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	b.submit(urgent(b.sleeps(2, 1)))
	require.Eventually(t, func() bool { _, there := b.state()[2]; return there }, patience, time.Millisecond)
	b.submit(urgent(b.sleeps(3, 2)))
	time.Sleep(100 * time.Millisecond)
	b.eventually(cores{1: 2, 2: 0})
	require.NotContains(t, b.state(), invasive.JobID(3))
	b.endAll()
	for id := range invasive.JobID(3) {
		require.Zero(t, b.exit(id+1))
	}
}

func TestSilentJob(t *testing.T) {
	twoCPUs(t)
	for _, c := range []struct {
		name   string
		silent invasive.How
		want   cores
	}{
		{"left", 0, cores{1: 2, 2: 0}}, {"suspended", invasive.Suspend, cores{1: 0, 2: 1}}, {"killed", invasive.Kill, cores{1: -1, 2: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, size(1, 2), func(cfg *Config) {
				cfg.Silent, cfg.ShrinkTime, cfg.Retry = c.silent, 50*time.Millisecond, time.Hour
				cfg.Policy.Means = cfg.Policy.Means[:1]
			})
			b.submit(b.adapts(1, "silent", 1, 2))
			b.eventually(cores{1: 2})
			b.hasBoth(1)
			b.submit(urgent(b.sleeps(2, 1)))
			require.Eventually(t, func() bool { _, there := b.state()[2]; return there }, patience, time.Millisecond)
			time.Sleep(100 * time.Millisecond)
			b.eventually(c.want)
			b.endAll()
			require.Zero(t, b.exit(2))
			b.exit(1)
		})
	}
}

// A job that ends instead of an answer.
func TestDyingJob(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), nil)
	b.submit(b.adapts(1, "die", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	b.submit(urgent(b.sleeps(2, 1)))
	require.EqualValues(t, 5, b.exit(1))
	b.eventually(cores{2: 1})
	b.endAll()
	require.Zero(t, b.exit(2))
}

func TestEvolvingJob(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(2, 2), nil)
	for i, wish := range []string{"want 3", "want 1"} {
		id := invasive.JobID(i + 1)
		j := b.adapts(id, wish, 1, 3)
		j.Flex = invasive.Evolving
		if wish == "want 3" {
			j.MaxCores = 2
			j.MinCores = 2
			j.MaxCores = 3
		}
		b.submit(j)
		b.eventually(cores{id: int(wish[5] - '0')})
		b.endAll()
		require.Zero(t, b.exit(id))
		require.NoError(t, os.Remove(b.stop))
	}
}

// A job of an earlier iHypervisor is found, and is where it was; what it adapts to goes on.
func TestRestartInOrder(t *testing.T) {
	twoCPUs(t)
	b := newBed(t, size(1, 2), func(c *Config) { c.Grow = true })
	b.submit(b.adapts(1, "adapt", 1, 2))
	b.eventually(cores{1: 2})
	b.hasBoth(1)
	pids := b.h.launcher.(*launch.Launcher).Processes(1)
	b.stopHypervisor()
	b.startHypervisor(nil)
	b.eventually(cores{1: 2})
	require.Equal(t, pids, b.h.launcher.(*launch.Launcher).Processes(1))
	b.submit(urgent(b.sleeps(2, 1)))
	b.eventually(cores{1: 1, 2: 1})
	b.stopHypervisor()
	b.topology.Partition.CoresPerSocket = 4
	c := config(b.root, b.self, b.topology)
	_, err := New(c)
	require.ErrorContains(t, err, "has jobs on a partition")
	b.topology.Partition.CoresPerSocket = 2
	b.endAll()
	b.startHypervisor(nil)
	require.Zero(t, b.exit(1))
	require.Zero(t, b.exit(2))
}

func TestReport(t *testing.T) {
	// or that would have what is new, and the test nothing
	b := newBed(t, size(1, 2), func(c *Config) { c.Report = time.Hour })
	b.submit(&invasive.Job{ID: 1, MinCores: 2, MaxCores: 2, Args: []string{"sleep", "0.2"}})
	var l *invasive.Load
	for id := invasive.JobID(2); l == nil || l.Ended == 0; id++ {
		time.Sleep(time.Millisecond)
		done := make(chan struct{})
		b.h.runner.Call(func() {
			if b.h.meter.ended > 0 {
				l = b.h.load()
			}
			close(done)
		})
		<-done
	}
	require.EqualValues(t, 2, l.FreeCores)
	require.EqualValues(t, 1, l.Ended)
}
