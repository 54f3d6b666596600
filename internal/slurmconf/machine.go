// SPDX-License-Identifier: BSD-3-Clause

package slurmconf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// Machine is what the lines NodeName and PartitionName say, in the order of the nodes.
type Machine struct {
	Names []string
	Nodes []nodeset.Capacity // CPUs, as Slurm counts them, and GPUs of all types
	// Memory is RealMemory less MemSpecLimit, in MiB; 0 where nothing is said.
	Memory []int64
	// Types are the types of GPUs, sorted, and GPUs how many each node has of
	// them, by type and node.
	Types      []string
	GPUs       [][]int64
	Partitions []Partition
}

// Partition is one that takes jobs.
type Partition struct {
	Name  string
	Nodes nodeset.Mask
	// Tier is PriorityTier and JobFactor PriorityJobFactor, 1 unless set; Priority sets both.
	Tier, JobFactor int64
	// DefaultTime and MaxTime are in seconds; 0 where there is none.
	DefaultTime, MaxTime int64
}

// Machine makes the machine of the file. Lines of dynamic nodes (NodeName without a size, NodeSet
// of features) are not followed: a partition of a NodeSet has the nodes that this names. Nodes with
// State=FUTURE are not there.
func (c *Conf) Machine() (*Machine, error) {
	b := builder{index: map[string]int{}, sets: map[string]string{}, future: map[string]bool{}}
	for i := range c.Lines {
		if err := b.node(&c.Lines[i]); err != nil {
			return nil, err
		}
	}
	if len(b.m.Names) == 0 {
		return nil, errors.New("slurm.conf: no line NodeName names a node")
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
	m                    Machine
	index                map[string]int // of nodes by name
	types                []map[string]int64
	sets                 map[string]string // NodeSet lines: their Nodes by name
	future               map[string]bool   // nodes that are not there yet
	nodes, partitionLine Line              // of DEFAULT
}

// value is that of a key of a line, or else of DEFAULT's.
func value(l, defaults *Line, key string) string {
	if v, ok := l.Get(key); ok {
		return v
	}
	v, _ := defaults.Get(key)
	return v
}

func (b *builder) node(l *Line) error {
	if names, ok := l.Get("NodeSet"); ok {
		b.sets[names], _ = l.Get("Nodes")
	}
	hosts, ok := l.Get("NodeName")
	switch {
	case !ok:
		return nil
	case strings.EqualFold(hosts, "DEFAULT"):
		b.nodes.Fields = slices.Concat(l.Fields, b.nodes.Fields)
		return nil
	}
	cpus, err := b.cpus(l)
	if err != nil {
		return err
	}
	memory, err := b.memory(l)
	if err != nil {
		return err
	}
	types, gpus, err := parseGres(value(l, &b.nodes, "Gres"))
	if err != nil {
		return l.bad("Gres", value(l, &b.nodes, "Gres"), "%w", err)
	}
	n, err := hostlist.Count(hosts)
	if err == nil && n > nodeset.MaxNodes-len(b.m.Names) {
		err = fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	}
	if err != nil {
		return l.bad("NodeName", hosts, "%w", err)
	}
	names, err := hostlist.Expand(hosts)
	if err != nil {
		return l.bad("NodeName", hosts, "%w", err)
	}
	if strings.EqualFold(value(l, &b.nodes, "State"), "FUTURE") {
		for _, name := range names {
			b.future[name] = true
		}
		return nil
	}
	for _, name := range names {
		if _, twice := b.index[name]; twice {
			return l.bad("NodeName", hosts, "node %s has a line already", name)
		}
		b.index[name] = len(b.m.Names)
		b.m.Names, b.types = append(b.m.Names, name), append(b.types, types)
		b.m.Nodes = append(b.m.Nodes, nodeset.Capacity{Cores: uint16(cpus), GPUs: uint8(gpus)})
		b.m.Memory = append(b.m.Memory, memory)
	}
	return nil
}

// number is the value of a key, or what it is where missing.
func (b *builder) number(l *Line, key string, missing, most int64) (int64, error) {
	text := value(l, &b.nodes, key)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, l.bad(key, text, "must be a whole number from 0 to %d", most)
	}
	return n, nil
}

