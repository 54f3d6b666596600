// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// check is a deliberately dumb referee of an outcome, which shares nothing with the
// engine or with package core: it counts node by node.
func check(in *Input, out *Output) error {
	if len(out.Decisions) != len(in.Jobs) {
		return fmt.Errorf("%d decisions on %d jobs", len(out.Decisions), len(in.Jobs))
	}
	cores, gpus := make([]int, len(in.Nodes)), make([]int, len(in.Nodes))
	taken := make(map[[2]uint32]uint64) // by node and bin
	more, counted := make([]uint64, len(in.Amounts)), make([]uint64, len(in.Quotas))
	starts := 0
	for i, d := range out.Decisions {
		if d.Why > WaitsQuota || (d.Why != WaitsQuota && d.Quota != 0) || d.Reserved != 0 {
			return fmt.Errorf("job %d: %+v", i, d)
		}
		if d.Holders != 0 && !slices.ContainsFunc(in.JobReads, func(r Read) bool { return int(r.Job) == i }) {
			return fmt.Errorf("job %d: odd decision %+v", i, d)
		}
		if d.Why != Starts {
			if d.Segments != 0 || d.BidClass != 0 || d.GPUs != 0 || d.Alternative != 0 ||
				d.Holders != 0 || d.Victims != 0 || d.FirstVictim != 0 ||
				d.Why != WaitsQuota && (d.Expected != 0) != (d.Why == WaitsReserved) {
				return fmt.Errorf("job %d waits: %+v", i, d)
			}
			continue
		}
		starts++
		segs := out.Segments[d.FirstSegment : d.FirstSegment+d.Segments]
		asked, err := asked(in, i, int(d.Alternative))
		if err == nil {
			err = checkJob(in, i, asked, &d, segs, cores, gpus)
			countMore(in, i, int(d.Alternative), segs, more)
			err = errors.Join(err, countShare(asked, segs, taken))
			countCharges(in, i, int(d.Alternative), segs, counted)
		}
		if err != nil {
			return fmt.Errorf("job %d: %w", i, err)
		}
	}
	gone, err := checkVictims(in, out)
	if err != nil {
		return err
	}
	maps.DeleteFunc(taken, func(at [2]uint32, _ uint64) bool { return gone[at[0]] }) // core.Verify looks at them
	if err := checkShares(in, taken, gpus); err != nil {
		return err
	}
	for n := range in.Nodes {
		if gone[n] {
			continue // which checkVictims has looked at
		}
		if cores[n] > int(in.Nodes[n].FreeCores) || gpus[n] > int(in.Nodes[n].FreeGPUs) {
			return fmt.Errorf("node %d: %d cores and %d GPUs of %+v", n, cores[n], gpus[n], in.Nodes[n])
		}
	}
	for i, taken := range more {
		if a := in.Amounts[i]; taken > uint64(a.Free) && !gone[i%len(in.Nodes)] {
			return fmt.Errorf("amounts[%d]: %d taken of %+v", i, taken, a)
		}
	}
	for i, sum := range counted {
		for _, c := range in.RunningCharges {
			if int(c.Quota) == i && slices.Contains(out.Victims, uint32(c.Of)) {
				sum = 0 // core.Verify looks at what comes back
			}
		}
		if sum > in.Quotas[i] {
			return fmt.Errorf("quotas[%d]: %d counted, %d left", i, sum, in.Quotas[i])
		}
	}
	if starts != out.Starts || out.Objective > out.Bound {
		return fmt.Errorf("%d starts instead of %d, objective %v above %v", out.Starts, starts, out.Objective, out.Bound)
	}
	return nil
}

