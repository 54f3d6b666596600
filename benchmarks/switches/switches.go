// SPDX-License-Identifier: BSD-3-Clause

// Package switches reads where nodes stand: lists of switches by name, and Slurm's topology.conf.
package switches

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// Line is a switch, a block or a rack, as a [format.Switch].
type Line struct{ Name, Nodes, Switches string }

// Topology is that of a machine of so many nodes; find is the numbers of the nodes of a hostlist.
// The error is a [*format.SwitchFault] where it is about one Line.
func Topology(lines []Line, nodes int, find func(list string) ([]int, error)) (*nodeset.Topology, error) {
	all := make([]format.Switch, len(lines))
	for i := range lines {
		all[i] = format.Switch(lines[i])
	}
	leaf, switches, err := format.Tree(all, nodes, find)
	if err != nil {
		return nil, err
	}
	return nodeset.NewTopology(leaf, switches)
}

// Even is the topology of a machine whose nodes, in order, are below so many leaves of one size,
// or nearly, and these below one root. The error is about the number.
func Even(nodes, leaves int) (*nodeset.Topology, error) {
	if leaves < 1 || leaves > nodes {
		return nil, fmt.Errorf("%d leaves: must be 1 to %d, the number of nodes", leaves, nodes)
	}
	switches := make([]nodeset.Switch, leaves, leaves+1)
	for i := range switches {
		switches[i] = nodeset.Switch{Name: fmt.Sprintf("leaf%d", i), Parent: leaves}
	}
	leaf := make([]int32, nodes)
	for n := range leaf {
		leaf[n] = int32(n * leaves / nodes)
	}
	return nodeset.NewTopology(leaf, append(switches, nodeset.Switch{Name: "root", Parent: -1}))
}