// cpus is CPUs or, where that is not given, what the sockets come to.
func (b *builder) cpus(l *Line) (int64, error) {
	const most = math.MaxUint16
	n, err := b.number(l, "CPUs", 0, most)
	if n > 0 || err != nil {
		return n, err
	}
	sockets := "Sockets"
	if value(l, &b.nodes, "SocketsPerBoard") != "" {
		sockets = "SocketsPerBoard"
	}
	n = 1
	for _, key := range []string{"Boards", sockets, "CoresPerSocket", "ThreadsPerCore"} {
		k, err := b.number(l, key, 1, most)
		if err != nil {
			return 0, err
		}
		if n *= max(k, 1); n > most {
			return 0, l.bad(key, strconv.FormatInt(k, 10), "more than %d CPUs on a node", most)
		}
	}
	return n, nil
}

func (b *builder) memory(l *Line) (int64, error) {
	real, err := b.number(l, "RealMemory", 0, nodeset.MaxAmount)
	if err != nil {
		return 0, err
	}
	spec, err := b.number(l, "MemSpecLimit", 0, nodeset.MaxAmount)
	return max(real-spec, min(real, 1)), err
}

// parseGres gives the GPUs of a list of generic resources by type, "" being none, and in all.
func parseGres(text string) (types map[string]int64, all int64, err error) {
	types = map[string]int64{}
	for item := range strings.SplitSeq(withoutSockets(text), ",") {
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

// withoutSockets leaves out what stands in parentheses, as in gpu:4(S:0,1).
func withoutSockets(text string) string {
	for {
		from := strings.IndexByte(text, '(')
		if from < 0 {
			return text
		}
		length := strings.IndexByte(text[from:], ')')
		if length < 0 {
			return text[:from]
		}
		text = text[:from] + text[from+length+1:]
	}
}

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

func (b *builder) partition(l *Line) error {
	name, ok := l.Get("PartitionName")
	switch {
	case !ok:
		return nil
	case strings.EqualFold(name, "DEFAULT"):
		b.partitionLine.Fields = slices.Concat(l.Fields, b.partitionLine.Fields)
		return nil
	}
	p := Partition{Name: name, Nodes: nodeset.NewMask(len(b.m.Names))}
	hosts := value(l, &b.partitionLine, "Nodes")
	if hosts != "" && !strings.EqualFold(hosts, "(null)") {
		if err := b.fill(&p, l, hosts); err != nil {
			return err
		}
	}
	if err := b.rules(&p, l); err != nil {
		return err
	}
	b.m.Partitions = append(b.m.Partitions, p)
	return nil
}

// rules are what the partition has for its jobs.
func (b *builder) rules(p *Partition, l *Line) error {
	p.Tier, p.JobFactor = 1, 1
	for _, x := range []struct {
		key string
		to  []*int64
	}{{"Priority", []*int64{&p.Tier, &p.JobFactor}}, {"PriorityTier", []*int64{&p.Tier}}, {"PriorityJobFactor", []*int64{&p.JobFactor}}} {
		text := value(l, &b.partitionLine, x.key)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return l.bad(x.key, text, "must be a whole number from 0 to %d", math.MaxUint16)
		}
		for _, to := range x.to {
			*to = int64(n)
		}
	}
	for key, to := range map[string]*int64{"DefaultTime": &p.DefaultTime, "MaxTime": &p.MaxTime} {
		text := value(l, &b.partitionLine, key)
		if text == "" || strings.EqualFold(text, "NONE") {
			continue
		}
		minutes, err := Minutes(text)
		if err != nil {
			return l.bad(key, text, "%w", err)
		}
		*to = max(minutes*60, 0)
	}
	return nil
}

// fill gives the partition the nodes that hosts names: ALL, node sets and host lists.
func (b *builder) fill(p *Partition, l *Line, hosts string) error {
	names, err := hostlist.Expand(hosts)
	if err != nil {
		return l.bad("Nodes", hosts, "%w", err)
	}
	for _, name := range names {
		set, isSet := b.sets[name]
		switch n, known := b.index[name]; {
		case known:
			p.Nodes.Set(n)
		case b.future[name]:
		case strings.EqualFold(name, "ALL"):
			for n := range b.m.Names {
				p.Nodes.Set(n)
			}
		case isSet && set == "":
			return l.bad("Nodes", hosts, "which nodes are of NodeSet %s can't be told from the file: it goes by features", name)
		case isSet:
			delete(b.sets, name) // a set that names itself
			err := b.fill(p, l, set)
			b.sets[name] = set
			if err != nil {
				return err
			}
		default:
			return l.bad("Nodes", hosts, "there is no node %s", name)
		}
	}
	return nil
}
