// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"cmp"
	"slices"
)

// twin is a State that is written to be obviously right: slices, the file read last first.
type twin struct {
	age   int64
	nodes []Node
	held  [][]Copy
}

func (w *twin) setMachine(nodes []Node) {
	held := make([][]Copy, len(nodes))
	same := len(nodes) == len(w.nodes)
	for n := range nodes {
		same = same && nodes[n].ID == w.nodes[n].ID
	}
	taken := map[int]bool{}
	for n := range nodes {
		was := n
		if !same {
			was = slices.IndexFunc(w.nodes, func(o Node) bool { return o.ID == nodes[n].ID && o.ID != 0 })
		}
		if was >= 0 && !taken[was] {
			held[n], taken[was] = w.held[was], true
		}
	}
	w.nodes, w.held = slices.Clone(nodes), held
	for n := range nodes {
		w.fit(n)
	}
}

func (w *twin) fit(n int) {
	sum := func() (bytes int64) {
		for _, c := range w.held[n] {
			bytes += c.Bytes
		}
		return bytes
	}
	for sum() > w.nodes[n].Capacity && len(w.held[n]) > 0 {
		w.held[n] = w.held[n][:len(w.held[n])-1]
	}
	for len(w.held[n]) > MaxPerNode {
		bySize := slices.Clone(w.held[n])
		slices.Reverse(bySize)
		slices.SortStableFunc(bySize, func(a, b Copy) int { return cmp.Compare(a.Bytes, b.Bytes) })
		w.held[n] = slices.DeleteFunc(slices.Clone(w.held[n]), func(c Copy) bool { return c.File == bySize[0].File })
	}
}

func (w *twin) read(n int, file uint64, bytes, now int64) bool {
	at := slices.IndexFunc(w.held[n], func(c Copy) bool { return c.File == file })
	if at >= 0 {
		w.held[n] = slices.Delete(slices.Clone(w.held[n]), at, at+1)
	}
	if bytes > w.nodes[n].Capacity {
		w.held[n] = nil
		return at >= 0
	}
	w.held[n] = slices.Insert(slices.Clone(w.held[n]), 0, Copy{file, bytes, now})
	w.fit(n)
	return at >= 0
}

func (w *twin) expire(now int64) {
	for n := range w.held {
		if w.age > 0 {
			w.held[n] = slices.DeleteFunc(slices.Clone(w.held[n]), func(c Copy) bool { return now-c.Read > w.age })
		}
	}
}

func (w *twin) holders(file uint64) (nodes []int32) {
	for n := range w.held {
		if slices.ContainsFunc(w.held[n], func(c Copy) bool { return c.File == file }) {
			nodes = append(nodes, int32(n))
		}
	}
	return nodes
}

// counts are how many files there are, and on how many nodes.
func (w *twin) counts() (files, copies int) {
	seen := map[uint64]bool{}
	for n := range w.held {
		for _, c := range w.held[n] {
			seen[c.File] = true
			copies++
		}
	}
	return len(seen), copies
}

// held is what node n holds, what was read last first.
func held(s *State, n int) (copies []Copy) {
	for _, c := range slices.Backward(s.nodes[n].held) {
		copies = append(copies, c)
	}
	return copies
}
