// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"
	"slices"
)

// scorer says how well a pod would do on a node. Scores depend on the node's state and the pod's
// request alone, so that they are remembered until the state changes.
type scorer interface {
	// changed is told that a node has another state, and once of each at the start.
	changed(node int, s *State)
	// score is for a pod that fits: it adds the ways that come into question.
	score(node int, s *State, r *Request, c *cell)
}

// noPlace is the score of nodes on which a pod does not fit.
var noPlace = math.Inf(-1)

// way is a place for a request on a node.
type way struct {
	score float32 // the higher the better
	gpu   int8    // for a share
}

// cell are the remembered scores of a request on a node.
type cell struct {
	version int32
	n       int32 // of ways; 0: it does not fit
	ways    [MaxGPUs]way
}

func (c *cell) add(w way) {
	c.ways[c.n] = w
	c.n++
}

// cluster is the nodes while pods come.
type cluster struct {
	nodes    []State // in the order of rank
	names    []int   // of each node, its index in Cluster.Nodes
	versions []int32
	kinds    []Request // distinct requests
	cells    [][]cell  // by kind of request and node
	scorer   scorer
}

func newCluster(c *Cluster, ranks []int, kinds []Request, s scorer) *cluster {
	x := &cluster{names: make([]int, len(c.Nodes)), kinds: kinds, scorer: s}
	for i := range x.names {
		x.names[i] = i
	}
	slices.SortFunc(x.names, func(a, b int) int { return ranks[a] - ranks[b] })
	x.versions = make([]int32, len(c.Nodes))
	for i, n := range x.names {
		x.nodes = append(x.nodes, c.Nodes[n].State)
		x.versions[i] = 1
		s.changed(i, &x.nodes[i])
	}
	x.cells = make([][]cell, len(kinds))
	return x
}

// best is the place of the highest score for a kind of request: of equal ones, the node of the
// lowest rank. node is -1 if it fits nowhere.
func (x *cluster) best(kind int) (node, gpu int) {
	if x.cells[kind] == nil {
		x.cells[kind] = make([]cell, len(x.nodes))
	}
	cells, r := x.cells[kind], &x.kinds[kind]
	node, gpu = -1, -1
	best := float32(noPlace)
	for i := range cells {
		c := &cells[i]
		if c.version != x.versions[i] {
			x.look(c, i, r)
		}
		for k := range c.ways[:c.n] {
			if w := &c.ways[k]; w.score > best {
				node, gpu, best = i, int(w.gpu), w.score
			}
		}
	}
	return node, gpu
}

// look scores a node anew.
func (x *cluster) look(c *cell, node int, r *Request) {
	c.version, c.n = x.versions[node], 0
	if s := &x.nodes[node]; s.Fits(r) {
		x.scorer.score(node, s, r, c)
	}
}

// put starts a request on a node, with the GPU of a share.
func (x *cluster) put(kind, node, gpu int) Taken {
	t := x.nodes[node].Take(&x.kinds[kind], gpu)
	x.versions[node]++
	x.scorer.changed(node, &x.nodes[node])
	return t
}
