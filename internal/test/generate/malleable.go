// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Malleability says which jobs become malleable. Begin with [DefaultMalleability].
type Malleability struct {
	// Share of the jobs become malleable, 0 to 1, as far as they can: see [Malleability.Apply].
	Share float64
	// Least, 0 to 1, and Most, 1 to MaxMost, are the nodes that such a job can run on, as multiples
	// of those that it asks for. Least is rounded up, to a node at least, Most down, and to those
	// of the machine.
	Least, Most float64
	// Seed chooses the jobs. Those of a share are malleable at each greater share too.
	Seed uint64
}

// MaxMost is the greatest Malleability.Most.
const MaxMost = 1024

// DefaultMalleability is from a quarter to twice the nodes, and no share.
func DefaultMalleability() Malleability { return Malleability{Least: 0.25, Most: 2} }

// Validate reports the first field that is out of its range.
func (m *Malleability) Validate() error {
	switch {
	case !(m.Share >= 0 && m.Share <= 1):
		return fmt.Errorf("malleable share: %v: must be in 0..1", m.Share)
	case !(m.Least >= 0 && m.Least <= 1):
		return fmt.Errorf("least nodes: %v: must be in 0..1 times those asked for", m.Least)
	case !(m.Most >= 1 && m.Most <= MaxMost):
		return fmt.Errorf("most nodes: %v: must be in 1..%d times those asked for", m.Most, MaxMost)
	}
	return nil
}

// Apply makes a share of the jobs malleable, and returns how many. Jobs stay rigid that
// [Places] says nothing of, and those that could run on no other number of nodes.
func (m *Malleability) Apply(nodes []nodeset.Capacity, jobs []workload.Job) (made int, err error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	single := workload.SingleCores(nodes)
	r := rand.New(rand.NewPCG(m.Seed, 0x6d616c6c))
	for i := range jobs {
		j := &jobs[i]
		j.Span = workload.Span{}
		n, chosen := workload.Places(j, single), r.Float64() < m.Share
		if !chosen || n == 0 {
			continue
		}
		most := min(math.Floor(m.Most*float64(n)), float64(len(nodes)))
		span := workload.Span{Least: max(1, int(math.Ceil(m.Least*float64(n)))), Most: max(n, int(most))}
		if span.Least < span.Most {
			j.Span = span
			made++
		}
	}
	return made, nil
}
