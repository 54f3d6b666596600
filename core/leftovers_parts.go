// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// fillParts is fill for a job of several parts.
func (f *leftovers) fillParts(job *Job, v *market.Variant, d *Decision, p *Plan) (worth float64, err error) {
	from, ok := len(p.segs), false
	for _, most := range [...]bool{true, false} {
		o := place.PartsOptions{Layout: place.Level, MostGPUs: most}
		if p.segs, ok = f.placer.PlaceParts(p.segs, f.rest.View(v.Crosses), &v.Spec, o, f.rest.Quotas(), v.Crosses); ok {
			break
		}
	}
	if !ok {
		f.grace--
		return 0, nil
	}
	return f.give(job, v, from, d, p)
}

// give starts a job on p.segs from the given one on.
func (f *leftovers) give(job *Job, v *market.Variant, from int, d *Decision, p *Plan) (worth float64, err error) {
	d.Segs = p.segs[from:len(p.segs):len(p.segs)]
	if err := f.rest.Take(&v.Spec, d.Segs, v.Crosses); err != nil {
		return 0, fmt.Errorf("left-overs: %w", err)
	}
	bid := f.in.bidding.gen.Describe(v, d.Segs)
	d.Start, d.Class, d.Uses, d.PartUses, f.grace = true, bid.Class, v.Spec.More(), p.keepUses(v.Spec.Parts), 0
	preference := f.in.model.build.Value(&market.Variant{}, &bid)
	return f.in.window.weight(job) + f.in.model.Objective(preference), nil
}
