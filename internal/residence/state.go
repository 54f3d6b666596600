// SPDX-License-Identifier: BSD-3-Clause

package residence

import "github.com/aucsched/aucsched/nodeset"

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
	copies []entry
	spare  int32 // of copies, the first of those in no list, linked by older; -1: none
	used   int   // copies in lists
	files  map[uint64]*list
	lists  []*list // of files that nobody holds any more, to be used again
	change uint64
}

// node is a machine's node: its copies from the one read last to the one read first.
type node struct {
	Node
	again         bool // a node before it has the same ID
	bytes         int64
	count         int
	newest, least int32 // -1: none
}

// list is the copies of one file.
type list struct {
	first int32
	count int
}

// entry is a copy in the list of its node and in that of its file.
type entry struct {
	Copy
	node         int32
	newer, older int32
	prev, next   int32 // of the same file
}

// New returns the state of a machine without nodes. A file that has not been read for more than
// age seconds is forgotten by [State.Expire]; 0: never.
func New(age int64) *State {
	return &State{age: max(age, 0), spare: -1, files: make(map[uint64]*list)}
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
		for node.count > 0 {
			s.drop(node.least)
		}
		return held
	case held:
		c := &s.copies[at]
		node.bytes += bytes - c.Bytes
		c.Bytes, c.Read = bytes, now
		s.unlinkNode(at)
		s.linkNode(at)
	default:
		s.add(n, Copy{file, bytes, now})
	}
	s.fit(n)
	return held
}

// Holds reports whether node n holds a file.
func (s *State) Holds(n int, file uint64) bool { return s.find(n, file) >= 0 }

// Holders adds the nodes that hold the file to dst, which must be a mask for at least as many nodes
// as the machine has, and returns how many they are.
func (s *State) Holders(file uint64, dst nodeset.Mask) int {
	l := s.files[file]
	if l == nil {
		return 0
	}
	for at := l.first; at >= 0; at = s.copies[at].next {
		dst.Set(int(s.copies[at].node))
	}
	return l.count
}

// Of appends what node n holds, what was read last first.
func (s *State) Of(dst []Copy, n int) []Copy {
	for at := s.nodes[n].newest; at >= 0; at = s.copies[at].older {
		dst = append(dst, s.copies[at].Copy)
	}
	return dst
}

// Expire forgets files that were not read for longer than the age.
func (s *State) Expire(now int64) {
	if s.age == 0 {
		return
	}
	for n := range s.nodes {
		for at := s.nodes[n].least; at >= 0 && now-s.copies[at].Read > s.age; at = s.nodes[n].least {
			s.drop(at)
		}
	}
}

// find is the copy of a file on node n, or -1.
func (s *State) find(n int, file uint64) int32 {
	if n < 0 || n >= len(s.nodes) {
		return -1
	}
	for at := s.nodes[n].newest; at >= 0; at = s.copies[at].older {
		if s.copies[at].File == file {
			return at
		}
	}
	return -1
}

// fit has node n forget what was read first until the rest fits into its memory, and then the
// smallest of too many.
func (s *State) fit(n int) {
	node := &s.nodes[n]
	for node.count > 0 && node.bytes > node.Capacity {
		s.drop(node.least)
	}
	for node.count > MaxPerNode {
		s.drop(s.smallest(n))
	}
}

// smallest is the smallest copy of node n, of several the one that was read first; -1: it has none.
func (s *State) smallest(n int) int32 {
	found := s.nodes[n].least
	for at := found; at >= 0; at = s.copies[at].newer {
		if s.copies[at].Bytes < s.copies[found].Bytes {
			found = at
		}
	}
	return found
}

// add has node n hold a file that it does not, as the one read last. Where there are
// MaxCopies already it takes the place of the smallest on that node, unless it is smaller
// still; then it is not remembered.
func (s *State) add(n int, c Copy) {
	if s.used >= MaxCopies {
		least := s.smallest(n)
		if least < 0 || s.copies[least].Bytes > c.Bytes {
			return
		}
		s.drop(least)
	}
	at := s.spare
	if at >= 0 {
		s.spare = s.copies[at].older
	} else {
		at = int32(len(s.copies))
		s.copies = append(s.copies, entry{})
	}
	s.copies[at] = entry{Copy: c, node: int32(n)}
	s.nodes[n].bytes += c.Bytes
	s.linkNode(at)
	s.linkFile(at)
	s.used++
	s.change++
}

// drop has its node hold a copy no more.
func (s *State) drop(at int32) {
	c := &s.copies[at]
	s.nodes[c.node].bytes -= c.Bytes
	s.unlinkNode(at)
	s.unlinkFile(at)
	c.older, s.spare = s.spare, at
	s.used--
	s.change++
}

func (s *State) linkNode(at int32) {
	c := &s.copies[at]
	n := &s.nodes[c.node]
	c.newer, c.older = -1, n.newest
	if n.newest >= 0 {
		s.copies[n.newest].newer = at
	} else {
		n.least = at
	}
	n.newest = at
	n.count++
}

func (s *State) unlinkNode(at int32) {
	c := &s.copies[at]
	n := &s.nodes[c.node]
	if c.newer >= 0 {
		s.copies[c.newer].older = c.older
	} else {
		n.newest = c.older
	}
	if c.older >= 0 {
		s.copies[c.older].newer = c.newer
	} else {
		n.least = c.newer
	}
	n.count--
}

func (s *State) linkFile(at int32) {
	c := &s.copies[at]
	l := s.files[c.File]
	if l == nil {
		if k := len(s.lists); k > 0 {
			l, s.lists = s.lists[k-1], s.lists[:k-1]
		} else {
			l = new(list)
		}
		*l = list{first: -1}
		s.files[c.File] = l
	}
	c.prev, c.next = -1, l.first
	if l.first >= 0 {
		s.copies[l.first].prev = at
	}
	l.first = at
	l.count++
}

func (s *State) unlinkFile(at int32) {
	c := &s.copies[at]
	l := s.files[c.File]
	if c.prev >= 0 {
		s.copies[c.prev].next = c.next
	} else {
		l.first = c.next
	}
	if c.next >= 0 {
		s.copies[c.next].prev = c.prev
	}
	if l.count--; l.count == 0 {
		delete(s.files, c.File)
		s.lists = append(s.lists, l)
	}
}
