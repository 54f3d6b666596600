// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// horizon bounds times after now, for sums to stay in range.
const horizon = 1 << 40

// memory is about how many bytes a cycle takes at most, by the lengths of the arrays alone: what
// was measured, rounded up. Nothing has been allocated when it is asked. A length that is a fault
// by itself counts as the greatest valid one, so that load names it.
func (in *Input) memory(o *core.AuctionOptions) (bytes float64) {
	tables := float64(32 + 2*o.Reservations) // copies of what nodes have free
	window := float64(min(len(in.Jobs), o.Window))
	nodes, switches := float64(min(len(in.Nodes), MaxNodes)), float64(min(len(in.Switches), MaxNodes))
	for _, x := range [...][2]float64{
		{nodes, 8<<10 + 32*tables}, {float64(len(in.Amounts)), 16 * tables},
		{min(switches, nodes), nodes / 4}, {switches, 1 << 9}, {float64(len(in.Masks)), 16},
		{float64(len(in.Jobs)), 3 << 10}, {window, 32<<10 + 512*float64(o.MaxBidsPerJob)},
		{float64(min(len(in.Alternatives), MaxJobs*MaxAlternatives)), 1 << 10},
		{float64(len(in.Running)), 1 << 9}, {float64(len(in.Segments)), 1 << 7},
		{float64(len(in.JobUses) + len(in.AlternativeUses) + len(in.RunningUses)), 1 << 7},
		{float64(len(in.JobCharges) + len(in.AlternativeCharges) + len(in.RunningCharges)), 1 << 7},
		{float64(len(in.Quotas)), 64 + 8*tables}, {float64(len(in.SharedGPUs)), 16 * tables},
		{float64(len(in.JobReads) + len(in.RunningReads)), 1 << 9},
	} {
		bytes += x[0] * x[1]
	}
	return bytes
}

// load makes s the snapshot of in, or says what is wrong with it as a whole, as [*InputError]; what
// is wrong with a single element is in s.faults. Afterwards s holds no reference to the input.
func (s *snapshot) load(in *Input) error {
	s.Now = 0 // times in core are counted from Input.Now on
	s.faults.reset()
	if err := s.loadNodes(in); err != nil {
		return err
	}
	if err := s.resetUses(in); err != nil {
		return err
	}
	if err := s.loadShares(in); err != nil {
		return err
	}
	if err := s.loadQuotas(in); err != nil {
		return err
	}
	if err := s.loadSwitches(in); err != nil {
		return err
	}
	if err := s.loadRunning(in); err != nil {
		return err
	}
	if err := s.loadMasks(in); err != nil {
		return err
	}
	if err := s.loadJobs(in.Jobs); err != nil {
		return err
	}
	if len(in.Alternatives) > MaxJobs*MaxAlternatives {
		return whole("alternatives", len(in.Alternatives), "there must be at most %d", MaxJobs*MaxAlternatives)
	}
	s.loadJobUses(in)
	s.loadAlternatives(in)
	s.loadAlternativeUses(in)
	s.loadJobShares(in)
	s.leaveOutInvalid(in)
	s.queue(len(in.Jobs))
	return nil
}

func (s *snapshot) loadNodes(in *Input) error {
	nodes := in.Nodes
	if len(nodes) < 1 || len(nodes) > MaxNodes {
		return whole("nodes", len(nodes), "there must be 1 to %d", MaxNodes)
	}
	if err := amountsFault(in); err != nil {
		return err
	}
	if err := s.countShared(in); err != nil {
		return err
	}
	same := len(nodes) == len(s.totals) && s.more.sameTotals(in.Amounts) && slices.Equal(s.shares.sizes, in.ShareSizes)
	for i := range nodes {
		n := &nodes[i]
		if fault := n.fault(); fault.Array != "" {
			return fault.at(i)
		}
		same = same && s.totals[i] == nodeset.Capacity{Cores: n.Cores, GPUs: n.GPUs}
	}
	if !same {
		if err := s.newMachine(in); err != nil {
			return err
		}
	}
	if err := s.setAmounts(in); err != nil {
		return err
	}
	if err := s.unsetShared(); err != nil {
		return err
	}
	s.Tiers = s.Tiers[:0]
	for i := range nodes {
		s.Tiers = append(s.Tiers, nodes[i].Tier)
		n, free := &nodes[i], nodeset.Capacity{Cores: nodes[i].FreeCores, GPUs: nodes[i].FreeGPUs + s.shares.bins[i]}
		if s.Nodes.Free(i) != free {
			if err := s.Nodes.SetFree(i, free); err != nil {
				return fmt.Errorf("nodes: %w", err)
			}
		}
		if up := n.Up != 0; s.Nodes.Up(i) != up {
			s.Nodes.SetUp(i, up)
		}
	}
	return nil
}

