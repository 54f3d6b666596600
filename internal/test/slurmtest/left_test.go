// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A leftRow is a submission and who should start it. Not here are limits of QOS and
// associations, which have tests of their own on [Site], and burst buffers, which can't be
// had (they need a burst buffer plug-in and its hardware).
type leftRow struct {
	args string
	// the words, "|" between them, one of which is the reason; "": the auction starts it
	left string
	ask  Ask
}

// either stands for a request that the auction sees roughly ("~" in docs/reference/slurm-jobs.md): it
// goes to Slurm too when the auction finds no place for it, and without a word.
const either = "either"

// The rows are those of the table in docs/reference/slurm-jobs.md. Not here either are --reboot (it
// would reboot this machine), federations, and the expansion of running jobs.
var leftRows = []leftRow{
	{"-n1", "", Ask{CPUs: 1}},
	{"-n1 -L lic:1", "", Ask{CPUs: 1}},
	{"-n1 --exclude=n0001", "", Ask{CPUs: 1, Without: []string{"n0001"}}},
	{"-n1 -C fast", "", Ask{CPUs: 1, Within: fastNodes}},
	{"-n2 -N2 -C slow&ib", "", Ask{CPUs: 2, Within: slowNodes}},
	{"-n1 -s", "", Ask{CPUs: 1}},
	{"-n6 -N2-4", "", Ask{CPUs: 6, MinNodes: 2, MaxNodes: 4}},
	{"-N2 --ntasks-per-node=2 -c2", "", Ask{CPUs: 8, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 4}},
	{"-n1 -N1 -c3", "", Ask{CPUs: 3, MaxNodes: 1}},
	{"-n4 --ntasks-per-node=2", either, Ask{CPUs: 4, CPUsPerNode: 2}},
	{"-n4 -N2 -c2", either, Ask{MinCPUs: 7, MinNodes: 2, MaxNodes: 2}}, // stock 22.05 gives 7, or 8
	{"-n4 -c2", "", Ask{CPUs: 8}},
	{"-N2-4", "", Ask{MinNodes: 2, MaxNodes: 4}},
	{"-n1 -C fast|slow", "", Ask{CPUs: 1}},
	{"-n1 --gpus-per-node=1", "", Ask{CPUs: 1}.GPURange(1, 1)},
	{"-n1 --mem=100", "", Ask{CPUs: 1}},
	{"-n1 --mem=17000", either, Ask{CPUs: 1, Within: slowNodes}},
	{"-n1 --mem-per-cpu=100", either, Ask{CPUs: 1}},
	{"-n1 --gres=gpu:2 --gpu-bind=closest", "", Ask{CPUs: 1}.GPURange(2, 2)},
	{"-n1 --gres=gpu:a100:1", "", Ask{CPUs: 1, Within: slowNodes}.GPURange(1, 1)},
	{"-n1 --nodelist=n0002", "", Ask{CPUs: 1, Including: []string{"n0002"}}},
	{"-n2 -N2 --exclusive", "", Ask{MinNodes: 2, MaxNodes: 2, CPUsPerNode: 8}},
	{"-n1 --exclusive", either, Ask{MinNodes: 1, CPUsPerNode: 8}},
	{"-n1 --exclusive=user", either, Ask{CPUs: 1}},
	{"-n2 -N1-2 --exclusive", "exclusive", Ask{MinNodes: 1, CPUsPerNode: 8}},
	{"-n2 -N2 --switches=1", "", Ask{CPUs: 2, MinNodes: 2}},
	{"-n1 --cpus-per-gpu=2 --gpus=2", "", Ask{MinCPUs: 4, GPUs: 2}},
	{"-n1 --gpus=2", either, Ask{CPUs: 1, GPUs: 2}},
	{"-n2 --gpus-per-task=1", either, Ask{CPUs: 2, GPUs: 2}},
	{"-n1 --gres=gpu:1 --gres-flags=enforce-binding", either, Ask{MinCPUs: 1}.GPURange(1, 1)},
	{"-n1 --gres=gpu:1 --mem-per-gpu=100", "", Ask{CPUs: 1}.GPURange(1, 1)},
	{"-N2 -n2 -C [fast*1&slow*1]", "features", Ask{CPUs: 2, MinNodes: 2}},
	{"-n1 -C [fast|slow]", "", Ask{CPUs: 1}},
	{"-n1 --prefer=fast", "features", Ask{CPUs: 1}},
	{"-n1 -p p,q", "", Ask{CPUs: 1}},
	{"-n1 --time-min=1 --time=2", "", Ask{CPUs: 1}},
	{"-n1 --deadline=now+100 --time=1", "", Ask{CPUs: 1}},
	{"-n1 --tmp=100", "", Ask{CPUs: 1}},
	{"-n1 --mincpus=4", "", Ask{MinCPUs: 1}},
	{"-n1 --hint=nomultithread", "", Ask{CPUs: 1}},
	{"-n2 --ntasks-per-socket=1", either, Ask{MinCPUs: 2}},
	{"-n1 --sockets-per-node=2", "layout", Ask{MinCPUs: 1}},
	{"-n1 --ntasks-per-core=1", "", Ask{MinCPUs: 1}},
	{"-n1 -B1:2", "layout", Ask{MinCPUs: 1}},
	{"-n4 -N2-4 --use-min-nodes", "layout", Ask{CPUs: 4, MinNodes: 2, MaxNodes: 4}},
	// stock gives one GPU at times
	{"-n2 --gpus=2 --gpus-per-socket=1 --sockets-per-node=1", "layout|gres", Ask{MinCPUs: 2}},
	{"-n4 -N2 --spread-job", "layout", Ask{CPUs: 4, MinNodes: 2}},
	{"-n1 --core-spec=1", "layout|exclusive", Ask{MinCPUs: 1}},
	{"-n16 -N1 -O", "oversubscribe", Ask{MinNodes: 1, MaxNodes: 1}},
	{"-n1 -s -p q", "oversubscribe", Ask{CPUs: 1}},
	{"-n1 --reservation=res", "", Ask{CPUs: 1, Within: []string{"n0003"}}},
}

