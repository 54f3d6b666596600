// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// CheckSegments reports how an allocation on a machine of n nodes fails to meet a request exactly.
// It checks cores in all, number of nodes, contiguity and eligible nodes. It checks cores and GPUs
// on each node: in the range, and the same on all unless they may be mixed. Each node gives a core
// at least, or none if the request is for none. No allocation meets a request that is not valid.
//
// It reads the request itself, and not the Spec by which places are found: neither hides a fault of
// the other.
//
// Of a request with Components each part is met by the segments for it, part after part.
func CheckSegments(job *bids.Request, segs []nodeset.Segment, n int) error {
	if err := Validate(job); err != nil {
		return err
	}
	if len(job.Components) > 0 {
		return checkParts(job, segs, n)
	}
	return checkPart(job, segs, n)
}

// checkPart is CheckSegments for one part alone.
func checkPart(job *bids.Request, segs []nodeset.Segment, n int) error {
	if err := nodeset.CheckSegments(segs, n); err != nil {
		return err
	}
	if len(segs) == 0 {
		return fmt.Errorf("no node at all")
	}
	nodes, cores, last := 0, 0, -1
	for _, seg := range segs {
		for i := int(seg.First); i <= int(seg.Last); i++ {
			nodes++
			cores += int(seg.Cores)
			if !job.Eligible.Has(i) {
				return fmt.Errorf("node %d is not eligible", i)
			}
			if job.Contiguous && last >= 0 && i != last+1 {
				return fmt.Errorf("nodes %d and %d are not contiguous", last, i)
			}
			last = i
		}
		if err := checkEach(job, seg, segs[0]); err != nil {
			return err
		}
	}
	if job.Cores > 0 && cores != job.Cores {
		return fmt.Errorf("%d cores instead of %d", cores, job.Cores)
	}
	if !nodesAllowed(job, nodes) {
		return fmt.Errorf("%d nodes instead of %d to %d", nodes, job.MinNodes, job.MaxNodes)
	}
	return nil
}

// checkEach reports what is wrong with what a segment's nodes give, each of them.
func checkEach(job *bids.Request, seg, first nodeset.Segment) error {
	if seg.GPUs != first.GPUs && !job.MixedGPUs {
		return fmt.Errorf("node %d gives %d GPUs, others %d", seg.First, seg.GPUs, first.GPUs)
	}
	if g := int(seg.GPUs); g < job.MinGPUs || g > max(job.MinGPUs, job.MaxGPUs) {
		return fmt.Errorf("%d GPUs a node instead of %d to %d", g, job.MinGPUs, max(job.MinGPUs, job.MaxGPUs))
	}
	tasks, cores := job.TasksPerNode, int(seg.Cores)
	switch none := job.Cores == 0 && tasks == 0; {
	case none && cores > 0:
		return fmt.Errorf("node %d gives %d cores, and the job takes none", seg.First, cores)
	case !none && cores == 0:
		return fmt.Errorf("node %d gives no core", seg.First)
	}
	if tasks > 0 && cores > tasks {
		return fmt.Errorf("node %d gives %d cores, more than %d tasks per node", seg.First, cores, tasks)
	}
	if exactTasks(job) && cores != tasks {
		return fmt.Errorf("node %d gives %d cores instead of %d", seg.First, cores, tasks)
	}
	return nil
}

// exactTasks reports whether each node has to give exactly as many cores as the request says. That
// is so without a total, or if the total is that of an allowed number of nodes.
func exactTasks(job *bids.Request) bool {
	tasks := job.TasksPerNode
	return tasks > 0 && (job.Cores == 0 || job.Cores%tasks == 0 && nodesAllowed(job, job.Cores/tasks))
}

// nodesAllowed reports whether the request allows so many nodes. Without a total of cores and
// without a most it is for the fewest.
func nodesAllowed(job *bids.Request, nodes int) bool {
	if job.Cores == 0 && job.MaxNodes == 0 {
		return nodes == max(job.MinNodes, 1)
	}
	return nodes >= job.MinNodes && (job.MaxNodes == 0 || nodes <= job.MaxNodes)
}

// checkParts is CheckSegments for a request with Components. Each part is met exactly by what it
// has alone, parts come in their order, and a part that is to be apart shares no node.
func checkParts(job *bids.Request, segs []nodeset.Segment, n int) error {
	for i, s := range segs {
		if int(s.Part) > len(job.Components) {
			return fmt.Errorf("segment %d: part %d of a job of %d", i, s.Part, 1+len(job.Components))
		}
		if i > 0 && s.Part < segs[i-1].Part {
			return fmt.Errorf("segment %d: part %d comes after part %d", i, s.Part, segs[i-1].Part)
		}
	}
	users := make(map[int32][]int) // by node: parts
	for k := range 1 + len(job.Components) {
		own := OfPart(segs, k)
		if err := checkPart(PartOf(job, k), own, n); err != nil {
			return fmt.Errorf("part %d: %w", k, err)
		}
		for _, s := range own {
			for i := s.First; i <= s.Last; i++ {
				users[i] = append(users[i], k)
			}
		}
	}
	for i, parts := range users {
		for _, k := range parts {
			if PartOf(job, k).Apart && len(parts) > 1 {
				return fmt.Errorf("parts %v share node %d, and part %d is to be apart", parts, i, k)
			}
		}
	}
	return nil
}

// OfPart are the segments for one part of a job.
func OfPart(segs []nodeset.Segment, k int) (part []nodeset.Segment) {
	for _, s := range segs {
		if int(s.Part) == k {
			part = append(part, s)
		}
	}
	return part
}
