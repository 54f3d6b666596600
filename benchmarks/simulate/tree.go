// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/switches"
	"github.com/aucsched/aucsched/internal/hostlist"
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
	flags.StringVar(&f.file, "topology", "",
		"a topology.conf or topology.yaml of Slurm; of a --cluster without names its nodes, in its order, are the machine's")
	flags.BoolVar(&f.blind, "blind", false, "with --leaves or --topology: policies do not know of it")
}

// read is the topology of a machine of so many nodes, nil for none, and whether policies do not
// know of it. names are the nodes', nil if they have none.
func (f *treeFlags) read(flags *pflag.FlagSet, nodes int, names []string) (tree *nodeset.Topology, blind bool, err error) {
	switch {
	case f.leaves != 0 && f.file != "":
		return nil, false, errors.New("--leaves: goes without --topology")
	case f.file != "":
		tree, err = f.readFile(nodes, names)
	case flags.Changed("leaves"):
		if tree, err = switches.Even(nodes, f.leaves); err != nil {
			err = fmt.Errorf("--leaves: %w", err)
		}
	case f.blind:
		err = errors.New("--blind: goes with --leaves or --topology")
	}
	return tree, f.blind, err
}

// readFile reads a topology.conf or topology.yaml. Of a machine without names, the nodes that the
// file names are its nodes in the order in which they are there.
func (f *treeFlags) readFile(nodes int, names []string) (*nodeset.Topology, error) {
	in, err := os.Open(f.file)
	if err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	defer func() { _ = in.Close() }()
	lines, err := switches.ReadConf(in, f.file)
	if err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	p := places{nodes: nodes, index: make(map[string]int, nodes), placed: make([]bool, nodes), named: names != nil}
	for n, name := range names {
		p.index[name] = n
	}
	tree, err := switches.Topology(lines, nodes, p.find)
	if err != nil {
		return nil, fmt.Errorf("--topology: %s: %w", f.file, err)
	}
	warnNodes("nodes below several leaf switches are taken as below the first", p.twice)
	warnNodes("nodes that the machine does not have are left out of the topology", p.unknown)
	return tree, nil
}

func warnNodes(what string, names []string) {
	if len(names) == 0 {
		return
	}
	list, err := hostlist.Compress(names)
	if err != nil {
		list = strings.Join(names, ",")
	}
	slog.Warn(what, "nodes", list)
}

// places are where the nodes of a topology are in the machine.
type places struct {
	nodes          int
	index          map[string]int // by name
	named          bool           // the machine has names; or else nodes are numbered as they come
	placed         []bool         // those that are below a leaf
	twice, unknown []string
}

// find is the numbers of those nodes of a hostlist that are below no leaf yet. Like Slurm it takes
// nodes that are there twice, or not at all, for no error.
func (p *places) find(list string) (found []int, err error) {
	n, err := hostlist.Count(list)
	if err == nil && n > nodeset.MaxNodes {
		err = fmt.Errorf("%.60s: more than %d nodes", list, nodeset.MaxNodes)
	}
	if err != nil {
		return nil, err
	}
	names, err := hostlist.Expand(list)
	for _, name := range names {
		n, known := p.index[name]
		switch {
		case !known && p.named:
			p.unknown = append(p.unknown, name)
			continue
		case !known && len(p.index) == p.nodes:
			return nil, fmt.Errorf("%.60s: the machine has %d nodes", list, p.nodes)
		case !known:
			n = len(p.index)
			p.index[name] = n
		}
		if p.placed[n] {
			p.twice = append(p.twice, name)
			continue
		}
		p.placed[n] = true
		found = append(found, n)
	}
	return found, err
}
