// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// policyJob is a random submission to 16 nodes of 8 cores and 2 GPUs, and what it asks for.
func policyJob(rng *rand.Rand) (args []string, ask Ask) {
	nodes := 2 + rng.IntN(5)
	cpus := nodes * (1 + rng.IntN(7))
	within := Ask{CPUs: cpus, MinNodes: nodes, MaxNodes: nodes}
	switch n, N := fmt.Sprint("-n", cpus), fmt.Sprint("-N", nodes); rng.IntN(6) {
	case 0, 1:
		return []string{n}, Ask{CPUs: cpus}
	case 2:
		return []string{n, N}, within
	case 3:
		return []string{n, N, "--gres=gpu:1"}, within.GPURange(1, 1)
	case 4:
		return []string{n, N, "--gres=gpu:1-2"}, within.GPURange(1, 2)
	default:
		within.CPUsPerNode = cpus / nodes
		return []string{N, fmt.Sprint("--ntasks-per-node=", cpus/nodes)}, within
	}
}

// restartWith has slurmctld end, and start with other SchedulerParameters.
func restartWith(t *testing.T, c *Cluster, parameters string) {
	t.Helper()
	require.NoError(t, c.KillController(t.Context(), syscall.SIGTERM))
	require.NoError(t, c.SetConfig(func(cfg *Config) { cfg.SchedulerParameters = parameters }))
	require.NoError(t, c.StartController(t.Context()))
}

// A policy that the loaded library has not waits for slurmctld's restart, and Slurm goes on alone.
// With the library that has all of them policies change at once.
func TestPolicyOfAnotherLibrary(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 8, 0)})
	waitSetting(t, c, "deadline_ms=200")
	older := join(",", quickAuction, quickStock, "auc_policy=ipsched")
	require.NoError(t, c.SetParameters(t.Context(), older))
	version, err := Version()
	require.NoError(t, err)
	if version < "23.11" { // later a reconfiguration is a restart
		var s Status
		require.NoError(t, c.poll(t.Context(), patience, "the policy to be refused", func() (bool, error) {
			s, _ = c.Status()
			return s.State == "no-library", nil
		}), "%+v", s)
		require.Contains(t, s.StateText, "libaucsched-older.so")
		require.Contains(t, s.StateText, "restarted")
		running(t, c, patience, submit(t, c, "sleep 60", "-n4", "--time=2"))
		restartWith(t, c, older)
	}
	waitSetting(t, c, "policy=ipsched")
	require.NoError(t, c.SetParameters(t.Context(), join(",", quickAuction, quickStock)))
	var s Status
	require.NoError(t, c.poll(t.Context(), patience, "auction2", func() (bool, error) {
		s, _ = c.Status()
		return s.State == "on" && !strings.Contains(s.Settings, "ipsched"), nil
	}), "%+v", s)
}

// Policies other than the default run a queue of all kinds to its end. What the model of ipsched
// does not know, consecutive nodes, Slurm starts.
func TestPolicies(t *testing.T) {
	beside(t)
	for _, c := range []struct{ policy, classes string }{{"ipsched", "I"}, {"auction1", "ABC"}} {
		t.Run(c.policy, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: Uniform(16, 8, 2), SchedulerParameters: "auc_delay_ms=200,auc_policy=" + c.policy})
			w, rng := watch(t, s), rand.New(rand.NewPCG(30, 1))
			var ids []uint32
			together(t, s, func() {
				for range 30 {
					args, ask := policyJob(rng)
					id := submit(t, s, fmt.Sprint("sleep ", 1+rng.IntN(2)), append(args, "--time=1")...)
					w.Expect(id, ask)
					ids = append(ids, id)
				}
			})
			apart := submit(t, s, "true", "-n8", "-N4", "--contiguous", "--time=1")
			w.Expect(apart, Ask{CPUs: 8, MinNodes: 4, MaxNodes: 4, Contiguous: true})
			require.NoError(t, s.WaitEmpty(t.Context(), 60*time.Second))
			require.NoError(t, s.RanOnce(append(ids, apart)))
			status, err := s.Status()
			require.NoError(t, err)
			require.Contains(t, status.Settings, "policy="+c.policy)
			require.Zero(t, status.CyclesFailed, status.LastFailure)
			require.Zero(t, status.StartsFailed)
			routes, err := s.Routes()
			require.NoError(t, err)
			for _, id := range ids {
				require.Equal(t, 1, routes[id].Started, "job %d was started by another", id)
				require.Contains(t, c.classes, routes[id].Class)
				require.NotEmpty(t, routes[id].Class)
			}
			require.Equal(t, c.policy != "ipsched", routes[apart].Started == 1)
		})
	}
}

// Without node limits a job that asks for four nodes gets the two that hold it,
// which is worth more.
func TestPoliciesNodeLimits(t *testing.T) {
	beside(t)
	for limits, nodes := range map[string]int{"yes": 4, "no": 2} {
		t.Run(limits, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: Uniform(4, 8, 0),
				SchedulerParameters: "auc_delay_ms=200,auc_policy=ipsched,auc_node_limits=" + limits})
			w := watch(t, s)
			id := submit(t, s, `[ "$SLURM_NNODES" = `+fmt.Sprint(nodes)+" ] && srun true && sleep 2", "-n16", "-N4", "--time=1")
			w.Expect(id, Ask{CPUs: 16, MinNodes: nodes, MaxNodes: nodes})
			_, err := s.WaitFor(t.Context(), id, 30*time.Second, "COMPLETED")
			require.NoError(t, err)
			requireByAuction(t, s, id)
			_, err = w.Look(t.Context())
			require.NoError(t, err)
		})
	}
}
