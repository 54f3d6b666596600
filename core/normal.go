// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/answers"
	"github.com/aucsched/aucsched/internal/fit"
	"github.com/aucsched/aucsched/nodeset"
)

// normal brings the requests of a cycle's jobs into normal form, one job after the other. Specs of
// a cycle can be compared: a mask has one pointer, however many jobs have it, and so have Uses.
type normal struct {
	masks fit.Masks
	nodes *nodeset.Table
	specs []bids.Spec // of the job that was read last, by way; the zero Spec if it is not valid
	fault string      // of its first request
	more  int         // further resources of the machine
	limit int         // quotas of the snapshot
	tree  *nodeset.Topology
	under fit.Belows
}

// reset begins with another snapshot.
func (n *normal) reset(s *Snapshot) {
	n.masks.Reset()
	n.nodes = s.Nodes
	n.more, n.limit, n.tree = s.Nodes.Resources(), len(s.Quotas), s.Topology
}

// read brings the requests of a job into normal form; no more than a job may have.
func (n *normal) read(job *Job) {
	n.specs, n.fault = n.specs[:0], ""
	first, err := job.Request.Spec()
	if err == nil {
		err = n.known(&first)
	}
	if err != nil {
		n.fault = err.Error()
	}
	n.below(&first, &job.Request)
	n.add(first, &job.Request)
	for k := range min(len(job.Alternatives), MaxAlternatives) {
		r := &job.Alternatives[k]
		spec, _ := r.Spec() // without error, or not valid
		_ = n.known(&spec)
		n.below(&spec, r)
		if r.Eligible == nil {
			r = &job.Request
		}
		n.add(spec, r)
	}
}

// known reports further resources that the machine has not, and quotas that there are not; the Spec
// is then the zero one.
func (n *normal) known(spec *bids.Spec) error {
	if err := spec.More().Check(n.more); err != nil {
		*spec = bids.Spec{}
		return fmt.Errorf("uses: %w", err)
	}
	if err := checkShare(n.nodes, spec); err != nil {
		*spec = bids.Spec{}
		return fmt.Errorf("uses: %w", err)
	}
	if err := spec.Counted().Check(n.limit); err != nil {
		*spec = bids.Spec{}
		return fmt.Errorf("charges: %w", err)
	}
	return nil
}

// below fills in what r demands of the machine's topology, if it has one.
func (n *normal) below(spec *bids.Spec, r *bids.Request) {
	if n.tree != nil && spec.Valid() {
		spec.Below = n.under.Of(fit.Below{Tree: n.tree, Switches: int32(r.Switches), Within: int32(r.Within), Segment: int32(r.Segment)})
	}
}

// add adds a Spec with the mask of r.
func (n *normal) add(spec bids.Spec, r *bids.Request) {
	if spec.Valid() && r.Eligible != nil {
		spec.Eligible = n.masks.Of(&r.Eligible)
	}
	if spec.Uses != nil {
		spec.Uses = n.masks.OfUses(spec.Uses)
	}
	if spec.Charges != nil {
		spec.Charges = n.masks.OfCharges(spec.Charges)
	}
	n.specs = append(n.specs, spec)
}

// contiguous has the job ask for consecutive nodes in all its ways.
func (n *normal) contiguous() {
	for k := range n.specs {
		n.specs[k].Contiguous = n.specs[k].Valid()
	}
}

// never returns why the machine can never meet any of the requests of the job that was read, or "".
func (n *normal) never(c *answers.Cache, job *Job) string {
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
