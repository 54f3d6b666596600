// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
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

// older are the parameters of a policy that libaucsched-older.so has.
func older(t *testing.T, policy string) string {
	return "auc_delay_ms=200,auc_policy=" + policy + ",auc_library=" + filepath.Join(pluginDir(t), "libaucsched-older.so")
}

// Policies other than the default run a queue of all kinds to its end. What the model of ipsched
// does not know, consecutive nodes, Slurm starts.
func TestPolicies(t *testing.T) {
	beside(t)
	for _, c := range []struct{ policy, classes string }{{"ipsched", "I"}, {"auction1", "ABC"}} {
		t.Run(c.policy, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: Uniform(16, 8, 2), SchedulerParameters: older(t, c.policy)})
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
				SchedulerParameters: older(t, "ipsched") + ",auc_node_limits=" + limits})
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
