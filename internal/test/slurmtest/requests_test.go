// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A requestKind is something that users ask for. left is the word with which it is left to Slurm;
// "": the auction starts it.
type requestKind struct {
	args string
	left string
	ask  Ask
}

// requestKinds are what the users of a site ask for, on [Site]: two threads a core, GPUs of two
// types, memory by CPU.
var requestKinds = []requestKind{
	{"-n5", "", Ask{MinCPUs: 5}},
	{"-n2 --array=1-3", "", Ask{CPUs: 2}},
	{"-N1 -c8", "", Ask{CPUs: 8, MaxNodes: 1}},
	{"-N1-1 -c8", "", Ask{CPUs: 8, MaxNodes: 1}},
	{"-N2 --ntasks-per-node=16", "", Ask{CPUs: 32, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 16}},
	{"-N1-2 -n8", "", Ask{MinCPUs: 8, MaxNodes: 2}}, // stock gives 10 at times,
	{"-n2 --mem=4G", "", Ask{CPUs: 2, MemoryMB: 4096}},
	{"-n2 --mem-per-cpu=2G", "", Ask{CPUs: 2, MaxNodes: 1, MemoryMB: 4096}},
	{"-N1 --exclusive", "", Ask{CPUs: 32, MaxNodes: 1}},
	{"-p gpu --gres=gpu:2 -N1 -c8", "", Ask{CPUs: 8, MaxNodes: 1, GPUs: 2}},
	{"-p gpu --gres=gpu:a100:1 -n2", "", Ask{CPUs: 2, GPUs: 1}},
	{"-p gpu --gpus-per-node=a100:2 -N1 -n2", "", Ask{CPUs: 2, GPUs: 2}},
	{"-p gpu --gres=gpu:1-2 -N1 -n2", "", Ask{CPUs: 2}.GPURange(1, 2)},
	{"-n2 -C skylake", "", Ask{CPUs: 2}},
	{"-n2 -x n0001", "", Ask{CPUs: 2, Without: []string{"n0001"}}},
	{"-n2 -L matlab:1", "", Ask{CPUs: 2}},
	{"-n2 -d singleton -J single", "", Ask{CPUs: 2}},
	{"-n2 -b now+1", "", Ask{CPUs: 2}},
	{"-n2 -A open", "", Ask{CPUs: 2}},
	{"-n8 -m block:block", "", Ask{CPUs: 8}},
	{"-p gpu -n1 --gres=gpu:1 --gpu-bind=closest", "", Ask{MinCPUs: 1, GPUs: 1}},
	{"-n2 --cpu-freq=high", "", Ask{CPUs: 2}},
	{"-n2 --oversubscribe", "", Ask{CPUs: 2}},
	{"-n2 --signal=B:TERM@10", "", Ask{CPUs: 2}},
	{"-n2 --nice=5", "", Ask{CPUs: 2}},
	{"-n2 --requeue", "", Ask{CPUs: 2}},
	{"-c8", "", Ask{CPUs: 8, MaxNodes: 1}},
	{"-n1 -c8", "", Ask{CPUs: 8, MaxNodes: 1}},
	{"-p gpu --gres=gpu:1 -c8", "", Ask{CPUs: 8, MaxNodes: 1, GPUs: 1}},
	{"-n16 -c2", "", Ask{CPUs: 32}},
	{"-n8 -c4", "", Ask{CPUs: 32}},
	{"-N4 -c4", "", Ask{CPUs: 16, MinNodes: 4, MaxNodes: 4}},
	{"-N2 -n6 -c4", "", Ask{CPUs: 24, MinNodes: 2, MaxNodes: 2}},
	{"-p gpu --gpus=2", "", Ask{MinCPUs: 1, GPUs: 2}},
	{"-p gpu -n2 --gpus=2", "", Ask{MinCPUs: 2, GPUs: 2}},
	{"-p gpu -n2 --gpus-per-task=1", "", Ask{MinCPUs: 2, GPUs: 2}},
	{"-p gpu -n1 --gpus=2 --cpus-per-gpu=4", "", Ask{CPUs: 8, GPUs: 2}},
	{"-p gpu -n1 --gres=gpu:1 --mem-per-gpu=4G", "", Ask{MinCPUs: 1, GPUs: 1, MemoryMB: 4096}},
	{"-p gpu --gpus=2 --ntasks-per-gpu=2", "", Ask{CPUs: 4, GPUs: 2}},
	{"-p gpu -n1 --gres=gpu:1 --gres-flags=enforce-binding", "", Ask{MinCPUs: 1, GPUs: 1}},
	{"-p gpu -n2 --gres=nic:2", "", Ask{CPUs: 2, MaxNodes: 1, Within: []string{"n0011", "n0012"}}},
	{"-p gpu -N1 -n2 --gres=gpu:a100:1,gpu:v100:1", "", Ask{CPUs: 2, GPUs: 2, Within: []string{"n0011", "n0012"}}},
	{"-N1 -n2 --mem=0", "", Ask{CPUs: 2, MaxNodes: 1, MemoryMB: 60000}},
	{"-n2 --tmp=100", "", Ask{CPUs: 2}},
	{"-n1 --mincpus=8", "", Ask{MinCPUs: 1, MaxNodes: 1}},
	{"-n2 -w n0003", "", Ask{CPUs: 2, Including: []string{"n0003"}}},
	{"-N2 -n4 --switches=1", "", Ask{CPUs: 4, MinNodes: 2, MaxNodes: 2}},
	{"-n2 -C [skylake|ib]", "", Ask{CPUs: 2}},
	{"-n2 -p debug,cpu", "", Ask{CPUs: 2}},
	{"-n2 --time-min=1", "", Ask{CPUs: 2}},
	{"-N1-2", "", Ask{MinCPUs: 1, MaxNodes: 2}},
	{"-n4 --hint=nomultithread", "", Ask{CPUs: 8}},
	{"-n4 --threads-per-core=1", "", Ask{CPUs: 8}},
	{"-n4 --ntasks-per-core=1", "", Ask{MinCPUs: 4}},
	{"-n4 --ntasks-per-socket=2", "", Ask{MinCPUs: 4}},
	{"-n2 --exclusive=user", "", Ask{CPUs: 2}},
	{"-n1 --deadline=now+1hours", "", Ask{MinCPUs: 1}},
	{"-n1 : -n2", "hetjob", Ask{}},
}

