// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// since skips a test of what an older Slurm lacks.
func since(t *testing.T, version, what string) {
	t.Helper()
	here, err := Version()
	require.NoError(t, err)
	if here < version {
		t.Skipf("%s came with Slurm %s; this is %s", what, version, here)
	}
}

// decideAll submits jobs twice over, all of which the auction sees at once, and requires that they
// run, that no start is refused, and that each is left to Slurm with the word, or started by the
// auction where there is none; either as in leftRow.
func decideAll(t *testing.T, c *Cluster, left string, jobs ...string) {
	t.Helper()
	w := watch(t, c)
	var ids []uint32
	together(t, c, func() {
		for i := range 2 * len(jobs) {
			ids = append(ids, submit(t, c, "sleep 2", append(strings.Fields(jobs[i%len(jobs)]), "--time=1")...))
			w.Expect(ids[i], Ask{})
		}
	})
	require.NoError(t, c.WaitEmpty(t.Context(), time.Minute))
	require.NoError(t, c.RanOnce(ids))
	routes, err := c.Routes()
	require.NoError(t, err)
	for i, id := range ids {
		job, route := jobs[i%len(jobs)], routes[id]
		switch left {
		case "", either:
			require.Empty(t, route.Left, job)
			require.True(t, left == either || route.Started == 1, "%s: %+v", job, route)
		default:
			require.Zero(t, route.Started, "%s: %+v", job, route)
			require.Contains(t, []string{"", left}, route.Left, job) // Slurm may be first
		}
	}
	require.Empty(t, logLines(t, c, "could not be started as decided|left to Slurm: failed"))
}

// A limit on the CPUs of a socket is one of the node's to the auction, and no start is refused.
func TestMaxCPUsPerSocket(t *testing.T) {
	beside(t)
	since(t, "23.02", "MaxCPUsPerSocket")
	c := cluster(t, auction, Config{Groups: []Group{{Nodes: 4, Sockets: 2, Cores: 4}},
		Partitions: []Partition{{Name: "p", Default: true, Options: "MaxCPUsPerSocket=2"}}})
	decideAll(t, c, either, "-n1", "-n4", "-n3", "-N1 -n4", "-N1 -n3", "-N2 -n6", "-n2", "-N1 -c4", "-n2", "-n2", "-n1")
}

// Where nodes keep cores for those who have their GPUs, all jobs are Slurm's.
func TestRestrictedCoresPerGPU(t *testing.T) {
	beside(t)
	since(t, "24.05", "RestrictedCoresPerGPU")
	c := cluster(t, auction, Config{Groups: []Group{
		{Nodes: 4, Sockets: 2, Cores: 4, GPUs: 2, GPUsNearCores: true, Options: "RestrictedCoresPerGPU=2"}}})
	decideAll(t, c, "layout", "-n1", "-n4", "-N1 -n4", "-n1 --gres=gpu:1", "-N1 -n4 --gres=gpu:1", "-N1 -n6 --gres=gpu:1",
		"-n8 -N1 --gres=gpu:2", "-n2", "-n3 --gres=gpu:2", "-n4 --gpus=2", "-n12")
}

// GPUs that are close to cores of their own, whole and in shares.
func TestSharesNearCores(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: []Group{
		{Nodes: 4, Sockets: 2, Cores: 4, GPUs: 2, GPUsNearCores: true, Gres: []Gres{{Name: "shard", Count: 8}}}}})
	decideAll(t, c, "", "-n1", "-n4", "-N1 -n4", "-n1 --gres=shard:2", "-n1 --gres=gpu:1", "-N1 -n4 --gres=gpu:1",
		"-N1 -n6 --gres=gpu:1", "-n8 -N1 --gres=gpu:2", "-N1 -n3 --gres=shard:4", "-n1 --gres=shard:1", "-n1 --gres=shard:3")
}

// Where a job may have shares of several GPUs, who asks for shares is Slurm's.
func TestSharesOfSeveralGPUs(t *testing.T) {
	beside(t)
	since(t, "23.11", "MULTIPLE_SHARING_GRES_PJ")
	c := cluster(t, auction, Config{Groups: []Group{{Nodes: 3, Sockets: 2, Cores: 4, GPUs: 2, Gres: []Gres{{Name: "shard", Count: 8}}}},
		SelectTypeParameters: "CR_Core,MULTIPLE_SHARING_GRES_PJ"})
	decideAll(t, c, "gres", "-n1 --gres=shard:2", "-n1 --gres=shard:6", "-n2 --tres-per-task=gres/shard:2", "-n1 --gres=shard:7")
}

// Jobs of a partition that has a topology of its own are Slurm's.
func TestTopologyOfAPartition(t *testing.T) {
	beside(t)
	since(t, "25.05", "topology.yaml")
	c := cluster(t, auction, Config{Groups: Uniform(8, 4, 0), Topology: []string{"---",
		"- {topology: own, cluster_default: false,",
		"   block: {block_sizes: [4], blocks: [{block: b1, nodes: 'n[0001-0004]'}, {block: b2, nodes: 'n[0005-0008]'}]}}",
		"- {topology: usual, cluster_default: true, tree: {switches: [{switch: s1, nodes: 'n[0001-0008]'}]}}",
	}, Partitions: []Partition{{Name: "p", Default: true, Options: "Topology=own"}, {Name: "q", Options: "Topology=usual"}}})
	decideAll(t, c, "topology", "-n1", "-N2 -n4", "-N5 -n5")
	decideAll(t, c, "", "-p q -n1", "-p q -N2 -n4", "-p q -N5 -n5")
}