var (
	fastNodes = []string{"n0001", "n0002", "n0003", "n0004", "n0005", "n0006", "n0007", "n0008"}
	slowNodes = []string{"n0009", "n0010", "n0011", "n0012"}
)

func leftMachine() Config {
	return Config{
		Groups: []Group{
			{Nodes: 8, Sockets: 2, Cores: 4, GPUs: 2, TmpMB: 1000, Features: "fast"},
			{Nodes: 4, Sockets: 2, Cores: 4, GPUs: 2, GPUType: "a100", MemoryMB: 20000, Features: "slow,ib"},
		},
		Partitions: []Partition{{Name: "p", Default: true}, {Name: "q", Options: "OverSubscribe=YES:2"}},
		Licenses:   "lic:4",
		ExtraLines: []string{"AllowSpecResourcesUsage=yes"},
	}
}

// Whatever a job asks for it gets, by the auction or by Slurm's own selection.
func TestLeftToSlurm(t *testing.T) {
	slow(t)
	beside(t)
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, leftMachine())
		w := watch(t, c)
		_, err := c.Scontrol(t.Context(), "create", "reservation", "ReservationName=res", "StartTime=now", "Duration=60",
			"Users=root", "Nodes=n0003")
		require.NoError(t, err)
		// Nothing is free at first, so that every job waits and is looked at.
		block := []uint32{
			submit(t, c, "sleep 60", "-N11", "-n11", "--exclusive", "--exclude=n0003"),
			submit(t, c, "sleep 60", "-N1", "-n1", "--exclusive", "--reservation=res"),
		}
		running(t, c, patience, block...)
		rows := rowsFor(t)
		ids := make([]uint32, len(rows))
		for i, r := range rows {
			args := strings.Fields(r.args)
			if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--time=") }) {
				args = append(args, "--time=1")
			}
			ids[i] = submit(t, c, "sleep 1", args...)
			w.Expect(ids[i], r.ask)
		}
		het := submitHet(t, c)
		if m.name == "auction" {
			waitCycles(t, c, 2)
		}
		require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(block[0]), fmt.Sprint(block[1])))
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(ids))
		jobs, err := c.Jobs(t.Context())
		require.NoError(t, err)
		parts := 0
		for _, j := range jobs {
			if j.Fields["HetJobId"] == fmt.Sprint(het) {
				require.Equal(t, "COMPLETED", j.State)
				parts++
			}
		}
		require.Equal(t, 2, parts, "the heterogeneous job's parts")
		if m.name == "auction" {
			requireRoutes(t, c, rows, ids, het)
		}
	})
}

