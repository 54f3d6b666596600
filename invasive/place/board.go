// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/invasive"
)

// A board is a partition's cores under a plan.
type board struct {
	policy         *Policy
	away           []bool // of each core: it is not to be had; nil: none is
	homes          map[invasive.JobID]uint32
	nodes          int
	sockets, size  int    // of a node; of a socket
	free           []bool // neither owned nor kept for somebody
	freeIn, busyIn []int  // of each socket
	freeOn         []int  // of each node
	busy, awake    int    // cores; sockets with any
}

func newBoard(v *View, p *Policy) *board {
	b := &board{policy: p, away: v.Away, homes: v.Homes,
		nodes: int(v.Partition.Nodes), sockets: int(v.Partition.Sockets), size: int(v.Partition.CoresPerSocket)}
	b.free = make([]bool, len(v.Owners))
	b.freeIn, b.busyIn = make([]int, b.nodes*b.sockets), make([]int, b.nodes*b.sockets)
	b.freeOn = make([]int, b.nodes)
	for c, owner := range v.Owners {
		if owner == 0 {
			b.setFree(uint32(c))
		} else {
			b.addBusy(uint32(c), 1)
		}
	}
	return b
}

func (b *board) clone() *board {
	c := *b
	c.free, c.freeIn, c.busyIn, c.freeOn = slices.Clone(b.free), slices.Clone(b.freeIn), slices.Clone(b.busyIn), slices.Clone(b.freeOn)
	return &c
}

func (b *board) socket(core uint32) int { return int(core) / b.size }
func (b *board) node(core uint32) int   { return int(core) / (b.size * b.sockets) }

// isAway tells whether nobody can have a core.
func (b *board) isAway(core uint32) bool { return b.away != nil && b.away[core] }

func (b *board) setFree(core uint32) {
	if !b.free[core] && !b.isAway(core) {
		b.free[core] = true
		b.freeIn[b.socket(core)]++
		b.freeOn[b.node(core)]++
	}
}

// keep takes cores out of those that are free.
func (b *board) keep(cores []uint32) {
	for _, c := range cores {
		if b.free[c] {
			b.free[c] = false
			b.freeIn[b.socket(c)]--
			b.freeOn[b.node(c)]--
		}
	}
}

func (b *board) addBusy(core uint32, by int) {
	s := b.socket(core)
	before := b.busyIn[s] > 0
	b.busyIn[s] += by
	b.busy += by
	if after := b.busyIn[s] > 0; after != before {
		b.awake += by
	}
}

// seat gives cores away.
func (b *board) seat(cores []uint32) {
	b.keep(cores)
	for _, c := range cores {
		b.addBusy(c, 1)
	}
}

// vacate frees cores that are owned.
func (b *board) vacate(cores []uint32) {
	for _, c := range cores {
		b.addBusy(c, -1)
		b.setFree(c)
	}
}

// hasPower tells whether these cores may become busy as well.
func (b *board) hasPower(cores []uint32) bool {
	p := b.policy
	if p.CapWatts <= 0 || b.busy == 0 {
		return true
	}
	woken := map[int]bool{}
	for _, c := range cores {
		if s := b.socket(c); b.busyIn[s] == 0 {
			woken[s] = true
		}
	}
	return p.CoreWatts*float64(b.busy+len(cores))+p.SocketWatts*float64(b.awake+len(woken)) <= p.CapWatts
}

// onNode chooses k free cores of a node: within the socket that they fill best, or else over as few
// as possible. Sockets that a job is in already come first. The node must have them.
func (b *board) onNode(node, k int, in map[int]bool) []uint32 {
	order := make([]int, 0, b.sockets)
	for s := node * b.sockets; s < (node+1)*b.sockets; s++ {
		if b.freeIn[s] > 0 {
			order = append(order, s)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		fx, fy := b.freeIn[x] >= k, b.freeIn[y] >= k
		switch {
		case in[x] != in[y]:
			return -compareBools(in[x], in[y])
		case fx && fy:
			return cmp.Compare(b.freeIn[x], b.freeIn[y])
		}
		return cmp.Compare(b.freeIn[y], b.freeIn[x])
	})
	var cores []uint32
	for _, s := range order {
		for c := s * b.size; c < (s+1)*b.size && len(cores) < k; c++ {
			if b.free[c] {
				cores = append(cores, uint32(c))
			}
		}
	}
	slices.Sort(cores)
	return cores
}

