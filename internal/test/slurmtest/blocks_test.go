// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blocksOf4 are blocks of four nodes, in Slurm's order, and the sizes that there are.
func blocksOf4(blocks int, sizes string) []string {
	lines := []string{"BlockSizes=" + sizes}
	for i := range blocks {
		lines = append(lines, fmt.Sprintf("BlockName=b%d Nodes=%s", i, nodeRange(4*i+1, 4*i+4)))
	}
	return lines
}

// blockJob is a job on such blocks, and what Slurm holds it to (topology/block of 24.11).
type blockJob struct {
	args  []string
	nodes int
	// its nodes come in so many of a block each; 0: no segments
	segment int
	// blocks that are joined to the one which has all of it, and how many blocks it may be in
	joined, most int
	left         string // why it is left to Slurm; "": it is not
}

// drawBlockJob draws a job for blocks of which so many in all, or two, are joined.
func drawBlockJob(rng *rand.Rand, blocks int, pairs bool) blockJob {
	tasks := []string{"--ntasks-per-node=4", "--ntasks-per-node=2", "--ntasks-per-node=4"}[rng.IntN(3)]
	j := blockJob{joined: blocks}
	switch kind := rng.IntN(10); {
	case kind < 5:
		j.nodes, j.joined, j.most = 1+rng.IntN(4), 1, 1
	case kind < 7:
		j.nodes = 5 + rng.IntN(4)
		if j.most = 2; pairs {
			j.joined = 2
		}
	default:
		j.segment = []int{1, 2, 4}[rng.IntN(3)]
		j.nodes = j.segment * (1 + rng.IntN(8/j.segment))
		if j.most = j.nodes / j.segment; j.most == 1 {
			j.joined = 1
		}
		j.args = append(j.args, fmt.Sprint("--segment=", j.segment))
	}
	j.args = append(j.args, fmt.Sprint("-N", j.nodes), tasks, "--time=1")
	return j
}

// numberOf is the number of a node, counted from 0.
func numberOf(t *testing.T, node string) int {
	t.Helper()
	n, err := strconv.Atoi(node[1:])
	require.NoError(t, err)
	return n - 1
}

// requireInBlocks requires that a job was where it may be, and returns in how many blocks it was.
func (j *blockJob) requireInBlocks(t *testing.T, nodeList string) int {
	t.Helper()
	names, err := expandNodes(nodeList)
	require.NoError(t, err)
	require.Len(t, names, j.nodes, "%v: %s", j.args, nodeList)
	in, groups := map[int]int{}, map[int]bool{}
	for _, name := range names {
		block := numberOf(t, name) / 4
		in[block]++
		groups[block/j.joined] = true
	}
	require.Len(t, groups, 1, "%v: %s", j.args, nodeList)
	require.LessOrEqual(t, len(in), j.most, "%v: %s", j.args, nodeList)
	for _, nodes := range in {
		require.Zero(t, nodes%max(j.segment, 1), "%v: %s", j.args, nodeList)
	}
	return len(in)
}

// runBlockJobs runs the jobs, which come all at once, on blocks with some nodes taken, and returns
// in how many blocks each of them was.
func runBlockJobs(t *testing.T, m mode, topology []string, jobs []blockJob) (blocks []int) {
	c := cluster(t, m, Config{Groups: []Group{{Nodes: 4 * (len(topology) - 1), Cores: 4}}, Topology: topology})
	taken := submit(t, c, "sleep 6", "-N1", "-n1", "--nodelist=n0002", "--time=1")
	running(t, c, patience, taken)
	var ids []uint32
	together(t, c, func() {
		for i, j := range jobs {
			ids = append(ids, submit(t, c, fmt.Sprint("sleep ", 2+i%3), j.args...))
		}
	})
	require.NoError(t, c.WaitEmpty(t.Context(), 3*time.Minute), "%s", c.Logs("slurmctld.log", 5000))
	require.NoError(t, c.RanOnce(ids))
	ended, err := c.Ended()
	require.NoError(t, err)
	on := map[uint32]string{}
	for _, e := range ended {
		on[e.ID] = e.NodeList
	}
	for i, id := range ids {
		blocks = append(blocks, jobs[i].requireInBlocks(t, on[id]))
	}
	if m.name != "stock" {
		requireDecided(t, c, jobs, ids)
	}
	return blocks
}

