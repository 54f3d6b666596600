// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"fmt"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Job is one job of the window.
type Job struct {
	// Worth is p_j, or p_j r_j under the paper's second objective; at least 1.
	Worth int64
	// Cores is r_j, at least 1, and met exactly.
	Cores int
	// GPUs is g_j, on every node that gives a core.
	GPUs int
	// MinNodes and MaxNodes are N_min and N_max; 0 leaves that side open.
	MinNodes, MaxNodes int
	// MinCores and MaxCores are the least and the most cores that a node gives, if it
	// gives any. 0 stands for 1 and for all it has. The paper knows no such limits; equal ones are
	// x_ij = c t_ij, for jobs with tasks per node.
	MinCores, MaxCores int
	// Eligible are the nodes that the job may use; nil means all.
	Eligible nodeset.Mask
}

// Problem is a window on a machine. Solvers do not change it.
type Problem struct {
	Jobs []Job
	// Free are R_i and G_i of each of the N nodes. A node that is down has nothing.
	Free []nodeset.Capacity
	// NoNodeLimits leaves constraint 5 out, as section VI does for jobs that ask for no nodes:
	// MinNodes and MaxNodes then count for nothing.
	NoNodeLimits bool
}

// Unit is how many units of worth make one of the paper's objective: 2N.
func (p *Problem) Unit() int64 { return 2 * int64(len(p.Free)) }

// nodes are N_min and N_max as they count.
func (p *Problem) nodes(j *Job) (low, high int) {
	low, high = 1, len(p.Free)
	if !p.NoNodeLimits {
		low = max(low, j.MinNodes)
		if j.MaxNodes > 0 {
			high = min(high, j.MaxNodes)
		}
	}
	return low, high
}

// cores is the least and the most that a node with that many free cores gives, if it gives any.
func (j *Job) cores(free int) (low, high int) {
	high = min(free, j.Cores)
	if j.MaxCores > 0 {
		high = min(high, j.MaxCores)
	}
	return max(j.MinCores, 1), high
}

// Validate reports the first number that is out of range, or that the worths do not fit:
// 2N times their sum must be at most ipmodel.MaxTotalValue.
func (p *Problem) Validate() error {
	if len(p.Free) == 0 || len(p.Free) > nodeset.MaxNodes {
		return fmt.Errorf("%d nodes: must be 1 to %d", len(p.Free), nodeset.MaxNodes)
	}
	left := ipmodel.MaxTotalValue / p.Unit()
	var masks Masks
	for i := range p.Jobs {
		j := &p.Jobs[i]
		switch {
		case j.Worth < 1 || j.Worth > left:
			return fmt.Errorf("job %d: worth %d: must be at least 1, and 2N times the sum of all at most %d",
				i, j.Worth, int64(ipmodel.MaxTotalValue))
		case j.Cores < 1 || j.Cores > 1<<31-1:
			return fmt.Errorf("job %d: %d cores: must be 1 to %d", i, j.Cores, 1<<31-1)
		case j.GPUs < 0 || j.MinNodes < 0 || j.MaxNodes < 0 || j.MinCores < 0 || j.MaxCores < 0:
			return fmt.Errorf("job %d: a negative number", i)
		}
		if _, ok := masks.Number(j.Eligible); !ok {
			return fmt.Errorf("job %d: more than %d different masks", i, MaxMasks)
		}
		left -= j.Worth
	}
	return nil
}

// Check is the independent referee of an answer: it adds up what the jobs get, node by node, and
// returns the worth in units of 1/2N, or the first constraint that is violated. segs are the jobs'
// allocations, empty for those that are not selected.
func (p *Problem) Check(segs func(job int) []nodeset.Segment) (worth int64, err error) {
	cores, gpus := make([]int, len(p.Free)), make([]int, len(p.Free))
	for i := range p.Jobs {
		j, all := &p.Jobs[i], segs(i)
		if len(all) == 0 {
			continue
		}
		if err := nodeset.CheckSegments(all, len(p.Free)); err != nil {
			return 0, fmt.Errorf("job %d: %w", i, err)
		}
		nodes, sum := 0, 0
		for _, s := range all {
			for n := int(s.First); n <= int(s.Last); n++ {
				nodes, sum = nodes+1, sum+int(s.Cores)
				cores[n] += int(s.Cores)
				gpus[n] += int(s.GPUs)
				if least, most := j.cores(int(p.Free[n].Cores)); int(s.Cores) < least ||
					int(s.Cores) > most || int(s.GPUs) != j.GPUs || !j.Eligible.Has(n) {
					return 0, fmt.Errorf("job %d: node %d gives %d cores and %d GPUs", i, n, s.Cores, s.GPUs)
				}
			}
		}
		if sum != j.Cores {
			return 0, fmt.Errorf("job %d: %d cores instead of %d (constraint 2)", i, sum, j.Cores)
		}
		if low, high := p.nodes(j); nodes < low || nodes > high {
			return 0, fmt.Errorf("job %d: %d nodes instead of %d to %d (constraint 5)", i, nodes, low, high)
		}
		worth += j.Worth * (p.Unit() - int64(nodes))
	}
	for n, free := range p.Free {
		if cores[n] > int(free.Cores) || gpus[n] > int(free.GPUs) {
			return 0, fmt.Errorf("node %d: %d of %d cores, %d of %d GPUs (constraints 1 and 3)",
				n, cores[n], free.Cores, gpus[n], free.GPUs)
		}
	}
	return worth, nil
}
