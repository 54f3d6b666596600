// SPDX-License-Identifier: BSD-3-Clause

package requests

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// each is the same on all nodes from first to last.
func each(first, last, cores, gpus int) nodeset.Segment {
	return nodeset.Segment{First: int32(first), Last: int32(last), Cores: uint16(cores), GPUs: uint8(gpus)}
}

func on(segs ...nodeset.Segment) []nodeset.Segment { return segs }

// Cases is the table. Its machines have ten nodes.
func Cases() []Case {
	var all []Case
	for _, part := range [][]Case{totals(), perNode(), mostPerNode(), gpus(), places(), coreless()} {
		all = append(all, part...)
	}
	for i := range all {
		all[i].Nodes = 10
	}
	return all
}

// totals are of requests for cores in all.
func totals() []Case {
	eight, range23 := bids.Request{Cores: 8}, bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 3}
	return []Case{
		{Name: "8 cores of one node", Request: eight, Segs: on(each(0, 0, 8, 0)), OK: true},
		{Name: "8 cores of eight nodes", Request: eight, Segs: on(each(0, 7, 1, 0)), OK: true},
		{Name: "8 cores, unevenly", Request: eight, Segs: on(each(0, 0, 1, 0), each(5, 5, 7, 0)), OK: true},
		{Name: "7 cores for 8", Request: eight, Segs: on(each(0, 0, 7, 0))},
		{Name: "9 cores for 8", Request: eight, Segs: on(each(0, 2, 3, 0))},
		{Name: "8 cores on 2-3 nodes: 2", Request: range23, Segs: on(each(0, 1, 4, 0)), OK: true},
		{Name: "8 cores on 2-3 nodes: 3", Request: range23, Segs: on(each(0, 1, 3, 0), each(2, 2, 2, 0)), OK: true},
		{Name: "8 cores on 2-3 nodes: 1", Request: range23, Segs: on(each(0, 0, 8, 0))},
		{Name: "8 cores on 2-3 nodes: 4", Request: range23, Segs: on(each(0, 3, 2, 0))},
		{Name: "8 cores on 2 nodes at least: 8", Request: bids.Request{Cores: 8, MinNodes: 2}, Segs: on(each(0, 7, 1, 0)), OK: true},
		{Name: "8 cores on 2 nodes at least: 1", Request: bids.Request{Cores: 8, MinNodes: 2}, Segs: on(each(0, 0, 8, 0))},
		{Name: "8 cores on 3 nodes at most: 1", Request: bids.Request{Cores: 8, MaxNodes: 3}, Segs: on(each(0, 0, 8, 0)), OK: true},
		{Name: "8 cores on 3 nodes at most: 4", Request: bids.Request{Cores: 8, MaxNodes: 3}, Segs: on(each(0, 3, 2, 0))},
	}
}

