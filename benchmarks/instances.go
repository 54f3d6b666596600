// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Priority is how the jobs of an Instance are ranked.
type Priority int

// Slurm's ways of ranking, and one that pays for size.
const (
	// 4294901759, one less for each later job: all jobs are worth nearly the same
	Basic           Priority = iota
	Multifactor              // a weighted sum of an age, a fair share and a size
	MultifactorSize          // that times the cores wanted: large jobs outweigh many small ones
)

func (p Priority) String() string {
	return [...]string{"basic", "multifactor", "multifactor-size"}[p]
}

// Instance says what a solver's problem is like. Equal instances make equal models.
//
// Its machine has nodes of CoresPerNode cores and GPUsPerNode GPUs, filled and emptied
// again as that of a Window. Its queue asks for 3 times what is free of an empty machine,
// 2 times of a half-busy one, 10 times of one that is 90% busy. The bids are those of the
// papers alone, without the drafts that a solver could start from.
type Instance struct {
	Nodes int // at least 16
	Jobs  int // at least 1
	Bids  int // the most bids a job, at least 1
	// Busy is the share of the cores that are not free: 0 to 0.95.
	Busy     float64
	Priority Priority
	// GPURanges has all jobs ask for ranges of GPUs instead of a sixth of them.
	GPURanges bool
	// Combined admits bids of class C: several segments.
	Combined bool
	Seed     uint64
}

// String names the instance, for tables.
func (i Instance) String() string {
	name := fmt.Sprintf("n%d_j%d_b%d_busy%.0f_%s", i.Nodes, i.Jobs, i.Bids, 100*i.Busy, i.Priority)
	if i.GPURanges {
		name += "_ranges"
	}
	if i.Combined {
		name += "_combined"
	}
	return fmt.Sprintf("%s_%d", name, i.Seed)
}

func (i Instance) validate() error {
	switch {
	case i.Nodes < 16 || i.Nodes > nodeset.MaxNodes || i.Jobs < 1 || i.Jobs > 1<<20 || i.Bids < 1:
		return fmt.Errorf("instance of %d nodes, %d jobs, %d bids each: must be 16 to %d, 1 to %d, at least 1",
			i.Nodes, i.Jobs, i.Bids, nodeset.MaxNodes, 1<<20)
	case !(i.Busy >= 0 && i.Busy <= 0.95): // NaN as well
		return fmt.Errorf("instance %v busy: must be 0 to 0.95", i.Busy)
	case i.Priority < Basic || i.Priority > MultifactorSize:
		return fmt.Errorf("instance of priority %d: must be 0 to %d", i.Priority, MultifactorSize)
	}
	return nil
}

// demand is what the queue asks for, as a multiple of the free cores.
func (i Instance) demand() float64 {
	switch {
	case i.Busy >= 0.75:
		return 10
	case i.Busy > 0:
		return 2
	}
	return Demand
}

// Model makes the instance's model, one row for each node, or for neighbouring nodes
// that all bids treat alike if merge is set.
func (i Instance) Model(merge bool) (*ipmodel.Model, error) {
	if err := i.validate(); err != nil {
		return nil, err
	}
	table, err := nodeset.NewUniform(i.Nodes, nodeset.Capacity{Cores: CoresPerNode, GPUs: GPUsPerNode})
	if err != nil {
		return nil, err
	}
	var w Window
	w.Snapshot.Nodes = table
	machine, queue, rank := rand.New(rand.NewPCG(i.Seed, 1)), rand.New(rand.NewPCG(i.Seed, 2)), rand.New(rand.NewPCG(i.Seed, 3))
	if err := w.occupy(machine, i.Busy); err != nil {
		return nil, err
	}
	w.submit(queue, i.Jobs, i.demand())
	for j, job := range w.Snapshot.Pending {
		i.adapt(rank, j, job)
	}
	if err := w.setVariants(); err != nil {
		return nil, err
	}
	space := market.Space{Now: table}
	var gen market.Generator
	var book market.Book
	gen.Generate(&space, w.Variants, market.Options{MaxBidsPerJob: i.Bids, ContiguousOnly: !i.Combined}, &book)
	build, m := market.Builder{Merge: merge}, new(ipmodel.Model)
	return m, build.Build(&space, w.Variants, &book, nil, m)
}

// adapt gives job j its priority and its range of GPUs.
func (i Instance) adapt(r *rand.Rand, j int, a *core.Job) {
	if i.GPURanges {
		a.MinGPUs, a.MaxGPUs = 1, GPUsPerNode
	}
	wanted := max(a.Cores, a.MinNodes*a.TasksPerNode, 1)
	if i.Priority == Basic {
		a.Priority = topPriority - int64(j)
		return
	}
	size := float64(wanted) / float64(i.Nodes*CoresPerNode)
	a.Priority = 1 + int64(1000*r.Float64()) + int64(10_000*r.Float64()) + int64(1000*size)
	if i.Priority == MultifactorSize {
		a.Priority *= int64(wanted)
	}
}