// in is the command line in a mode: stock Slurm knows no ranges of GPUs.
func (k requestKind) in(m mode) string {
	if m.name == "stock" {
		return strings.ReplaceAll(k.args, "gpu:1-2", "gpu:1")
	}
	return k.args
}

// requireKinds checks who started each, and that no start failed.
func requireKinds(t *testing.T, c *Cluster, kinds []requestKind, ids []uint32) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	auctioned := 0
	for i, k := range kinds {
		r := routes[ids[i]]
		if r.Started > 0 {
			auctioned++
		}
		if k.left == "" {
			assert.NotZero(t, r.Started, "%s: starts by the auction; left to Slurm: %q", k.args, r.Left)
			assert.Empty(t, r.Left, k.args)
		} else {
			assert.Equal(t, k.left, r.Left, k.args)
		}
	}
	t.Logf("of %d kinds of requests the auction started %d", len(kinds), auctioned)
	requireNoMisses(t, c)
}

// What users ask for the auction decides, as they ask for it.
func TestRequestKinds(t *testing.T) {
	beside(t)
	mostly(t, []mode{siteStock, siteAuction}, func(t *testing.T, m mode) {
		cfg := Site()
		cfg.PrologSlurmctld = "" // which has tests of its own
		for i := range cfg.Groups {
			cfg.Groups[i].TmpMB = 1000
		}
		if m.name == "auction" {
			cfg.SchedulerParameters = "auc_lab=yes,auc_at_once=no,auc_interval=1"
		}
		c := cluster(t, m, cfg)
		w := watch(t, c)
		ids := make([]uint32, len(requestKinds))
		for i, k := range requestKinds {
			user := as([]string{Alice, Bob, Carol}[i%3], "--time=2", "-o", "/dev/null")
			ids[i] = submit(t, c, "sleep 3", append(user, strings.Fields(k.in(m))...)...)
			w.Expect(ids[i], k.ask)
			if i%15 == 14 { // those that find no place may be Slurm's: there is to be one
				require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
			}
		}
		// Backfill alone starts heterogeneous jobs, and looks twice a minute: who
		// does is known by then.
		het := ids[slices.IndexFunc(requestKinds, func(k requestKind) bool { return k.left == "hetjob" })]
		require.NoError(t, c.poll(t.Context(), 60*time.Second, "all others to end", func() (bool, error) {
			out, err := c.Squeue(t.Context(), "%i")
			return !slices.ContainsFunc(strings.Fields(out), func(id string) bool {
				return !strings.HasPrefix(id, fmt.Sprint(het, "+"))
			}), err
		}))
		require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(het)))
		require.NoError(t, c.WaitEmpty(t.Context(), patience))
		single := slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool {
			i := slices.Index(ids, id)
			return strings.Contains(requestKinds[i].args, "--array") || requestKinds[i].left == "hetjob"
		})
		require.NoError(t, c.RanOnce(single))
		jobs, err := c.Jobs(t.Context())
		require.NoError(t, err)
		for i, id := range ids {
			j := jobs[slices.IndexFunc(jobs, func(j Job) bool { return j.ID == id })]
			t.Logf("%s | %d nodes, %d CPUs: %s %s", requestKinds[i].args, j.NumNodes, j.NumCPUs, j.NodeList, j.Fields["TRES"])
		}
		if m.name == "auction" {
			requireKinds(t, c, requestKinds, ids)
		}
	})
}

