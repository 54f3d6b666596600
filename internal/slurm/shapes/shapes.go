// SPDX-License-Identifier: BSD-3-Clause

// Package shapes counts the request of a Slurm job as the auction does: so many cores, on how many
// nodes, and how many on each.
package shapes

import (
	"cmp"
	"math"

	"github.com/aucsched/aucsched/internal/engine"
	"github.com/aucsched/aucsched/internal/slurm/standing"
)

// MostLayouts is how many layouts a request can have: it would start with any of them.
const MostLayouts = 9

// Numbers are what a job's record says; aucsched.h tells of each. 0 stands for nothing said.
type Numbers struct {
	MinNodes, MaxNodes, AskedNodes           uint32
	Tasks, CPUsPerTask, TasksPerNode         uint32
	MinCPUs, MaxCPUs, NodeMinCPUs, NodeCores uint32
	Gres                                     [MostGres]Gres
	LowGPUs, HighGPUs, CPUsPerGPU            uint32
	SocketTasks, Sockets                     uint32
	MostNodes, MostCores, MostGPUs           uint32
	Segment, Switches                        uint32
	Threads, UseThreads                      uint16
	Whole, NodeRange, TasksGoByGPUs, Named   bool
	GresLen                                  uint8
	Contiguous, Elsewhere                    bool
	OwnBlocks, Arranged                      bool
	_                                        [3]uint8
}

// MostGres is how many gres, or types of them, a request can have.
const MostGres, mostGPUs = 6, 15 // GPUs of a node

// Of which kind a gres is: the numbers are AUCSCHED_GRES_...
const (
	otherGres uint8 = iota
	gpuGres
	shareGres // of GPUs
	uncountedGres
)

// Gres is what a job asks for of one gres, or of one type of it.
type Gres struct {
	PerNode, PerJob, PerSocket, PerTask uint32
	Kind                                uint8
	Typed                               bool
	_                                   [2]uint8
}

// Layout is as in a job of the engine.
type Layout struct {
	Cores, MinNodes, MaxNodes, CoresPerNode uint32
	MinGPUs, MaxGPUs                        uint8
	_                                       [2]uint8
}

// Shape is a request: its layouts, of which the first is preferred.
type Shape struct {
	Layouts                      [MostLayouts]Layout
	Switches                     uint32
	Within, Segment, SocketCores uint16
	Len                          uint8
	Left                         uint8 // why the job is left to Slurm; 0: it is not
	Approximate, Loose           bool
}

// Why a job is left to Slurm: the words are AUCSCHED_LEFT_WORDS.
const (
	modelled uint8 = iota
	blocks
	exclusive
	gres
	uneven
	record
	segment
	threads
	topology
)

// layout is one while it is worked out; perNode 0: any number of cores.
type layout struct{ cores, minNodes, maxNodes, perNode, minGPUs, maxGPUs int }

// numbers are those of a record, wide enough for products: users may set most of them to whatever they like.
type numbers struct {
	minNodes, maxNodes, askedNodes, tasks, perTask, tasksPerNode, minCPUs, nodeMinCPUs int
	cpusPerGPU, socketTasks, sockets, threads, used                                    int
	*Numbers
	asked
}

// asked is what a job asks for of gres: GPUs on each node, or in all, or shares of one.
type asked struct {
	minGPUs, maxGPUs, jobGPUs int
	share                     uint32
	loose                     bool // Slurm's selection may have to say which cores go with it
}

// readGres reads what is understood.
func (n *Numbers) readGres() (a asked, why uint8) {
	var gpu Gres
	types, all, eachTyped := 0, 0, true
	for _, g := range n.Gres[:min(n.GresLen, MostGres)] {
		perNode := g.PerNode > 0 && g.PerNode <= math.MaxInt32 && g.PerJob == 0 && g.PerSocket == 0 && g.PerTask == 0
		switch {
		case g.Kind == gpuGres:
			gpu, types, all, eachTyped = g, types+1, all+int(g.PerNode), eachTyped && perNode && g.Typed
			continue
		case !perNode, g.Kind == uncountedGres, g.Kind == shareGres && (a.share > 0 || g.Typed):
			return a, gres
		case g.Kind == shareGres:
			a.share = g.PerNode
		}
		a.loose = true
	}
	switch one := types == 1; {
	case types > 1 && !eachTyped, one && (gpu.PerSocket > 0 || gpu.PerNode+gpu.PerJob == 0), all > mostGPUs, gpu.PerJob > math.MaxUint16:
		return a, gres
	case one && all == 0:
		a.jobGPUs = int(gpu.PerJob)
	case one && 0 < n.LowGPUs && n.LowGPUs <= mostGPUs:
		a.minGPUs, a.maxGPUs = int(n.LowGPUs), int(min(n.HighGPUs, mostGPUs))
	default:
		a.minGPUs, a.maxGPUs = all, all
	}
	a.loose = a.loose || gpu.PerNode > 0 && gpu.PerJob > 0 // which says the number of nodes, and that is in the record
	return a, modelled
}

