// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// countShared looks at the GPUs in shared use, or says what is wrong with them, as [*InputError].
func (s *snapshot) countShared(in *Input) error {
	x, nodes := &s.shares, len(in.Nodes)
	x.number = -1
	x.bins = append(x.bins[:0], make([]uint8, nodes)...)
	x.first = append(x.first[:0], make([]int32, nodes+1)...)
	if len(in.ShareSizes) > 0 {
		x.number = in.Resources
	}
	switch {
	case len(in.ShareSizes) > 0 && len(in.ShareSizes) != nodes:
		return whole("share_sizes", len(in.ShareSizes), "there must be one for each of %d nodes", nodes)
	case x.number == MaxResources:
		return whole("resources", in.Resources, "there must be at most %d beside shares of GPUs", MaxResources-1)
	case len(in.SharedGPUs) > 0 && x.number < 0:
		return whole("shared_gpus", len(in.SharedGPUs), "there are no share_sizes")
	}
	for n, size := range in.ShareSizes {
		if size > nodeset.MaxAmount {
			return &InputError{"share_sizes", n, "size", size, fmt.Sprintf("must be at most %d", nodeset.MaxAmount)}
		}
	}
	for i := range in.SharedGPUs {
		g := &in.SharedGPUs[i]
		if err := g.fault(in, i, x.bins); err != nil {
			return err
		}
		x.bins[g.Node]++
	}
	for n := range nodes {
		x.first[n+1] = x.first[n] + int32(x.bins[n])
	}
	return nil
}

// fault is what is wrong with GPU i in shared use, or nil. bins are, by node, those before it.
func (g *SharedGPU) fault(in *Input, i int, bins []uint8) error {
	bad := func(field string, value any, format string, args ...any) error {
		return &InputError{"shared_gpus", i, field, value, fmt.Sprintf(format, args...)}
	}
	if uint64(g.Node) >= uint64(len(in.Nodes)) {
		return bad("node", g.Node, "there are %d nodes", len(in.Nodes))
	}
	node, size := &in.Nodes[g.Node], in.ShareSizes[g.Node]
	if i > 0 {
		switch last := &in.SharedGPUs[i-1]; {
		case g.Node < last.Node:
			return bad("node", g.Node, "must be at least %d, that of the one before it", last.Node)
		case g.Node == last.Node && g.Bin <= last.Bin:
			return bad("bin", g.Bin, "must be above %d, that of the one before it", last.Bin)
		}
	}
	switch {
	case g.Bin == 0 || int(g.Bin) > 2*int(node.GPUs):
		return bad("bin", g.Bin, "must be 1 to %d on a node with %d GPUs", 2*int(node.GPUs), node.GPUs)
	case g.Free >= size:
		return bad("free", g.Free, "must be less than the %d shares of a GPU there", size)
	case int(node.FreeGPUs)+int(bins[g.Node]) >= int(node.GPUs):
		return bad("node", g.Node, "has %d GPUs, of which %d are free and others in shared use", node.GPUs, node.FreeGPUs)
	case g.Reserved != [3]uint8{}:
		return bad("reserved", slices.Max(g.Reserved[:]), "must be 0")
	}
	return nil
}

// addShares gives a new machine the resource of shares, if there is one.
func (s *snapshot) addShares(in *Input) error {
	s.shares.sizes, s.shares.set = append(s.shares.sizes[:0], in.ShareSizes...), s.shares.set[:0]
	if s.shares.number < 0 {
		return nil
	}
	size := make([]int64, len(in.Nodes))
	for n := range size {
		size[n] = int64(in.ShareSizes[n])
	}
	if _, err := s.Nodes.AddShares("shares", size); err != nil {
		return fmt.Errorf("share_sizes: %w", err)
	}
	return nil
}

// unsetShared has all GPUs be whole.
func (s *snapshot) unsetShared() error {
	for _, g := range s.shares.set {
		if err := s.Nodes.SetBin(int(g.Node), g.Bin, int64(s.shares.sizes[g.Node])); err != nil {
			return fmt.Errorf("shared_gpus: %w", err)
		}
	}
	s.shares.set = s.shares.set[:0]
	return nil
}

