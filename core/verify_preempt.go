// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// verifyPreempted is the part of Verify that knows of jobs that are preempted. It reports one that
// has no price, is there twice, or has no start on any of its nodes that may preempt it; a start
// that does and is not among those that wait for it; and nodes that give what they have only
// because a job has to go that the start may not preempt. freed has what those give back that go,
// by node.
func verifyPreempted(s *Snapshot, p *Plan) (freed map[int][]holding, err error) {
	freed = make(map[int][]holding)
	seen := make(map[int]bool)
	for _, x := range p.Preempted {
		if x.Running < 0 || x.Running >= len(s.Running) {
			return nil, fmt.Errorf("running job %d of %d is preempted", x.Running, len(s.Running))
		}
		r := &s.Running[x.Running]
		if seen[x.Running] || r.Price == 0 {
			return nil, fmt.Errorf("running job %s is preempted twice, or has no price", r.ID)
		}
		seen[x.Running] = true
		nodes := make(map[int]bool)
		for _, seg := range r.Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				nodes[n] = true
				freed[n] = append(freed[n], holdingOf(s, seg, r.Uses, 1<<r.Class))
			}
		}
		var waits []int
		for _, d := range p.Decisions {
			if d.Start && s.Pending[d.Job].Preempts>>r.Class&1 == 1 && onAny(d.Segs, nodes) {
				waits = append(waits, d.Job)
			}
		}
		slices.Sort(waits)
		if len(waits) == 0 {
			return nil, fmt.Errorf("running job %s is preempted for nobody who may, on any of its nodes", r.ID)
		}
		if !slices.Equal(waits, x.For) {
			return nil, fmt.Errorf("running job %s is preempted for jobs %v, not %v", r.ID, waits, x.For)
		}
	}
	return freed, nil
}

func onAny(segs []nodeset.Segment, nodes map[int]bool) bool {
	for _, seg := range segs {
		for n := int(seg.First); n <= int(seg.Last); n++ {
			if nodes[n] {
				return true
			}
		}
	}
	return false
}

// holding is what somebody has on one node, of each resource: cores, GPUs and the further ones.
// classes are those that a start may preempt, or that of a running job.
type holding struct {
	amounts []int64
	classes uint64
}

func holdingOf(s *Snapshot, seg nodeset.Segment, uses nodeset.Uses, classes uint64) holding {
	amounts := make([]int64, 2+s.Nodes.Resources())
	amounts[0], amounts[1] = int64(seg.Cores), int64(seg.GPUs)
	for _, u := range uses {
		if u.Row >= 0 && u.Row < s.Nodes.Resources() {
			amounts[2+u.Row] = u.PerNode + u.PerCore*int64(seg.Cores) + u.PerGPU*int64(seg.GPUs)
		}
	}
	return holding{amounts, classes}
}

// verifyRooms reports a node on which starts have what jobs give back that they may not preempt. By
// Hall's theorem they do if and only if those starts of which none may preempt a class beyond some
// set have more than is free and the jobs of that set give back. It is enough to look at sets that
// are unions of what starts may preempt. It is the one that says of each node whether more is taken
// than there is, where jobs are preempted.
func verifyRooms(s *Snapshot, p *Plan, freed map[int][]holding) error {
	taken := make(map[int][]holding) // by node on which something is given back
	for _, d := range p.Decisions {
		if !d.Start {
			continue
		}
		for _, seg := range d.Segs {
			for n := int(seg.First); n <= int(seg.Last); n++ {
				if freed[n] != nil {
					_, uses := d.Part(int(seg.Part))
					taken[n] = append(taken[n], holdingOf(s, seg, uses, s.Pending[d.Job].Preempts))
				}
			}
		}
	}
	for n, back := range freed {
		for _, set := range unions(taken[n], back) {
			have := holdingOf(s, nodeset.Segment{Cores: s.Nodes.FreeCores()[n], GPUs: s.Nodes.FreeGPUs()[n]}, nil, 0).amounts
			for r := range s.Nodes.Resources() {
				have[2+r] = s.Nodes.FreeOf(r)[n]
			}
			add(have, back, set, 1)
			add(have, taken[n], set|^classesOf(back), -1)
			for r, left := range have {
				if left < 0 {
					return fmt.Errorf(
						"node %d: starts that may preempt no class beyond %#x take %d too much of resource %d", n, set, -left, r)
				}
			}
		}
	}
	return nil
}

// add adds what those have that have no class beyond set.
func add(sum []int64, list []holding, set uint64, sign int64) {
	for _, h := range list {
		for r := range sum {
			if h.classes&^set == 0 {
				sum[r] += sign * h.amounts[r]
			}
		}
	}
}

func classesOf(list []holding) (classes uint64) {
	for _, h := range list {
		classes |= h.classes
	}
	return classes
}

// unions are all unions of what starts may preempt of the classes that give something back, the
// empty one too.
func unions(starts, back []holding) []uint64 {
	sets := []uint64{0}
	for _, h := range starts {
		mask := h.classes & classesOf(back)
		for _, set := range slices.Clone(sets) {
			if !slices.Contains(sets, set|mask) {
				sets = append(sets, set|mask)
			}
		}
	}
	return sets
}
