// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"fmt"
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Multifactor is the priority of ipsched, section VI, experiments 4 to 8, with the
// factors of Slurm's priority/multifactor:
//
//	W x min(age / MaxAge, 1) + W x (nodes / all nodes + cores / all cores) / 2
//
// and at least 1. Both factors are in 0..1 and their weights W equal. A minute in the queue
// raises the priority by one, so W is the number of minutes in MaxAge. Both terms are
// rounded down. There is neither fair share nor quality of service.
//
// A job's age counts from its submission. The nodes and cores are those asked for, at least: one
// node where no number is given, and MinNodes x TasksPerNode where no total of cores is. The paper
// does not say what the size contributes; that one minute is worth one settles it but for MaxAge,
// which is Slurm's default in [NewMultifactor].
type Multifactor struct {
	maxAge       int64 // s, a multiple of 60
	nodes, cores int64 // of the machine
}

// DefaultMaxAge is Slurm's PriorityMaxAge in seconds, 7 days.
const DefaultMaxAge = 7 * 24 * 60 * 60

// NewMultifactor is for a machine with so many nodes and cores. maxAge is in seconds, whole
// minutes up to a hundred years; 0 is DefaultMaxAge.
func NewMultifactor(nodes, cores, maxAge int64) (*Multifactor, error) {
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	switch {
	case nodes < 1 || nodes > nodeset.MaxNodes:
		return nil, fmt.Errorf("nodes of the machine: %d: must be in 1..%d", nodes, nodeset.MaxNodes)
	case cores < 1 || cores > nodeset.MaxNodes*bids.MaxCoresPerNode:
		return nil, fmt.Errorf("cores of the machine: %d: must be in 1..%d", cores, int64(nodeset.MaxNodes*bids.MaxCoresPerNode))
	case maxAge < 60 || maxAge > core.NoTimeLimit || maxAge%60 != 0:
		return nil, fmt.Errorf("age at which it counts fully: %d: must be whole minutes in 60..%d seconds", maxAge, int64(core.NoTimeLimit))
	}
	return &Multifactor{maxAge: maxAge, nodes: nodes, cores: cores}, nil
}

// MultifactorOf is the one of a machine, with DefaultMaxAge.
func MultifactorOf(machine []nodeset.Capacity) (*Multifactor, error) {
	cores := int64(0)
	for _, c := range machine {
		cores += int64(c.Cores)
	}
	return NewMultifactor(int64(len(machine)), cores, 0)
}

// Priority implements [sim.Priorities].
func (m *Multifactor) Priority(j *workload.Job, now int64) int64 {
	age := min(max(now-j.Submit, 0), m.maxAge) / 60
	nodes := min(int64(max(j.MinNodes, 1)), m.nodes)
	cores := min(place.LeastCores(&j.Request), m.cores)
	high, low := bits.Mul64(uint64(m.maxAge/60), uint64(nodes*m.cores+cores*m.nodes))
	size, _ := bits.Div64(high, low, uint64(2*m.nodes*m.cores)) // at most W
	return max(age+int64(size), 1)
}
