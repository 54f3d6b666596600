// SPDX-License-Identifier: BSD-3-Clause

// Package switches reads where nodes stand: lists of switches by name, and Slurm's topology.conf.
package switches

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// Line is a switch, a block or a rack: a leaf has Nodes, another one has Switches below it. Both
// are hostlists; of the latter the names are those of other Lines, before or behind it.
type Line struct{ Name, Nodes, Switches string }

// Fault is what is wrong with a Line.
type Fault struct {
	Line  int // its index
	Field string
	Why   string
}

func (f *Fault) Error() string { return fmt.Sprintf("switch %d: %s: %s", f.Line, f.Field, f.Why) }

// Topology is that of a machine of so many nodes; find is the numbers of the nodes of a hostlist.
// The error is a [*Fault] where it is about one Line.
func Topology(lines []Line, nodes int, find func(list string) ([]int, error)) (*nodeset.Topology, error) {
	index := make(map[string]int, len(lines))
	switches := make([]nodeset.Switch, len(lines))
	for i, l := range lines {
		switch _, twice := index[l.Name]; {
		case l.Name == "":
			return nil, &Fault{i, "name", "is missing"}
		case twice:
			return nil, &Fault{i, "name", fmt.Sprintf("%.60s is there twice", l.Name)}
		case (l.Nodes == "") == (l.Switches == ""):
			return nil, &Fault{i, "nodes", "a switch has either nodes or switches"}
		}
		index[l.Name] = i
		switches[i] = nodeset.Switch{Name: l.Name, Parent: -1}
	}
	leaf := slices.Repeat([]int32{-1}, nodes)
	for i, l := range lines {
		if l.Nodes != "" {
			list, err := find(l.Nodes)
			if err != nil {
				return nil, &Fault{i, "nodes", err.Error()}
			}
			for _, n := range list {
				if k := leaf[n]; k >= 0 {
					return nil, fmt.Errorf("switch %.60s: node %d is below %.60s already", l.Name, n, lines[k].Name)
				}
				leaf[n] = int32(i)
			}
			continue
		}
		if why := adopt(switches, i, l.Switches, index); why != "" {
			return nil, &Fault{i, "switches", why}
		}
	}
	return nodeset.NewTopology(leaf, switches)
}

// adopt has switch i above those of a hostlist.
func adopt(switches []nodeset.Switch, i int, list string, index map[string]int) (why string) {
	if n, err := hostlist.Count(list); err != nil || n > len(switches) {
		return fmt.Sprintf("%.60s: no list of switches that there are", list)
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return err.Error()
	}
	for _, name := range names {
		k, ok := index[name]
		switch {
		case !ok:
			return fmt.Sprintf("there is no switch %.60s", name)
		case switches[k].Parent >= 0:
			return fmt.Sprintf("%.60s is below %.60s already", name, switches[switches[k].Parent].Name)
		}
		switches[k].Parent = i
	}
	return ""
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
