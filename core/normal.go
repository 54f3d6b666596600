// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// normal brings the requests of a cycle's jobs into normal form, one job after the other. Specs of
// a cycle can be compared: a mask has one pointer, however many jobs have it, and so have Uses.
type normal struct {
	masks place.Masks
	nodes *nodeset.Table
	specs []place.Spec // of the job that was read last, by way; the zero Spec if it is not valid
	fault string       // of its first request
	more  int          // further resources of the machine
	limit int          // quotas of the snapshot
	tree  *nodeset.Topology
	under place.Belows
	parts []place.Spec // of the request that was read last; scratch

	prefer preferences
	rather *nodeset.Mask // nodes that the job prefers; nil: none

	clock  int64
	booked booked
	name   string      // of the job's reservation
	moved  place.Parts // scratch
}

// reset begins with another snapshot.
func (n *normal) reset(s *Snapshot) {
	n.masks.Reset()
	n.nodes = s.Nodes
	n.more, n.limit, n.tree = s.Nodes.Resources(), len(s.Quotas), s.Topology
	n.prefer.reset(s)
	n.clock = s.Now
	n.booked.reset(s)
}

// read brings the requests of a job into normal form; no more than a job may have.
func (n *normal) read(job *Job) {
	n.specs, n.fault, n.rather, n.name = n.specs[:0], "", nil, job.Reservation
	if len(job.Prefer) > 0 {
		n.rather = n.masks.Of(&job.Prefer)
	}
	first, err := n.spec(&job.Request, &job.Request)
	if err != nil {
		n.fault = err.Error()
	}
	n.specs = append(n.specs, first)
	for k := range min(len(job.Alternatives), MaxAlternatives) {
		r := &job.Alternatives[k]
		on := r
		if r.Eligible == nil {
			on = &job.Request
		}
		spec, _ := n.spec(r, on) // without error, or not valid
		n.specs = append(n.specs, spec)
	}
}

// spec is the normal form of r, for the nodes that on may use.
func (n *normal) spec(r, on *bids.Request) (place.Spec, error) {
	if len(r.Components) > 0 || r.AllWithin != 0 {
		return n.together(r, on)
	}
	return n.part(r, on, 0)
}

// part is the normal form of one part of r alone.
func (n *normal) part(r, on *bids.Request, k int) (place.Spec, error) {
	spec, err := place.PartSpec(r, k)
	if err == nil {
		err = n.known(&spec)
	}
	if k > 0 {
		r = place.PartOf(r, k)
		on = r
	}
	n.below(&spec, r)
	if _, ok := n.booked.of(nil, n.name); !ok && err == nil {
		spec, err = place.Spec{}, fmt.Errorf("can never run: there is no reservation %s", n.name)
	}
	if spec.Valid() {
		spec.Tiers = n.prefer.of(n.rather, n.prefer.wantsGPUs(n.nodes, &spec))
	}
	return n.pointed(spec, on), err
}

// together is the normal form of a request of several parts.
func (n *normal) together(r, on *bids.Request) (place.Spec, error) {
	if err := place.CheckParts(r); err != nil {
		return place.Spec{}, err
	}
	n.parts = n.parts[:0]
	for k := range 1 + len(r.Components) {
		spec, err := n.part(r, on, k)
		if err != nil {
			return place.Spec{}, place.PartFault(k, err)
		}
		if n.nodes.ShareOf(spec.More()) > 0 {
			err := &bids.FieldError{Field: "uses", Value: "a share of a GPU", Why: "jobs of several components have whole ones only"}
			return place.Spec{}, place.PartFault(k, err)
		}
		n.parts = append(n.parts, spec)
	}
	within := r.AllWithin
	if n.tree == nil {
		within = 0
	}
	return n.masks.OfParts(n.parts, place.Apartness(r), int32(within), n.tree).Sum(), nil
}

// known reports further resources that the machine has not, and quotas that there are not; the Spec
// is then the zero one.
func (n *normal) known(spec *place.Spec) error {
	if err := place.CheckUses(spec.More(), n.more); err != nil {
		*spec = place.Spec{}
		return fmt.Errorf("uses: %w", err)
	}
	if err := checkShare(n.nodes, spec); err != nil {
		*spec = place.Spec{}
		return fmt.Errorf("uses: %w", err)
	}
	if err := spec.Counted().CheckRows("quota", n.limit, place.MostCharged); err != nil {
		*spec = place.Spec{}
		return fmt.Errorf("charges: %w", err)
	}
	return nil
}

