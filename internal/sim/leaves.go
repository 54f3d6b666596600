// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// LeafUse is below how many leaf switches jobs were.
type LeafUse struct {
	// Mean is of all jobs, WideMean of those of more than one node.
	Mean     float64 `json:"mean"`
	WideMean float64 `json:"wide_mean"`
	// Wide is how many jobs had more than one node, and Whole how many of these were below as few
	// leaves as so many nodes can be.
	Wide  int `json:"wide_jobs"`
	Whole int `json:"wide_jobs_below_fewest"`
}

// leafMeter counts leaves. The tree must be set.
type leafMeter struct {
	tree      *nodeset.Topology
	sprawl    place.Sprawl
	all, wide moments
	whole     int
}

func (m *leafMeter) add(segs []nodeset.Segment) {
	leaves, nodes := m.sprawl.Of(m.tree, 1, segs), nodeset.Nodes(segs)
	m.all.add(float64(leaves))
	if nodes < 2 {
		return
	}
	m.wide.add(float64(leaves))
	if leaves == m.tree.Fewest(1, nodes) {
		m.whole++
	}
}

func (m *leafMeter) result() *LeafUse {
	return &LeafUse{Mean: m.all.mean, WideMean: m.wide.mean, Wide: m.wide.n, Whole: m.whole}
}
