// SPDX-License-Identifier: BSD-3-Clause

package shapes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/standing"
)

var shapeCases = []struct {
	what        string
	numbers     Numbers
	left        uint8
	want        Layout
	approximate bool
}{
	{"-n4", Numbers{MinNodes: 1, Tasks: 4, MinCPUs: 4, Threads: 1}, modelled, Layout{Cores: 4, MinNodes: 1, MaxNodes: 0, CoresPerNode: 0}, false},
	{"-c8", Numbers{MinNodes: 1, CPUsPerTask: 8, MinCPUs: 8, Threads: 1}, modelled, Layout{Cores: 8, MinNodes: 1, MaxNodes: 1, CoresPerNode: 0}, false},
	{"-n1 -c8, two threads", Numbers{MinNodes: 1, MaxNodes: 4, Tasks: 1, CPUsPerTask: 8, MinCPUs: 8, Threads: 2}, modelled, Layout{Cores: 4, MinNodes: 1, MaxNodes: 1, CoresPerNode: 0}, false},
	{"-n2 -c8", Numbers{MinNodes: 1, Tasks: 2, CPUsPerTask: 8, MinCPUs: 16, MostNodes: 4, MostCores: 8, Threads: 1}, modelled, Layout{Cores: 16, MinNodes: 2, MaxNodes: 2, CoresPerNode: 8}, true},
	{"-N1-2 -c8", Numbers{MinNodes: 1, MaxNodes: 2, NodeRange: true, AskedNodes: 1, CPUsPerTask: 8, MinCPUs: 8, MostNodes: 4, MostCores: 8, Threads: 1}, modelled, Layout{Cores: 8, MinNodes: 1, MaxNodes: 1, CoresPerNode: 8}, false},
	{"-n16 -c2, two threads", Numbers{MinNodes: 1, Tasks: 16, CPUsPerTask: 2, MinCPUs: 32, Threads: 2}, modelled, Layout{Cores: 16, MinNodes: 1, MaxNodes: 0, CoresPerNode: 0}, false},
	{"-N4 -c4", Numbers{MinNodes: 4, MaxNodes: 4, AskedNodes: 4, CPUsPerTask: 4, MinCPUs: 16, Threads: 2}, modelled, Layout{Cores: 8, MinNodes: 4, MaxNodes: 4, CoresPerNode: 2}, true},
	{"-N2 -n3 -c4", Numbers{MinNodes: 2, MaxNodes: 2, AskedNodes: 2, Tasks: 3, CPUsPerTask: 4, MinCPUs: 12, Threads: 2}, modelled, Layout{Cores: 8, MinNodes: 2, MaxNodes: 2, CoresPerNode: 4}, true},
	{"-n4 --hint=nomultithread", Numbers{MinNodes: 1, Tasks: 4, MinCPUs: 4, Threads: 2, UseThreads: 1}, modelled, Layout{Cores: 4, MinNodes: 1, MaxNodes: 0, CoresPerNode: 0}, false},
	{"-n4 --ntasks-per-socket=1", Numbers{MinNodes: 1, Tasks: 4, MinCPUs: 4, SocketTasks: 1, Sockets: 2, MostNodes: 4, MostCores: 8, Threads: 2}, modelled, Layout{Cores: 4, MinNodes: 2, MaxNodes: 2, CoresPerNode: 2}, true},
	{"-N1-1 -n2 -c3", Numbers{MinNodes: 1, MaxNodes: 1, Tasks: 2, CPUsPerTask: 3, MinCPUs: 6, Threads: 1}, modelled, Layout{Cores: 6, MinNodes: 1, MaxNodes: 1, CoresPerNode: 0}, false},
	{"-N2 --ntasks-per-node=2 -c2", Numbers{MinNodes: 2, MaxNodes: 2, Tasks: 4, TasksPerNode: 2, CPUsPerTask: 2, MinCPUs: 8, Threads: 1}, modelled, Layout{Cores: 8, MinNodes: 2, MaxNodes: 2, CoresPerNode: 4}, false},
	{"-n4 --ntasks-per-node=2", Numbers{MinNodes: 1, Tasks: 4, TasksPerNode: 2, MinCPUs: 4, Threads: 1}, modelled, Layout{Cores: 4, MinNodes: 2, MaxNodes: 2, CoresPerNode: 2}, true},
	{"-n3 --ntasks-per-node=2", Numbers{MinNodes: 1, Tasks: 3, TasksPerNode: 2, MinCPUs: 3, Threads: 1}, modelled, Layout{Cores: 4, MinNodes: 2, MaxNodes: 2, CoresPerNode: 2}, true},
	{"-n1 --ntasks-per-node=2 -N2", Numbers{MinNodes: 2, MaxNodes: 2, Tasks: 1, TasksPerNode: 2, MinCPUs: 1, Threads: 1}, uneven, Layout{}, false},
	{"-N2-4", Numbers{MinNodes: 2, MaxNodes: 4, AskedNodes: 2, NodeRange: true, MinCPUs: 2, MostNodes: 8, MostCores: 8, Threads: 1}, modelled, Layout{Cores: 4, MinNodes: 4, MaxNodes: 4, CoresPerNode: 1}, true},
	{"--mincpus=4", Numbers{MinNodes: 1, Tasks: 1, MinCPUs: 1, NodeMinCPUs: 4, Threads: 2}, modelled, Layout{Cores: 2, MinNodes: 1, MaxNodes: 1, CoresPerNode: 2}, false},
	{"-N1 --gres=gpu:2 --cpus-per-gpu=4", Numbers{MinNodes: 1, MaxNodes: 1, MinCPUs: 1, Gres: gpus(2, 0), GresLen: 1, CPUsPerGPU: 4, Threads: 2}, modelled, Layout{Cores: 4, MinNodes: 1, MaxNodes: 1, CoresPerNode: 0}, false},
	{"-n5, two threads", Numbers{MinNodes: 1, Tasks: 5, MinCPUs: 5, Threads: 2}, modelled, Layout{Cores: 3, MinNodes: 1, MaxNodes: 0, CoresPerNode: 0}, false},
	{"-N2 --exclusive", Numbers{MinNodes: 2, MaxNodes: 2, AskedNodes: 2, Whole: true, NodeCores: 8, MinCPUs: 2, Threads: 1}, modelled, Layout{Cores: 16, MinNodes: 2, MaxNodes: 2, CoresPerNode: 8}, false},
	{"--exclusive on nodes that differ", Numbers{MinNodes: 1, Whole: true, MinCPUs: 1, Threads: 1}, exclusive, Layout{}, false},
	{"--exclusive where MaxCPUsPerNode is less", Numbers{MinNodes: 1, Whole: true, MinCPUs: 1, NodeCores: 8, MostCores: 4, Threads: 1}, exclusive, Layout{}, false},
	{"threads that differ", Numbers{MinNodes: 1, MinCPUs: 1}, threads, Layout{}, false},
	{"NumTasks=3000000000", Numbers{MinNodes: 1, MaxNodes: 1, Tasks: 3000000000, MinCPUs: 1, Threads: 1}, record, Layout{}, false},
	{"NumTasks=2147483647", Numbers{MinNodes: 1, MaxNodes: 1, Tasks: 2147483647, MinCPUs: 1, Threads: 1}, modelled, Layout{Cores: 2147483647, MinNodes: 1, MaxNodes: 1, CoresPerNode: 0}, false},
	{"2^31 CPUs", Numbers{MinNodes: 1, MaxNodes: 1, Tasks: 1 << 29, CPUsPerTask: 4, MinCPUs: 1, Threads: 1}, record, Layout{}, false},
	{"2^32 CPUs", Numbers{MinNodes: 1, MaxNodes: 1, Tasks: 1 << 30, CPUsPerTask: 4, MinCPUs: 1, Threads: 1}, record, Layout{}, false},
	{"80000 CPUs a node", Numbers{MinNodes: 2, MaxNodes: 2, Tasks: 80000, TasksPerNode: 40000, CPUsPerTask: 2, MinCPUs: 160000, Threads: 1}, record, Layout{}, false},
	{"more nodes than cores", Numbers{MinNodes: 5, MaxNodes: 2, MinCPUs: 1, Threads: 1}, record, Layout{}, false},
	{"too many GPUs", Numbers{MinNodes: 1, MinCPUs: 1, Gres: gpus(16, 0), GresLen: 1, Threads: 1}, gres, Layout{}, false},
}

