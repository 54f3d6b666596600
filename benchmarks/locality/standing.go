// SPDX-License-Identifier: BSD-3-Clause

package locality

// standing is what FCFS without backfilling keeps of the pass before. A pass from scratch takes the
// queue through the same places again, but where cores have become free in the meantime, and where
// jobs have gone for these. So for each job it is enough to compare its former place with those few
// nodes: all others are, at that point of the queue, as they were then, and were no better.
type standing struct {
	pass    int32
	on      bool
	differs []bool  // nodes that may not be as they were at that point of the former pass
	nodes   []int32 // the same, in no order
}

// mostDiffering is the number of nodes from which on a search among all is cheaper.
const mostDiffering = 64

// begin begins a pass from scratch, on top of cores that have been reset.
func (s *standing) begin(changed []int32) {
	for _, node := range s.nodes {
		s.differs[node] = false
	}
	s.nodes = s.nodes[:0]
	s.pass++
	s.on = true
	for _, node := range changed {
		s.add(node)
	}
}

func (s *standing) add(node int32) {
	switch {
	case s.differs[node]:
	case len(s.nodes) == mostDiffering:
		s.on = false
	default:
		s.differs[node] = true
		s.nodes = append(s.nodes, node)
	}
}

// choose is the earliest start of the job, and the first node that has it, as
// search.first gives them.
func (s *standing) choose(se *search) (at int64, node int) {
	j, now := se.j, se.r.now
	known := s.on && j.pass == s.pass-1
	j.pass = s.pass
	if !known {
		return s.search(se)
	}
	at, node = j.start, int(j.node)
	found := !s.differs[node]
	for _, other := range s.nodes {
		from := max(se.r.cores.from(int(other), j.Cores), now)
		if from < at || from == at && int(other) <= node {
			at, node, found = from, int(other), true
		}
	}
	former := j.node
	if !found {
		// The former place is not as good as it was, and who came second is not known.
		at, node = s.search(se)
	}
	if node != int(former) {
		s.add(former)
	}
	return at, node
}

// search finds a place as without a former pass, which the node then differs from.
func (s *standing) search(se *search) (at int64, node int) {
	if at, node = se.first(); node >= 0 && s.on {
		s.add(int32(node))
	}
	return at, node
}