// seats returns cores for a need, or nil if there aren't enough, or too little power.
func (b *board) seats(n *need) []uint32 {
	cores := b.candidates(n, n.most)
	if cores != nil && !b.hasPower(cores) && n.least < n.most {
		cores = b.candidates(n, n.least)
	}
	if cores == nil || !b.hasPower(cores) {
		return nil
	}
	return cores
}

// candidates returns up to most cores, or nil if there are fewer than the least.
func (b *board) candidates(n *need, most int) []uint32 {
	if cores := b.onParts(n, most); cores != nil {
		return cores
	}
	order, k := b.nodesFor(n, most)
	if k < n.least || len(order) < int(n.held.Job.MinNodes) || k == 0 {
		return nil
	}
	var cores []uint32
	for i, node := range order {
		others := max(0, int(n.held.Job.MinNodes)-i-1) // that have to get one each
		cores = append(cores, b.onNode(node, min(b.freeOn[node], k-len(cores)-others), nil)...)
	}
	slices.Sort(cores)
	return cores
}

// nodesFor returns nodes for a need that doesn't say which, and how many cores,
// up to most, they have.
func (b *board) nodesFor(n *need, most int) (order []int, k int) {
	for node, free := range b.freeOn {
		if free > 0 {
			order = append(order, node)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(b.freeOn[y], b.freeOn[x]) })
	if n.held.Job.MinNodes <= 1 { // one node, the one that it fills best
		for i := len(order) - 1; i >= 0; i-- {
			if b.freeOn[order[i]] >= most {
				return order[i : i+1], most
			}
		}
	}
	if m := n.held.Job.MaxNodes; m > 0 {
		order = order[:min(len(order), int(m))]
	}
	for i, node := range order {
		if k += b.freeOn[node]; k >= most && i+1 >= int(n.held.Job.MinNodes) {
			return order[:i+1], most
		}
	}
	return order, min(k, most)
}

// onParts keeps to the nodes that were agreed on. If they haven't enough, others will do: they were
// agreed on when they were free, or about to be, and to wait for just these leaves others idle.
func (b *board) onParts(n *need, most int) []uint32 {
	var cores []uint32
	nodes := 0
	for _, p := range n.parts {
		if int(p.Node) >= b.nodes {
			return nil
		}
		if k := min(int(p.Cores), b.freeOn[p.Node], most-len(cores)); k > 0 {
			cores = append(cores, b.onNode(int(p.Node), k, nil)...)
			nodes++
		}
	}
	if len(cores) < n.least || nodes < int(n.held.Job.MinNodes) {
		return nil
	}
	return cores
}

// surplus returns up to k cores that a job can give up and still have its least; only those on the
// nodes of parts, if there are any. Where it has least it gives up first. It stays on its home,
// and gives up nothing that nobody can have.
func (b *board) surplus(h *invasive.Held, k int, parts []invasive.Part) []uint32 {
	k = min(k, len(h.Cores)-int(h.Job.MinCores))
	inSocket, onNode := map[int]int{}, map[int]int{}
	for _, c := range h.Cores {
		inSocket[b.socket(c)]++
		onNode[b.node(c)]++
	}
	order := slices.Clone(h.Cores)
	slices.SortStableFunc(order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(onNode[b.node(x)], onNode[b.node(y)]),
			cmp.Compare(inSocket[b.socket(x)], inSocket[b.socket(y)]), -cmp.Compare(x, y))
	})
	nodes, left := len(onNode), onNode
	var cores []uint32
	for _, c := range order {
		node := b.node(c)
		wanted := len(parts) == 0 || slices.ContainsFunc(parts, func(p invasive.Part) bool { return int(p.Node) == node })
		last := left[node] == 1
		home, has := b.homes[h.Job.ID]
		stays := last && (nodes <= max(1, int(h.Job.MinNodes)) || has && int(home) == node)
		if len(cores) >= k || !wanted || stays || b.isAway(c) {
			continue
		}
		if left[node]--; last {
			nodes--
		}
		cores = append(cores, c)
	}
	slices.Sort(cores)
	return cores
}