// countMore counts what the start of job i takes of further resources.
func countMore(in *Input, i, number int, segs []Segment, more []uint64) {
	uses, of := in.JobUses, i
	if number > 0 {
		uses, of = in.AlternativeUses, alternativeOf(in, i, number)
	}
	for _, u := range uses {
		if int(u.Of) != of {
			continue
		}
		for _, s := range segs {
			for n := s.First; n <= s.Last; n++ {
				at := int(u.Resource)*len(in.Nodes) + int(n)
				more[at] += uint64(u.PerNode) + uint64(u.PerCore)*uint64(s.Cores) + uint64(u.PerGPU)*uint64(s.GPUs)
			}
		}
	}
}

// alternativeOf is where the alternative of that number of job i is.
func alternativeOf(in *Input, i, number int) (at int) {
	for ; int(in.Alternatives[at].Job) != i || number > 1; at++ {
		if int(in.Alternatives[at].Job) == i {
			number--
		}
	}
	return at
}

// countCharges counts what the start of job i counts against quotas.
func countCharges(in *Input, i, number int, segs []Segment, counted []uint64) {
	charges, of := in.JobCharges, i
	if number > 0 {
		charges, of = in.AlternativeCharges, alternativeOf(in, i, number)
	}
	for _, c := range charges {
		if int(c.Of) != of {
			continue
		}
		counted[c.Quota] += c.PerJob
		for _, s := range segs {
			counted[c.Quota] += uint64(s.Last-s.First+1) * (c.PerNode + c.PerCore*uint64(s.Cores) + c.PerGPU*uint64(s.GPUs))
		}
	}
}

// asked is job i with the request of that number.
func asked(in *Input, i, number int) (*Job, error) {
	j := in.Jobs[i]
	if number == 0 {
		return &j, nil
	}
	for _, a := range in.Alternatives {
		if int(a.Job) != i {
			continue
		}
		if number--; number == 0 {
			j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode = a.Cores, a.MinNodes, a.MaxNodes, a.CoresPerNode
			j.MinGPUs, j.MaxGPUs, j.Flags, j.Share = a.MinGPUs, a.MaxGPUs, a.Flags, a.Share
			if a.Mask >= 0 {
				j.Mask = a.Mask
			}
			return &j, nil
		}
	}
	return nil, fmt.Errorf("no such alternative")
}

func checkJob(in *Input, i int, j *Job, d *Decision, segs []Segment, cores, gpus []int) error {
	sum, nodes, last := 0, 0, -1
	for _, s := range segs {
		for n := int(s.First); n <= int(s.Last); n++ {
			switch {
			case n <= last || in.Nodes[n].Up == 0 || (s.Cores == 0) != (j.Cores == 0) || s.GPUs != d.GPUs || (s.Bin == 0) != (j.Share == 0):
				return fmt.Errorf("node %d after %d: %+v", n, last, s)
			case j.Flags&Contiguous != 0 && last >= 0 && n != last+1:
				return fmt.Errorf("node %d after %d", n, last)
			case j.Mask >= 0 && in.Masks[int(j.Mask)*in.MaskWords+n/64]>>(n%64)&1 == 0:
				return fmt.Errorf("node %d is masked", n)
			case j.CoresPerNode > 0 && uint32(s.Cores) != j.CoresPerNode:
				return fmt.Errorf("node %d gives %d cores", n, s.Cores)
			}
			sum, nodes, last = sum+int(s.Cores), nodes+1, n
			cores[n] += int(s.Cores)
			gpus[n] += int(s.GPUs)
		}
	}
	if j.Cores == 0 && (nodes == 0 || j.MaxNodes == 0 && nodes != int(max(j.MinNodes, 1))) {
		return fmt.Errorf("%d nodes without cores for %+v", nodes, *j)
	}
	if sum != int(j.Cores) || nodes < int(j.MinNodes) || (j.MaxNodes > 0 && nodes > int(j.MaxNodes)) ||
		d.GPUs < j.MinGPUs || d.GPUs > j.MaxGPUs || d.BidClass < 'A' || d.BidClass > 'C' {
		return fmt.Errorf("%d cores on %d nodes, %+v for %+v", sum, nodes, *d, *j)
	}
	return nil
}