// gpus are those of one request, so many on each node and in all.
func gpus(perNode, perJob uint32) [MostGres]Gres {
	return [MostGres]Gres{{Kind: gpuGres, PerNode: perNode, PerJob: perJob}}
}

var shares = [MostGres]Gres{{Kind: shareGres, PerNode: 3}}

func TestShapes(t *testing.T) {
	for _, c := range shapeCases {
		s := Of(&c.numbers, &standing.Tree{})
		require.Equal(t, c.left, s.Left, c.what)
		got := s.Layouts[0]
		got.MinGPUs, got.MaxGPUs = 0, 0
		require.Equal(t, c.want, got, c.what)
		require.Equal(t, c.approximate, s.Approximate, c.what)
	}
}

// By number of nodes, cores and GPUs of each.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		what    string
		numbers Numbers
		want    [][]int
	}{
		{"-n8 -c4", Numbers{MinNodes: 1, Tasks: 8, CPUsPerTask: 4, MinCPUs: 32, MostNodes: 100, MostCores: 8, Threads: 2}, [][]int{{2, 8, 0}, {4, 4, 0}, {8, 2, 0}}},
		{"-N1-4 -n8 -c4", Numbers{MinNodes: 1, MaxNodes: 4, AskedNodes: 1, NodeRange: true, Tasks: 8, CPUsPerTask: 4, MinCPUs: 32, MostNodes: 100, MostCores: 8, Threads: 2}, [][]int{{2, 8, 0}, {4, 4, 0}}},
		{"-N1-3", Numbers{MinNodes: 1, MaxNodes: 3, AskedNodes: 1, NodeRange: true, MinCPUs: 1, MostNodes: 2, MostCores: 8, Threads: 2}, [][]int{{2, 1, 0}, {1, 1, 0}}},
		{"--gpus=8", Numbers{MinNodes: 1, MinCPUs: 1, Gres: gpus(0, 8), GresLen: 1, MostNodes: 100, MostCores: 8, MostGPUs: 4, Threads: 2}, [][]int{{2, 1, 4}, {4, 1, 2}, {8, 1, 1}}},
		{"-n4 --gpus-per-task=2 --cpus-per-gpu=3", Numbers{MinNodes: 1, Tasks: 4, MinCPUs: 4, Gres: gpus(0, 8), GresLen: 1, CPUsPerGPU: 3, MostNodes: 3, MostCores: 8, MostGPUs: 8, Threads: 2}, [][]int{{2, 6, 4}}},
		{"--gpus=4 --ntasks-per-gpu=2", Numbers{MinNodes: 1, Tasks: 8, MinCPUs: 8, Gres: gpus(0, 4), GresLen: 1, TasksGoByGPUs: true, MostNodes: 9, MostCores: 8, MostGPUs: 4, Threads: 2}, [][]int{{1, 4, 4}}},
		{"-n12 -c2, more than are shown", Numbers{MinNodes: 1, Tasks: 5040, CPUsPerTask: 2, MinCPUs: 10080, MostNodes: 100, MostCores: 65535, Threads: 1}, [][]int{{1, 10080}, {2, 5040}, {3, 3360}, {4, 2520}, {5, 2016}, {6, 1680}, {7, 1440}, {8, 1260}, {9, 1120}}},
	} {
		s := Of(&c.numbers, &standing.Tree{})
		var got [][]int
		for _, l := range s.Layouts[:s.Len] {
			require.Equal(t, l.MinNodes, l.MaxNodes, c.what)
			require.Equal(t, l.MinGPUs, l.MaxGPUs, c.what)
			got = append(got, []int{int(l.MinNodes), int(l.Cores / l.MinNodes), int(l.MaxGPUs)})
		}
		for i := range c.want {
			if len(c.want[i]) == 2 {
				c.want[i] = append(c.want[i], 0)
			}
		}
		require.Equal(t, c.want, got, c.what)
	}
}

