// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// The further resources of an [ExactMachine], by number.
const (
	ExactMemory = iota
	ExactShares
)

// ExactMachine is a machine for pods to the letter: cores in units in which all pods ask for whole
// numbers, memory in MiB, and GPUs of 1000 shares.
type ExactMachine struct {
	Nodes          []nodeset.Capacity
	Memory, Shares []int64 // by node
	// Unit is how many thousandths of a core a core of Nodes is.
	Unit int
}

// Exact has jobs, which were read with [traces.GPUTraceOptions].Exact, ask for what their pods
// do, and nothing else: cores in units of the greatest common divisor of what all of them ask for,
// memory, a share of one GPU, and models of GPU, as Eligible nodes. Nodes' cores are rounded down
// to whole units, which loses nothing. A pod without a core is given one unit, and counted in
// Adjusted. Models that the machine does not have are passed over; of a pod without GPUs they do
// not count. Where the list does not say what memory a node has, it has more than anybody can ask
// for. It fails where m is not Alibaba's list of nodes, where a job has no Pod, and where a node or
// a pod has more units of cores than a node can have (65535).
func Exact(m *traces.Machine, w *workload.Workload) (*ExactMachine, error) {
	if m.MilliCores == nil {
		return nil, errors.New("the machine is not Alibaba's list of nodes, which has cores in thousandths and models of GPU")
	}
	unit := 0
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.Pod == nil {
			return nil, fmt.Errorf("job %s is not one of Alibaba's pods", j.ID)
		}
		unit = gcd(unit, j.Pod.MilliCores)
	}
	x := &ExactMachine{Nodes: slices.Clone(m.Nodes), Memory: m.MemoryOr(nodeset.MaxAmount), Unit: max(unit, 1)}
	for n, cpu := range m.MilliCores {
		units := cpu / x.Unit
		if units > bids.MaxCoresPerNode {
			return nil, fmt.Errorf("node %d: %d thousandths of a core are %d units of %d, in which the pods count: at most %d",
				n, cpu, units, x.Unit, bids.MaxCoresPerNode)
		}
		x.Nodes[n].Cores = uint16(units)
	}
	x.Shares = slices.Repeat([]int64{1000}, len(m.Nodes))
	return x, x.askExactly(m, w)
}

// Resources are those of the machine in a simulation.
func (x *ExactMachine) Resources() []sim.Resource {
	return []sim.Resource{
		ExactMemory: {Name: "memory", Total: x.Memory},
		ExactShares: {Name: "thousandths of a GPU", Total: x.Shares, Shares: true},
	}
}

// askExactly sets the requests of the jobs. Jobs that are alike share what they take, and masks.
func (x *ExactMachine) askExactly(m *traces.Machine, w *workload.Workload) error {
	type taken struct{ memory, share int64 }
	uses, masks := map[taken]nodeset.Uses{}, map[string]nodeset.Mask{}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		p := j.Pod
		units := p.MilliCores / x.Unit
		switch {
		case units > bids.MaxCoresPerNode:
			return fmt.Errorf("job %s: %d thousandths of a core are %d units of %d: at most %d",
				j.ID, p.MilliCores, units, x.Unit, bids.MaxCoresPerNode)
		case units == 0:
			w.Adjusted, units = workload.Count(w.Adjusted, fmt.Sprintf("asks for no core: taken as %d thousandths of one", x.Unit)), 1
		}
		key := taken{j.Memory.PerNode, int64(p.Share)}
		if _, known := uses[key]; !known {
			uses[key] = usesOf(key.memory, key.share)
		}
		j.Request = bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: units, MinGPUs: p.GPUs, Uses: uses[key]}
		if p.Models != "" && p.GPUs+p.Share > 0 {
			if _, known := masks[p.Models]; !known {
				masks[p.Models] = nodesWith(m, p.Models)
			}
			j.Eligible = masks[p.Models]
		}
	}
	return nil
}

func usesOf(memory, share int64) (u nodeset.Uses) {
	if memory > 0 {
		u = append(u, nodeset.Use{Row: ExactMemory, PerNode: memory})
	}
	if share > 0 {
		u = append(u, nodeset.Use{Row: ExactShares, PerNode: share})
	}
	return u
}

// nodesWith are the nodes with GPUs of one of the models, which have | between them.
func nodesWith(m *traces.Machine, models string) nodeset.Mask {
	mask, wanted := nodeset.NewMask(len(m.Nodes)), strings.Split(models, "|")
	for n, model := range m.Models {
		if model != "" && slices.Contains(wanted, model) {
			mask.Set(n)
		}
	}
	return mask
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