// fault is what is wrong with a node; its Array is "" if nothing is.
func (n *Node) fault() (e InputError) {
	switch {
	case n.FreeCores > n.Cores:
		e = InputError{"nodes", 0, "free_cores", n.FreeCores, fmt.Sprintf("must be at most its %d cores", n.Cores)}
	case n.GPUs > MaxGPUsPerNode:
		e = InputError{"nodes", 0, "gpus", n.GPUs, fmt.Sprintf("must be at most %d", MaxGPUsPerNode)}
	case n.FreeGPUs > n.GPUs:
		e = InputError{"nodes", 0, "free_gpus", n.FreeGPUs, fmt.Sprintf("must be at most its %d GPUs", n.GPUs)}
	}
	return e
}

func (s *snapshot) newMachine(in *Input) error {
	s.totals = s.totals[:0]
	for i := range in.Nodes {
		s.totals = append(s.totals, nodeset.Capacity{Cores: in.Nodes[i].Cores, GPUs: in.Nodes[i].GPUs})
	}
	table, err := nodeset.New(s.totals)
	if err != nil {
		s.totals = s.totals[:0]
		return fmt.Errorf("nodes: %w", err)
	}
	s.Nodes = table
	if err := s.addResources(in); err != nil {
		return err
	}
	return s.addShares(in)
}

func (s *snapshot) loadRunning(in *Input) error {
	s.held = s.held[:0]
	for range in.Nodes {
		s.held = append(s.held, nodeset.Capacity{})
	}
	s.Running, s.segs = s.Running[:0], s.segs[:0]
	if len(in.Running) > MaxJobs {
		return whole("running", len(in.Running), "there must be at most %d", MaxJobs)
	}
	if cap(s.segs) < len(in.Segments) {
		s.segs = make([]nodeset.Segment, 0, len(in.Segments)) // in one piece: jobs keep parts of it
	}
	s.growIDs(len(in.Running))
	for i := range in.Running {
		r, from := &in.Running[i], len(s.segs)
		price, class := int64(0), 0
		if fault := s.runningFault(in, i); fault.array != "" {
			s.faults.add(fault, -1) // what it holds is not free, and nobody knows when it will be
		} else {
			s.hold(in, in.Segments[r.FirstSegment:][:r.Segments], r.Share)
			price, class = int64(r.Price), int(r.PreemptClass)
		}
		s.Running = append(s.Running, core.Running{ID: s.ids[i], End: after(in.Now, r.End),
			Segs: s.segs[from:len(s.segs):len(s.segs)], Price: price, Class: class})
	}
	s.loadRunningUses(in)
	s.loadRunningShares(in)
	s.loadRunningCharges(in)
	return nil
}

// after is time t on core's clock.
func after(now, t int64) int64 {
	if t <= now {
		return 0
	}
	return int64(min(uint64(t)-uint64(now), horizon))
}

// before is a time on core's clock on the input's. Times beyond what an int64 holds are
// its greatest.
func before(now, t int64) int64 {
	if now > 0 && t > 1<<63-1-now {
		return 1<<63 - 1
	}
	return now + t
}

// runningFault is what is wrong with running job i; its array is "" if nothing is.
func (s *snapshot) runningFault(in *Input, i int) flaw {
	r := &in.Running[i]
	switch {
	case uint64(r.FirstSegment)+uint64(r.Segments) > uint64(len(in.Segments)):
		return flawed("running", i, "segments", r.Segments,
			"with first_segment %d, these go beyond the %d running_segments", uint64(r.FirstSegment), uint64(len(in.Segments)))
	case len(s.segs)+int(r.Segments) > len(in.Segments):
		return flawed("running", i, "segments", r.Segments,
			"more in all than the %d running_segments: jobs share some", uint64(len(in.Segments)))
	}
	if fault := r.fault(i); fault.array != "" {
		return fault
	}
	next := uint64(0) // the least node that may come
	for k := int(r.FirstSegment); k < int(r.FirstSegment)+int(r.Segments); k++ {
		g := &in.Segments[k]
		if fault := s.segmentFault(in, k, next); fault.array != "" {
			return fault
		}
		if fault := s.binFault(in, k, r.Share); fault.array != "" {
			return fault
		}
		next = uint64(g.Last) + 1
	}
	return flaw{}
}