type plan struct {
	numbers
	layouts     []layout
	approximate bool
}

// Of is the shape of a request, in the tree of a topology.
func Of(n *Numbers, tree *standing.Tree) (s Shape) {
	switch {
	case tree.Other || n.Elsewhere:
		return Shape{Left: topology}
	case tree.Blocks && n.OwnBlocks:
		return Shape{Left: exclusive}
	case tree.Blocks && n.Arranged:
		return Shape{Left: segment}
	case n.Threads == 0:
		return Shape{Left: threads}
	}
	a, why := n.readGres()
	if why != modelled {
		return Shape{Left: why}
	}
	p := plan{numbers: numbers{
		minNodes: int(n.MinNodes), maxNodes: int(n.MaxNodes), askedNodes: int(n.AskedNodes), tasks: int(n.Tasks),
		perTask: int(max(n.CPUsPerTask, 1)), tasksPerNode: int(n.TasksPerNode), minCPUs: int(n.MinCPUs),
		nodeMinCPUs: int(n.NodeMinCPUs), cpusPerGPU: int(n.CPUsPerGPU),
		socketTasks: int(n.SocketTasks), sockets: int(n.Sockets), threads: int(n.Threads),
		used: int(min(cmp.Or(n.UseThreads, n.Threads), n.Threads)), Numbers: n, asked: a,
	}}
	count := p.cpus
	if n.Whole {
		count = p.wholeNodes
	}
	if s.Left = count(); s.Left != modelled {
		return s
	}
	for _, l := range p.layouts {
		if l.settle() {
			s.Layouts[s.Len] = Layout{
				Cores: uint32(l.cores), MinNodes: uint32(l.minNodes), MaxNodes: uint32(l.maxNodes),
				CoresPerNode: uint32(l.perNode), MinGPUs: uint8(l.minGPUs), MaxGPUs: uint8(l.maxGPUs),
			}
			s.Len++
		}
	}
	if s.Len == 0 {
		return Shape{Left: record}
	}
	if p.socketTasks > 0 && !n.Whole { // where a node has fewer tasks, less would do
		here := min(p.socketTasks, max(p.tasks, 1))
		p.approximate = true
		s.SocketCores = uint16(min(up(here*p.perTask, p.used), math.MaxUint16))
	}
	s.Approximate, s.Loose = p.approximate, p.loose
	if a.share > 0 {
		s.Left = s.onOneNode(n)
	}
	switch {
	case s.Left != modelled || len(tree.Parents) == 0:
	case tree.Blocks:
		s.Left = s.inBlocks(n, tree)
	case !n.Contiguous: // Slurm looks at no switches then
		if s.Switches = min(n.Switches, engine.MaxNodes); tree.Roots > 1 {
			s.Within = engine.Root
		}
	}
	return s
}

// onOneNode: the library gives shares on one node alone, and no GPU beside. A job that could be on several
// nodes, with as many shares on each, Slurm may try.
func (s *Shape) onOneNode(n *Numbers) (why uint8) {
	l := &s.Layouts[0]
	if l.MinNodes > 1 || n.Whole || n.NodeRange || l.MaxGPUs > 0 || l.CoresPerNode > 0 && l.CoresPerNode != l.Cores {
		return gres
	}
	s.Approximate = s.Approximate || l.MaxNodes != 1 && l.Cores > 1
	s.Len, l.MinNodes, l.MaxNodes, l.CoresPerNode = 1, 1, 1, 0
	return modelled
}

// inBlocks is what topology/block holds the job to, by the fewest nodes that it would take. With --segment
// each segment is in one block, wherever the others are.
func (s *Shape) inBlocks(n *Numbers, tree *standing.Tree) (why uint8) {
	nodes := max(n.AskedNodes, 1)
	known := tree.Count > 0
	if known && tree.Outside {
		s.Within = engine.Root
	}
	switch parts := n.Segment > 0 && n.Segment != nodes; {
	case parts && (!known || n.Named): // Slurm takes no nodes that are named for it
		return segment
	case !known && nodes > tree.Largest: // of sizes that Slurm does not tell
		return blocks
	case !known:
		s.Within = 1
	case n.Segment > 0 && (n.Segment > tree.Base || nodes%n.Segment != 0): // Slurm will refuse it
		return segment
	case parts && (s.Layouts[0].MinNodes != nodes || s.Layouts[0].MaxNodes != nodes): // of how many nodes?
		return segment
	case parts:
		if n.Segment > 1 {
			s.Segment = uint16(n.Segment)
		}
	default:
		d := tree.Demand(int(nodes))
		if s.Switches, s.Within = d.Switches, d.Within; d.Unsaid {
			return blocks
		}
	}
	return modelled
}