func TestSockets(t *testing.T) {
	s := Of(&Numbers{MinNodes: 1, Tasks: 4, MinCPUs: 4, SocketTasks: 2, Sockets: 2, MostNodes: 4, MostCores: 8, Threads: 2}, &standing.Tree{})
	require.EqualValues(t, 1, s.SocketCores, "two tasks are on a core of two threads")
	require.True(t, s.Approximate && s.Loose)
}

// Shares are of one GPU of one node.
func TestShares(t *testing.T) {
	s := Of(&Numbers{MinNodes: 1, Tasks: 2, MinCPUs: 2, Threads: 1, Gres: shares, GresLen: 1}, &standing.Tree{})
	require.Equal(t, Layout{Cores: 2, MinNodes: 1, MaxNodes: 1}, s.Layouts[0])
	require.True(t, s.Left == modelled && s.Approximate && s.Len == 1)
	both := [MostGres]Gres{shares[0], gpus(1, 0)[0]}
	for _, n := range []Numbers{{MinNodes: 2, MaxNodes: 2}, {MinNodes: 1, MaxNodes: 2, NodeRange: true}, {MinNodes: 1, Gres: both, GresLen: 2}} {
		if n.GresLen == 0 {
			n.Gres, n.GresLen = shares, 1
		}
		n.MinCPUs, n.Threads, n.MostNodes, n.MostCores = 2, 1, 4, 4
		require.Equal(t, gres, Of(&n, &standing.Tree{}).Left, "%+v", n)
	}
}

