// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"

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
	n := w.Snapshot.Nodes.Len()
	if leaves > n {
		return fmt.Errorf("%d leaves for %d nodes", leaves, n)
	}
	switches := make([]nodeset.Switch, leaves, leaves+1)
	for i := range switches {
		switches[i] = nodeset.Switch{Name: fmt.Sprintf("leaf%d", i), Parent: leaves, Nodes: nodeset.NewMask(n)}
	}
	for node := range n {
		switches[node*leaves/n].Nodes.Set(node)
	}
	var err error
	w.Snapshot.Topology, err = nodeset.NewTopology(n, append(switches, nodeset.Switch{Name: "root", Parent: -1}))
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