// loadShares says which GPUs are in shared use, and makes room for what jobs use with their shares.
func (s *snapshot) loadShares(in *Input) error {
	x := &s.shares
	x.held = append(x.held[:0], make([]int64, len(in.SharedGPUs))...)
	for _, g := range in.SharedGPUs {
		if err := s.Nodes.SetBin(int(g.Node), g.Bin, int64(g.Free)); err != nil {
			return fmt.Errorf("shared_gpus: %w", err)
		}
		x.set = append(x.set, g)
	}
	if x.uses = x.uses[:0]; x.number >= 0 { // no caller's number is believed; mostly in one piece: jobs keep parts of it
		most := len(in.RunningUses) + len(in.JobUses) + len(in.AlternativeUses) + len(in.Running) + len(in.Jobs) + len(in.Alternatives)
		x.uses = slices.Grow(x.uses, min(most, 1<<20))
	}
	return nil
}

// shared is the index in the input of a GPU in shared use, -1 if it is not.
func (s *snapshot) shared(in *Input, node uint32, bin uint8) int {
	for i := s.shares.first[node]; i < s.shares.first[node+1]; i++ {
		if in.SharedGPUs[i].Bin == bin {
			return int(i)
		}
	}
	return -1
}

// binFault is what is wrong with the bin of segment i, of a running job with this share; its array
// is "" if nothing is. All else of the segment is sound.
func (s *snapshot) binFault(in *Input, i int, share uint32) flaw {
	g := &in.Segments[i]
	bad := func(why string, with ...uint64) flaw {
		return flawed("running_segments", i, "bin", g.Bin, why, with...)
	}
	if share == 0 {
		if g.Bin != 0 {
			return bad("the job has no share")
		}
		return flaw{}
	}
	if g.First != g.Last {
		return bad("its nodes are %d to %d: each has to have a segment", uint64(g.First), uint64(g.Last))
	}
	at := s.shared(in, g.First, g.Bin)
	if at < 0 {
		return bad("node %d has no such shared_gpus", uint64(g.First))
	}
	free, held := uint64(in.SharedGPUs[at].Free), uint64(s.shares.held[at])
	if size := uint64(in.ShareSizes[g.First]); free+held+uint64(share) > size {
		return bad("it has %d shares, of which %d are free and others hold %d: %d are too many", size, free, held, uint64(share))
	}
	return flaw{}
}

// holdShare counts what a running job holds of a GPU in shared use.
func (s *snapshot) holdShare(in *Input, g *Segment, share uint32) {
	if share > 0 {
		s.shares.held[s.shared(in, g.First, g.Bin)] += int64(share)
	}
}

// with is uses and a share, in memory of s.
func (x *shares) with(uses nodeset.Uses, share uint32) nodeset.Uses {
	from := len(x.uses)
	x.uses = append(append(x.uses, uses...), nodeset.Use{Row: x.number, PerNode: int64(share)})
	return x.uses[from:len(x.uses):len(x.uses)]
}

// loadRunningShares says which shares running jobs hold. One that has a fault holds nothing that
// comes free.
func (s *snapshot) loadRunningShares(in *Input) {
	for i := range s.Running {
		if r := &s.Running[i]; in.Running[i].Share > 0 && len(r.Segs) > 0 {
			r.Uses = s.shares.with(r.Uses, in.Running[i].Share)
		}
	}
}

// loadJobShares says which shares jobs and alternatives ask for.
func (s *snapshot) loadJobShares(in *Input) {
	for i := range in.Jobs {
		if share := in.Jobs[i].Share; share > 0 && !s.faulty[i] {
			s.jobs[i].Uses = s.shares.with(s.jobs[i].Uses, share)
		}
	}
	for i := range in.Alternatives {
		if share, at := in.Alternatives[i].Share, s.otherAt[i]; share > 0 && at >= 0 {
			s.others[at].Uses = s.shares.with(s.others[at].Uses, share)
		}
	}
}

// shareFault is what is wrong with a share of a job; its array is "" if nothing is.
func (j *Job) shareFault(shared bool) (e flaw) {
	switch {
	case !shared:
		e = flawed("jobs", 0, "share", j.Share, "there are no share_sizes")
	case j.Share > nodeset.MaxAmount:
		e = flawed("jobs", 0, "share", j.Share, "must be at most %d", nodeset.MaxAmount)
	case j.MaxNodes != 1:
		e = flawed("jobs", 0, "max_nodes", j.MaxNodes, "must be 1: a share of a GPU is on one node")
	case j.MaxGPUs != 0:
		e = flawed("jobs", 0, "max_gpus", j.MaxGPUs, "must be 0: a job with a share of a GPU gets no GPU beside")
	}
	return e
}