// submitHet submits a job of two parts.
func submitHet(t *testing.T, c *Cluster) uint32 {
	t.Helper()
	return submit(t, c, "sleep 1", "-n1", "--time=1", ":", "-n2", "-N2", "--gres=gpu:1")
}

// waitCycles waits until the auction has ended n more cycles, empty ones included.
func waitCycles(t *testing.T, c *Cluster, n int64) {
	t.Helper()
	s, err := c.Status()
	require.NoError(t, err)
	until := s.Cycles + s.Skipped + n
	require.NoError(t, c.poll(t.Context(), patience, "cycles of the auction", func() (bool, error) {
		s, err = c.Status()
		return s.Cycles+s.Skipped >= until, err
	}), "%+v", s)
}

// rowsFor leaves out what this version of stock Slurm does not start either.
func rowsFor(t *testing.T) []leftRow {
	t.Helper()
	version, err := Version()
	require.NoError(t, err)
	return slices.DeleteFunc(slices.Clone(leftRows), func(r leftRow) bool {
		return version >= "24.05" && strings.Contains(r.args, "[fast*1&slow*1]")
	})
}

func requireRoutes(t *testing.T, c *Cluster, rows []leftRow, ids []uint32, het uint32) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	for i, r := range rows {
		t.Run(r.args, func(t *testing.T) {
			route := routes[ids[i]]
			if r.left == "" || r.left == either {
				require.Empty(t, route.Left, "job %d was left to Slurm", ids[i])
			}
			switch r.left {
			case either:
				return
			case "":
				require.Equal(t, 1, route.Started, "job %d: starts by the auction", ids[i])
				return
			}
			require.Contains(t, strings.Split(r.left, "|"), route.Left, "job %d", ids[i])
			require.Zero(t, route.Started, "job %d: starts by the auction", ids[i])
		})
	}
	require.Equal(t, "hetjob", routes[het].Left)
	s, err := c.Status()
	require.NoError(t, err)
	require.NotEmpty(t, s.State)
}

// Nodes with several threads a core: no two jobs ever share a core.
func TestThreads(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{{Nodes: 4, Sockets: 2, Cores: 2, Threads: 2, GPUs: 2}}})
		w := watch(t, c)
		var ids []uint32
		together(t, c, func() {
			for i := range 12 {
				id := submit(t, c, "sleep 1", "-n", fmt.Sprint(1+i%5), "--time=1")
				w.Expect(id, Ask{MinCPUs: 1 + i%5})
				ids = append(ids, id)
			}
		})
		for range 15 {
			_, err := w.Look(t.Context())
			require.NoError(t, err)
			time.Sleep(200 * time.Millisecond)
		}
		require.NoError(t, c.WaitEmpty(t.Context(), 30*time.Second))
		require.NoError(t, c.RanOnce(ids))
	})
}