// What is understood of requests for gres, beside "as many GPUs on each node, or in all, of any type".
func TestGres(t *testing.T) {
	nic, license := Gres{PerNode: 1}, Gres{PerNode: 2, Typed: true}
	a, v := Gres{Kind: gpuGres, PerNode: 2, Typed: true}, Gres{Kind: gpuGres, PerNode: 1, Typed: true}
	for _, c := range []struct {
		gres      []Gres
		low, high uint32
		want      asked
		why       uint8
	}{
		{nil, 1, 3, asked{}, modelled},
		{[]Gres{nic, license}, 0, 0, asked{loose: true}, modelled},
		{[]Gres{{PerJob: 1}}, 0, 0, asked{}, gres}, {[]Gres{{PerNode: 1, PerTask: 1}}, 0, 0, asked{}, gres},
		{[]Gres{{PerNode: 1 << 31}}, 0, 0, asked{}, gres}, {[]Gres{{}}, 0, 0, asked{}, gres},
		{[]Gres{a}, 0, 0, asked{minGPUs: 2, maxGPUs: 2}, modelled}, {[]Gres{a}, 1, 3, asked{minGPUs: 1, maxGPUs: 3}, modelled},
		{[]Gres{a}, 2, 99, asked{minGPUs: 2, maxGPUs: 15}, modelled}, {[]Gres{a}, 16, 99, asked{minGPUs: 2, maxGPUs: 2}, modelled},
		{[]Gres{a, v}, 1, 3, asked{minGPUs: 3, maxGPUs: 3}, modelled}, // a note of before
		{[]Gres{a, {Kind: gpuGres, PerNode: 1}}, 0, 0, asked{}, gres},
		{[]Gres{a, {Kind: gpuGres, PerNode: 14, Typed: true}}, 0, 0, asked{}, gres},
		{[]Gres{a, {Kind: gpuGres, PerJob: 14, Typed: true}}, 0, 0, asked{}, gres},
		{[]Gres{{Kind: gpuGres, PerNode: 2, PerJob: 4}}, 1, 3, asked{minGPUs: 1, maxGPUs: 3, loose: true}, modelled},
		{[]Gres{{Kind: gpuGres, PerJob: 4}, nic}, 1, 3, asked{jobGPUs: 4, loose: true}, modelled},
		{[]Gres{{Kind: gpuGres, PerJob: 4, PerTask: 1}}, 0, 0, asked{jobGPUs: 4}, modelled}, // of so many tasks
		{[]Gres{{Kind: gpuGres, PerJob: 65536}}, 0, 0, asked{}, gres}, {[]Gres{{Kind: gpuGres}}, 0, 0, asked{}, gres},
		{[]Gres{{Kind: gpuGres, PerNode: 1, PerSocket: 1}}, 0, 0, asked{}, gres},
		{[]Gres{shares[0], nic}, 0, 0, asked{share: 3, loose: true}, modelled}, {[]Gres{shares[0], shares[0]}, 0, 0, asked{}, gres},
		{[]Gres{{Kind: shareGres, PerNode: 1, Typed: true}}, 0, 0, asked{}, gres}, {[]Gres{{Kind: uncountedGres, PerNode: 1}}, 0, 0, asked{}, gres},
	} {
		n := Numbers{LowGPUs: c.low, HighGPUs: c.high, GresLen: uint8(len(c.gres))}
		copy(n.Gres[:], c.gres)
		got, why := n.readGres()
		require.Equal(t, c.why, why, "%+v", c)
		if why == modelled {
			require.Equal(t, c.want, got, "%+v", c)
		}
	}
}

