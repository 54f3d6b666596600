// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Outcome is what a cycle decided, as "aucsched plan --json" prints it.
type Outcome struct {
	Policy    string         `json:"policy"`
	Decisions []Decision     `json:"decisions"`
	Objective float64        `json:"objective"`
	Bound     float64        `json:"bound"`
	Status    string         `json:"status,omitempty"`
	CycleMS   float64        `json:"cycle_ms"`
	Started   int            `json:"started"`
	Bids      int            `json:"bids,omitempty"`
	Classes   int            `json:"bid_classes,omitempty"`
	Rows      int            `json:"rows,omitempty"`
	Preempted []Preemption   `json:"preempted,omitempty"`
	Claims    []format.Claim `json:"claims,omitempty"`
}

// Preemption is a running job that has to be stopped, and the jobs that start when it is gone.
type Preemption struct {
	Job string   `json:"job"`
	For []string `json:"for"`
}

// Decision is what a cycle says of one job. CoresPerNode has an element a node, in
// the order of Nodes. ExpectedStart is in seconds from now, absent if unknown.
type Decision struct {
	Job         string `json:"job"`
	Start       bool   `json:"start"`
	Alternative int    `json:"alternative,omitempty"`
	Place
	GPUShare      int64        `json:"gpu_share,omitempty"`
	SharedGPU     int          `json:"shared_gpu,omitempty"`
	BidClass      string       `json:"bid_class"`
	Reason        string       `json:"reason"`
	ExpectedStart *int64       `json:"expected_start_s,omitempty"`
	Components    []Place      `json:"components,omitempty"`
	Explanation   *Explanation `json:"explanation,omitempty"`
}

// Place is what a job gets, or one component of it.
type Place struct {
	Nodes        string `json:"nodes"`
	CoresPerNode []int  `json:"cores_per_node"`
	GPUsPerNode  int    `json:"gpus_per_node"`
	GPUsOfNodes  []int  `json:"gpus_of_nodes,omitempty"`
}

// NewOutcome puts a plan into words. Jobs that the cycle did not look at are there
// as well, with a reason that says so.
func NewOutcome(policy string, w *Window, p *core.Plan) (*Outcome, error) {
	o := &Outcome{Policy: policy, Decisions: make([]Decision, 0, len(w.Snapshot.Pending)),
		Objective: p.Objective, Bound: p.Bound, Status: p.Stats.Status,
		CycleMS: float64(p.Stats.Elapsed) / float64(time.Millisecond), Bids: p.Stats.Bids,
		Classes: p.Stats.BidClasses, Rows: p.Stats.Rows}
	for _, x := range p.Preempted {
		stop := Preemption{Job: w.Snapshot.Running[x.Running].ID}
		for _, j := range x.For {
			stop.For = append(stop.For, w.Snapshot.Pending[j].ID)
		}
		o.Preempted = append(o.Preempted, stop)
	}
	for _, k := range p.Claims {
		claim, err := format.NewClaim(k.For, w.Names, k.Segs, k.Alternative, k.Until-w.Snapshot.Now)
		if err != nil {
			return nil, fmt.Errorf("claim of %s: %w", k.For, err)
		}
		o.Claims = append(o.Claims, claim)
	}
	known := make(map[int]*core.Decision, len(p.Decisions))
	for i := range p.Decisions {
		known[p.Decisions[i].Job] = &p.Decisions[i]
	}
	for i, job := range w.Snapshot.Pending {
		d := Decision{Job: job.ID, Place: Place{CoresPerNode: []int{}}, Reason: "not looked at: too far down the queue"}
		if k := known[i]; k != nil {
			if err := d.fill(w, k); err != nil {
				return nil, fmt.Errorf("job %s: %w", job.ID, err)
			}
		}
		if d.Start {
			o.Started++
		}
		o.Decisions = append(o.Decisions, d)
	}
	return o, nil
}

func (d *Decision) fill(w *Window, k *core.Decision) error {
	d.Start, d.Reason, d.BidClass = k.Start, k.Reason, k.Class.String()
	if !k.Start {
		if k.Kept {
			wait := k.Expected - w.Snapshot.Now
			d.ExpectedStart = &wait
		}
		return nil
	}
	d.Alternative = k.Alternative
	for n := range max(1, len(k.PartUses)) {
		segs := k.Segs
		if len(k.PartUses) > 0 {
			segs = place.OfPart(segs, n)
		}
		place, err := w.place(segs)
		if err != nil {
			return err
		}
		if n > 0 {
			d.Components = append(d.Components, place)
			continue
		}
		d.Place, d.GPUShare, d.SharedGPU = place, w.Snapshot.Nodes.ShareOf(k.Uses), sharedGPUOf(segs)
	}
	return nil
}

// place puts an allocation into names.
func (w *Window) place(segs []nodeset.Segment) (Place, error) {
	p, err := format.NewPlace(w.Names, segs)
	x := Place{Nodes: p.Nodes, CoresPerNode: p.Cores, GPUsPerNode: slices.Min(p.GPUs)}
	if slices.Max(p.GPUs) != x.GPUsPerNode {
		x.GPUsOfNodes = p.GPUs
	}
	return x, err
}