// requireDecided requires that the auction started each job, save for those that are left to Slurm,
// and could start it as it had decided.
func requireDecided(t *testing.T, c *Cluster, jobs []blockJob, ids []uint32) {
	t.Helper()
	require.Empty(t, logLines(t, c, "could not be started as decided|other cores than its bid"))
	requireNoMisses(t, c)
	routes, err := c.Routes()
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, jobs[i].left, routes[id].Left, "job %d: %v", id, jobs[i].args)
		if jobs[i].left == "" {
			require.Equal(t, 1, routes[id].Started, "job %d: %v", id, jobs[i].args)
		}
	}
}

// hasBlocks skips a test where Slurm has no topology/block that says how large its blocks are.
func hasBlocks(t *testing.T) {
	t.Helper()
	beside(t)
	version, err := Version()
	require.NoError(t, err)
	if version < "24.11" {
		t.Skipf("topology/block came with Slurm 23.11, its sizes are told from 24.11 on; this is %s", version)
	}
}

// With topology/block jobs are where Slurm would have them, started by the auction as decided, and
// in no more blocks than with stock Slurm: those that fit into a block, those of several, and those
// of several segments.
func TestTopologyBlock(t *testing.T) {
	hasBlocks(t)
	for name, x := range map[string]struct {
		blocks int
		sizes  string
		pairs  bool
	}{"all one size": {5, "4", false}, "pairs": {6, "4,8", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 7))
			var jobs []blockJob
			for range 30 {
				jobs = append(jobs, drawBlockJob(rng, x.blocks, x.pairs))
			}
			if x.pairs { // in two pairs of the three: the auction can't say that
				jobs = append(jobs, blockJob{args: []string{"-N9", "--ntasks-per-node=4", "--time=1"},
					nodes: 9, joined: 6, most: 4, left: "blocks"})
			} else {
				jobs = append(jobs, blockJob{args: []string{"-N9", "--ntasks-per-node=4", "--time=1"},
					nodes: 9, joined: 5, most: 3})
			}
			topology := blocksOf4(x.blocks, x.sizes)
			sum := map[string]int{}
			for _, m := range []mode{stock, auction} {
				t.Run(m.name, func(t *testing.T) {
					for _, n := range runBlockJobs(t, m, topology, jobs) {
						sum[m.name] += n
					}
				})
			}
			t.Logf("blocks of %d jobs: %v", len(jobs), sum)
			require.LessOrEqual(t, sum[auction.name], sum[stock.name])
		})
	}
}

// A job that fits into a block waits for one, though there are nodes enough; with segments it is
// where each of these fits.
func TestBlocksAreWaitedFor(t *testing.T) {
	hasBlocks(t)
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{{Nodes: 8, Cores: 4}}, Topology: blocksOf4(2, "4")})
		whole := func(limit string, args ...string) uint32 {
			return submit(t, c, "sleep 60", append(args, "--ntasks-per-node=4", "--time="+limit)...)
		}
		first := whole("10", "-N1", "--nodelist=n0001")
		second := whole("10", "-N1", "--nodelist=n0006")
		running(t, c, patience, first, second)
		fits := whole("5", "-N4")
		segments := whole("5", "-N4", "--segment=2")
		on := map[int]int{}
		for _, share := range running(t, c, patience, segments)[0].Nodes {
			on[numberOf(t, share.Node)/4]++
		}
		require.Equal(t, map[int]int{0: 2, 1: 2}, on)
		job, err := c.ShowJob(t.Context(), fits)
		require.NoError(t, err)
		require.Equal(t, "PENDING", job.State)
		require.NoError(t, c.Scancel(t.Context(), numbers([]uint32{segments, first})...))
		require.Equal(t, "n[0001-0004]", running(t, c, patience, fits)[0].NodeList)
		if m.name == auction.name {
			requireByAuction(t, c, segments)
			requireByAuction(t, c, fits)
			requireNoMisses(t, c)
		}
	})
}