// fault is what is wrong with running job i by itself; its array is "" if nothing is.
func (r *Running) fault(i int) flaw {
	switch {
	case r.Price > core.MaxPriority:
		return flawed("running", i, "price", r.Price, "must be at most %d", core.MaxPriority)
	case r.PreemptClass > MaxClass:
		return flawed("running", i, "preempt_class", r.PreemptClass, "must be at most %d", MaxClass)
	case r.WholeLeaves > 1:
		return flawed("running", i, "whole_leaves", r.WholeLeaves, "must be 0 or 1")
	case r.Reserved != [2]uint8{}:
		return flawed("running", i, "reserved", slices.Max(r.Reserved[:]), "must be 0")
	}
	return flaw{}
}

// segmentFault is what is wrong with segment i of those of running jobs, whose first node may be
// next or a later one.
func (s *snapshot) segmentFault(in *Input, i int, next uint64) flaw {
	g := &in.Segments[i]
	switch {
	case uint64(g.First) < next:
		return flawed("running_segments", i, "first", g.First, "the job's last segment ends at %d", next-1)
	case g.Last < g.First:
		return flawed("running_segments", i, "last", g.Last, "is before first, %d", uint64(g.First))
	case uint64(g.Last) >= uint64(len(in.Nodes)):
		return flawed("running_segments", i, "last", g.Last, "there are %d nodes", uint64(len(in.Nodes)))
	}
	for n := g.First; n <= g.Last; n++ {
		node, held := &in.Nodes[n], &s.held[n]
		if int(node.FreeCores)+int(held.Cores)+int(g.Cores) > int(node.Cores) {
			return flawed("running_segments", i, "cores", g.Cores,
				"node %d has %d cores, of which %d are free and others hold %d",
				uint64(n), uint64(node.Cores), uint64(node.FreeCores), uint64(held.Cores))
		}
		others := int(held.GPUs) + int(s.shares.bins[n])
		if int(node.FreeGPUs)+others+int(g.GPUs) > int(node.GPUs) {
			return flawed("running_segments", i, "gpus", g.GPUs,
				"node %d has %d GPUs, of which %d are free and others hold %d", uint64(n),
				uint64(node.GPUs), uint64(node.FreeGPUs), uint64(others))
		}
	}
	return flaw{}
}

// hold appends the segments of a running job with a share of a GPU, and counts what they hold.
func (s *snapshot) hold(in *Input, segments []Segment, share uint32) {
	for _, g := range segments {
		for n := g.First; n <= g.Last; n++ {
			s.held[n].Cores += g.Cores
			s.held[n].GPUs += g.GPUs
		}
		s.holdShare(in, &g, share)
		s.segs = append(s.segs, nodeset.Segment{First: int32(g.First), Last: int32(g.Last), Cores: g.Cores, GPUs: g.GPUs, Bin: g.Bin})
	}
}

func (s *snapshot) loadMasks(in *Input) error {
	s.words, s.masks = s.words[:0], s.masks[:0]
	if in.MaskCount == 0 {
		return nil
	}
	want := (len(in.Nodes) + 63) / 64
	switch {
	case in.MaskCount < 0 || in.MaskCount > MaxJobs:
		return whole("masks", in.MaskCount, "there must be at most %d", MaxJobs)
	case in.MaskWords != want:
		return whole("mask_words", in.MaskWords, "must be %d for %d nodes", want, len(in.Nodes))
	case len(in.Masks) != in.MaskCount*want:
		return whole("masks", len(in.Masks), "words for %d masks of %d", in.MaskCount, want)
	}
	s.words = append(s.words, in.Masks...)
	for i := range in.MaskCount {
		s.masks = append(s.masks, nodeset.Mask(s.words[i*want:(i+1)*want:(i+1)*want]))
	}
	return nil
}