// crowd submits each kind that the auction decides so many times, for more than there is room for
// at once, and returns how many jobs there are and how many of them the auction started.
func crowd(t *testing.T, m mode, times int) (jobs, auctioned int) {
	t.Helper()
	cfg := Site()
	cfg.PrologSlurmctld = ""
	for i := range cfg.Groups {
		cfg.Groups[i].TmpMB = 1000
	}
	c := cluster(t, m, cfg)
	w := watch(t, c)
	var ids []uint32
	for i := range times {
		for k, kind := range requestKinds {
			if kind.left != "" || strings.Contains(kind.args, "--array") || strings.Contains(kind.args, "singleton") {
				continue
			}
			user := as([]string{Alice, Bob, Carol}[(i+k)%3], "--time=2", "-o", "/dev/null")
			id := submit(t, c, "sleep 3", append(user, strings.Fields(kind.in(m))...)...)
			w.Expect(id, kind.ask)
			ids = append(ids, id)
		}
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 180*time.Second))
	require.NoError(t, c.RanOnce(ids))
	t.Logf("%s: mean wait %v", m.name, waits(t, c, ids))
	routes, err := c.Routes()
	require.NoError(t, err)
	for _, id := range ids {
		auctioned += routes[id].Started
	}
	requireNoMisses(t, c)
	return len(ids), auctioned
}

// On a full machine, too, the auction starts what it decides, and nearly all that there is.
func TestRequestKindsCrowded(t *testing.T) {
	beside(t)
	long(t)
	crowd(t, siteStock, 5)
	jobs, auctioned := crowd(t, siteAuction, 5)
	t.Logf("of %d jobs the auction started %d", jobs, auctioned)
	require.GreaterOrEqual(t, 100*auctioned, 95*jobs)
}

// ruledPartitions are lines of slurm.conf that production sites have, one a partition, on nodes of
// two sockets of eight cores, of two threads each, and four GPUs.
var ruledPartitions = []Partition{
	{Name: "p", Nodes: "n[0001-0002]", Default: true},
	{Name: "defaults", Nodes: "n[0003-0004]", Options: "DefCpuPerGPU=4 DefMemPerGPU=8000"},
	{Name: "keep", Nodes: "n[0005-0006]", Options: "MaxCPUsPerNode=16"},
	{Name: "lln", Nodes: "n[0007-0008]", Options: "LLN=YES"},
	{Name: "own", Nodes: "n[0009-0010]", Options: "ExclusiveUser=YES"},
}

// Lines of slurm.conf that many sites have do not turn the auction off.
func TestPartitionRules(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups:               []Group{{Nodes: 10, Sockets: 2, Cores: 8, Threads: 2, GPUs: 4, MemoryMB: 64000}},
			Partitions:           ruledPartitions,
			SlurmUser:            "slurm", // so that all users can write to the cluster's directory
			SelectTypeParameters: "CR_Core_Memory",
			ExtraLines:           []string{"DefMemPerCPU=1900"},
		})
		w := watch(t, c)
		ids := []uint32{
			submit(t, c, "sleep 8", "-p", "lln", "-n4", "--time=1"),
		}
		first := running(t, c, patience, ids...)[0]
		ids = append(ids, submit(t, c, "sleep 5", "-p", "lln", "-n4", "--time=1"))
		require.NotEqual(t, first.NodeList, running(t, c, patience, ids...)[1].NodeList, "the least loaded node comes first")
		for i := range 4 {
			user := []string{Alice, Bob}[i%2]
			for _, k := range []requestKind{
				{"-p defaults --gres=gpu:1", "", Ask{CPUs: 4, MaxNodes: 1, GPUs: 1, MemoryMB: 8000}},
				{"-p defaults --gpus=2", "", Ask{CPUs: 8, GPUs: 2}},
				{"-p keep -c8", "", Ask{CPUs: 8, MaxNodes: 1}},
				{"-p keep -n12 --gres=gpu:1 -N1", "", Ask{CPUs: 12, MaxNodes: 1, GPUs: 1}},
				{"-p lln -n4", "", Ask{CPUs: 4}},
				{"-p own -n2", "", Ask{CPUs: 2}},
				{"-p p -n2 --exclusive=user", "", Ask{CPUs: 2}},
			} {
				id := submit(t, c, "sleep 2", as(user, append(strings.Fields(k.args), "--time=1", "-o", "/dev/null")...)...)
				w.Expect(id, k.ask)
				ids = append(ids, id)
			}
		}
		limited := watchCompany(t, c)
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(ids))
		limited()
		if m.name == "auction" {
			requireAuctioned(t, c, ids)
		}
	})
}

