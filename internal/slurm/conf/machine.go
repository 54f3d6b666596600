// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// Machine is what the lines NodeName and PartitionName say, in the order of the nodes.
type Machine struct {
	Names []string
	// Nodes are the CPUs, as Slurm counts them, and the GPUs of all types that jobs get: CPUs that
	// are kept for the system (CoreSpecCount, CpuSpecList) are not among them.
	Nodes []nodeset.Capacity
	// Memory is RealMemory less MemSpecLimit, in MiB; 0 where nothing is said.
	Memory []int64
	// Types are the types of GPUs, sorted, and GPUs how many each node has of
	// them, by type and node.
	Types      []string
	GPUs       [][]int64
	Partitions []Partition
}

// Machine makes the machine of the file, as slurmctld would. Nodes with State=FUTURE are not there,
// nor are those that keep all their CPUs for the system. The error is the first fault of the file,
// or a field that is wrong.
func (c *Conf) Machine() (*Machine, error) {
	if len(c.Faults) > 0 {
		return nil, c.Faults[0]
	}
	b := builder{index: map[string]int{}, absent: map[string]bool{}, features: map[string][]run{},
		sets: map[string]*Line{}, partitionNames: map[string]bool{}}
	for i := range c.Lines {
		l := &c.Lines[i]
		switch {
		case l.Is("NodeSet"):
			b.sets[l.Fields[0].Value] = l
		case l.Is("NodeName"):
			if err := b.node(l); err != nil {
				return nil, err
			}
		}
	}
	if len(b.m.Names) == 0 {
		return nil, &Error{File: c.Path, Err: errors.New("no line NodeName names a node")}
	}
	b.spread()
	for i := range c.Lines {
		if err := b.partition(&c.Lines[i]); err != nil {
			return nil, err
		}
	}
	return &b.m, nil
}

// builder collects a machine.
type builder struct {
	m        Machine
	index    map[string]int // of nodes by name
	absent   map[string]bool
	types    []map[string]int64
	features map[string][]run // the nodes that have each
	sets     map[string]*Line // NodeSet lines by name
	// DEFAULT's lines of nodes and of partitions.
	nodes, partitions Line
	partitionNames    map[string]bool
}

// run is nodes from one number up to, not including, another one.
type run struct{ from, to int }

// node takes a line NodeName.
func (b *builder) node(l *Line) error {
	hosts := l.Fields[0].Value
	if strings.EqualFold(hosts, "DEFAULT") {
		b.nodes.Fields = append(b.nodes.Fields, l.Fields...)
		return nil
	}
	line := record{l, &b.nodes}
	cpus, err := line.cpus()
	if err != nil {
		return err
	}
	memory, err := line.memory()
	if err != nil {
		return err
	}
	gres, _ := line.get("Gres")
	types, gpus, err := parseGres(gres)
	if err != nil {
		return l.bad("Gres", gres, "%w", err)
	}
	names, err := b.names(hosts)
	if err != nil {
		return l.bad("NodeName", hosts, "%w", err)
	}
	state, _ := line.get("State")
	present := cpus > 0 && !strings.EqualFold(state, "FUTURE")
	from := len(b.m.Names)
	for _, name := range names {
		if _, twice := b.index[name]; twice || b.absent[name] {
			return l.bad("NodeName", hosts, "node %s has a line already", name)
		}
		if !present {
			b.absent[name] = true
			continue
		}
		b.index[name] = len(b.m.Names)
		b.m.Names, b.types = append(b.m.Names, name), append(b.types, types)
		b.m.Nodes = append(b.m.Nodes, nodeset.Capacity{Cores: uint16(cpus), GPUs: uint8(gpus)})
		b.m.Memory = append(b.m.Memory, memory)
	}
	for feature := range strings.SplitSeq(line.first("Feature", "Features"), ",") {
		b.features[feature] = append(b.features[feature], run{from, len(b.m.Names)})
	}
	return nil
}

// names are those of the nodes of a line.
func (b *builder) names(hosts string) ([]string, error) {
	n, err := hostlist.Count(hosts)
	switch {
	case err != nil:
		return nil, err
	case n > nodeset.MaxNodes-len(b.m.Names)-len(b.absent):
		return nil, fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	case strings.EqualFold(hosts, "ALL"):
		return nil, errors.New("is no name of a node: it stands for all of them")
	}
	return hostlist.Expand(hosts)
}

// parseGres gives the GPUs of a list of generic resources by type, "" being none, and in all.
func parseGres(text string) (types map[string]int64, all int64, err error) {
	types = map[string]int64{}
	for item := range strings.SplitSeq(WithoutSockets(text), ",") {
		parts := strings.Split(item, ":")
		if parts[0] != "gpu" {
			continue
		}
		kind, count := "", "1"
		switch {
		case len(parts) == 2 && strings.Trim(parts[1], "0123456789") == "":
			count = parts[1]
		case len(parts) == 2:
			kind = parts[1]
		case len(parts) > 2:
			kind, count = parts[1], parts[len(parts)-1]
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || n > math.MaxUint8 {
			return nil, 0, fmt.Errorf("%s: not a number of GPUs from 0 to %d", item, math.MaxUint8)
		}
		types[kind] += n
		if all += n; all > math.MaxUint8 {
			return nil, 0, fmt.Errorf("more than %d GPUs on a node", math.MaxUint8)
		}
	}
	return types, all, nil
}

var inParentheses = regexp.MustCompile(`\([^)]*\)?`)

// WithoutSockets leaves out what stands in parentheses, as in gpu:4(S:0,1).
func WithoutSockets(text string) string { return inParentheses.ReplaceAllString(text, "") }

// spread turns the types by node into nodes by type.
func (b *builder) spread() {
	for n, types := range b.types {
		for kind, count := range types {
			if kind == "" || count == 0 {
				continue
			}
			k, found := slices.BinarySearch(b.m.Types, kind)
			if !found {
				b.m.Types = slices.Insert(b.m.Types, k, kind)
				b.m.GPUs = slices.Insert(b.m.GPUs, k, make([]int64, len(b.m.Names)))
			}
			b.m.GPUs[k][n] = count
		}
	}
}

// Partition is one that takes jobs.
type Partition struct {
	Name  string
	Nodes nodeset.Mask
	// Unknown says why the file doesn't tell which nodes it has; Nodes is empty then.
	Unknown string
	// Tier is PriorityTier and JobFactor PriorityJobFactor, 1 unless set; Priority sets both.
	Tier, JobFactor int64
	// DefaultTime and MaxTime are in seconds; 0 where there is none.
	DefaultTime, MaxTime int64
}
