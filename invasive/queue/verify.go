// SPDX-License-Identifier: BSD-3-Clause

package queue

import (
	"fmt"

	"github.com/aucsched/aucsched/invasive"
)

// Verify is the independent referee of a mapping: it returns an error that names the first job or
// node at fault. A mapping may name each job once, and as many as the offer allows; it may take of
// each node what the offer has of it, and must give each job cores and nodes within its limits. It
// shares nothing with the mapper; it takes time in the size of the offer and the mapping.
func Verify(o *invasive.Offer, mapping []invasive.Mapping) error {
	if uint64(len(mapping)) > uint64(o.Jobs) {
		return fmt.Errorf("%d jobs are mapped, the offer allows %d", len(mapping), o.Jobs)
	}
	offered := make(map[uint32]uint64)
	for _, p := range o.Parts {
		offered[p.Node] += uint64(p.Cores)
	}
	used := make(map[uint32]uint64)
	named := make(map[invasive.JobID]bool)
	for _, m := range mapping {
		if named[m.Job.ID] {
			return fmt.Errorf("job %d is mapped twice", m.Job.ID)
		}
		named[m.Job.ID] = true
		cores, nodes := uint64(0), make(map[uint32]bool)
		for _, p := range m.Parts {
			if p.Cores == 0 || p.Delay != 0 {
				return fmt.Errorf("job %d: a part of node %d with %d cores and a delay of %d s", m.Job.ID, p.Node, p.Cores, p.Delay)
			}
			cores += uint64(p.Cores)
			nodes[p.Node] = true
			if used[p.Node] += uint64(p.Cores); used[p.Node] > offered[p.Node] {
				return fmt.Errorf("job %d: node %d has %d cores on offer, %d are mapped", m.Job.ID, p.Node, offered[p.Node], used[p.Node])
			}
		}
		j := m.Job
		if cores < uint64(j.MinCores) || cores > uint64(j.MaxCores) {
			return fmt.Errorf("job %d: %d cores instead of %d to %d", j.ID, cores, j.MinCores, j.MaxCores)
		}
		if n := uint64(len(nodes)); n < uint64(j.MinNodes) || j.MaxNodes > 0 && n > uint64(j.MaxNodes) {
			return fmt.Errorf("job %d: %d nodes instead of %d to %d", j.ID, n, j.MinNodes, j.MaxNodes)
		}
	}
	return nil
}
