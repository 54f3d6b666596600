// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/pods"
)

// podMixes are lists that nothing was tried on: each is of the pods of two of the paper's.
var podMixes = [][2]string{
	{"multigpu40", "gpushare80"},
	{"gpuspec33", "cpu250"},
	{"multigpu50", "gpuspec20"},
}

// podDefault is the paper's list that others are made of.
const podDefault = "default"

// madeCases are further lists, made of the paper's.
func madeCases(c *pods.Cluster, lists map[string][]pods.Pod) []podCase {
	var cases []podCase
	add := func(name string, inflate float64, list []pods.Pod, c *pods.Cluster) {
		cases = append(cases, podCase{Name: name, Made: true, Inflate: inflate, pods: list, cluster: c})
	}
	for _, m := range podMixes {
		add(m[0]+" and "+m[1], 1.3, slices.Concat(lists[m[0]], lists[m[1]]), c)
	}
	list := lists[podDefault]
	for _, inflate := range []float64{1.1, 1.8} {
		add(fmt.Sprintf("%s, to %.0f%%", podDefault, 100*inflate), inflate, list, c)
	}
	add(podDefault+", half the nodes", 1.3, list, everyOther(c))
	for seed := range uint64(3) {
		add(fmt.Sprintf("%s, shares %d", podDefault, seed+1), 1.3, otherShares(list, seed+1), c)
	}
	return cases
}

// everyOther is a cluster of every second node.
func everyOther(c *pods.Cluster) *pods.Cluster {
	half := &pods.Cluster{Kinds: c.Kinds}
	for i := 0; i < len(c.Nodes); i += 2 {
		half.Nodes = append(half.Nodes, c.Nodes[i])
	}
	return half
}

// otherShares has another size for each size of share, 5 to 95% of a GPU in steps of 1%.
func otherShares(list []pods.Pod, seed uint64) []pods.Pod {
	rng, sizes := rand.New(rand.NewPCG(seed, 0)), map[int16]int16{}
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		if p.GPUs != 1 || p.Share == pods.Whole {
			continue
		}
		if sizes[p.Share] == 0 {
			sizes[p.Share] = int16(50 + 10*rng.IntN(91))
		}
		p.Share = sizes[p.Share]
	}
	return list
}
