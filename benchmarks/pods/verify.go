// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"fmt"
)

// free is what a node has left, as the verifier counts it.
type free struct {
	cpu, memory int
	gpus        []int
}

// Verify replays what [Run] did, in batches of so many pods. It finds placements on GPUs of a
// barred model or beyond what a node has, wrong numbers of GPUs, and pods that were dropped
// although they still fitted when their batch had been decided. It uses none of the methods
// that placed the pods.
func Verify(c *Cluster, pods []Pod, batch int, r *Result) error {
	order := r.Order
	if len(r.Places) != len(order) {
		return fmt.Errorf("%d placements of %d pods", len(r.Places), len(order))
	}
	left := make([]free, len(c.Nodes))
	for i := range c.Nodes {
		n := &c.Nodes[i]
		left[i] = free{int(n.CPU), int(n.Memory), make([]int, n.Count)}
		for g := range left[i].gpus {
			left[i].gpus[g] = int(n.GPUs[g])
		}
	}
	for from := 0; from < len(order); from += batch {
		to := min(from+batch, len(order))
		for k := from; k < to; k++ {
			if p := r.Places[k]; p.Node >= 0 {
				n, pod := &c.Nodes[p.Node], &pods[order[k]]
				if err := left[p.Node].start(n, pod, p); err != nil {
					return fmt.Errorf("arrival %d: pod %s on node %s: %w", k, pod.Name, n.Name, err)
				}
			}
		}
		for k := from; k < to; k++ {
			if r.Places[k].Node >= 0 {
				continue
			}
			pod := &pods[order[k]]
			for i := range left {
				if n := &c.Nodes[i]; left[i].fits(n, pod) {
					return fmt.Errorf("arrival %d: pod %s was dropped, but fits node %s",
						k, pod.Name, n.Name)
				}
			}
		}
	}
	return nil
}

// start takes what a pod asks for.
func (f *free) start(n *Node, p *Pod, at Place) error {
	f.cpu -= int(p.CPU)
	f.memory -= int(p.Memory)
	switch {
	case f.cpu < 0:
		return fmt.Errorf("%d thousandths of a core too many", -f.cpu)
	case f.memory < 0:
		return fmt.Errorf("%d MiB of memory too many", -f.memory)
	case p.GPUs > 0 && p.Kinds>>n.Kind&1 == 0:
		return fmt.Errorf("its GPUs are of a model that will not do")
	}
	given := 0
	for g := range MaxGPUs {
		if at.GPUs>>g&1 == 0 {
			continue
		}
		if g >= len(f.gpus) {
			return fmt.Errorf("no GPU %d", g)
		}
		if f.gpus[g] -= int(p.Share); f.gpus[g] < 0 {
			return fmt.Errorf("GPU %d: %d thousandths too many", g, -f.gpus[g])
		}
		given++
	}
	if given != int(p.GPUs) {
		return fmt.Errorf("given %d GPUs, asks for %d", given, p.GPUs)
	}
	return nil
}

// fits says whether a pod could start.
func (f *free) fits(n *Node, p *Pod) bool {
	enough := 0
	for _, g := range f.gpus {
		if g >= int(p.Share) {
			enough++
		}
	}
	allowed := p.GPUs == 0 || p.Kinds>>n.Kind&1 == 1
	return allowed && f.cpu >= int(p.CPU) && f.memory >= int(p.Memory) && enough >= int(p.GPUs)
}
