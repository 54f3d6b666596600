// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aucsched/aucsched/nodeset"
)

// loadSwitches makes the topology of in, or says what is wrong with it, as [*InputError].
func (s *snapshot) loadSwitches(in *Input) error {
	if len(in.Switches) == 0 {
		s.Topology = nil
		return nil
	}
	if s.Topology != nil && slices.Equal(s.switches.list, in.Switches) && slices.Equal(s.switches.leaves, in.Leaves) {
		return nil
	}
	s.Topology = nil
	tree, err := newTopology(in)
	if err != nil {
		return err
	}
	s.Topology = tree
	s.switches.list = append(s.switches.list[:0], in.Switches...)
	s.switches.leaves = append(s.switches.leaves[:0], in.Leaves...)
	return nil
}

func newTopology(in *Input) (*nodeset.Topology, error) {
	nodes, count := len(in.Nodes), len(in.Switches)
	if count > MaxNodes {
		return nil, whole("switches", count, "there must be at most %d", MaxNodes)
	}
	if len(in.Leaves) != nodes {
		return nil, whole("leaves", len(in.Leaves), "there must be one for each of %d nodes", nodes)
	}
	list := make([]nodeset.Switch, count)
	for i, x := range in.Switches {
		list[i] = nodeset.Switch{Name: strconv.Itoa(i), Parent: -1}
		switch {
		case x.Reserved != 0:
			return nil, &InputError{"switches", i, "reserved", x.Reserved, "must be 0"}
		case x.Parent == NoSwitch:
		case int(x.Parent) >= count:
			return nil, &InputError{"switches", i, "parent", x.Parent, fmt.Sprintf("must be the index of one of the %d switches", count)}
		default:
			list[i].Parent = int(x.Parent)
		}
	}
	leaves := make([]int32, nodes)
	for n, leaf := range in.Leaves {
		switch {
		case leaf == NoSwitch:
			leaves[n] = -1
		case int(leaf) >= count:
			return nil, &InputError{"leaves", n, "leaf", leaf, fmt.Sprintf("must be the index of one of the %d switches", count)}
		default:
			leaves[n] = int32(leaf)
		}
	}
	tree, err := nodeset.NewTopology(leaves, list)
	if err != nil {
		return nil, whole("switches", count, "%v", err)
	}
	return tree, nil
}

// TakeLeaves has running jobs with whole leaves hold what is free there, until their ends, in copies of the arrays of in.
func (in *Input) TakeLeaves() {
	if len(in.Switches) == 0 || len(in.Leaves) != len(in.Nodes) {
		return
	}
	below := func(n int) int { // a node of no leaf is its own
		if leaf := in.Leaves[n]; leaf != NoSwitch {
			return int(leaf)
		}
		return len(in.Switches) + n
	}
	own := map[int]int{} // the first job that has a leaf
	for i := range in.Running {
		r := &in.Running[i]
		if end := uint64(r.FirstSegment) + uint64(r.Segments); r.WholeLeaves == 0 || end > uint64(len(in.Segments)) {
			continue
		}
		for _, g := range in.Segments[r.FirstSegment:][:r.Segments] {
			for n := int(g.First); n <= int(g.Last) && n < len(in.Nodes); n++ {
				if _, taken := own[below(n)]; !taken {
					own[below(n)] = i
				}
			}
		}
	}
	if len(own) == 0 {
		return
	}
	in.Nodes, in.Running, in.Segments = slices.Clone(in.Nodes), slices.Clone(in.Running), slices.Clone(in.Segments)
	for n := range in.Nodes {
		node := &in.Nodes[n]
		i, taken := own[below(n)]
		if !taken || node.FreeCores == 0 {
			continue
		}
		in.Running = append(in.Running, Running{End: in.Running[i].End, FirstSegment: uint32(len(in.Segments)), Segments: 1})
		in.Segments = append(in.Segments, Segment{First: uint32(n), Last: uint32(n), Cores: node.FreeCores, GPUs: node.FreeGPUs})
		node.FreeCores, node.FreeGPUs = 0, 0
	}
}