var root = []uint32{standing.None}

// What is said of switches is held to where there are some.
func TestSwitches(t *testing.T) {
	tree, block := &standing.Tree{Parents: root, Roots: 1}, &standing.Tree{Parents: root, Blocks: true, Base: 4, Count: 6, Levels: 1}
	roots := &standing.Tree{Parents: root, Roots: 2}
	for _, c := range []struct {
		tree                   *standing.Tree
		n                      Numbers
		left                   uint8
		switches, within, part int
	}{
		{&standing.Tree{}, Numbers{Switches: 2, OwnBlocks: true, Arranged: true}, modelled, 0, 0, 0},
		{&standing.Tree{Other: true}, Numbers{}, topology, 0, 0, 0}, {&standing.Tree{}, Numbers{Elsewhere: true}, topology, 0, 0, 0},
		{tree, Numbers{}, modelled, 0, 0, 0}, {tree, Numbers{Switches: 2, Segment: 1}, modelled, 2, 0, 0},
		{roots, Numbers{}, modelled, 0, engine.Root, 0}, {roots, Numbers{Switches: 1, Contiguous: true}, modelled, 0, 0, 0},
		{block, Numbers{OwnBlocks: true}, exclusive, 0, 0, 0}, {block, Numbers{Arranged: true}, segment, 0, 0, 0},
		{block, Numbers{Switches: 2, Contiguous: true}, modelled, 0, 1, 0}, {tree, Numbers{OwnBlocks: true, Arranged: true}, modelled, 0, 0, 0},
	} {
		c.n.Threads, c.n.MinCPUs = 1, 1
		s := Of(&c.n, c.tree)
		require.Equal(t, []int{int(c.left), c.switches, c.within, c.part}, []int{int(s.Left), int(s.Switches), int(s.Within), int(s.Segment)}, "%+v", c)
	}
}

