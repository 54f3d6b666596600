// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

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

// raiseForGPUs raises the preference f of a bid with gpus GPUs a node of a job that
// takes between low and high (aucsched2, section 3, which leaves the formula
// open). The interval (0, 1] is shared out evenly among the counts of GPUs, so that
// a bid with more GPUs is always preferred to one with fewer, and among bids with
// as many equation 12 decides. Without a range f stays as it is.
func raiseForGPUs(f float64, gpus, low, high int) float64 {
	return (f + float64(gpus-low)) / float64(high-low+1)
}

// raiseForMixed is raiseForGPUs for nodes that give different numbers: it goes by their mean.
func raiseForMixed(f float64, segs []nodeset.Segment, low, high int) float64 {
	mean := float64(nodeset.GPUs(segs)) / float64(nodeset.Nodes(segs))
	return (f + (mean - float64(low))) / float64(high-low+1)
}

// lowerByRank shares (0, 1] out evenly among a job's variants, as raiseForGPUs does among counts
// of GPUs: a bid of an earlier variant is preferred to any of a later one. f stays as it is
// where the job has but one.
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
	low, high := s.GPUs.PerNode.Min, s.GPUs.PerNode.Max
	switch {
	case s.Parts != nil:
	case s.MixedGPUs:
		f = raiseForMixed(f, segs, low, high)
	default:
		f = raiseForGPUs(f, int(place.LeastGPUs(segs)), low, high)
	}
	return a.lowerByRank(f)
}
