// SPDX-License-Identifier: BSD-3-Clause

package residence

import "slices"

const (
	// MaxPerNode is how many files a node is taken to hold at most, however small they are. Of
	// more the smallest, which is the cheapest to read again, is not remembered: many small files
	// push no large one out.
	MaxPerNode = 64
	// MaxCopies is how many files all nodes hold at most, a file counted on each node.
	MaxCopies = 1 << 20
	// MaxBytes bounds sizes: larger ones count as this.
	MaxBytes = 1 << 60
)

// Node is a node of the machine.
type Node struct {
	// ID tells the node from others when the machine changes, and over restarts; 0 is no ID, and
	// what such a node holds is forgotten then. Of nodes with the same ID the first has it, and the
	// others are as if they had none.
	ID uint64
	// Capacity is how many bytes of files the node keeps; 0 or less: none.
	Capacity int64
}

// Copy is a file on a node.
type Copy struct {
	// File tells files apart; it is not 0.
	File uint64
	// Bytes is the file's size, at least 1.
	Bytes int64
	// Read is the second in which it was last read there.
	Read int64
}

// State is which files each node holds. Make one with [New]. It must not be used by two
// goroutines at once.
type State struct {
	age    int64
	nodes  []node
	used   int                // copies of all nodes
	files  map[uint64][]int32 // the nodes that hold each, in the order in which they came to
	spare  [][]int32          // memory of files that nobody holds any more
	change uint64
}

// node is a machine's node.
type node struct {
	Node
	again bool // a node before it has the same ID
	bytes int64
	held  []Copy // from the one read first to the one read last
}

// saved says whether the node is among what is saved: only with an ID can it be found again.
func (n *node) saved() bool { return n.ID != 0 && !n.again && len(n.held) > 0 }

// New returns the state of a machine without nodes. A file that has not been read for more than
// age seconds is forgotten by [State.Expire]; 0: never.
func New(age int64) *State {
	return &State{age: max(age, 0), files: make(map[uint64][]int32)}
}

// SetAge changes the age of [New].
func (s *State) SetAge(age int64) { s.age = max(age, 0) }

// Files is how many files are held by any node, and Copies by how many nodes in all.
func (s *State) Files() int  { return len(s.files) }
func (s *State) Copies() int { return s.used }

// Changes is a number that is another one whenever a node has come to hold a file
// or holds it no more.
func (s *State) Changes() uint64 { return s.change }

// Read says that a job on the node reads a file of so many bytes from second now on, and reports
// whether the node held the file before. The node holds it from now on, unless it is larger than
// all that the node keeps: then the read has pushed everything out. It does nothing for a node that
// the machine has not, for file 0 and for fewer bytes than 1.
func (s *State) Read(n int, file uint64, bytes, now int64) (held bool) {
	if n < 0 || n >= len(s.nodes) || file == 0 || bytes < 1 {
		return false
	}
	bytes = min(bytes, MaxBytes)
	at, node := s.find(n, file), &s.nodes[n]
	switch held = at >= 0; {
	case bytes > node.Capacity:
		for k := len(node.held) - 1; k >= 0; k-- {
			s.drop(n, k)
		}
		return held
	case held:
		node.bytes += bytes - node.held[at].Bytes
		copy(node.held[at:], node.held[at+1:])
		node.held[len(node.held)-1] = Copy{file, bytes, now}
	default:
		s.add(n, Copy{file, bytes, now})
	}
	s.fit(n)
	return held
}

// Holds reports whether node n holds a file.
func (s *State) Holds(n int, file uint64) bool { return s.find(n, file) >= 0 }

// Expire forgets files that were not read for longer than the age.
func (s *State) Expire(now int64) {
	if s.age == 0 {
		return
	}
	for n := range s.nodes {
		for node := &s.nodes[n]; len(node.held) > 0 && now-node.held[0].Read > s.age; {
			s.drop(n, 0)
		}
	}
}

// find is where node n has its copy of a file, or -1.
func (s *State) find(n int, file uint64) int {
	if n < 0 || n >= len(s.nodes) {
		return -1
	}
	return slices.IndexFunc(s.nodes[n].held, func(c Copy) bool { return c.File == file })
}

// fit has node n forget what was read first until the rest fits into its memory, and then the
// smallest of too many.
func (s *State) fit(n int) {
	node := &s.nodes[n]
	for len(node.held) > 0 && node.bytes > node.Capacity {
		s.drop(n, 0)
	}
	for len(node.held) > MaxPerNode {
		s.drop(n, node.smallest())
	}
}

// smallest is where the node has its smallest copy, of several the one that was read first; -1: it has
// none.
func (n *node) smallest() int {
	found := -1
	for at := range n.held {
		if found < 0 || n.held[at].Bytes < n.held[found].Bytes {
			found = at
		}
	}
	return found
}

// add has node n hold a file that it does not, as the one read last. Where there are
// MaxCopies already it takes the place of the smallest on that node, unless it is smaller
// still; then it is not remembered.
func (s *State) add(n int, c Copy) {
	node := &s.nodes[n]
	if s.used >= MaxCopies {
		least := node.smallest()
		if least < 0 || node.held[least].Bytes > c.Bytes {
			return
		}
		s.drop(n, least)
	}
	node.bytes += c.Bytes
	node.held = append(node.held, c)
	on, known := s.files[c.File]
	if last := len(s.spare) - 1; !known && last >= 0 {
		on, s.spare = s.spare[last], s.spare[:last]
	}
	s.files[c.File] = append(on, int32(n))
	s.used++
	s.change++
}

// drop has node n hold the copy at that place no more.
func (s *State) drop(n, at int) {
	node := &s.nodes[n]
	c := node.held[at]
	node.bytes -= c.Bytes
	node.held = slices.Delete(node.held, at, at+1)
	on := s.files[c.File]
	k := slices.Index(on, int32(n))
	if on = slices.Delete(on, k, k+1); len(on) > 0 {
		s.files[c.File] = on
	} else {
		delete(s.files, c.File)
		s.spare = append(s.spare, on)
	}
	s.used--
	s.change++
}