// On a ring of nodes Slurm gives neighbours, of which the auction knows nothing.
func TestTopologyRing(t *testing.T) {
	beside(t)
	since(t, "26.05", "topology/ring")
	c := cluster(t, auction, Config{Groups: Uniform(8, 4, 0), Topology: []string{"---",
		"- {topology: ring, cluster_default: true, ring: {rings: [{ring: r1, nodes: 'n[0001-0008]'}]}}",
	}})
	decideAll(t, c, "topology", "-n1", "-N2 -n4", "-N3 -n3")
}

// Where segments are to be, near each other or not, is Slurm's matter.
func TestSegmentsArranged(t *testing.T) {
	beside(t)
	since(t, "25.11", "--spread-segments")
	c := cluster(t, auction, Config{Groups: Uniform(16, 4, 0), Topology: []string{"BlockName=b1 Nodes=n[0001-0004]",
		"BlockName=b2 Nodes=n[0005-0008]", "BlockName=b3 Nodes=n[0009-0012]", "BlockName=b4 Nodes=n[0013-0016]", "BlockSizes=4"}})
	decideAll(t, c, "segment", "-N4 --segment=2 --spread-segments", "-N4 --segment=2 --consolidate-segments")
	decideAll(t, c, "", "-N4 --segment=2", "-N2")
}

// Requests by task, as newer clients make them.
func TestTresPerTask(t *testing.T) {
	beside(t)
	since(t, "23.11", "--tres-per-task")
	c := cluster(t, auction, Config{Groups: []Group{{Nodes: 3, Sockets: 2, Cores: 4, GPUs: 2, GPUType: "a100"}}})
	decideAll(t, c, "", "-n2 --tres-per-task=cpu:2", "-n2 --tres-per-task=gres/gpu:1", "-n1 --gres=gpu:a100:1 --tres-per-task=cpu:3")
}

// What nodes have beside all else, as users ask for it, narrows the nodes of a job.
func TestExtraConstraints(t *testing.T) {
	beside(t)
	since(t, "23.11", "extra_constraints")
	c := cluster(t, auction, Config{Groups: Uniform(4, 4, 0), SchedulerParameters: "extra_constraints"})
	_, err := c.Scontrol(t.Context(), "update", "NodeName=n[0003-0004]", `Extra={"disk":1}`)
	require.NoError(t, err)
	decideAll(t, c, "", "-n1 --extra=disk=1", "-N2 -n2 --extra=disk=1", "-n4 --extra=disk>0", "-n1")
}

// A job whose licences others have, which it may take from them, is Slurm's.
func TestReclaimedLicences(t *testing.T) {
	beside(t)
	since(t, "24.11", "reclaim_licenses")
	w := preemptWays[0]
	cfg := preemptMachine(w, "PreemptParameters=reclaim_licenses")
	cfg.Licenses = "matlab:1"
	c := cluster(t, auction, cfg)
	low := submit(t, c, "sleep 60", append(w.low, "-n1", "-L", "matlab:1", "--time=2")...)
	running(t, c, patience, low)
	high := submit(t, c, "sleep 2", "-n1", "-L", "matlab:1", "--time=1")
	_, err := c.WaitFor(t.Context(), high, 30*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.Equal(t, []uint32{low}, preempted(t, c).ids)
}

// Each call of Slurm's function that saves leaves a probe behind: few saves may call it.
func TestSavesLeaveFewProbes(t *testing.T) {
	beside(t)
	since(t, "26.05", "probes of slurmctld")
	c := cluster(t, auction, Config{Groups: Uniform(4, 4, 0)})
	for range 12 {
		id := submit(t, c, "true", "-n1", "--time=1")
		_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
	}
	require.NoError(t, syscall.Kill(c.ControllerPid(), syscall.SIGPROF))
	require.NoError(t, c.poll(t.Context(), patience, "the probes in the log", func() (bool, error) {
		return len(logLines(t, c, "StateSave Status")) > 0, nil
	}))
	time.Sleep(200 * time.Millisecond)
	require.LessOrEqual(t, len(logLines(t, c, "StateSave Status")), 3, "the first thread, ours, and one more")
	require.Empty(t, logLines(t, c, "could not be saved|Bad job state"))
}

// A job of several reservations, or QOS, which Slurm tries one after the other as it comes.
func TestOneAfterTheOther(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 4, 0), Accounting: &Accounting{
		QOS: []QOS{{"high", "Priority=10"}, {"low", "Priority=1"}}, Accounts: []Account{{Name: "a", Users: []User{{Name: "root"}}}}}})
	for _, name := range []string{"one", "two"} {
		_, err := c.Scontrol(t.Context(), "create", "ReservationName="+name, "StartTime=now", "Duration=60", "Users=root", "NodeCnt=1")
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := c.Srun(ctx, "--reservation=one,two", "-n1", "--time=1", "true")
	require.NoError(t, err)
	if version, err := Version(); err == nil && version >= "24.11" {
		_, err := c.Srun(ctx, "--qos=low,high", "-n1", "--time=1", "true")
		require.NoError(t, err)
	}
	require.NotZero(t, c.ControllerPid(), "slurmctld")
}
