// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"
)

// Stake is struct aucsched_stake: what is lost when a running job is preempted.
type Stake struct {
	Running   uint32 // index in Input.Running
	Order     uint32 // those with lower ones are to go first
	Cores     uint64 // that it holds, in all
	Ran       int64  // seconds; a new run begins from nothing
	Answers   uint64 // bit k: it may be preempted by jobs with bit k of Preempts
	Cancelled uint8  // somebody has to submit it again
	Reserved  [7]uint8
}

const (
	// beginSeconds is what each run needs to begin: of two jobs that have just begun the smaller one is cheaper.
	beginSeconds = 60
	// cancelledLoss: a job that is cancelled is as dear as one that has run so many times as long and is requeued.
	cancelledLoss = 2
	// rankLoss: a job of one rank more is as dear as so many; ranks above mostRank are as that.
	rankLoss, mostRank = 256, 3
	// leastPart: of the least start's priority all preemptions together are this part.
	leastPart = 8
)

// Value has priorities go by tiers of jobs, tiers of nodes by preferences, and classes and prices by stakes, in copies of
// the arrays of in. What is not given is the caller's. It returns what Price does.
func (in *Input) Value(preferences []Preference, stakes []Stake) (shift int, err error) {
	in.rank()
	if len(preferences) == 0 && len(stakes) == 0 {
		return 0, nil
	}
	if len(preferences) != len(in.Nodes) {
		return 0, whole("preferences", len(preferences), "must be as many as nodes, %d", len(in.Nodes))
	}
	in.Nodes, in.Running, in.Jobs = slices.Clone(in.Nodes), slices.Clone(in.Running), slices.Clone(in.Jobs)
	SetTiers(in.Nodes, preferences)
	return Price(in, stakes)
}

// rank puts jobs of higher tiers above all others. A job that was put behind one of lower worth counts as that one.
func (in *Input) rank() {
	if len(in.Jobs) == 0 || in.Jobs[0].Tier == 0 {
		return
	}
	in.Jobs = slices.Clone(in.Jobs)
	var tiers []uint32
	for i := range in.Jobs {
		tiers = append(tiers, in.Jobs[i].Tier)
	}
	slices.Sort(tiers)
	tiers = slices.Compact(tiers)
	const most = 1<<32 - 1 // of a priority within a tier
	for i, last := 0, uint64(MaxPriority); i < len(in.Jobs); i++ {
		j := &in.Jobs[i]
		rank, _ := slices.BinarySearch(tiers, j.Tier)
		last = min(last, min(j.Priority, most)+uint64(min(rank, MaxPriority>>32-1))<<32)
		j.Priority = last
	}
}

// Price sets classes and prices of running jobs of in that have a stake. It multiplies priorities
// by a power of two, whose exponent it returns: a start is then worth more than all that could be
// lost. Preempts of a job has bits of answers at first: it may preempt whoever is in all of them.
func Price(in *Input, stakes []Stake) (shift int, err error) {
	next := uint64(0) // the least running job that may come
	for i := range stakes {
		if k := uint64(stakes[i].Running); k < next || k >= uint64(len(in.Running)) ||
			uint64(in.Running[k].FirstSegment)+uint64(in.Running[k].Segments) > uint64(len(in.Segments)) {
			return 0, whole("stakes", stakes[i].Running, "stake %d: there is no such running job with segments, or not in this order", i)
		}
		next = uint64(stakes[i].Running) + 1
	}
	for i := range in.Jobs {
		if p := in.Jobs[i].Priority; len(stakes) > 0 && (p > MaxPriority || p > in.Jobs[0].Priority) {
			return 0, &InputError{"jobs", i, "priority", p, fmt.Sprintf("must be at most %d, and that of the first", MaxPriority)}
		}
	}
	if stakes = classify(in, stakes); len(stakes) == 0 {
		return 0, nil
	}
	for most := in.Jobs[0].Priority; most > 0 && most<<(shift+1) <= MaxPriority; { // the first has most
		shift++
	}
	least := uint64(0) // of those that may preempt somebody
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.Priority <<= shift; j.Preempts != 0 && (least == 0 || j.Priority < least) {
			least = j.Priority
		}
	}
	var cores, gpus uint64 // of the machine
	for i := range in.Nodes {
		cores += uint64(in.Nodes[i].Cores)
		gpus += uint64(in.Nodes[i].GPUs)
	}
	var orders []uint32
	for i := range stakes {
		orders = append(orders, stakes[i].Order)
	}
	slices.Sort(orders)
	orders = slices.Compact(orders)
	losses, all := make([]float64, len(stakes)), 0.0
	for i := range stakes {
		rank, _ := slices.BinarySearch(orders, stakes[i].Order)
		losses[i] = loss(in, &stakes[i], rank, cores, gpus)
		all += losses[i]
	}
	for i := range stakes {
		in.Running[stakes[i].Running].Price = price(losses[i], all, float64(least))
	}
	return shift, nil
}

// classify puts running jobs with the same answers into a class, and says of jobs which classes they may
// preempt. It returns the stakes of those that have a class; none if no job may preempt anybody.
func classify(in *Input, stakes []Stake) (kept []Stake) {
	var answers []uint64 // by class
	for i := range stakes {
		c := slices.Index(answers, stakes[i].Answers)
		if c < 0 {
			if c = len(answers); c > MaxClass {
				continue
			}
			answers = append(answers, stakes[i].Answers)
		}
		in.Running[stakes[i].Running].PreemptClass = uint8(c)
		kept = append(kept, stakes[i])
	}
	some := false
	for i := range in.Jobs {
		all, classes := in.Jobs[i].Preempts, uint64(0)
		for c := range answers {
			if all != 0 && answers[c]&all == all {
				classes |= 1 << c
			}
		}
		in.Jobs[i].Preempts = classes
		some = some || classes != 0
	}
	if !some {
		return nil
	}
	return kept
}

// loss is at least 1, in units that are the same for all of a machine of so many cores and GPUs.
func loss(in *Input, s *Stake, rank int, cores, gpus uint64) float64 {
	held, share := uint64(0), 0.0
	r := &in.Running[s.Running]
	for _, g := range in.Segments[r.FirstSegment:][:r.Segments] {
		held += uint64(g.GPUs) * (uint64(g.Last) - uint64(g.First) + 1)
	}
	if cores > 0 {
		share += float64(s.Cores) / float64(cores)
	}
	if gpus > 0 {
		share += float64(held) / float64(gpus)
	}
	l := share * float64(cores) * float64(beginSeconds+max(s.Ran, 0))
	if s.Cancelled != 0 {
		l *= cancelledLoss
	}
	for range min(rank, mostRank) {
		l *= rankLoss
	}
	return max(l, 1)
}

// price is that of a loss, of all that could be lost.
func price(loss, all, least float64) uint64 {
	p := least / leastPart * loss / all
	switch {
	case !(p > 1):
		return 1
	case p < MaxPriority:
		return uint64(p)
	}
	return MaxPriority
}
