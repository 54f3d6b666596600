// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sharedGPUs is a machine of two GPUs a node, each of which has four shares.
func sharedGPUs(nodes int) Config {
	return Config{Groups: []Group{{Nodes: nodes, Cores: 16, GPUs: 2, Gres: []Gres{{Name: "shard", Count: 8}}}}}
}

// shardCrowd are jobs for shares of GPUs, whole GPUs and cores, as a seed says.
func shardCrowd(t *testing.T, c *Cluster, w *Watcher, seed uint64, jobs int) (ids []uint32) {
	rng := rand.New(rand.NewPCG(seed, 5))
	for range jobs {
		args, ask := []string{"-N1", "-n1", "--time=1"}, Ask{CPUs: 1, MaxNodes: 1}
		switch kind := rng.IntN(8); {
		case kind < 4:
			ask.Shards = 1 + rng.IntN(4)
			args = append(args, fmt.Sprint("--gres=shard:", ask.Shards))
		case kind < 6:
			gpus := 1 + rng.IntN(2)
			args, ask = append(args, fmt.Sprint("--gres=gpu:", gpus)), ask.GPURange(gpus, gpus)
		default:
			ask.CPUs = 2 + rng.IntN(8)
			args = append(args, fmt.Sprint("-n", ask.CPUs))
		}
		id := submit(t, c, fmt.Sprint("sleep ", 2+rng.IntN(5)), args...)
		w.Expect(id, ask)
		ids = append(ids, id)
	}
	return ids
}

// A crowd of jobs for shares of GPUs, whole GPUs and cores: the auction starts all of them, none
// fails, and no GPU is shared and whole at a time. Stock Slurm 22.05 forgets that a GPU is shared
// when one of its jobs ends, and gives it away: with it that is counted alone.
func TestSharesOfGPUs(t *testing.T) {
	beside(t)
	for _, at := range []string{"", "auc_at_once=yes"} {
		wait := map[string]time.Duration{}
		for _, m := range []mode{stock, auction} {
			if m.name == "stock" && at != "" {
				continue
			}
			t.Run(m.name+at, func(t *testing.T) {
				if m.name == "stock" || at != "" {
					slow(t)
				}
				cfg := sharedGPUs(3)
				cfg.SchedulerParameters = at
				c := cluster(t, m, cfg)
				w := c.Watch(t.Context())
				ids := shardCrowd(t, c, w, uint64(len(at)), 60)
				begin := time.Now()
				require.NoError(t, c.WaitEmpty(t.Context(), 150*time.Second))
				require.NoError(t, c.RanOnce(ids))
				_, err := w.Look(t.Context())
				require.NoError(t, err)
				report := w.Stop()
				wait[m.name] = waits(t, c, ids)
				t.Logf("%s: mean wait %v, empty after %v, %d looks, %d faults", m.name, wait[m.name],
					time.Since(begin).Round(time.Second), report.Looks, len(report.Violations)+report.More)
				if m.name == "stock" {
					return
				}
				require.NoError(t, report.Err())
				requireNoMisses(t, c)
				routes, err := c.Routes()
				require.NoError(t, err)
				for _, id := range ids {
					require.Empty(t, routes[id].Left, "job %d", id)
					if at == "" {
						require.Equal(t, 1, routes[id].Started, "job %d", id)
					}
				}
			})
		}
		if wait["stock"] > 0 && wait["auction"] > 0 {
			require.Less(t, wait["auction"], wait["stock"]*3/2+3*time.Second)
		}
	}
}

// shareKinds are requests for shares of GPUs. left is as in leftRows.
var shareKinds = []leftRow{
	{"-n1 --gres=shard:1", "", Ask{CPUs: 1, Shards: 1}},
	{"-N1 -n4 --gres=shard:2", "", Ask{CPUs: 4, MaxNodes: 1, Shards: 2}},
	{"-N1 --ntasks-per-node=3 --gres=shard:3", "", Ask{CPUs: 3, Shards: 3}},
	{"-N1 -n2 --array=1-3 --gres=shard:1", "", Ask{CPUs: 2, Shards: 1}},
	{"-n1 -c4 --gres=shard:4 --mem=100", "", Ask{CPUs: 4, Shards: 4}},
	{"-n4 --gres=shard:1", either, Ask{CPUs: 4, Shards: 1}},
	{"-N2 -n2 --gres=shard:1", "gres", Ask{CPUs: 2, MinNodes: 2, Shards: 1}},
	{"-N1-2 -n2 --gres=shard:1", "gres", Ask{CPUs: 2, Shards: 1}},
}

// Which requests for shares the auction decides, and which are left to Slurm: each gets what it
// asks for.
func TestKindsOfShares(t *testing.T) {
	beside(t)
	c := cluster(t, auction, sharedGPUs(3))
	w := watch(t, c)
	ids := make([]uint32, len(shareKinds))
	together(t, c, func() {
		for i, k := range shareKinds {
			ids[i] = submit(t, c, "sleep 2", append(strings.Fields(k.args), "--time=1")...)
			w.Expect(ids[i], k.ask)
		}
	})
	require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
	routes, err := c.Routes()
	require.NoError(t, err)
	for i, k := range shareKinds {
		switch route := routes[ids[i]]; {
		case k.left == "gres":
			require.Zero(t, route.Started, k.args)
			if route.Left != "" { // backfill may start it before a cycle has seen it
				require.Equal(t, "gres", route.Left, k.args)
			}
		case k.left == "" && !strings.Contains(k.args, "--array"):
			require.Equal(t, 1, route.Started, k.args)
			require.Empty(t, route.Left, k.args)
		default:
			require.Empty(t, route.Left, k.args)
		}
	}
}

// When one of two jobs on a GPU ends, the GPU is still not free as a whole, to nobody; and a job
// for all of it starts when the other one has ended.
func TestAGPUIsSharedToTheLast(t *testing.T) {
	beside(t)
	for _, at := range []string{"auc_at_once=no", "auc_at_once=yes"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			cfg := sharedGPUs(1)
			cfg.Groups[0].GPUs, cfg.Groups[0].Gres[0].Count, cfg.SchedulerParameters = 1, 4, at
			c := cluster(t, auction, cfg)
			w := watch(t, c)
			pair := []uint32{submit(t, c, "sleep 60", "-N1", "-n1", "--gres=shard:2", "--time=2"),
				submit(t, c, "sleep 60", "-N1", "-n1", "--gres=shard:1", "--time=2")}
			running(t, c, patience, pair...)
			require.NoError(t, c.Scancel(t.Context(), numbers(pair[:1])...))
			_, err := c.WaitFor(t.Context(), pair[0], patience, "CANCELLED")
			require.NoError(t, err)
			time.Sleep(2 * time.Second)
			whole := submit(t, c, "sleep 60", "-N1", "-n1", "--gres=gpu:1", "--time=2")
			time.Sleep(4 * time.Second)
			j, err := c.ShowJob(t.Context(), whole)
			require.NoError(t, err)
			require.Equal(t, "PENDING", j.State)
			running(t, c, patience, submit(t, c, "sleep 60", "-N1", "-n1", "--gres=shard:3", "--time=1", "--nice=-100"))
			_, err = w.Look(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Scancel(t.Context(), "--state=RUNNING", "--user=root"))
			running(t, c, patience, whole)
			requireNoMisses(t, c)
		})
	}
}