// Of six blocks of four nodes, of which pairs are joined, or of sizes that nobody knows.
func TestBlocks(t *testing.T) {
	six := standing.Tree{Parents: root, Blocks: true, Base: 4, Count: 6, Levels: 1, Largest: 4}
	pairs, unknown, outside := six, six, six
	pairs.Levels, unknown.Base, unknown.Count, outside.Outside = 3, 0, 0, true
	for _, c := range []struct {
		tree                    *standing.Tree
		nodes, most, of         uint32
		named                   bool
		left                    uint8
		switches, within, parts int
	}{
		{&six, 4, 4, 0, true, modelled, 0, 1, 0}, {&six, 5, 5, 0, false, modelled, 2, engine.Root, 0},
		{&pairs, 9, 9, 0, false, blocks, 0, 0, 0}, {&pairs, 9, 9, 3, false, modelled, 0, 0, 3},
		// Each segment is in a block, and these are anywhere.
		{&six, 8, 8, 2, false, modelled, 0, 0, 2}, {&six, 12, 12, 4, false, modelled, 0, 0, 4}, {&outside, 12, 12, 4, false, modelled, 0, engine.Root, 4},
		{&six, 6, 6, 1, false, modelled, 0, 0, 0}, {&six, 2, 2, 2, false, modelled, 0, 1, 0},
		{&six, 8, 8, 3, false, segment, 0, 0, 0}, {&six, 16, 16, 8, false, segment, 0, 0, 0}, {&six, 8, 8, 8, false, segment, 0, 0, 0},
		{&six, 8, 8, 2, true, segment, 0, 0, 0}, {&six, 4, 8, 2, false, segment, 0, 0, 0},
		{&unknown, 4, 4, 0, false, modelled, 0, 1, 0}, {&unknown, 5, 5, 0, false, blocks, 0, 0, 0}, {&unknown, 4, 4, 2, false, segment, 0, 0, 0},
	} {
		n := Numbers{MinNodes: c.nodes, MaxNodes: c.most, AskedNodes: c.nodes, MinCPUs: c.nodes, Threads: 1, Segment: c.of, Named: c.named}
		s := Of(&n, c.tree)
		require.Equal(t, c.left, s.Left, "%+v", c)
		if s.Left == modelled {
			require.Equal(t, []int{c.switches, c.within, c.parts}, []int{int(s.Switches), int(s.Within), int(s.Segment)}, "%+v", c)
		}
	}
}

// roomFor reports whether the cores have room for the tasks, none of which is on two nodes.
func roomFor(n *Numbers, l *Layout) bool {
	each, used := int(l.CoresPerNode), int(n.UseThreads)
	nodes := int(l.MinNodes)
	if each == 0 {
		each, nodes = int(l.Cores), 1
	}
	tasks := each * used / int(max(n.CPUsPerTask, 1))
	if l.CoresPerNode == 0 && n.CPUsPerTask > 1 && l.MaxNodes != 1 {
		tasks = int(l.Cores) * (used / int(n.CPUsPerTask))
	}
	return tasks*nodes >= int(n.Tasks) && uint32(l.MinGPUs)*l.MinNodes == n.Gres[0].PerJob && each*used >= int(n.CPUsPerGPU)*int(l.MaxGPUs)
}

// Against this dumb one, for numbers as users have them.
func TestRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	known := 0
	for range 20000 {
		n := Numbers{
			MinNodes: 1 + rng.Uint32N(4), Tasks: rng.Uint32N(20), CPUsPerTask: rng.Uint32N(6), MostNodes: 10,
			MostCores: 1 + rng.Uint32N(64), MostGPUs: 4, Gres: gpus(0, rng.Uint32N(2)*rng.Uint32N(9)),
			CPUsPerGPU: rng.Uint32N(3) / 2 * rng.Uint32N(9), Threads: uint16(1 + rng.IntN(3)),
		}
		n.AskedNodes = n.MinNodes
		if n.Gres[0].PerJob > 0 {
			n.GresLen = 1
		}
		if rng.IntN(3) == 0 {
			n.MaxNodes = n.MinNodes + rng.Uint32N(2)
		}
		n.NodeRange = n.MaxNodes > n.MinNodes
		n.UseThreads = uint16(1 + rng.IntN(int(n.Threads)))
		if n.Tasks > 0 {
			n.Tasks = max(n.Tasks, n.MinNodes)
		}
		n.MinCPUs = max(n.Tasks, n.MinNodes) * max(n.CPUsPerTask, 1)
		s := Of(&n, &standing.Tree{})
		if s.Left != modelled {
			continue
		}
		known++
		for i := range s.Layouts[:s.Len] {
			require.True(t, roomFor(&n, &s.Layouts[i]), "%+v: %+v", n, s.Layouts[i])
		}
	}
	require.Greater(t, known, 10000)
}

