// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Apply allocates on t what the plan starts, and returns those decisions, in queue order and in
// memory of their own: they stay when the plan is used again. Those that wait for a running job to be
// stopped are not among them. On an error t is as it was.
func (p *Plan) Apply(t *nodeset.Table) ([]Decision, error) {
	var starts []Decision
	for _, d := range p.Decisions {
		waits := func(x Preemption) bool { return slices.Contains(x.For, d.Job) }
		if !d.Start || slices.ContainsFunc(p.Preempted, waits) {
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