// settle reports whether the engine takes a layout: it refuses what contradicts itself, or is beyond its limits.
func (l *layout) settle() bool {
	if l.perNode > 0 && l.cores == 0 {
		l.cores = l.perNode * l.minNodes
	}
	return l.perNode <= math.MaxUint16 && l.minGPUs <= l.maxGPUs && l.maxGPUs <= mostGPUs &&
		l.cores > 0 && l.cores <= math.MaxInt32 && l.minNodes <= engine.MaxNodes && l.cores >= l.minNodes &&
		(l.maxNodes == 0 || l.maxNodes >= l.minNodes) &&
		(l.perNode == 0 || l.cores%l.perNode == 0 && l.cores/l.perNode >= l.minNodes &&
			(l.maxNodes == 0 || l.cores/l.perNode <= l.maxNodes))
}

func up(a, b int) int { return (a + b - 1) / b }

func (p *plan) add(l layout) {
	if l.maxGPUs == 0 {
		l.minGPUs, l.maxGPUs = p.minGPUs, p.maxGPUs
	}
	p.layouts = append(p.layouts, l)
}

// wholeNodes: all cores of each node, which only an idle one has. What the job asks for beyond the number of
// nodes is met by any node, or is Slurm's to judge.
func (p *plan) wholeNodes() (why uint8) {
	cores := int(p.NodeCores)
	if cores == 0 || p.tasksPerNode > 0 && p.tasks == 0 || p.jobGPUs > 0 || p.socketTasks > 0 ||
		p.MostCores > 0 && p.MostCores < p.NodeCores {
		return exclusive
	}
	nodes := max(p.minNodes, up(p.minCPUs, cores*p.threads))
	if p.tasksPerNode > 0 {
		nodes = max(nodes, up(p.tasks, p.tasksPerNode))
	}
	if p.maxNodes > 0 && nodes > p.maxNodes || p.NodeRange {
		return exclusive
	}
	p.approximate = p.minNodes != p.maxNodes
	p.add(layout{cores: nodes * cores, minNodes: nodes, maxNodes: nodes, perNode: cores})
	return modelled
}

// mincpus is --mincpus; Slurm's record has what the tasks need at least if the job does not say.
func (p *plan) mincpus() int {
	if p.nodeMinCPUs > max(p.tasksPerNode, 1)*p.perTask {
		return p.nodeMinCPUs
	}
	return 0
}

// least is how many CPUs each node must give, whatever its tasks need.
func (p *plan) least(gpus int) int { return max(p.mincpus(), gpus*p.cpusPerGPU) }

// coresFor are the cores of a node with so many tasks, for which this many CPUs would do. No core is shared
// across sockets.
func (p *plan) coresFor(tasks, cpus, gpus int) int {
	cores := up(max(cpus, p.least(gpus)), p.used)
	if p.socketTasks > 0 && tasks > 0 {
		cores = max(cores, up(tasks, p.socketTasks)*up(min(tasks, p.socketTasks)*p.perTask, p.used))
	}
	return cores
}

// oneTask reports whether there is one, which is on one node: -c 8, with -n 1 or without.
func (p *plan) oneTask() bool {
	return !p.NodeRange && p.tasksPerNode == 0 && p.perTask > 1 && (p.tasks == 1 || p.tasks == 0 && p.minCPUs == p.perTask)
}

// loosen: Slurm may give less of a node than it was made to have at least. Whether tasks share a core is not
// said anywhere.
func (p *plan) loosen() {
	shared := p.perTask > 1 && p.perTask%p.used != 0
	p.approximate = p.approximate || shared
	p.loose = p.loose || shared || p.mincpus() > 0 || p.cpusPerGPU > 0 || p.jobGPUs > 0 || p.socketTasks > 0 || p.used != p.threads
}

// overSockets reports whether so many tasks are more than the sockets of a node may have.
func (p *plan) overSockets(tasks int) bool {
	return p.socketTasks > 0 && p.sockets > 0 && tasks > p.socketTasks*p.sockets
}

func (p *plan) oneNode() (why uint8) {
	if p.overSockets(p.tasks) {
		return uneven
	}
	cores := p.coresFor(p.tasks, max(p.minCPUs, 1, p.tasks*p.perTask), cmp.Or(p.jobGPUs, p.maxGPUs))
	p.add(layout{cores: cores, minNodes: 1, maxNodes: 1, minGPUs: p.jobGPUs, maxGPUs: p.jobGPUs})
	return modelled
}

