// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/aucsched/aucsched/bids"
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
	single := SingleCores(nodes)
	r := rand.New(rand.NewPCG(m.Seed, 0x6d616c6c))
	for i := range jobs {
		j := &jobs[i]
		j.Span = workload.Span{}
		n, chosen := Places(j, single), r.Float64() < m.Share
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

// SingleCores reports whether each node has one core, so that cores asked for are nodes.
func SingleCores(nodes []nodeset.Capacity) bool {
	for _, c := range nodes {
		if c.Cores != 1 {
			return false
		}
	}
	return true
}

// Places is on how many like nodes a job runs: those that it asks for with the same number of cores
// on each, or its cores where each node of the machine has a single one. It is 0 for a job whose
// nodes are not alike, or that asks for more than nodes and cores, so that it stays rigid.
func Places(j *workload.Job, single bool) int {
	r := &j.Request
	if len(j.Alternatives) > 0 || j.Prefer != nil || j.Input.File != 0 || j.Leaves > 0 || j.Work > 0 ||
		r.MinGPUs > 0 || r.MaxGPUs > 0 || r.Contiguous || len(r.Uses) > 0 || len(r.Charges) > 0 || len(r.Components) > 0 ||
		r.Switches > 0 || r.Within > 0 || r.Segment > 0 {
		return 0
	}
	n := max(r.MinNodes, 1)
	switch {
	case r.TasksPerNode > 0 && r.MaxNodes <= n && (r.MaxNodes > 0 || r.Cores == 0) && (r.Cores == 0 || r.Cores == n*r.TasksPerNode):
		return n
	case single && r.TasksPerNode == 0 && r.MinNodes <= 1 && r.MaxNodes == 0:
		return r.Cores
	}
	return 0
}

// OnNodes is the request for another number of the nodes that a malleable job asks for.
func OnNodes(j *workload.Job, n int) bids.Request {
	r := j.Request
	if r.TasksPerNode == 0 {
		r.Cores = n
		return r
	}
	if r.MinNodes = n; r.MaxNodes > 0 {
		r.MaxNodes = n
	}
	if r.Cores > 0 {
		r.Cores = n * r.TasksPerNode
	}
	return r
}
