// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// SwitchFault is what is wrong with a Switch.
type SwitchFault struct {
	Line  int // its index
	Field string
	Value string
	Why   string
}

func (f *SwitchFault) Error() string {
	return fmt.Sprintf("switch %d: %s: %.80s: %s", f.Line, f.Field, f.Value, f.Why)
}

// Tree are switches with their parents, and the leaf of each of so many nodes, -1 for none; find is
// the numbers of the nodes of a hostlist. The error is a [*SwitchFault].
func Tree(lines []Switch, nodes int, find func(list string) ([]int, error)) (leaf []int32, switches []nodeset.Switch, err error) {
	index := make(map[string]int, len(lines))
	switches = make([]nodeset.Switch, len(lines))
	for i, l := range lines {
		switch _, twice := index[l.Name]; {
		case l.Name == "":
			return nil, nil, &SwitchFault{i, "name", `""`, "is missing"}
		case twice:
			return nil, nil, &SwitchFault{i, "name", l.Name, "is there twice"}
		case l.Nodes != "" && l.Switches != "":
			return nil, nil, &SwitchFault{i, "nodes", l.Nodes, "a switch has either nodes or switches"}
		}
		index[l.Name] = i
		switches[i] = nodeset.Switch{Name: l.Name, Parent: -1}
	}
	leaf = slices.Repeat([]int32{-1}, nodes)
	for i, l := range lines {
		if l.Nodes != "" {
			list, err := find(l.Nodes)
			if err != nil {
				return nil, nil, &SwitchFault{i, "nodes", l.Nodes, err.Error()}
			}
			for _, n := range list {
				if k := leaf[n]; k >= 0 {
					return nil, nil, &SwitchFault{i, "nodes", l.Nodes, fmt.Sprintf("node %d is below %.60s already", n, lines[k].Name)}
				}
				leaf[n] = int32(i)
			}
			continue
		}
		if why := adopt(switches, i, l.Switches, index); l.Switches != "" && why != "" {
			return nil, nil, &SwitchFault{i, "switches", l.Switches, why}
		}
	}
	return leaf, switches, nil
}

// adopt has switch i above those of a hostlist.
func adopt(switches []nodeset.Switch, i int, list string, index map[string]int) (why string) {
	if n, err := hostlist.Count(list); err != nil || n > len(switches) {
		return "no list of switches that there are"
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
