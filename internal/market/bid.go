// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// The classes of bids.
const (
	ClassA bids.Class = 'A' // contiguous, aligned to an end of a nodeset
	ClassB bids.Class = 'B' // contiguous, inside a nodeset
	ClassC bids.Class = 'C' // neighbouring nodesets combined
	ClassS bids.Class = 'S' // what Slurm's own selection would take ("SLURM bid")
)

// Bid is one allocation that would suit a job.
type Bid struct {
	// Job is the index of the variant in the window, which is that of the job where no job
	// has more than one.
	Job int32
	// First and Last delimit the bid's segments: Book.Segs[First:Last].
	First, Last int32
	// Class is A, B or C, or S for an offer. The nodesets are those of nodes that have GPUs free.
	Class bids.Class
	// GPUs is the number of GPUs on each node; the least of its nodes if these differ
	// (Request.MixedGPUs).
	GPUs uint8
	// Preference is F of equation 12 in (0, 1], higher for more GPUs and for variants that
	// the job likes better.
	Preference float64
}

// Book holds the bids of a window. It is filled by [Generator.Generate], which reuses its memory.
type Book struct {
	// Bids are grouped by variant: those of variant j are Bids[JobStart[j]:JobStart[j+1]].
	Bids     []Bid
	JobStart []int32
	// Segs is the memory of all allocations.
	Segs []nodeset.Segment
	// NodeSets is the number of bid classes: bids for exactly the same nodes, of one job or of
	// several, are of one class.
	NodeSets int
	// Kept are the bids that came from Variant.Fixed.
	Kept []int32
	// Asked is how many variants, the first ones, have made bids by themselves: all, unless
	// Options.Stop said that the time was over.
	Asked int
}

// Jobs is the number of variants that the book has bids of.
func (b *Book) Jobs() int { return max(0, len(b.JobStart)-1) }

// Of are the bids of variant j.
func (b *Book) Of(j int) []Bid { return b.Bids[b.JobStart[j]:b.JobStart[j+1]] }

// Allocation is what bid i takes. It belongs to the book.
func (b *Book) Allocation(i int) []nodeset.Segment {
	return b.Segs[b.Bids[i].First:b.Bids[i].Last]
}

func (b *Book) reset() {
	b.Bids, b.Segs, b.JobStart = b.Bids[:0], b.Segs[:0], append(b.JobStart[:0], 0)
	b.Kept = b.Kept[:0]
	b.NodeSets, b.Asked = 0, 0
}

// nodeSets are the bid classes: by a hash of their nodes, of 64 bits, which tells all sets of a
// window apart.
type nodeSets map[uint64]struct{}