var odd = []uint32{0, 1, 2, 3, 4, 8, 16, 64, 255, 256, 32767, 32768, 65533, 65534, 65535, 65536, 500000, 1 << 20, 1<<20 + 1,
	math.MaxInt32, math.MaxInt32 + 1, 3000000000, math.MaxUint32 - 3, math.MaxUint32 - 1, math.MaxUint32}

// oddNumbers are what a record may hold: 16 bits of some, and node counts that Slurm lets pass.
func oddNumbers(rng *rand.Rand) *Numbers {
	any32 := func() uint32 {
		if rng.IntN(3) > 0 {
			return rng.Uint32N(9)
		}
		return odd[rng.IntN(len(odd))]
	}
	any16 := func() uint32 { return any32() & math.MaxUint16 }
	some := func(x uint32) uint32 { return x * (rng.Uint32N(3) / 2) }
	n := &Numbers{
		MinNodes: any32() % 500001, MaxNodes: any32() % 500001, AskedNodes: any32(), NodeRange: rng.IntN(2) == 0,
		Tasks: any32(), CPUsPerTask: any16(), TasksPerNode: any16(), MinCPUs: any32(), MaxCPUs: any32() * rng.Uint32N(2),
		NodeMinCPUs: any32(), Whole: rng.IntN(3) == 0, NodeCores: any16(), LowGPUs: some(any32()), HighGPUs: any32(),
		CPUsPerGPU: some(any16()), SocketTasks: some(any16()), Sockets: rng.Uint32N(5),
		TasksGoByGPUs: rng.IntN(4) == 0, MostNodes: any32() % 5000, MostCores: any16(), MostGPUs: rng.Uint32N(17),
		Segment: some(any32()), Switches: some(any32()), Named: rng.IntN(4) == 0, Contiguous: rng.IntN(2) == 0,
		Threads: uint16(1 + rng.IntN(4)), UseThreads: uint16(rng.IntN(6)),
	}
	if rng.IntN(2) == 0 {
		n.MaxNodes = n.MinNodes
	}
	n.GresLen = uint8(rng.IntN(2) * rng.IntN(4))
	for i := range n.Gres[:n.GresLen] {
		n.Gres[i] = Gres{PerNode: any32(), PerJob: some(any32()), PerSocket: some(some(any32())), PerTask: some(some(any32())),
			Kind: uint8(rng.IntN(4)), Typed: rng.IntN(2) == 0}
	}
	if rng.IntN(4) == 0 && n.TasksPerNode > 0 {
		n.Tasks = n.TasksPerNode * n.MinNodes
	}
	return n
}

// The engine takes whatever is modelled.
func TestOddNumbers(t *testing.T) {
	var table engine.Table
	id, err := table.Open("window=1 depth=0 deadline_ms=1000", engine.Options{})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(2, 0))
	trees := []*standing.Tree{{Parents: root, Blocks: true, Base: 4, Count: 6, Levels: 7, Largest: 4}, {Parents: root, Roots: 2}, {}}
	tried := 0
	for range 200 {
		in := engine.Input{Nodes: []engine.Node{{Cores: 8, FreeCores: 8, Up: 1}}}
		for len(in.Jobs) < 500 {
			n := oddNumbers(rng)
			s := Of(n, trees[rng.IntN(len(trees))])
			if tried++; s.Left != modelled {
				continue
			}
			l := &s.Layouts[rng.IntN(int(s.Len))]
			in.Jobs = append(in.Jobs, engine.Job{
				Priority: 1, Cores: l.Cores, MinNodes: l.MinNodes, MaxNodes: l.MaxNodes, CoresPerNode: l.CoresPerNode, MinGPUs: l.MinGPUs,
				MaxGPUs: l.MaxGPUs, TimeLimit: 60, Mask: -1, Switches: s.Switches, Within: s.Within, Segment: s.Segment,
			})
		}
		var out engine.Output
		require.NoError(t, table.Do(id, func(h *engine.Handle) error { return h.Cycle(&in, &out) }))
		require.NoError(t, out.Fault)
	}
	require.Greater(t, tried, 200*500*2, "odd numbers, which leave no doubt")
}