// perNode are of requests for exactly so many cores on each node.
func perNode() []Case {
	four := bids.Request{Cores: 8, TasksPerNode: 4}
	nodes4, range24, one := bids.Request{MinNodes: 4, TasksPerNode: 8},
		bids.Request{MinNodes: 2, MaxNodes: 4, TasksPerNode: 3}, bids.Request{TasksPerNode: 3}
	return []Case{
		{Name: "8 cores, 4 a node", Request: four, Segs: on(each(2, 2, 4, 0), each(7, 7, 4, 0)), OK: true},
		{Name: "8 cores, 4 a node: 1 on each of 8", Request: four, Segs: on(each(0, 7, 1, 0))},
		{Name: "8 cores, 4 a node: 2 on each of 4", Request: four, Segs: on(each(0, 3, 2, 0))},
		{Name: "8 cores, 4 a node: 4, 3 and 1", Request: four, Segs: on(each(0, 0, 4, 0), each(1, 1, 3, 0), each(2, 2, 1, 0))},
		{Name: "8 cores, 4 a node: all on one", Request: four, Segs: on(each(0, 0, 8, 0))},
		{Name: "8 a node, 4 nodes", Request: nodes4, Segs: on(each(0, 3, 8, 0)), OK: true},
		{Name: "8 a node, 4 nodes: 5", Request: nodes4, Segs: on(each(0, 4, 8, 0))},
		{Name: "8 a node, 4 nodes: 3", Request: nodes4, Segs: on(each(0, 2, 8, 0))},
		{Name: "8 a node, 4 nodes: as many cores on 8", Request: nodes4, Segs: on(each(0, 7, 4, 0))},
		{Name: "3 a node, 2-4 nodes: 2", Request: range24, Segs: on(each(0, 1, 3, 0)), OK: true},
		{Name: "3 a node, 2-4 nodes: 4", Request: range24, Segs: on(each(0, 1, 3, 0), each(8, 9, 3, 0)), OK: true},
		{Name: "3 a node, 2-4 nodes: 5", Request: range24, Segs: on(each(0, 4, 3, 0))},
		{Name: "3 a node, 2-4 nodes: 2 and 4", Request: range24, Segs: on(each(0, 0, 2, 0), each(1, 1, 4, 0))},
		{Name: "3 a node, no number of nodes: 1", Request: one, Segs: on(each(4, 4, 3, 0)), OK: true},
		{Name: "3 a node, no number of nodes: 2", Request: one, Segs: on(each(4, 5, 3, 0))},
		{Name: "3 a node, 4 nodes at most: 4", Request: bids.Request{MaxNodes: 4, TasksPerNode: 3}, Segs: on(each(0, 3, 3, 0)), OK: true},
		{Name: "3 a node, 4 nodes at most: 1", Request: bids.Request{MaxNodes: 4, TasksPerNode: 3}, Segs: on(each(0, 0, 3, 0)), OK: true},
		{Name: "8 cores, 4 a node, 2 nodes", Request: bids.Request{Cores: 8, TasksPerNode: 4,
			MinNodes: 2, MaxNodes: 2}, Segs: on(each(0, 1, 4, 0)), OK: true},
		{Name: "8 cores, 4 a node, 1-3 nodes: 3", Request: bids.Request{Cores: 8,
			TasksPerNode: 4, MinNodes: 1, MaxNodes: 3}, Segs: on(each(0, 1, 3, 0), each(2, 2, 2, 0))},
	}
}

// mostPerNode are of requests in which the cores on each node are only the most.
func mostPerNode() []Case {
	odd, wide := bids.Request{Cores: 7, TasksPerNode: 3}, bids.Request{Cores: 8, TasksPerNode: 4, MinNodes: 3, MaxNodes: 8}
	return []Case{
		{Name: "7 cores, 3 a node at most: 3, 3, 1", Request: odd, Segs: on(each(0, 1, 3, 0), each(2, 2, 1, 0)), OK: true},
		{Name: "7 cores, 3 a node at most: 1 on each of 7", Request: odd, Segs: on(each(0, 6, 1, 0)), OK: true},
		{Name: "7 cores, 3 a node at most: 4, 3", Request: odd, Segs: on(each(0, 0, 4, 0), each(1, 1, 3, 0))},
		{Name: "8 cores, 4 a node, 3-8 nodes: 4, 2, 2", Request: wide, Segs: on(each(0, 0, 4, 0), each(1, 2, 2, 0)), OK: true},
		{Name: "8 cores, 4 a node, 3-8 nodes: 1 on each of 8", Request: wide, Segs: on(each(0, 7, 1, 0)), OK: true},
		{Name: "8 cores, 4 a node, 3-8 nodes: 2 nodes", Request: wide, Segs: on(each(0, 1, 4, 0))},
		{Name: "8 cores, 4 a node, 3-8 nodes: 5 on one", Request: wide, Segs: on(each(0, 0, 5, 0), each(1, 1, 2, 0), each(2, 2, 1, 0))},
	}
}

