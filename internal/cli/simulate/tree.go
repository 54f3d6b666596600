// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/switches"
	"github.com/aucsched/aucsched/nodeset"
)

// treeFlags say where the nodes of the machine stand.
type treeFlags struct {
	leaves int
	file   string
	blind  bool
}

// treeSettings are the names of these flags.
var treeSettings = []string{"leaves", "topology", "blind"}

func (f *treeFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.leaves, "leaves", 0, "the nodes are below so many leaf switches of one size, in order; 0: no topology")
	flags.StringVar(&f.file, "topology", "", "a topology.conf of Slurm; its nodes, in its order, are those of the machine")
	flags.BoolVar(&f.blind, "blind", false, "with --leaves or --topology: policies do not know of it")
}

// read is the topology of a machine of so many nodes, nil for none, and whether policies do not
// know of it.
func (f *treeFlags) read(flags *pflag.FlagSet, nodes int) (tree *nodeset.Topology, blind bool, err error) {
	switch {
	case f.leaves != 0 && f.file != "":
		return nil, false, errors.New("--leaves: goes without --topology")
	case f.file != "":
		tree, err = f.readFile(nodes)
	case flags.Changed("leaves"):
		if tree, err = switches.Even(nodes, f.leaves); err != nil {
			err = fmt.Errorf("--leaves: %w", err)
		}
	case f.blind:
		err = errors.New("--blind: goes with --leaves or --topology")
	}
	return tree, f.blind, err
}

// readFile reads a topology.conf. A machine has no names: the nodes that the file names are its
// nodes in the order in which they are there.
func (f *treeFlags) readFile(nodes int) (*nodeset.Topology, error) {
	in, err := os.Open(f.file)
	if err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	defer func() { _ = in.Close() }()
	lines, err := switches.ReadConf(in, f.file)
	if err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	index := make(map[string]int)
	tree, err := switches.Topology(lines, nodes, func(list string) ([]int, error) { return numbers(index, list, nodes) })
	if err != nil {
		return nil, fmt.Errorf("--topology: %s: %w", f.file, err)
	}
	return tree, nil
}

// numbers are those of the nodes of a hostlist, which are new, of so many in all.
func numbers(index map[string]int, list string, nodes int) (found []int, err error) {
	n, err := hostlist.Count(list)
	if err != nil {
		return nil, err
	}
	if len(index)+n > nodes {
		return nil, fmt.Errorf("%.60s: the machine has %d nodes", list, nodes)
	}
	names, err := hostlist.Expand(list)
	for _, name := range names {
		if _, twice := index[name]; twice {
			return nil, fmt.Errorf("node %s is there twice", name)
		}
		index[name] = len(index)
		found = append(found, index[name])
	}
	return found, err
}
