// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Explanation is why a job starts or waits, as "aucsched explain --json" and "aucsched
// plan --explain --json" print it; core.Explanation says what the fields mean. All
// times are in seconds from now. Fields that do not apply are absent.
type Explanation struct {
	Why         string       `json:"why,omitempty"`
	Worth       float64      `json:"worth"`
	Planned     bool         `json:"planned,omitempty"`
	Never       string       `json:"never,omitempty"`
	Lacks       []core.Lack  `json:"lacks,omitempty"`
	Place       string       `json:"place,omitempty"`
	SharedGPU   int          `json:"shared_gpu,omitempty"`
	BlockedBy   []Rival      `json:"blocked_by,omitempty"`
	WantedBy    []Rival      `json:"wanted_by,omitempty"`
	Stops       []Rival      `json:"stops,omitempty"`
	RoomIn      *int64       `json:"room_in_s,omitempty"`
	RoomKept    bool         `json:"room_kept,omitempty"`
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	Trials      int          `json:"trials,omitempty"`
	Cut         string       `json:"cut,omitempty"`
	Late        bool         `json:"late,omitempty"`
}

// Rival is another job; Role is running, starting, reserved or waiting. Nodes are
// those of what it has that matter, Cores, GPUs and Resources what it has there in all. At is when
// it ends or, if reserved, from when its place is kept.
type Rival struct {
	Job         string         `json:"job"`
	Role        string         `json:"role"`
	Nodes       string         `json:"nodes,omitempty"`
	Cores       int            `json:"cores,omitempty"`
	GPUs        int            `json:"gpus,omitempty"`
	Resources   format.Amounts `json:"resources,omitempty"`
	SharedGPU   int            `json:"shared_gpu,omitempty"`
	Worth       float64        `json:"worth,omitempty"`
	At          *int64         `json:"at_s,omitempty"`
	Preemptable *bool          `json:"preemptable,omitempty"`
	Preempted   bool           `json:"preempted,omitempty"`
}

// Suggestion is a change with which the job would have started now, and where.
type Suggestion struct {
	Changes     []core.Change `json:"changes"`
	Size        float64       `json:"size"`
	Smallest    bool          `json:"smallest"`
	Nodes       string        `json:"nodes"`
	BidClass    string        `json:"bid_class"`
	SharedGPU   int           `json:"shared_gpu,omitempty"`
	Alternative int           `json:"alternative,omitempty"`
}

// NewExplanation puts an explanation into names.
func NewExplanation(w *Window, x *core.Explanation) (*Explanation, error) {
	e := &Explanation{Worth: x.Worth, Planned: x.Planned, Never: x.NeverWhy, Lacks: x.Lacks,
		RoomKept: x.Kept, Trials: x.Trials, Cut: x.Cut, Late: x.Late}
	if x.Foreseen {
		e.RoomIn = w.fromNow(x.Expected)
	}
	rivals, err := w.rivals(x.Rivals)
	if err != nil {
		return nil, err
	}
	if x.Decision.Start {
		e.WantedBy = rivals
		e.Stops, err = w.rivals(x.Stops)
		return e, err
	}
	e.Why, e.BlockedBy = x.Why.String(), rivals
	if e.Place, err = w.nodes(x.Place); err != nil {
		return nil, err
	}
	e.SharedGPU = sharedGPUOf(x.Place)
	for _, c := range x.Suggestions {
		s := Suggestion{Changes: c.Changes, Size: c.Size, Smallest: c.Smallest, BidClass: c.Class.String(), Alternative: c.Alternative}
		if s.Nodes, err = w.nodes(c.Segs); err != nil {
			return nil, err
		}
		s.SharedGPU = sharedGPUOf(c.Segs)
		e.Suggestions = append(e.Suggestions, s)
	}
	return e, nil
}

func (w *Window) rivals(from []core.Rival) ([]Rival, error) {
	var all []Rival
	for _, r := range from {
		nodes, err := w.nodes(r.Segs)
		if err != nil {
			return nil, err
		}
		to := Rival{Role: r.Role, Nodes: nodes, Cores: nodeset.Cores(r.Segs), GPUs: nodeset.GPUs(r.Segs),
			Resources: w.amounts(r.Uses, r.Segs), SharedGPU: sharedGPUOf(r.Segs), Worth: r.Worth}
		if r.Role == "running" {
			to.Job, to.Preempted = w.Snapshot.Running[r.Job].ID, r.Preempted
			if slices.ContainsFunc(w.Snapshot.Running, func(r core.Running) bool { return r.Price > 0 }) {
				to.Preemptable = &r.Preemptable
			}
		} else if to.Job = r.ID; r.Job >= 0 {
			to.Job = w.Snapshot.Pending[r.Job].ID
		}
		if r.Role != "waiting" {
			to.At = w.fromNow(r.At)
		}
		all = append(all, to)
	}
	return all, nil
}

// amounts are what an allocation takes of further resources in all.
func (w *Window) amounts(uses nodeset.Uses, segs []nodeset.Segment) format.Amounts {
	if len(uses) == 0 {
		return nil
	}
	amounts := make(format.Amounts)
	for _, u := range uses {
		sum := place.Count(&u, place.SizeOf(segs))
		if sum > 0 {
			amounts[w.Snapshot.Nodes.ResourceName(u.Row)] = sum
		}
	}
	return amounts
}

func (w *Window) fromNow(second int64) *int64 {
	wait := second - w.Snapshot.Now
	return &wait
}

// nodes is the hostlist of an allocation's nodes, each once, in machine order.
func (w *Window) nodes(segs []nodeset.Segment) (string, error) {
	mask, names := nodeset.NewMask(len(w.Names)), []string(nil)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			mask.Set(int(n))
		}
	}
	for n, name := range w.Names {
		if mask.Has(n) {
			names = append(names, name)
		}
	}
	list, err := hostlist.Compress(names)
	if err != nil {
		return "", fmt.Errorf("names of nodes: %w", err)
	}
	return list, nil
}

// sharedGPUOf is the number of the GPU of which an allocation has a share, or 0.
func sharedGPUOf(segs []nodeset.Segment) int {
	if len(segs) != 1 {
		return 0
	}
	return int(segs[0].Bin)
}
