// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"math"

	"github.com/aucsched/aucsched/nodeset"
)

// Memory is what a job asks for of a node's, in MiB: PerNode, and PerCore for each core that the
// node gives. Zero: the trace does not say.
type Memory struct{ PerNode, PerCore int64 }

const kib = 1 << 10 // a MiB

// mebibytes is an amount in KiB as whole MiB, rounded up, 0 for one that is not known. It is at
// most nodeset.MaxAmount, which no node has.
func mebibytes(kibibytes float64) int64 {
	return int64(min(max(math.Ceil(kibibytes/kib), 0), nodeset.MaxAmount))
}

// TakeMemory has each job take the memory that it asks for of the machine's further resource
// of that number, the only one that it takes. It returns how many ask for none. Alternatives
// take what the job does.
func TakeMemory(jobs []Job, resource int) (none int) {
	known := make(map[Memory]nodeset.Uses) // jobs that are alike share theirs
	for i := range jobs {
		j := &jobs[i]
		if j.Memory == (Memory{}) {
			none++
			continue
		}
		if known[j.Memory] == nil {
			known[j.Memory] = nodeset.Uses{{Row: resource, PerNode: j.Memory.PerNode, PerCore: j.Memory.PerCore}}
		}
		j.Uses = known[j.Memory]
		for k := range j.Alternatives {
			j.Alternatives[k].Uses = j.Uses
		}
	}
	return none
}

// Machine is the nodes of a machine, in its order.
type Machine struct {
	Nodes []nodeset.Capacity
	// Names are the nodes' names, of a slurm.conf; nil of what else is read.
	Names []string
	// Memory is what each has for jobs, in MiB; 0 where nothing says it.
	Memory []int64
	// MilliCores is what each has of cores, in thousandths, and Models the model of its GPUs, empty
	// where it has none. Both are nil but for Alibaba's list of nodes.
	MilliCores []int
	Models     []string
	// Notes are what the user should know of how the file was read.
	Notes []string
}

// MemoryOr is Memory with missing MiB where nothing says it.
func (m *Machine) MemoryOr(missing int64) []int64 {
	all := make([]int64, len(m.Memory))
	for n, mib := range m.Memory {
		if all[n] = mib; mib == 0 {
			all[n] = missing
		}
	}
	return all
}