// below fills in what r demands of the machine's topology, if it has one.
func (n *normal) below(spec *place.Spec, r *bids.Request) {
	if n.tree != nil && spec.Valid() {
		spec.Below = n.under.Of(place.Below{Tree: n.tree, Switches: int32(r.Switches), Within: int32(r.Within), Segment: int32(r.Segment)})
	}
}

// pointed is a Spec with the mask of r, and the pointers of what is the same in others.
func (n *normal) pointed(spec place.Spec, r *bids.Request) place.Spec {
	if spec.Valid() && r.Eligible != nil {
		spec.Eligible = n.masks.Of(&r.Eligible)
	}
	if spec.Valid() {
		spec.Eligible, _ = n.booked.of(spec.Eligible, n.name)
	}
	if spec.Uses != nil {
		spec.Uses = n.masks.OfUses(spec.Uses)
	}
	if spec.Charges != nil {
		spec.Charges = n.masks.OfUses(spec.Charges)
	}
	return spec
}

// now is a way as reservations leave it to a start now, for so long.
func (n *normal) now(spec place.Spec, limit int64) place.Spec {
	n.booked.narrow(&spec, &n.moved, n.clock, limit)
	if spec.Parts == &n.moved {
		spec.Parts = n.masks.OfParts(n.moved.Specs, n.moved.Apart, n.moved.Within, n.moved.Tree)
		spec.Charges = spec.Parts.Sum().Charges
	}
	return spec
}

// distinct leaves of the job's ways those that can ever be met and do not say what one before does;
// contiguous: all of them are for consecutive nodes.
func (n *normal) distinct(c *place.Cache, contiguous bool) {
	for k := range n.specs {
		s := &n.specs[k]
		never := len(n.specs) > 1 && s.Valid() && c.Never(s) != ""
		s.Contiguous = s.Contiguous || contiguous && s.Valid()
		if never || slices.Contains(n.specs[:k], *s) {
			*s = place.Spec{}
		}
	}
}

// never returns why the machine can never meet any of the requests of the job that was read, or "".
func (n *normal) never(c *place.Cache, job *Job) string {
	why := n.fault
	if n.specs[0].Valid() {
		why = c.Never(&n.specs[0])
	}
	if len(job.Alternatives) == 0 {
		return why
	}
	if n := len(job.Alternatives); n > MaxAlternatives {
		return fmt.Sprintf("can never run: alternatives: %d: must be at most %d", n, MaxAlternatives)
	}
	if why == "" {
		return ""
	}
	for k := range n.specs[1:] {
		if s := &n.specs[1+k]; s.Valid() && c.Never(s) == "" {
			return ""
		}
	}
	return why + "; nor can any of its alternatives"
}

// Way returns the request of a number, as in Decision.Alternative; false if it does not exist.
func (j *Job) Way(k int) (r bids.Request, ok bool) {
	switch {
	case k == 0:
		return j.Request, true
	case k < 0 || k > len(j.Alternatives):
		return bids.Request{}, false
	}
	r = j.Alternatives[k-1]
	if r.Eligible == nil {
		r.Eligible = j.Eligible
	}
	return r, true
}

// Validate returns the first fault of the job's time limit and requests as a *bids.FieldError.
// Fields of alternatives are named alternatives[1].cores, counted from 0. Snapshot.Validate checks
// the priority.
func (j *Job) Validate() error {
	if f := j.limitFault(); f != nil {
		return f
	}
	if err := place.Validate(&j.Request); err != nil {
		return err
	}
	if n := len(j.Alternatives); n > MaxAlternatives {
		return &bids.FieldError{Field: "alternatives", Value: n, Why: fmt.Sprintf("must be at most %d", MaxAlternatives)}
	}
	for k := range j.Alternatives {
		if err := place.Validate(&j.Alternatives[k]); err != nil {
			var f *bids.FieldError
			if errors.As(err, &f) {
				return &bids.FieldError{Field: fmt.Sprintf("alternatives[%d].%s", k, f.Field), Value: f.Value, Why: f.Why}
			}
			return fmt.Errorf("alternatives[%d]: %w", k, err)
		}
	}
	return nil
}
