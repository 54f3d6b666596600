// SPDX-License-Identifier: BSD-3-Clause

// Package format has the JSON of a window, which core.Cluster reads and writes: docs/reference/window.md and
// docs/schemas/window.json say what the fields mean.
package format

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// States of a node.
const (
	Up      = "up"
	Drained = "drained"
	Down    = "down"
)

// Window is a whole file.
type Window struct {
	Time             string        `json:"time,omitempty"`
	Nodes            []Node        `json:"nodes"`
	Switches         []Switch      `json:"switches,omitempty"`
	Running          []Running     `json:"running,omitempty"`
	Jobs             []Job         `json:"jobs"`
	Quotas           []Quota       `json:"quotas,omitempty"`
	Reservations     []Reservation `json:"reservations,omitempty"`
	Claims           []Claim       `json:"claims,omitempty"`
	StrictPreemption bool          `json:"strict_preemption,omitempty"`
	Pace             *Pace         `json:"pace,omitempty"`
}

// Pace is what jobs have run and what they were allowed to, in seconds of the whole machine.
type Pace struct {
	Ran    float64 `json:"ran_s"`
	Limits float64 `json:"limits_s"`
}

// Node is a list of equal nodes.
type Node struct {
	Name          string  `json:"name"`
	Cores         int     `json:"cores"`
	GPUs          int     `json:"gpus,omitempty"`
	FreeCores     *int    `json:"free_cores,omitempty"`
	FreeGPUs      *int    `json:"free_gpus,omitempty"`
	State         string  `json:"state,omitempty"`
	Weight        int64   `json:"weight,omitempty"`
	Resources     Amounts `json:"resources,omitempty"`
	FreeResources Amounts `json:"free_resources,omitempty"`
	GPUShares     int64   `json:"gpu_shares,omitempty"`
	FreeGPUShares Amounts `json:"free_gpu_shares,omitempty"`
}

// Switch is a switch, a rack or a block: a leaf has Nodes, others have Switches below them.
type Switch struct {
	Name     string `json:"name"`
	Nodes    string `json:"nodes,omitempty"`
	Switches string `json:"switches,omitempty"`
}

// Job is a waiting job.
type Job struct {
	ID        string `json:"id"`
	Priority  int64  `json:"priority"`
	TimeLimit *int64 `json:"time_limit_s,omitempty"`
	Waited    int64  `json:"waited_s,omitempty"`
	Request
	Reservation  string    `json:"reservation,omitempty"`
	Prefer       string    `json:"prefer,omitempty"`
	Alternatives []Request `json:"alternatives,omitempty"`
	Preempts     []int     `json:"preempts,omitempty"`
	Price        int64     `json:"price,omitempty"`
	Class        int       `json:"class,omitempty"`
	Exempt       int64     `json:"exempt_s,omitempty"`
}

// Request is one way to meet a job.
type Request struct {
	Cores        int       `json:"cores,omitempty"`
	Nodes        Range     `json:"nodes,omitzero"`
	TasksPerNode int       `json:"tasks_per_node,omitempty"`
	GPUs         Range     `json:"gpus_per_node,omitzero"`
	GPUsUniform  *bool     `json:"gpus_uniform,omitempty"`
	Contiguous   bool      `json:"contiguous,omitempty"`
	Switches     int       `json:"switches,omitempty"`
	Within       int       `json:"within,omitempty"`
	Segment      int       `json:"segment,omitempty"`
	Eligible     *string   `json:"eligible,omitempty"`
	Uses         Uses      `json:"uses,omitempty"`
	GPUShare     int64     `json:"gpu_share,omitempty"`
	Exclusive    bool      `json:"exclusive,omitempty"`
	Charges      Uses      `json:"charges,omitempty"`
	Components   []Request `json:"components,omitempty"`
	Apart        bool      `json:"apart,omitempty"`
	AllWithin    int       `json:"all_within,omitempty"`
}

// Place is where a job, or a component of it, is.
type Place struct {
	Nodes string  `json:"nodes"`
	Cores PerNode `json:"cores_per_node"`
	GPUs  PerNode `json:"gpus_per_node,omitempty"`
}