// A job that has a block to itself (--exclusive=topo, or the partition has it so) is Slurm's.
// Others keep off the nodes of its block, idle as they are, and no start of theirs is refused.
func TestBlocksOfTheirOwn(t *testing.T) {
	hasBlocks(t)
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups: []Group{{Nodes: 12, Cores: 4}}, Topology: blocksOf4(3, "4"),
			Partitions: []Partition{{Name: "p", Default: true}, {Name: "own", Nodes: "n[0009-0012]", Options: "ExclusiveTopo=YES"}},
		})
		sleep := func(seconds string, args ...string) uint32 {
			return submit(t, c, "sleep "+seconds, append(args, "--time=1")...)
		}
		first := sleep("60", "-N1", "-n1", "--nodelist=n0001", "--exclusive=topo")
		running(t, c, 60*time.Second, first)
		second := sleep("60", "-N1", "-n1", "-p", "own")
		running(t, c, 60*time.Second, second)
		var ids []uint32
		together(t, c, func() {
			for range 12 {
				ids = append(ids, sleep("3", "-N1", "--ntasks-per-node=4"), sleep("3", "-n2"))
			}
			ids = append(ids, sleep("3", "-N4", "--ntasks-per-node=1"))
		})
		require.NoError(t, c.poll(t.Context(), time.Minute, "the others to end", func() (bool, error) {
			ended, err := c.Ended()
			return len(ended) == len(ids), err
		}))
		ended, err := c.Ended()
		require.NoError(t, err)
		for _, e := range ended {
			names, err := expandNodes(e.NodeList)
			require.NoError(t, err)
			for _, name := range names {
				require.Equal(t, 1, numberOf(t, name)/4, "job %d on %s", e.ID, e.NodeList)
			}
		}
		if m.name != auction.name {
			return
		}
		routes, err := c.Routes()
		require.NoError(t, err)
		for _, id := range []uint32{first, second} {
			require.Zero(t, routes[id].Started, "job %d", id)
		}
		for _, id := range ids {
			require.Empty(t, routes[id].Left)
			require.Equal(t, 1, routes[id].Started, "job %d", id)
		}
		requireNoMisses(t, c)
	})
}

// unevenJobs are jobs of all kinds for some forty nodes in blocks of four and more.
func unevenJobs(rng *rand.Rand) (jobs [][]string) {
	for range 50 {
		nodes := 1 + rng.IntN(6)
		if rng.IntN(3) == 0 {
			nodes = 1 + rng.IntN(17)
		}
		shape := []string{"--ntasks-per-node=4", "--ntasks-per-node=2", "--exclusive"}[rng.IntN(3)]
		args := []string{"--time=1", fmt.Sprint("-N", nodes), shape}
		switch rng.IntN(8) {
		case 0, 1:
			segment := []int{1, 2, 4}[rng.IntN(3)]
			args = append(args, fmt.Sprint("-N", segment*(1+rng.IntN(12/segment))), fmt.Sprint("--segment=", segment))
		case 2:
			args = []string{"--time=1", fmt.Sprint("-n", 1+rng.IntN(20))}
		case 3:
			args = append(args, fmt.Sprintf("-N%d-%d", nodes, nodes+rng.IntN(4)))
		case 4:
			args = append(args, fmt.Sprintf("--exclude=n%04d", 1+rng.IntN(40)))
		}
		jobs = append(jobs, args)
	}
	return jobs
}

// Some blocks have more nodes than others, one has a node that is drained, and some nodes are of no
// block: every job runs, no start is refused, and the jobs are in no more blocks than with stock
// Slurm, all together.
func TestUnevenBlocks(t *testing.T) {
	hasBlocks(t)
	topology, blockOf := []string{"BlockSizes=4,8,16"}, []int{}
	for i, nodes := range []int{6, 4, 5, 4, 4, 4, 4, 7} {
		topology = append(topology, fmt.Sprintf("BlockName=b%d Nodes=%s", i, nodeRange(len(blockOf)+1, len(blockOf)+nodes)))
		for range nodes {
			blockOf = append(blockOf, i)
		}
	}
	blockOf = append(blockOf, -1, -1, -1, -1)
	jobs := unevenJobs(rand.New(rand.NewPCG(0, 1)))
	sum := map[string]int{}
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{{Nodes: len(blockOf), Cores: 4}}, Topology: topology})
		require.NoError(t, c.DrainNode(t.Context(), "n0013"))
		var ids []uint32
		together(t, c, func() {
			for i, args := range jobs {
				ids = append(ids, submit(t, c, fmt.Sprint("sleep ", 2+i%3), args...))
			}
		})
		require.NoError(t, c.WaitEmpty(t.Context(), 2*time.Minute))
		require.NoError(t, c.RanOnce(ids))
		ended, err := c.Ended()
		require.NoError(t, err)
		for _, e := range ended {
			names, err := expandNodes(e.NodeList)
			require.NoError(t, err)
			in := map[int]bool{}
			for _, name := range names {
				in[blockOf[numberOf(t, name)]] = true
			}
			sum[m.name] += len(in)
		}
		if m.name == auction.name {
			requireNoMisses(t, c)
			require.Empty(t, logLines(t, c, "left to Slurm: (blocks|segment|limits)|other cores than its bid"))
		}
	})
	t.Logf("blocks of %d jobs: %v", len(jobs), sum)
	require.LessOrEqual(t, sum[auction.name], sum["stock"])
}

func numbers(ids []uint32) (text []string) {
	for _, id := range ids {
		text = append(text, fmt.Sprint(id))
	}
	return text
}