// add adds the class of segs.
func (x nodeSets) add(segs []nodeset.Segment) {
	h := uint64(14695981039346656037)
	mix := func(v int32) {
		h = (h ^ uint64(uint32(v))) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	for i, s := range segs {
		if i == 0 || segs[i-1].Last+1 != s.First {
			if i > 0 {
				mix(segs[i-1].Last)
			}
			mix(s.First)
		}
	}
	mix(segs[len(segs)-1].Last)
	x[h] = struct{}{}
}

// weights are the constants k1, k2, k3 of equation 12.
type weights struct{ k1, k2, k3 float64 }

// preferenceWeights is table 3 of aucsched1: by job type (1, or 2 and 3) and bid
// class. SLURM bids have no deduction (section 5.1).
func preferenceWeights(nodesGiven bool, c bids.Class) weights {
	switch {
	case c == ClassS:
		return weights{}
	case !nodesGiven && c == ClassA:
		return weights{0, 0.25, 0}
	case !nodesGiven && c == ClassB:
		return weights{0.25, 0.25, 0}
	case !nodesGiven:
		return weights{0.5, 0.25, 0.25}
	case c == ClassA:
		return weights{}
	case c == ClassB:
		return weights{k1: 0.5}
	}
	return weights{k1: 0.5, k3: 0.5}
}

// preference is F_jc of aucsched1, equation 12, in (0, 1]:
//
//	F = 1 - k1 - k2 |N_c|/(|N|+1) - k3 |S_c|/(|S|+1)
//
// for a bid on bidNodes of the machine's nodes, from bidSets of the machine's
// sets nodesets. nodesGiven tells job types 2 and 3 from type 1.
func preference(nodesGiven bool, c bids.Class, bidNodes, nodes, bidSets, sets int) float64 {
	k := preferenceWeights(nodesGiven, c)
	// The products are rounded one by one so that every machine has the same bits.
	byNodes := float64(k.k2 * float64(bidNodes) / float64(nodes+1))
	bySets := float64(k.k3 * float64(bidSets) / float64(max(sets, bidSets)+1))
	return float64(float64(1-k.k1-byNodes) - bySets)
}

// raiseForGPUs raises the preference f of a bid of a job that takes between low and high GPUs a node
// (aucsched2, section 3, which leaves the formula open). The interval (0, 1] is shared out evenly
// among the counts of GPUs. So a bid with more GPUs is always preferred to one with fewer, and among
// bids with as many equation 12 decides. Where nodes give different numbers it goes by their mean.
// Without a range f stays as it is.
func raiseForGPUs(f float64, segs []nodeset.Segment, low, high int) float64 {
	mean := float64(nodeset.GPUs(segs)) / float64(nodeset.Nodes(segs))
	return (f + (mean - float64(low))) / float64(high-low+1)
}

// lowerByRank shares (0, 1] out evenly among a job's variants, as raiseForGPUs does among counts of
// GPUs. A bid of an earlier variant is preferred to any of a later one. One variant has f.
func (a *Variant) lowerByRank(f float64) float64 {
	if a.Of < 2 {
		return f
	}
	return (f + float64(a.Of-1-a.Rank)) / float64(a.Of)
}

// lowerByPlace shares (0, 1] out evenly among the standings of a variant's bids: the better ones are
// preferred.
func lowerByPlace(f float64, worse, of int) float64 { return (f + float64(of-1-worse)) / float64(of) }

// raise is what makes the preference f among a variant's bids with as many GPUs, of shape s, that
// among all bids of the job.
func (a *Variant) raise(s *place.Spec, f float64, segs []nodeset.Segment) float64 {
	if s.Parts == nil {
		f = raiseForGPUs(f, segs, s.GPUs.PerNode.Min, s.GPUs.PerNode.Max)
	}
	return a.lowerByRank(f)
}

// Space is what the jobs of a window may take.
type Space struct {
	// Now is the machine as it is free now.
	Now *nodeset.Table
	// Left[k] is what reservation k leaves, at the moment when it begins, to jobs that start now
	// and run into it. Reservations are in the order in which they begin.
	Left []*nodeset.Table
	// Quotas are what is left of them now, and at each reservation of Left. The zero Quotas has
	// none; then no request has Charges.
	Quotas place.Quotas
}

// Variant is one way to meet a job of a window. Those of a job come one after the other,
// the one that it likes best first; at most one of them wins. They differ in Alternative, Spec,
// Rank, Fixed and Offer only.
type Variant struct {
	// Job and Alternative are the caller's: which of its jobs, and which of that job's requests.
	Job, Alternative int32
	// Spec is what is asked for; the zero Spec makes no bid. Its Eligible is compared by
	// address: two variants with the same mask should have the same pointer. Of its Blocks, if
	// not 0, bids may have one more.
	Spec place.Spec
	// Rank is the number of the variant of a job, from 0, and Of how many variants there are, if
	// more than one. Preferences are spread over them: any bid of an earlier one is preferred.
	Rank, Of int
	// Priority is P_j, at least 1.
	Priority int64
	// Limit is the job's time limit in seconds; Options.Prices alone look at it.
	Limit int64
	// Crosses is how many of the space's reservations the job would run into if
	// it started now: the first Crosses of Space.Left bind it.
	Crosses int
	// Fixed is an allocation that the job bids before all others, or nil: one that
	// is known to fit together with those that other jobs have fixed.
	Fixed []nodeset.Segment
	// Offer is an allocation that suits the job, from elsewhere: what Slurm's own selection
	// would give it (the "SLURM bids" of aucsched1, section 4). It is bid if the job may
	// take it; nil: none.
	Offer []nodeset.Segment
}

// NextJob is the index of the first variant of the job after that of variant j, len(variants) for
// the last job.
func NextJob(variants []Variant, j int) int {
	for j++; j < len(variants) && variants[j].Rank > 0; j++ {
	}
	return j
}
