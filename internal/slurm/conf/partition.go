// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"fmt"
	"math"
	"strings"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// partition takes a line, if it is of a partition.
func (b *builder) partition(l *Line) error {
	if !l.Is("PartitionName") {
		return nil
	}
	name := l.Fields[0].Value
	if strings.EqualFold(name, "DEFAULT") {
		b.partitions.Fields = append(b.partitions.Fields, l.Fields...)
		return nil
	}
	if b.partitionNames[name] {
		return l.bad("PartitionName", name, "the partition has a line already")
	}
	b.partitionNames[name] = true
	p := Partition{Name: name, Nodes: nodeset.NewMask(len(b.m.Names))}
	line := record{l, &b.partitions}
	hosts, _ := line.get("Nodes")
	if strings.Trim(hosts, space+",") != "" && !strings.EqualFold(hosts, "(null)") {
		if err := b.fill(&p, l, hosts); err != nil {
			return err
		}
	}
	if p.Unknown != "" {
		p.Nodes = nodeset.NewMask(len(b.m.Names))
	}
	if err := p.rules(line); err != nil {
		return err
	}
	b.m.Partitions = append(b.m.Partitions, p)
	return nil
}

// rules are what the partition has for its jobs.
func (p *Partition) rules(line record) error {
	p.Tier, p.JobFactor = 1, 1
	for _, x := range []struct {
		key string
		to  []*int64
	}{{"PriorityTier", []*int64{&p.Tier}}, {"PriorityJobFactor", []*int64{&p.JobFactor}}, {"Priority", []*int64{&p.Tier, &p.JobFactor}}} {
		n, given, err := line.number(x.key, math.MaxUint16)
		if err != nil {
			return err
		}
		for _, to := range x.to {
			if given {
				*to = int64(n)
			}
		}
	}
	for _, x := range []struct {
		key string
		to  *int64
	}{{"DefaultTime", &p.DefaultTime}, {"MaxTime", &p.MaxTime}} {
		text, _ := line.get(x.key)
		if text == "" || strings.EqualFold(text, "NONE") {
			continue
		}
		minutes, err := Minutes(text)
		if err != nil {
			return line.line.bad(x.key, text, "%w", err)
		}
		*x.to = max(minutes*60, 0)
	}
	return nil
}

// fill gives the partition the nodes that hosts names: ALL, node sets and host lists.
func (b *builder) fill(p *Partition, l *Line, hosts string) error {
	if strings.ContainsAny(hosts, "{}") {
		p.Unknown = fmt.Sprintf("%.60s is of the topology", hosts)
		return nil
	}
	if n, err := hostlist.Count(hosts); err != nil || n > nodeset.MaxNodes {
		return l.bad("Nodes", hosts, "no list of at most %d nodes: %w", nodeset.MaxNodes, err)
	}
	names, err := hostlist.Expand(hosts)
	if err != nil {
		return l.bad("Nodes", hosts, "%w", err)
	}
	for _, name := range names {
		set := b.sets[name]
		switch n, known := b.index[name]; {
		case known:
			p.Nodes.Set(n)
		case b.absent[name]:
		case strings.EqualFold(name, "ALL"):
			b.add(p, run{0, len(b.m.Names)})
		case set != nil:
			b.sets[name] = nil // a set that names itself
			err := b.fillSet(p, set)
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

// fillSet gives the partition the nodes of a line NodeSet: those that it names, and those of a
// feature.
func (b *builder) fillSet(p *Partition, set *Line) error {
	if feature, _ := set.Get("Feature"); feature != "" {
		runs, known := b.features[feature]
		if !known {
			p.Unknown = fmt.Sprintf("no line NodeName has feature %.60q, by which NodeSet %.60s goes", feature, set.Fields[0].Value)
		}
		for _, r := range runs {
			b.add(p, r)
		}
	}
	if hosts, _ := set.Get("Nodes"); hosts != "" {
		return b.fill(p, set, hosts)
	}
	return nil
}

func (b *builder) add(p *Partition, r run) {
	for n := r.from; n < r.to; n++ {
		p.Nodes.Set(n)
	}
}
