// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// ErrInvalidPlan is what is wrong with a plan that Verify refuses, or that cannot be applied.
var ErrInvalidPlan = errors.New("the plan is not valid")

// Verify is the independent referee of a plan: it counts, node by node, what the
// plan starts and what it is allowed to. It returns an error that names the first
// job or node at fault: a node with more taken than free, down, or not
// eligible, or a request that is not met exactly: that of the alternative which the
// decision names; a running job that is preempted needlessly, or for one who may not. It is
// ErrInvalidPlan too. Verify shares nothing with the
// policies, is slow, and meant to be obviously right.
func Verify(s *Snapshot, p *Plan) error {
	if s == nil || p == nil || s.Nodes == nil {
		return fmt.Errorf("%w: there is none, or no machine for it", ErrInvalidPlan)
	}
	if err := verify(s, p); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidPlan, err)
	}
	return nil
}

func verify(s *Snapshot, p *Plan) error {
	usedCores := make([]int, s.Nodes.Len())
	usedGPUs := make([]int, s.Nodes.Len())
	usedMore := make(map[[2]int]int64) // by node and further resource
	usedShares := make(map[bin]int64)
	counted := make([]float64, len(s.Quotas))
	started := make(map[int]bool)
	for _, d := range p.Decisions {
		if d.Job < 0 || d.Job >= len(s.Pending) {
			return fmt.Errorf("decision on job %d of a queue of %d", d.Job, len(s.Pending))
		}
		job := s.Pending[d.Job]
		if !d.Start {
			continue
		}
		if started[d.Job] {
			return fmt.Errorf("job %s is started twice", job.ID)
		}
		started[d.Job] = true
		asked, ok := job.Way(d.Alternative)
		if !ok {
			return fmt.Errorf("job %s: alternative %d of %d", job.ID, d.Alternative, len(job.Alternatives))
		}
		if err := CheckAllocation(&asked, d.Segs, s.Nodes.Len()); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		if err := checkBelow(s.Topology, &asked, d.Segs); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		if err := verifyUses(&asked, &d); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		for k := range 1 + len(asked.Components) {
			if err := verifyCharges(counted, asked.Part(k).Charges, ofPart(d.Segs, k)); err != nil {
				return fmt.Errorf("job %s: %w", job.ID, err)
			}
		}
		for _, seg := range d.Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				usedCores[n] += int(seg.Cores)
				usedGPUs[n] += int(seg.GPUs)
				if share := shareOf(s.Nodes, asked.Part(int(seg.Part)).Uses); share > 0 {
					usedShares[bin{n, seg.Bin}] += share
				} else if seg.Bin != 0 {
					return fmt.Errorf("job %s: node %d: it is on shared GPU %d and asks for no share", job.ID, n, seg.Bin)
				}
				for _, u := range asked.Part(int(seg.Part)).Uses {
					if r, shared := s.Nodes.Shares(); shared && u.Row == r {
						continue
					}
					usedMore[[2]int{n, u.Row}] += u.PerNode + u.PerCore*int64(seg.Cores) + u.PerGPU*int64(seg.GPUs)
				}
				if !s.Nodes.Up(n) {
					return fmt.Errorf("job %s: node %d is down", job.ID, n)
				}
			}
		}
	}
	if err := verifyShares(s.Nodes, usedShares, usedGPUs); err != nil {
		return err
	}
	freed, err := verifyPreempted(s, p)
	if err == nil {
		err = verifyRooms(s, p, freed)
	}
	if err != nil {
		return err
	}
	for n := range usedCores {
		if freed[n] != nil {
			continue // which verifyRooms has looked at
		}
		free := s.Nodes.Free(n)
		if usedCores[n] > int(free.Cores) || usedGPUs[n] > int(free.GPUs) {
			return fmt.Errorf("node %d: %d cores and %d GPUs taken, %d and %d free", n, usedCores[n], usedGPUs[n], free.Cores, free.GPUs)
		}
	}
	for i, q := range s.Quotas {
		if counted[i] > float64(q.Left) {
			return fmt.Errorf("quota %s: %.0f are counted, %d are left", q.Name, counted[i], q.Left)
		}
	}
	return verifyMore(s.Nodes, usedMore, freed)
}

// verifyCharges adds what an allocation counts against quotas. The sums are exact up to 2^53, far
// beyond what may be left.
func verifyCharges(counted []float64, charges nodeset.Uses, segs []nodeset.Segment) error {
	for _, c := range charges {
		if c.Row < 0 || c.Row >= len(counted) {
			return fmt.Errorf("it counts against quota %d of %d", c.Row, len(counted))
		}
		counted[c.Row] += float64(c.PerJob)
		for _, s := range segs {
			each := float64(c.PerNode) + float64(c.PerCore)*float64(s.Cores) + float64(c.PerGPU)*float64(s.GPUs)
			counted[c.Row] += float64(s.Last-s.First+1) * each
		}
	}
	return nil
}

// verifyMore reports a node that gives more of a further resource than it has free.
func verifyMore(t *nodeset.Table, used map[[2]int]int64, freed map[int][]holding) error {
	for at, amount := range used {
		n, r := at[0], at[1]
		if r < 0 || r >= t.Resources() {
			return fmt.Errorf("node %d gives of resource %d, of %d", n, r, t.Resources())
		}
		if free := t.FreeOf(r)[n]; amount > free && freed[n] == nil {
			return fmt.Errorf("node %d: %d %s taken, %d free", n, amount, t.ResourceName(r), free)
		}
	}
	return nil
}

// CheckAllocation reports how an allocation on a machine of n nodes fails to meet a
// request exactly: cores in all, number of nodes, cores on each node, GPUs on
// each node (in the range, and the same on all unless they may be mixed), contiguity
// and eligible nodes. Each node gives a core at least, or none if the request is for none. No
// allocation meets a request that is not valid.
//
// Of a request with Components each part is met by the segments for it, part after part.
func CheckAllocation(job *bids.Request, segs []nodeset.Segment, n int) error {
	if err := place.Validate(job); err != nil {
		return err
	}
	if len(job.Components) > 0 {
		return checkParts(job, segs, n)
	}
	return checkPart(job, segs, n)
}

// checkPart is CheckAllocation for one part alone.
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

// exactTasks reports whether each node has to give as many cores as the request says, and not only
// at most: there is no total, or it is that of a number of nodes that the request allows.
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
