// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Part is what one part of the job gets, and what it takes of further resources there: 0 is the
// request itself, k is Components[k-1].
func (d *Decision) part(k int) ([]nodeset.Segment, nodeset.Uses) {
	for rest := d.Segs; len(rest) > 0; {
		var part []nodeset.Segment
		if part, rest = place.CutPart(rest); int(part[0].Part) == k {
			return part, d.usesOf(k)
		}
	}
	return nil, nil
}

// Parts is how many parts the job has that starts: 1 without Components.
func (d *Decision) parts() int { return max(1, len(d.PartUses)) }

// usesOf is what part k takes of further resources on each node.
func (d *Decision) usesOf(k int) nodeset.Uses {
	if k < len(d.PartUses) {
		return d.PartUses[k]
	}
	return d.Uses
}

// keepUses copies what parts use into the plan's own memory; nil for nil.
func (p *Plan) keepUses(parts *place.Parts) []nodeset.Uses {
	if parts == nil {
		return nil
	}
	from := len(p.uses)
	for k := range parts.Specs {
		p.uses = append(p.uses, parts.Specs[k].More())
	}
	return p.uses[from:len(p.uses):len(p.uses)]
}
