// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/frag"
)

// scorer says how well a pod would do on a node. Scores depend on the node's state and the pod's
// request alone, so that they are remembered until the state changes.
type scorer interface {
	// changed is told that a node has another state, and once of each at the start.
	changed(node int, s *frag.State)
	// score is for a pod that fits: the higher the better. gpu is for a share.
	score(node int, s *frag.State, r *frag.Request) (score float64, gpu int)
	// breaks are the holes that it would take from the node.
	breaks(s *frag.State, r *frag.Request, gpu int) frag.Broken
}

// noPlace is the score of nodes on which a pod does not fit.
var noPlace = math.Inf(-1)

// cell is a remembered score of a request on a node.
type cell struct {
	score   float32
	version int32
	gpu     int8
	breaks  frag.Broken
}

// cluster is the nodes while pods come.
type cluster struct {
	nodes    []frag.State // in the order of rank
	names    []int        // of each node, its index in Cluster.Nodes
	versions []int32
	kinds    []frag.Request // distinct requests
	cells    [][]cell       // by kind of request and node
	scorer   scorer
	// onModel is added to a request's scores on nodes of a model of GPU; nil: nothing.
	onModel func(r *frag.Request, kind uint8) float64
	// broken is added to a score for the holes that it breaks.
	broken [1 << frag.MaxGPUs]float32
}

func newCluster(c *Cluster, ranks []int, kinds []frag.Request, s scorer) *cluster {
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
	var onModel [frag.MaxKinds]float32
	if x.onModel != nil && r.GPUs > 0 {
		for k := range onModel {
			onModel[k] = float32(x.onModel(r, uint8(k)))
		}
	}
	node, gpu = -1, -1
	best := float32(noPlace)
	for i := range cells {
		c := &cells[i]
		if c.version != x.versions[i] {
			x.look(c, i, r)
		}
		if s := c.score + onModel[x.nodes[i].Kind] + x.broken[c.breaks]; s > best {
			node, gpu, best = i, int(c.gpu), s
		}
	}
	return node, gpu
}

// look scores a node anew.
func (x *cluster) look(c *cell, node int, r *frag.Request) {
	c.version = x.versions[node]
	if s := &x.nodes[node]; !s.Fits(r) {
		c.score = float32(noPlace)
	} else {
		score, gpu := x.scorer.score(node, s, r)
		c.score, c.gpu = float32(score), int8(gpu)
		c.breaks = x.scorer.breaks(s, r, gpu)
	}
}

// put starts a request on a node, with the GPU of a share.
func (x *cluster) put(kind, node, gpu int) frag.Taken {
	t := x.nodes[node].Take(&x.kinds[kind], gpu)
	x.touch(node)
	return t
}

// remove undoes put.
func (x *cluster) remove(kind, node int, t frag.Taken) {
	x.nodes[node].Return(&x.kinds[kind], t)
	x.touch(node)
}

func (x *cluster) touch(node int) {
	x.versions[node]++
	x.scorer.changed(node, &x.nodes[node])
}
