// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Apply allocates on t what the plan starts, and returns those decisions, in queue order and in
// memory of their own: they stay when the plan is used again. On an error t is as it was.
func (p *Plan) Apply(t *nodeset.Table) ([]Decision, error) {
	var starts []Decision
	for _, d := range p.Decisions {
		if !d.Start {
			continue
		}
		if err := t.AllocateWith(d.Segs, d.Uses); err != nil {
			for _, s := range starts {
				must(t.ReleaseWith(s.Segs, s.Uses))
			}
			return nil, fmt.Errorf("%w: decision on job %d: %w", ErrInvalidPlan, d.Job, err)
		}
		d.Segs = slices.Clone(d.Segs)
		starts = append(starts, d)
	}
	return starts, nil
}
