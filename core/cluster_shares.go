// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Share is what a job has of one node.
type Share struct {
	Node        string
	Cores, GPUs int
}

// shares puts an allocation into names.
func shares(names []string, segs []nodeset.Segment) []Share {
	out := make([]Share, 0, nodeset.Nodes(segs))
	for _, s := range segs {
		for _, name := range names[s.First : s.Last+1] {
			out = append(out, Share{name, int(s.Cores), int(s.GPUs)})
		}
	}
	return out
}

// renumbered is an allocation of a cycle on the nodes of now, in new memory. It fails if a node has
// gone.
func (m *machine) renumbered(names []string, segs []nodeset.Segment) ([]nodeset.Segment, error) {
	var single []nodeset.Segment
	for _, s := range segs {
		for _, name := range names[s.First : s.Last+1] {
			n, ok := m.index[name]
			if !ok {
				return nil, unknownNode(name)
			}
			s.First, s.Last = int32(n), int32(n)
			single = append(single, s)
		}
	}
	return joined(single), nil
}

// joined is an allocation of single nodes in order, alike neighbours as one segment.
func joined(single []nodeset.Segment) (segs []nodeset.Segment) {
	slices.SortFunc(single, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	for _, s := range single {
		segs = nodeset.Append(segs, s)
	}
	return segs
}

// lack reports the first node that is not up, or has not free what is asked of it.
func (m *machine) lack(segs []nodeset.Segment) error {
	for _, s := range segs {
		for n := int(s.First); n <= int(s.Last); n++ {
			switch free := m.table.Free(n); {
			case !m.up[n]:
				return nodeFault(m.names[n], "state", "down", "no job starts there", nil)
			case free.Cores < s.Cores:
				return m.tooLittle(n, "cores", int64(free.Cores), int64(s.Cores))
			case free.GPUs < s.GPUs:
				return m.tooLittle(n, "gpus", int64(free.GPUs), int64(s.GPUs))
			}
		}
	}
	return nil
}

func (m *machine) tooLittle(n int, field string, free, need int64) error {
	return nodeFault(m.names[n], field, free, fmt.Sprintf("%d would have to be free", need), nil)
}

// onNode is what node n gives.
func onNode(n int, cores uint16, gpus uint8) nodeset.Segment {
	return nodeset.Segment{First: int32(n), Last: int32(n), Cores: cores, GPUs: gpus}
}

// hold takes what a running job holds off the nodes, up or not, and returns it. bin is the GPU on
// which it has a share, if it has one.
func (c *Cluster) hold(shares []Share, uses nodeset.Uses, bin uint8) ([]nodeset.Segment, error) {
	m := &c.machine
	if len(shares) > 0 && len(m.names) > 0 {
		if err := m.refresh(c.running); err != nil {
			return nil, err
		}
	}
	single, seen := make([]nodeset.Segment, 0, len(shares)), nodeset.NewMask(len(m.names))
	for _, s := range shares {
		n, ok := m.index[s.Node]
		if !ok {
			return nil, unknownNode(s.Node)
		}
		free := m.table.Free(n)
		switch {
		case seen.Has(n):
			return nil, nodeFault(s.Node, "name", s.Node, "is there twice", nil)
		case s.Cores < 0 || s.Cores > int(free.Cores):
			why := fmt.Sprintf("must be 0 to the %d that are free", free.Cores)
			return nil, nodeFault(s.Node, "cores", s.Cores, why, nil)
		case s.GPUs < 0 || s.GPUs > int(free.GPUs):
			why := fmt.Sprintf("must be 0 to the %d that are free", free.GPUs)
			return nil, nodeFault(s.Node, "gpus", s.GPUs, why, nil)
		case s.Cores == 0 && s.GPUs == 0 && len(uses) == 0:
			return nil, nodeFault(s.Node, "cores", s.Cores, "the job would hold nothing there", nil)
		}
		held := onNode(n, uint16(s.Cores), uint8(s.GPUs))
		held.Bin = bin
		if err := m.lackMore([]nodeset.Segment{held}, uses); err != nil {
			return nil, err
		}
		seen.Set(n)
		single = append(single, held)
	}
	m.stale = true
	return joined(single), nil
}