// gpus are of requests for GPUs.
func gpus() []Case {
	none, two := bids.Request{Cores: 4}, bids.Request{Cores: 4, MinGPUs: 2}
	span := bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 1, MaxGPUs: 3}
	mixed := span
	mixed.MixedGPUs = true
	return []Case{
		{Name: "no GPU: 1", Request: none, Segs: on(each(0, 0, 4, 1))},
		{Name: "2 GPUs a node", Request: two, Segs: on(each(0, 1, 2, 2)), OK: true},
		{Name: "2 GPUs a node: 1", Request: two, Segs: on(each(0, 1, 2, 1))},
		{Name: "2 GPUs a node: 3", Request: two, Segs: on(each(0, 1, 2, 3))},
		{Name: "1-3 GPUs a node: 3", Request: span, Segs: on(each(0, 1, 2, 3)), OK: true},
		{Name: "1-3 GPUs a node: 1 and 3", Request: span, Segs: on(each(0, 0, 2, 1), each(1, 1, 2, 3))},
		{Name: "1-3 GPUs a node, mixed: 1 and 3", Request: mixed, Segs: on(each(0, 0, 2, 1), each(1, 1, 2, 3)), OK: true},
		{Name: "1-3 GPUs a node, mixed: 0 and 3", Request: mixed, Segs: on(each(0, 0, 2, 0), each(1, 1, 2, 3))},
		{Name: "1-3 GPUs a node, mixed: 1 and 4", Request: mixed, Segs: on(each(0, 0, 2, 1), each(1, 1, 2, 4))},
		{Name: "0-2 GPUs a node: 0", Request: bids.Request{Cores: 4, MaxGPUs: 2}, Segs: on(each(0, 0, 4, 0)), OK: true},
	}
}

// places are of requests for certain nodes.
func places() []Case {
	together := bids.Request{Cores: 6, Contiguous: true}
	even := bids.Request{Cores: 6, Eligible: nodeset.Mask{0b0101010101}}
	return []Case{
		{Name: "consecutive", Request: together, Segs: on(each(3, 4, 2, 0), each(5, 6, 1, 0)), OK: true},
		{Name: "consecutive: a gap", Request: together, Segs: on(each(3, 4, 2, 0), each(6, 7, 1, 0))},
		{Name: "eligible", Request: even, Segs: on(each(0, 0, 2, 0), each(8, 8, 4, 0)), OK: true},
		{Name: "eligible: one is not", Request: even, Segs: on(each(0, 0, 2, 0), each(3, 3, 4, 0))},
		{Name: "eligible: one of several is not", Request: even, Segs: on(each(0, 2, 2, 0))},
	}
}

// coreless are of requests that take GPUs or something else of nodes, and no core.
func coreless() []Case {
	two, range24 := bids.Request{MinNodes: 2, MinGPUs: 1, MaxGPUs: 2}, bids.Request{MinNodes: 2, MaxNodes: 4, MinGPUs: 1}
	disk := bids.Request{Uses: nodeset.Uses{{PerNode: 1}}}
	return []Case{
		{Name: "no core, a GPU of 2 nodes", Request: two, Segs: on(each(0, 1, 0, 1)), OK: true},
		{Name: "no core, 2 GPUs of 2 nodes", Request: two, Segs: on(each(0, 0, 0, 2), each(4, 4, 0, 2)), OK: true},
		{Name: "no core, no GPU", Request: two, Segs: on(each(0, 1, 0, 0))},
		{Name: "no core, 3 nodes for 2", Request: two, Segs: on(each(0, 2, 0, 1))},
		{Name: "a core that nobody asked for", Request: two, Segs: on(each(0, 0, 0, 1), each(1, 1, 1, 1))},
		{Name: "no core, 3 nodes of 2-4", Request: range24, Segs: on(each(0, 2, 0, 1)), OK: true},
		{Name: "no core, 5 nodes of 2-4", Request: range24, Segs: on(each(0, 4, 0, 1))},
		{Name: "nothing but disk", Request: disk, Segs: on(each(3, 3, 0, 0)), OK: true},
		{Name: "nothing but disk, and a core", Request: disk, Segs: on(each(3, 3, 1, 0))},
		{Name: "nothing but disk, of 2 nodes", Request: disk, Segs: on(each(3, 4, 0, 0))},
		{Name: "a node without a core for one of 2", Request: bids.Request{Cores: 2, MinNodes: 2},
			Segs: on(each(0, 0, 0, 0), each(1, 1, 2, 0))},
		{Name: "a node without a core for at most 2 a node", Request: bids.Request{Cores: 3, TasksPerNode: 2},
			Segs: on(each(0, 0, 1, 0), each(1, 1, 2, 0), each(2, 2, 0, 0))},
	}
}
