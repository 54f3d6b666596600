// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Apply allocates on t what the plan starts, and returns those decisions, in queue order and in
// memory of their own: they stay when the plan is used again. On an error t is as it was. Where
// jobs are preempted it takes ReleasePreempted first.
func (p *Plan) Apply(t *nodeset.Table) ([]Decision, error) {
	var starts []Decision
	for _, d := range p.Decisions {
		if !d.Start {
			continue
		}
		if err := d.allocate(t); err != nil {
			for i := range starts {
				starts[i].giveBack(t, starts[i].Parts())
			}
			return nil, fmt.Errorf("%w: decision on job %d: %w", ErrInvalidPlan, d.Job, err)
		}
		d.Segs, d.PartUses = slices.Clone(d.Segs), slices.Clone(d.PartUses)
		starts = append(starts, d)
	}
	return starts, nil
}

// ReleasePreempted gives back on t, a copy of the snapshot's Nodes, what the preempted jobs hold:
// as it will be when they have ended, and not before. On an error t is not whole.
func (p *Plan) ReleasePreempted(s *Snapshot, t *nodeset.Table) error {
	for _, x := range p.Preempted {
		if x.Running < 0 || x.Running >= len(s.Running) {
			return fmt.Errorf("%w: running job %d of %d is preempted", ErrInvalidPlan, x.Running, len(s.Running))
		}
		r := &s.Running[x.Running]
		if err := t.ReleaseWith(r.Segs, r.Uses); err != nil {
			return fmt.Errorf("%w: running job %s: %w", ErrInvalidPlan, r.ID, err)
		}
	}
	return nil
}
