// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// TakeMemory has each job take the memory that it asks for of the machine's further resource
// of that number, the only one that it takes. It returns how many ask for none. Alternatives
// take what the job does.
func TakeMemory(jobs []workload.Job, resource int) (none int) {
	known := make(map[workload.Memory]nodeset.Uses) // jobs that are alike share theirs
	for i := range jobs {
		j := &jobs[i]
		if j.Memory == (workload.Memory{}) {
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