// Memory that is consumed is given once, and jobs get what they ask for.
func TestMemory(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{SelectTypeParameters: "CR_Core_Memory", Groups: []Group{{Nodes: 4, Cores: 8, GPUs: 2, MemoryMB: 8000}}})
		w := watch(t, c)
		rows := []leftRow{
			{"-n2 -N2 --mem=3000", "", Ask{CPUs: 2, MinNodes: 2, MemoryMB: 3000}},
			{"-n4 -N2 --mem=4000 --gres=gpu:1", "", Ask{CPUs: 4, MinNodes: 2, MemoryMB: 4000}.GPURange(1, 1)},
			{"-n4 --mem-per-cpu=900", either, Ask{CPUs: 4, MemoryMB: 900}},
			{"-n8 -N2 --mem-per-cpu=700", either, Ask{CPUs: 8, MinNodes: 2, MemoryMB: 700}},
			{"-n1", either, Ask{CPUs: 1, MemoryMB: 8000}}, // all of a node's
		}
		var ids []uint32
		together(t, c, func() {
			for range 4 {
				for _, r := range rows {
					id := submit(t, c, "sleep 1", append(strings.Fields(r.args), "--time=1")...)
					w.Expect(id, r.ask)
					ids = append(ids, id)
				}
			}
		})
		for range 15 {
			_, err := w.Look(t.Context())
			require.NoError(t, err)
			time.Sleep(200 * time.Millisecond)
		}
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(ids))
		if m.name != "auction" {
			return
		}
		routes, err := c.Routes()
		require.NoError(t, err)
		started := 0
		for i, id := range ids {
			if left := rows[i%len(rows)].left; left != either && routes[id].Left != "" {
				// Slurm may be quicker than a cycle
				require.Equal(t, left, routes[id].Left, "%s", rows[i%len(rows)].args)
			}
			started += routes[id].Started
		}
		require.Positive(t, started)
	})
}

// Jobs stay on their partition's nodes, and a higher tier comes first.
func TestPartitions(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups: Uniform(8, 8, 2),
			Partitions: []Partition{
				{Name: "p", Nodes: "n[0001-0004]", Default: true}, {Name: "q", Nodes: "n[0005-0008]"},
				{Name: "urgent", Nodes: "n[0001-0004]", Options: "PriorityTier=5"},
			},
		})
		w := watch(t, c)
		left := []string{"n0001", "n0002", "n0003", "n0004"}
		right := []string{"n0005", "n0006", "n0007", "n0008"}
		block := submit(t, c, "sleep 60", "-n32", "--time=1")
		running(t, c, patience, block)
		var ids []uint32
		for i := range 12 {
			part, within := "p", left
			if i%2 == 1 {
				part, within = "q", right
			}
			id := submit(t, c, "sleep 1", "-n", fmt.Sprint(3+i), "-p", part, "--time=1")
			w.Expect(id, Ask{CPUs: 3 + i, Within: within})
			ids = append(ids, id)
		}
		// It comes last, and wants all that "block" holds.
		urgent := submit(t, c, "sleep 1", "-n32", "-p", "urgent", "--time=1")
		w.Expect(urgent, Ask{CPUs: 32, Within: left})
		require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(block)))
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(append(ids, urgent)))
		u, err := c.ShowJob(t.Context(), urgent)
		require.NoError(t, err)
		for i := 0; i < len(ids); i += 2 {
			j, err := c.ShowJob(t.Context(), ids[i])
			require.NoError(t, err)
			require.False(t, when(t, j, "StartTime").Before(when(t, u, "StartTime")),
				"job %d of %s before the urgent one", j.ID, j.Partition)
		}
	})
}

// A slurmctld that is not root's works as well.
func TestSlurmUser(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: Uniform(4, 8, 2), SlurmUser: "slurm"})
		w := watch(t, c)
		gres := "--gres=gpu:1"
		if m.name == "auction" {
			gres = "--gres=gpu:1-2"
		}
		id := submit(t, c, "sleep 1", "-n4", "-N2", gres, "--time=1")
		w.Expect(id, Ask{CPUs: 4, MinNodes: 2, MaxNodes: 2}.GPURange(1, 2))
		_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
		require.NoError(t, c.RanOnce([]uint32{id}))
		if m.name == "auction" {
			routes, err := c.Routes()
			require.NoError(t, err)
			require.Equal(t, 1, routes[id].Started)
			_, err = c.Status()
			require.NoError(t, err)
		}
	})
}
