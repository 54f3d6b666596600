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
		held = append(held, nodeset.Use{Resource: k, PerCore: perCore})
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
			job.Uses = append(job.Uses, nodeset.Use{Resource: k, PerNode: rng.Int64N(perCore), PerCore: perCore/2 + rng.Int64N(perCore)})
		}
	}
	return w.setVariants()
}
