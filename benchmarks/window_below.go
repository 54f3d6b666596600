// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"github.com/aucsched/aucsched/benchmarks/switches"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// AddTree lays the machine's nodes below so many leaf switches of one size, in order, and these
// below one root; 0: no topology. It fails if there are fewer nodes than leaves.
func (w *Window) AddTree(leaves int) error {
	if leaves == 0 {
		w.Snapshot.Topology = nil
		return nil
	}
	var err error
	w.Snapshot.Topology, err = switches.Even(w.Snapshot.Nodes.Len(), leaves)
	return err
}

// leavesAJob is below how many leaves of tree the jobs that start are, in hundredths on the mean.
func leavesAJob(tree *nodeset.Topology, p *core.Plan) int {
	sum, jobs := 0, 0
	for _, d := range p.Decisions {
		seen := make(map[int32]bool)
		for _, s := range d.Segs {
			for n := s.First; n <= s.Last && d.Start; n++ {
				seen[tree.SwitchOf(1)[n]] = true
			}
		}
		if d.Start {
			sum, jobs = sum+len(seen), jobs+1
		}
	}
	return 100 * sum / max(jobs, 1)
}
