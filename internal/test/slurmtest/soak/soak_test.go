// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Half a minute of faults: aucsched loses no job, and none runs twice. Other differences from stock
// Slurm are told only: on a busy machine so short a run has some of either.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: go test without -short runs it")
	}
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("starts real Slurm clusters: AUCSCHED_SLURM_TEST=1 to run it")
	}
	version, err := slurmtest.Version()
	require.NoError(t, err)
	plugins, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "build", "slurm", version))
	require.NoError(t, err)
	if dir := os.Getenv("AUCSCHED_PLUGIN_DIR"); dir != "" {
		plugins = dir
	}
	if _, err := os.Stat(filepath.Join(plugins, "sched_backfill.so")); err != nil {
		t.Skipf("the plug-ins are not built: %v", err)
	}
	dir, err := os.MkdirTemp("", "soak")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		if !t.Failed() {
			os.RemoveAll(dir)
		}
	})
	seed := uint64(time.Now().UnixNano() % 1e6)
	t.Logf("seed %d; what is left of a failure is in %s", seed, dir)
	plan := NewPlan(seed, 30*time.Second, Quick)
	outcomes := map[Mode]*Outcome{}
	var mu sync.Mutex
	var both sync.WaitGroup
	for _, mode := range []Mode{Stock, Auction} {
		both.Go(func() {
			o, err := Run(t.Context(), &plan, Options{Mode: mode, Dir: filepath.Join(dir, string(mode)), Plugins: plugins,
				Settle: 90 * time.Second, Say: func(string, ...any) {}})
			if missing := (*slurmtest.ErrMissing)(nil); errors.As(err, &missing) {
				t.Log(err)
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[mode] = o
		})
	}
	both.Wait()
	if t.Failed() {
		return
	}
	if len(outcomes) < 2 {
		t.Skip("this machine can't run the clusters")
	}
	r := Compare(seed, plan.Length, version, outcomes[Stock], outcomes[Auction])
	var table strings.Builder
	r.Table(&table)
	t.Log(table.String())
	require.Positive(t, r.Ours.Right)
	require.Positive(t, r.Ours.Starts)
	for _, word := range []Word{Lost, Doubled} {
		require.Zero(t, r.Ours.Words[word], "%s: %+v", word, r.Ours.Findings)
	}
}