// watchCompany looks, until it is ended, that no two users share a node that is one's own, and that
// MaxCPUsPerNode holds.
func watchCompany(t *testing.T, c *Cluster) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(300 * time.Millisecond):
			}
			jobs, err := c.Jobs(t.Context())
			if err != nil {
				continue
			}
			owners, held := map[string]string{}, map[string]int{}
			for _, j := range jobs {
				if j.State != "RUNNING" {
					continue
				}
				for _, s := range j.Nodes {
					if j.Partition == "own" || j.Partition == "p" {
						if o := owners[s.Node]; o != "" && o != j.Fields["UserId"] {
							t.Errorf("%s is shared by %s and %s", s.Node, o, j.Fields["UserId"])
						}
						owners[s.Node] = j.Fields["UserId"]
					}
					if held[s.Node] += len(s.CPUs); j.Partition == "keep" && held[s.Node] > 16 {
						t.Errorf("%s: %d CPUs are held in a partition of MaxCPUsPerNode=16", s.Node, held[s.Node])
					}
				}
			}
		}
	}()
	return func() { close(stop); <-done }
}

// requireAuctioned checks that the auction started all of the jobs, as it had decided.
func requireAuctioned(t *testing.T, c *Cluster, ids []uint32) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	for _, id := range ids {
		assert.Equal(t, 1, routes[id].Started, "job %d: %+v", id, routes[id])
	}
	requireNoMisses(t, c)
}

// A job that others may preempt does not turn the auction off: who finds a place beside
// it is decided as ever.
func TestScavenger(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups:      Uniform(4, 8, 2),
			PreemptType: "preempt/partition_prio", PreemptMode: "REQUEUE",
			Partitions: []Partition{
				{Name: "p", Default: true, Options: "PriorityTier=10 PreemptMode=OFF"},
				{Name: "scavenge", Options: "PriorityTier=1 PreemptMode=REQUEUE"},
			},
		})
		w := watch(t, c)
		scavenger := submit(t, c, "sleep 60", "-n1", "-p", "scavenge", "--time=2", "--requeue")
		running(t, c, patience, scavenger)
		var ids []uint32
		together(t, c, func() {
			for range 20 {
				id := submit(t, c, "sleep 1", "-n5", "-N1", "--time=1")
				w.Expect(id, Ask{CPUs: 5, MaxNodes: 1})
				ids = append(ids, id)
			}
		})
		for _, id := range ids {
			_, err := c.WaitFor(t.Context(), id, 40*time.Second, "COMPLETED")
			require.NoError(t, err)
		}
		j, err := c.ShowJob(t.Context(), scavenger)
		require.NoError(t, err)
		if m.name != "auction" {
			return
		}
		routes, err := c.Routes()
		require.NoError(t, err)
		started := 0
		for _, id := range ids {
			started += routes[id].Started
		}
		t.Logf("the auction started %d of %d; the scavenger is %s", started, len(ids), j.State)
		require.Equal(t, len(ids), started)
		// Who has no place without makes room for itself.
		wide := submit(t, c, "sleep 1", "-n32", "--time=1")
		_, err = c.WaitFor(t.Context(), wide, 30*time.Second, "COMPLETED")
		require.NoError(t, err)
		routes, err = c.Routes()
		require.NoError(t, err)
		require.Equal(t, 1, routes[wide].Started)
		require.Empty(t, routes[wide].Left)
		require.NoError(t, c.RanOnce(append(ids, wide)))
	})
}
