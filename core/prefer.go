// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// preferences are the nodes that requests of a cycle have first. Those that the job prefers come
// first, then lower ones of Snapshot.Tiers, then nodes without GPUs if the request asks for none.
type preferences struct {
	grades []uint16 // by node: twice its tier, and 1 more of one with GPUs
	rows   []int    // further resources that are GPUs
	made   place.Pool[preference, preferred]
	scaled []uint16 // scratch
}

// preference is what tiers depend on: the job's mask, and whether the request asks for GPUs.
type preference struct {
	nodes *nodeset.Mask
	gpus  bool
}

// preferred are tiers, unless all nodes are alike.
type preferred struct {
	place.Tiers
	differ bool
}

// reset begins a cycle.
func (p *preferences) reset(s *Snapshot) {
	p.made.Reset()
	p.grades, p.rows = p.grades[:0], p.rows[:0]
	for r := range s.Nodes.Resources() {
		if isGPU(s.Nodes.ResourceName(r)) {
			p.rows = append(p.rows, r)
		}
	}
	for n := range s.Nodes.Len() {
		grade := uint16(0)
		if s.Tiers != nil {
			grade = 2 * uint16(s.Tiers[n])
		}
		if s.Nodes.Total(n).GPUs > 0 || slices.ContainsFunc(p.rows, func(r int) bool { return s.Nodes.TotalOf(r)[n] > 0 }) {
			grade++
		}
		p.grades = append(p.grades, grade)
	}
}

// isGPU reports whether a further resource is GPUs by its name, as gpu:a100 and nvidia.com/gpu are.
func isGPU(name string) bool {
	kind, _, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	return kind == "gpu" || kind == "gpus"
}

// wantsGPUs reports whether a request asks for GPUs, by number, as a share or as a further resource.
func (p *preferences) wantsGPUs(t *nodeset.Table, s *place.Spec) bool {
	isRow := func(u nodeset.Use) bool { return slices.Contains(p.rows, u.Row) }
	return s.GPUs.PerNode.Max > 0 || t.ShareOf(s.More()) > 0 || slices.ContainsFunc(s.More(), isRow)
}

// of are the tiers of a request of a job that prefers nodes, nil for none; nil where all nodes are
// alike.
func (p *preferences) of(nodes *nodeset.Mask, gpus bool) *place.Tiers {
	tiers, isNew := p.made.Of(preference{nodes, gpus})
	if isNew {
		p.scaled = p.scaled[:0]
		for n, grade := range p.grades {
			if gpus {
				grade &^= 1
			}
			if nodes != nil && !nodes.Has(n) {
				grade += place.MaxGrades / 2
			}
			p.scaled = append(p.scaled, grade)
		}
		tiers.differ = tiers.Set(p.scaled)
	}
	if !tiers.differ {
		return nil
	}
	return &tiers.Tiers
}

// checkShare reports what is wrong with a request for a share of a GPU: it is for one node, and for
// no GPUs beside.
func checkShare(t *nodeset.Table, s *place.Spec) error {
	for _, u := range s.More() {
		r, _ := t.Shares()
		switch {
		case u.Row != r:
		case u.PerNode > 0 && s.Nodes.Max != 1:
			return fmt.Errorf("%s: a share of a GPU is on one node: ask for no other number of nodes", t.ResourceName(r))
		case u.PerNode > 0 && s.GPUs.PerNode.Max > 0:
			return fmt.Errorf("%s: a job with a share of a GPU asks for no GPUs beside", t.ResourceName(r))
		case u.PerCore != 0 || u.PerGPU != 0:
			return fmt.Errorf("resource %s: a share of a GPU is by node, not by core or by GPU", t.ResourceName(r))
		}
	}
	return nil
}
