// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// onLeaves is eight idle nodes of four cores, four below each of two leaves.
func onLeaves(jobs ...Job) *Input {
	in := &Input{Jobs: jobs, Switches: []Switch{{Parent: 2}, {Parent: 2}, {Parent: NoSwitch}}}
	for n := range uint32(8) {
		in.Nodes = append(in.Nodes, Node{Cores: 4, FreeCores: 4, Up: 1})
		in.Leaves = append(in.Leaves, n/4)
	}
	return in
}

func threeNodes() Job {
	return Job{Priority: 9, Cores: 12, MinNodes: 3, MaxNodes: 3, CoresPerNode: 4, TimeLimit: 60, Mask: -1}
}

// A job of three nodes is below the leaf that has them, and stays there as the tree stays the same.
func TestSwitches(t *testing.T) {
	e, err := New("", Options{})
	require.NoError(t, err)
	var out Output
	in := onLeaves(threeNodes())
	in.Nodes[0].FreeCores, in.Nodes[1].FreeCores = 0, 0
	for range 2 {
		require.NoError(t, e.Cycle(in, &out))
		require.Equal(t, []Segment{{First: 4, Last: 6, Cores: 4}}, out.Segments)
	}
	tree := e.snapshot.Topology
	require.NoError(t, e.Cycle(in, &out))
	require.Same(t, tree, e.snapshot.Topology, "what is known of requests is kept")

	in.Nodes[7].FreeCores, in.Nodes[6].FreeCores = 0, 0
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, 1, out.Starts, "it starts across leaves")
	in.Jobs[0].Switches = 1
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, WaitsFit, out.Decisions[0].Why)
	in.Jobs[0].Switches, in.Jobs[0].Within = 0, 1
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, WaitsFit, out.Decisions[0].Why)
	in.Jobs[0].Within = Root
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, Starts, out.Decisions[0].Why)
	in.Switches, in.Leaves, in.Jobs[0].Within = nil, nil, 1
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, Starts, out.Decisions[0].Why, "nothing is demanded without switches")
}

func TestSwitchFaults(t *testing.T) {
	e, err := New("", Options{})
	require.NoError(t, err)
	for want, change := range map[string]func(*Input){
		"leaves: 7: there must be one for each of 8 nodes":                  func(in *Input) { in.Leaves = in.Leaves[:7] },
		"leaves[3].leaf: 5: must be the index of one of the 3 switches":     func(in *Input) { in.Leaves[3] = 5 },
		"switches[1].parent: 3: must be the index of one of the 3 switches": func(in *Input) { in.Switches[1].Parent = 3 },
		"switches[1].reserved: 1: must be 0":                                func(in *Input) { in.Switches[1].Reserved = 1 },
		"switches: 3: switch 2 has nodes of its own, and switches below it": func(in *Input) { in.Leaves[0] = 2 },
	} {
		in := onLeaves(threeNodes())
		change(in)
		var out Output
		require.EqualError(t, e.Cycle(in, &out), want)
	}
	in := onLeaves(threeNodes())
	in.Jobs[0].Segment = 2
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, Faulty, out.Decisions[0].Why)
	require.EqualError(t, out.Fault, "jobs[0].segment: 2: must divide its number of nodes, which has to be fixed")
}

// What is free below a leaf that a running job has to itself is nobody's until it ends.
func TestWholeLeaves(t *testing.T) {
	e, err := New("preset=none", Options{})
	require.NoError(t, err)
	var out Output
	cycle := func(whole uint8, j Job) Decision {
		in := onLeaves(j, Job{Priority: 1, Cores: 1, TimeLimit: 60, Mask: -1})
		in.Nodes[5].FreeCores = 2
		in.Running = []Running{{End: 50, Segments: 1, WholeLeaves: whole}}
		in.Segments = []Segment{{First: 5, Last: 5, Cores: 2}}
		nodes := in.Nodes
		in.TakeLeaves()
		require.Equal(t, uint16(4), nodes[4].FreeCores, "the caller's array is as it was")
		require.NoError(t, e.Cycle(in, &out))
		require.Zero(t, out.Faults)
		return out.Decisions[0]
	}
	j := threeNodes()
	require.Equal(t, Starts, cycle(1, j).Why)
	j.Cores, j.MinNodes, j.MaxNodes = 20, 5, 5
	require.Equal(t, Starts, cycle(0, j).Why)
	d := cycle(1, j)
	require.Equal(t, WaitsReserved, d.Why)
	require.EqualValues(t, 50, d.Expected)
}