// onEach: tasks on each node: as many on all, or fewer on the last.
func (p *plan) onEach(nodes int) (why uint8) {
	if nodes == 0 {
		if p.tasks == 0 {
			return uneven
		}
		nodes = up(p.tasks, p.tasksPerNode)
		p.approximate = true
	}
	if all := nodes * p.tasksPerNode; p.tasks > 0 && p.tasks != all {
		if p.tasks > all || p.tasks < nodes {
			return uneven
		}
		p.approximate, p.loose = true, true
	}
	if nodes < p.minNodes || p.maxNodes > 0 && nodes > p.maxNodes || p.jobGPUs%nodes != 0 {
		return uneven
	}
	gpus := p.jobGPUs / nodes
	cores := p.coresFor(p.tasksPerNode, p.tasksPerNode*p.perTask, cmp.Or(gpus, p.maxGPUs))
	p.add(layout{perNode: cores, minNodes: nodes, maxNodes: nodes, minGPUs: gpus, maxGPUs: gpus})
	return modelled
}

// anyCores reports whether any number of cores of any node will do.
func (p *plan) anyCores(tasks int) bool {
	switch {
	case p.least(p.maxGPUs) > 0 || p.jobGPUs > 0 || p.socketTasks > 0:
		return false
	case p.perTask > 1:
		return tasks > 0 && p.perTask <= p.used
	}
	return !p.NodeRange || p.minCPUs > p.askedNodes
}

func (p *plan) free(tasks int) {
	nodes := max(p.minNodes, 1)
	cores := up(max(p.minCPUs, nodes), p.used)
	if p.perTask > 1 { // no task is on two cores
		cores = max(cores, up(tasks, p.used/p.perTask))
	}
	p.add(layout{cores: max(cores, nodes), minNodes: p.minNodes, maxNodes: p.maxNodes})
}

// even adds as much on each of so many nodes, unless the tasks or the GPUs are not even over the nodes, or no
// node has so much.
func (p *plan) even(nodes, tasks int, fixed bool) {
	here, gpus := up(tasks, nodes), p.jobGPUs/nodes
	cpus := here * p.perTask
	if tasks == 0 {
		cpus = up(p.minCPUs, nodes)
	}
	if tasks%nodes != 0 && (!fixed || tasks < nodes) || p.jobGPUs%nodes != 0 || p.overSockets(here) {
		return
	}
	cores := p.coresFor(here, max(cpus, 1), cmp.Or(gpus, p.maxGPUs))
	if !fixed && (p.MostCores > 0 && cores > int(p.MostCores) || gpus > int(p.MostGPUs)) {
		return
	}
	p.loose = p.loose || tasks%nodes != 0
	p.add(layout{perNode: cores, minNodes: nodes, maxNodes: nodes, minGPUs: gpus, maxGPUs: gpus})
}

// evenly: over as many nodes as there may be: few nodes first, unless Slurm gives all it can.
func (p *plan) evenly(tasks int) (why uint8) {
	const any = math.MaxUint32
	many, low := tasks == 0 && p.jobGPUs == 0, max(p.minNodes, 1)
	high := min(cmp.Or(p.maxNodes, any), max(int(p.MostNodes), low), max(cmp.Or(tasks, any), low), cmp.Or(p.jobGPUs, any))
	if p.TasksGoByGPUs || many && !p.NodeRange {
		high = min(high, low)
	}
	for i := low; i <= high && len(p.layouts) < MostLayouts; i++ {
		nodes := i
		if many {
			nodes = high - (i - low)
		}
		p.even(nodes, tasks, low == high)
	}
	p.approximate = p.approximate || low != high
	if len(p.layouts) == 0 {
		return uneven
	}
	return modelled
}

func (p *plan) cpus() (why uint8) {
	fixed, tasks := 0, p.tasks
	if p.minNodes == p.maxNodes {
		fixed = p.minNodes
	}
	if p.MaxCPUs > 0 && p.MaxCPUs != p.MinCPUs {
		return uneven
	}
	p.loosen()
	if tasks == 0 && p.perTask > 1 {
		tasks = up(p.minCPUs, p.perTask)
	}
	switch {
	case fixed == 1, fixed == 0 && p.minNodes <= 1 && p.oneTask():
		return p.oneNode()
	case p.tasksPerNode > 0:
		return p.onEach(fixed)
	case p.anyCores(tasks):
		p.free(tasks)
		return modelled
	}
	p.approximate = p.approximate || fixed > 0 && p.perTask > 1
	return p.evenly(tasks)
}
