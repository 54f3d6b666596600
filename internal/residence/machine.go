// SPDX-License-Identifier: BSD-3-Clause

package residence

// SetMachine says which nodes the machine has, in node order. Where their IDs are those of before
// only capacities change; otherwise each node keeps what the one with its ID held, and what other
// nodes held is forgotten. The slice stays the caller's.
func (s *State) SetMachine(nodes []Node) {
	if !s.same(nodes) {
		s.replace(nodes)
		return
	}
	for n := range nodes {
		if c := min(nodes[n].Capacity, MaxBytes); s.nodes[n].Capacity != c {
			s.nodes[n].Capacity = c
			s.fit(n)
		}
	}
}

func (s *State) same(nodes []Node) bool {
	if len(nodes) != len(s.nodes) {
		return false
	}
	for n := range nodes {
		if nodes[n].ID != s.nodes[n].ID {
			return false
		}
	}
	return true
}

// replace is SetMachine for nodes that are not those of before. Copies come back in the order of
// the new nodes, so that the outcome depends on nothing else.
func (s *State) replace(nodes []Node) {
	old := *s
	place, seen := make(map[uint64]int, len(old.nodes)), make(map[uint64]bool, len(nodes))
	for n := len(old.nodes) - 1; n >= 0; n-- { // of equal IDs the first has it
		if id := old.nodes[n].ID; id != 0 {
			place[id] = n
		}
	}
	s.clear(len(nodes))
	var held []Copy
	for n := range nodes {
		s.nodes[n].Node = Node{nodes[n].ID, min(nodes[n].Capacity, MaxBytes)}
		s.nodes[n].again, seen[nodes[n].ID] = seen[nodes[n].ID], true
		was, ok := place[nodes[n].ID]
		if !ok || s.nodes[n].again {
			continue
		}
		held = old.Of(held[:0], was)
		for k := len(held) - 1; k >= 0; k-- {
			s.add(n, held[k])
		}
		s.fit(n)
	}
	s.change = max(s.change, old.change) + 1
}

// clear makes s hold nothing, on that many nodes without IDs and memory.
func (s *State) clear(nodes int) {
	s.nodes = make([]node, nodes)
	for n := range s.nodes {
		s.nodes[n].newest, s.nodes[n].least = -1, -1
	}
	s.copies, s.spare, s.used = nil, -1, 0
	s.files, s.lists = make(map[uint64]*list), nil
	s.change++
}
