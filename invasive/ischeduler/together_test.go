// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ischeduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
	"github.com/aucsched/aucsched/invasive/place"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test's programme supervises jobs, too, is one of the two programmes, and a job that adapts.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && (os.Args[1] == "scheduler" || os.Args[1] == "hypervisor") {
		if err := runSide(os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "adapt" {
		os.Exit(adapt(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == "supervise" {
		if err := launch.Supervise(os.Args[2], nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// realHypervisor runs an iHypervisor that launches processes, on a partition of 2 nodes of 4 cores,
// until the test ends.
func realHypervisor(t *testing.T, dir string) link.Endpoint {
	self, err := os.Executable()
	require.NoError(t, err)
	topology, err := ihypervisor.Simulate(invasive.Partition{Name: "invasic", Nodes: 2,
		Sockets: 1, CoresPerSocket: 4}, "/sys/devices/system/cpu", true)
	if err != nil {
		t.Skipf("this host doesn't tell its cores: %v", err)
	}
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: euid()}
	stats := &link.Stats{}
	listener, err := endpoint.Listen(link.RealClock{}, stats)
	require.NoError(t, err)
	h, err := ihypervisor.New(ihypervisor.Config{
		State: filepath.Join(dir, "state"), Output: filepath.Join(dir, "output"), Topology: topology, Attempts: 3, Reply: 20 * time.Second,
		Report: 30 * time.Millisecond, Policy: place.Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend}, Horizon: 60},
		OfferEvery: 20 * time.Millisecond, Grow: true, Supervisor: []string{self, "supervise"},
		Listener: listener, Stats: stats, Log: quiet(),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(h.Run(ctx), listener.Close()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return endpoint
}

// Real jobs, from their submission to their output: some at once, one that has to wait for cores,
// and an urgent one while all cores are in use, for which another one is suspended.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	c, _ := start(t, filepath.Join(dir, "s"), 100, realHypervisor(t, dir))
	stop := filepath.Join(dir, "stop")
	until := []string{"sh", "-c", "until [ -e " + stop + " ]; do sleep 0.05; done; echo done"}
	submit := func(spec Spec) uint64 {
		spec.Dir, spec.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
		id, err := c.Submit(ctx, &spec)
		require.NoError(t, err)
		return id
	}
	reach := func(want map[uint64]string) {
		t.Helper()
		require.Eventually(t, func() bool {
			got := states(t, c)
			for id, state := range want {
				if got[id] != state {
					return false
				}
			}
			return true
		}, patience, 20*time.Millisecond, "%v", want)
	}
	wide := submit(Spec{Args: until, MinCores: 8})
	reach(map[uint64]string{wide: "running"})
	small := submit(Spec{Args: []string{"sh", "-c", "echo small; exit 3"}, MinCores: 1, MaxCores: 4})
	pressing := submit(Spec{Args: []string{"sh", "-c", "echo urgent"}, MinCores: 4, Urgent: true})
	reach(map[uint64]string{pressing: "done"})
	require.NoError(t, os.WriteFile(stop, nil, 0o600))
	reach(map[uint64]string{wide: "done", small: "done", pressing: "done"})
	list, err := c.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []int32{0, 3, 0}, []int32{list[0].Exit, list[1].Exit, list[2].Exit})
	for id, want := range map[uint64]string{wide: "done\n", small: "small\n", pressing: "urgent\n"} {
		text, err := os.ReadFile(filepath.Join(dir, "output", fmt.Sprintf("%d.out", id)))
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}

// adapt is a malleable job that does what it is asked, until there is a file.
func adapt(stop string) int {
	c, err := malleable.Connect(os.Getenv)
	if err != nil {
		return 9
	}
	defer c.Close()
	for tick := time.Tick(5 * time.Millisecond); ; {
		select {
		case change := <-c.Changes():
			c.Done(change)
		case <-tick:
			if _, err := os.Stat(stop); err == nil {
				return 0
			}
		}
	}
}
