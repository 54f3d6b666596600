// SPDX-License-Identifier: BSD-3-Clause

package locality

import "math"

// sorts tells whether the search can go through the free nodes by what they have in memory: these
// differ in nothing else.
func (p *plan) sorts(s *search) bool { return p.alike && s.now.evict > 0 && s.j.FileSize > 0 }

// renew notes what there is on a node on which jobs have started or ended.
func (p *plan) renew(node int32) {
	r := p.r
	p.memory.set(int(node), ordered(r.inMemory(node, r.now)))
	first := int64(never)
	lo := int(node) * r.cores.most
	for _, end := range r.cores.busy[lo : lo+int(r.cores.count[node])] {
		if end > 0 {
			first = min(first, end)
		}
	}
	for _, i := range p.nodes[node].jobs {
		j := r.jobs[i]
		first = min(first, r.queue.places[j.seq-r.queue.first].start+j.wall)
	}
	p.ends.set(int(node), first)
}

// idle considers the nodes without the file that are free now and could be the best. Where
// there are many, as when jobs wait for nodes with their files, a scan of all of them would
// be most of the work.
func (s *search) idle() {
	r := s.r
	f := filter{tree: &r.plan.memory}
	score, least := math.NaN(), int64(-1)
	for i := 0; ; i++ {
		if s.best.score != score {
			score, f.atMost = s.best.score, s.mostMemory()
		}
		bound := f
		if least >= 0 && 2*i > s.best.order {
			// A node with no less in memory than the best one, and behind it, is no better.
			bound.atMost = min(f.atMost, least-1)
		}
		if bound.atMost < 0 {
			return
		}
		if i = r.line.next(s.j, i, r.now, bound); i < 0 {
			return
		}
		if r.files.marks[i] == r.files.mark {
			continue
		}
		if s.consider(int32(i), nil); s.best.node == int32(i) {
			least = ordered(r.inMemory(int32(i), r.now))
		}
	}
}

// mostMemory bounds what a free node without the file can have in memory if it has no greater score
// than the best so far, as in the plan's tree; -1: no such node has.
func (s *search) mostMemory() int64 {
	if s.best.node < 0 {
		return never - 1
	}
	n := &s.r.nodes[0]
	const rounding = 1e-9
	// Scores of weights that are no whole numbers are rounded as well.
	rest := s.best.score*(1+1e-14) - float64(s.r.now) - s.now.load*float64(s.r.load(s.j, 0))
	if rest < 0 {
		return -1
	}
	return ordered(rest/(s.now.evict*(s.j.FileSize/n.Memory)/n.Bandwidth)*(1+rounding) + rounding)
}

// ordered is a number with the order of x, which is at least 0.
func ordered(x float64) int64 { return int64(math.Float64bits(x)) }

// soon considers the nodes without the file that are free later and could be the best.
func (s *search) soon() {
	r := s.r
	if s.best.node < 0 {
		_, node := s.first()
		if node < 0 {
			return
		}
		s.consider(int32(node), r.files.held(s.j.file, int32(node)))
	}
	score := math.NaN()
	var bound int64
	for i := 0; ; i++ {
		if s.best.score != score {
			score = s.best.score
			bound = r.latestStart(s.j, score, false, s.later, s.later)
		}
		if bound <= r.now {
			return
		}
		if i = r.line.next(s.j, i, bound, filter{&r.plan.ends, bound}); i < 0 {
			return
		}
		if r.files.marks[i] != r.files.mark {
			s.consider(int32(i), nil)
		}
	}
}
