// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"errors"
	"fmt"

	"github.com/aucsched/aucsched/internal/place"
)

// composed reports whether the request is of several parts, or has what only such have.
func (r *Request) composed() bool { return len(r.Components) > 0 || r.AllWithin != 0 }

// Parts is of how many parts an allocation consists: 1 without Components.
func (r *Request) Parts() int { return 1 + len(r.Components) }

// Part is one of the parts: 0 is the request itself, of which Components do not count then, and k
// is Components[k-1].
func (r *Request) Part(k int) *Request {
	if k == 0 {
		return r
	}
	return &r.Components[k-1]
}

// PartSpec is the Spec of one part alone. Its fault is as of the part alone: see
// [Request.PartFault].
func (r *Request) PartSpec(k int) (Spec, error) {
	if k == 0 {
		return r.own()
	}
	return r.Components[k-1].own()
}

// PartFault names a fault of a part as one of the request: components[1].cores, counted from 0.
func PartFault(part int, err error) error {
	var f *FieldError
	if part == 0 || !errors.As(err, &f) {
		return err
	}
	return &FieldError{Field: fmt.Sprintf("components[%d].%s", part-1, f.Field), Value: f.Value, Why: f.Why}
}

// CheckParts reports what is wrong with how the parts go together as a [*FieldError].
func (r *Request) CheckParts() error {
	switch {
	case len(r.Components) > MaxComponents:
		return &FieldError{"components", len(r.Components), fmt.Sprintf("must be at most %d", MaxComponents)}
	case r.AllWithin < 0:
		return &FieldError{"all_within", r.AllWithin, "must not be negative"}
	case r.AllWithin > MaxNodes:
		return &FieldError{"all_within", r.AllWithin, fmt.Sprintf("must be at most %d", MaxNodes)}
	case r.AllWithin > 0 && len(r.Components) == 0:
		return &FieldError{"all_within", r.AllWithin, "the job has no components: give within"}
	}
	for k := range r.Components {
		c := &r.Components[k]
		if len(c.Components) > 0 {
			return &FieldError{fmt.Sprintf("components[%d].components", k), len(c.Components), "components have none themselves"}
		}
		if c.AllWithin != 0 {
			return &FieldError{fmt.Sprintf("components[%d].all_within", k), c.AllWithin, "is the job's, not a component's"}
		}
	}
	return nil
}

// Apartness has a bit for each part that is Apart.
func (r *Request) Apartness() (bits uint32) {
	for k := range r.Parts() {
		if r.Part(k).Apart {
			bits |= 1 << k
		}
	}
	return bits
}

// sum is the Spec of all parts together.
func (r *Request) sum() (Spec, error) {
	if err := r.CheckParts(); err != nil {
		return Spec{}, err
	}
	parts := &place.Parts{Apart: r.Apartness()}
	for k := range r.Parts() {
		s, err := r.PartSpec(k)
		if err != nil {
			return Spec{}, PartFault(k, err)
		}
		parts.Specs = append(parts.Specs, s)
	}
	return parts.Sum(), nil
}