// NewPlace is that of an allocation, whose nodes have these names.
func NewPlace(names []string, segs []nodeset.Segment) (p Place, err error) {
	var on []string
	for _, s := range segs {
		for _, name := range names[s.First : s.Last+1] {
			on, p.Cores, p.GPUs = append(on, name), append(p.Cores, int(s.Cores)), append(p.GPUs, int(s.GPUs))
		}
	}
	p.Nodes, err = hostlist.Compress(on)
	return p, err
}

// Reservation is of Nodes, absent for all, from Start on until before End.
type Reservation struct {
	Name  string  `json:"name"`
	Nodes *string `json:"nodes,omitempty"`
	Start int64   `json:"start_s,omitempty"`
	End   int64   `json:"end_s"`
}

// Claim is the place of a job for which running ones are stopped.
type Claim struct {
	For string `json:"for"`
	Place
	Components  []Place `json:"components,omitempty"`
	Alternative int     `json:"alternative,omitempty"`
	Until       int64   `json:"until_s"`
}

// NewClaim is that of a job which is to be on segs, part after part, in that way, until so many seconds from now.
func NewClaim(job string, names []string, segs []nodeset.Segment, way int, until int64) (c Claim, err error) {
	c.For, c.Alternative, c.Until = job, way, until
	for k := 0; len(segs) > 0 && err == nil; k++ {
		var part []nodeset.Segment
		part, segs = place.CutPart(segs)
		var p Place
		if p, err = NewPlace(names, part); k == 0 {
			c.Place = p
		} else {
			c.Components = append(c.Components, p)
		}
	}
	return c, err
}

// Held is what a job, or a component of it, holds.
type Held struct {
	Place
	Uses      Uses `json:"uses,omitempty"`
	Exclusive bool `json:"exclusive,omitempty"`
}

// Running is a job that holds nodes.
type Running struct {
	ID string `json:"id"`
	Held
	End        *int64 `json:"end_s,omitempty"`
	Ran        int64  `json:"ran_s,omitempty"`
	GPUShare   int64  `json:"gpu_share,omitempty"`
	SharedGPU  int    `json:"shared_gpu,omitempty"`
	Charges    Uses   `json:"charges,omitempty"`
	Price      int64  `json:"price,omitempty"`
	Class      int    `json:"class,omitempty"`
	Exempt     int64  `json:"exempt_s,omitempty"`
	Components []Held `json:"components,omitempty"`
	Job        *Job   `json:"job,omitempty"`
}

// Range is N or MIN-MAX, as a JSON number or string; the zero value is absent.
type Range struct{ Low, High int }

// MarshalJSON implements json.Marshaler.
func (r Range) MarshalJSON() ([]byte, error) {
	if r.Low == r.High {
		return strconv.AppendInt(nil, int64(r.Low), 10), nil
	}
	return fmt.Appendf(nil, `"%d-%d"`, r.Low, r.High), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Range) UnmarshalJSON(text []byte) error {
	s := string(text)
	if s == "null" {
		return nil
	}
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	low, high, ranged := strings.Cut(s, "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseUint(low, 10, 31)
	b, errB := strconv.ParseUint(high, 10, 31)
	if errA != nil || errB != nil {
		return fmt.Errorf("%.40q is neither N nor MIN-MAX", s)
	}
	if a > b {
		return fmt.Errorf("%q: the range is empty", s)
	}
	r.Low, r.High = int(a), int(b)
	return nil
}

// PerNode is how much a job holds of each of its nodes: a number for all of them, or a list with
// an element for each, in their order. None is 0 of all.
type PerNode []int

// MarshalJSON implements json.Marshaler.
func (p PerNode) MarshalJSON() ([]byte, error) {
	for _, v := range p {
		if v != p[0] {
			return json.Marshal([]int(p))
		}
	}
	return json.Marshal(p.At(0))
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *PerNode) UnmarshalJSON(text []byte) error {
	var all int
	if json.Unmarshal(text, (*[]int)(p)) == nil {
		return nil
	}
	if json.Unmarshal(text, &all) != nil {
		return fmt.Errorf("%.40q is neither a whole number nor a list of them", text)
	}
	*p = PerNode{all}
	return nil
}

// At is the share of the i-th node, if Covers says that there is one.
func (p PerNode) At(i int) int {
	switch len(p) {
	case 0:
		return 0
	case 1:
		return p[0]
	}
	return p[i]
}

// Covers reports whether there is a share for each of n nodes.
func (p PerNode) Covers(n int) bool { return len(p) < 2 || len(p) == n }
