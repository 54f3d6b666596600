// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/frag"
)

// scorer says how well a pod would do on a node. Scores depend on the node's state and the pod's
// request alone, so that they are remembered until the state changes.
type scorer interface {
	// changed is told that a node has another state, and once of each at the start.
	changed(node int, s *frag.State)
	// score is for a pod that fits: it adds the ways that come into question.
	score(node int, s *frag.State, r *frag.Request, c *cell)
}

// noPlace is the score of nodes on which a pod does not fit.
var noPlace = math.Inf(-1)

// way is a place for a request on a node.
type way struct {
	score  float32 // the higher the better
	gpu    int8    // for a share
	hole   uint8   // the share's, as it is before
	breaks frag.Broken
}

// cell are the remembered scores of a request on a node.
type cell struct {
	version int32
	n       int32 // of ways; 0: it does not fit
	ways    [frag.MaxGPUs]way
}

func (c *cell) add(w way) {
	c.ways[c.n] = w
	c.n++
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
	// inHole is taken from a share's scores, by the hole; nil: nothing. Then they are rounded.
	inHole func(r *frag.Request, cost *[frag.Units + 1]float32)
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
	var inHole [frag.Units + 1]float32
	if x.inHole != nil && r.Shared() {
		x.inHole(r, &inHole)
	}
	node, gpu = -1, -1
	best := float32(noPlace)
	for i := range cells {
		c := &cells[i]
		if c.version != x.versions[i] {
			x.look(c, i, r)
		}
		for k := range c.ways[:c.n] {
			w := &c.ways[k]
			s := float32(math.Floor(float64(w.score - inHole[w.hole])))
			if s += onModel[x.nodes[i].Kind] + x.broken[w.breaks]; s > best {
				node, gpu, best = i, int(w.gpu), s
			}
		}
	}
	return node, gpu
}

// look scores a node anew.
func (x *cluster) look(c *cell, node int, r *frag.Request) {
	c.version, c.n = x.versions[node], 0
	if s := &x.nodes[node]; s.Fits(r) {
		x.scorer.score(node, s, r, c)
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
