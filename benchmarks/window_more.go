// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/aucsched/aucsched/nodeset"
)

// perCore is how much of a further resource a node has for each of its cores.
const perCore = 4096

// AddResources gives the machine so many further resources, as memory, of which running jobs hold
// as much a core as there is, and jobs of the queue want around as much, each another amount. The
// same numbers and seed make the same window. It fails for more than [nodeset.MaxResources].
func (w *Window) AddResources(resources int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := &w.Snapshot
	total := make([]int64, s.Nodes.Len())
	for n := range total {
		total[n] = perCore * CoresPerNode
	}
	held := nodeset.Uses{}
	for k := range resources {
		if _, err := s.Nodes.AddResource(fmt.Sprintf("resource %d", k), total); err != nil {
			return err
		}
		held = append(held, nodeset.Use{Row: k, PerCore: perCore})
		for n := range total {
			busy := int64(s.Nodes.Total(n).Cores - s.Nodes.Free(n).Cores)
			if err := s.Nodes.SetFreeOf(k, n, total[n]-busy*perCore); err != nil {
				return err
			}
		}
	}
	for i := range s.Running {
		s.Running[i].Uses = held
	}
	for _, job := range s.Pending {
		for k := range resources {
			job.Uses = append(job.Uses, nodeset.Use{Row: k, PerNode: rng.Int64N(perCore), PerCore: perCore/2 + rng.Int64N(perCore)})
		}
	}
	return w.setVariants()
}

// AddSite gives the machine six further resources as a site has them: memory, of which most jobs
// want less a core than there is, GPUs of two types, half of the nodes of each, which half of the
// GPU jobs tell apart, and three of which few jobs want any.
func (w *Window) AddSite(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 4))
	t := w.Snapshot.Nodes
	memory, first, second, rare := make([]int64, t.Len()), make([]int64, t.Len()), make([]int64, t.Len()), make([]int64, t.Len())
	for n := range memory {
		memory[n], rare[n] = perCore*CoresPerNode, 2
		if n%2 == 0 {
			first[n] = int64(t.Total(n).GPUs)
		} else {
			second[n] = int64(t.Total(n).GPUs)
		}
	}
	for k, total := range [][]int64{memory, first, second, rare, rare, rare} {
		if _, err := t.AddResource(fmt.Sprintf("resource %d", k), total); err != nil {
			return err
		}
	}
	for n := range memory {
		busy := int64(t.Total(n).Cores - t.Free(n).Cores)
		if err := t.SetFreeOf(0, n, memory[n]-busy*perCore/2); err != nil {
			return err
		}
		for k := 1; k <= 2; k++ {
			if err := t.SetFreeOf(k, n, min(t.TotalOf(k)[n], int64(t.Free(n).GPUs))); err != nil {
				return err
			}
		}
	}
	for i := range w.Snapshot.Running {
		w.Snapshot.Running[i].Uses = nodeset.Uses{{PerCore: perCore / 2}}
	}
	for _, job := range w.Snapshot.Pending {
		job.Uses = nodeset.Uses{{PerCore: perCore / 4 << rng.IntN(4)}}
		if job.MinGPUs > 0 && rng.IntN(2) == 0 {
			job.Uses = append(job.Uses, nodeset.Use{Row: 1 + rng.IntN(2), PerGPU: 1})
		}
		if rng.IntN(20) == 0 {
			job.Uses = append(job.Uses, nodeset.Use{Row: 3 + rng.IntN(3), PerNode: 1})
		}
	}
	return w.setVariants()
}
