// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Validate reports the first fault of a request as a [*bids.FieldError]: a negative
// or too large number, an inverted range, or fields that contradict each other.
func Validate(r *bids.Request) error {
	_, err := SpecOf(r)
	return err
}

// LeastCores is how many cores an allocation has in all at least.
func LeastCores(r *bids.Request) int64 {
	sum := leastCores(r)
	for k := range r.Components {
		sum += leastCores(&r.Components[k])
	}
	return sum
}

// leastCores is that of the request without Components.
func leastCores(r *bids.Request) int64 {
	if r.Cores > 0 {
		return int64(r.Cores)
	}
	return int64(max(r.MinNodes, 1)) * int64(r.TasksPerNode)
}

// Spec is the normal form of the request: what it asks for, with every default filled in, on a
// machine without a topology. It points to r.Eligible. The error is that of Validate, and the
// Spec then the zero one.
func SpecOf(r *bids.Request) (Spec, error) {
	if composed(r) {
		return sumSpec(r)
	}
	return ownSpec(r)
}

// own is the Spec of the request without Components.
func ownSpec(r *bids.Request) (Spec, error) {
	if f := outOfRange(r); f != nil {
		return Spec{}, f
	}
	s := Spec{
		Nodes: Range{Min: max(r.MinNodes, 1), Max: r.MaxNodes},
		Cores: Amount{PerNode: Range{Min: 1, Max: bids.MaxCoresPerNode}, Total: r.Cores},
		GPUs:  Amount{PerNode: Range{Min: r.MinGPUs, Max: max(r.MinGPUs, r.MaxGPUs)}},

		Contiguous: r.Contiguous,
		NodesGiven: r.MinNodes > 0 || r.MaxNodes > 0,
	}
	s.MixedGPUs = r.MixedGPUs && s.GPUs.PerNode.Max > s.GPUs.PerNode.Min
	if r.Eligible != nil {
		s.Eligible = &r.Eligible
	}
	if s.Nodes.Max == 0 {
		s.Nodes.Max = nodeset.MaxNodes
	}
	if f := settleCores(r, &s); f != nil {
		return Spec{}, f
	}
	if f := settleUses(r, &s); f != nil {
		return Spec{}, f
	}
	if f := settleCharges(r, &s); f != nil {
		return Spec{}, f
	}
	if k := r.Segment; k > 1 && (s.Nodes.Min != s.Nodes.Max || s.Nodes.Min%k != 0) {
		return Spec{}, fault("segment", k, "the job has to name its number of nodes, a multiple of it")
	}
	if s.Exact() && s.Nodes.Min == s.Nodes.Max {
		s.Cores.Total = s.Nodes.Min * s.Cores.PerNode.Min
	}
	return s, nil
}

// outOfRange is the first number that is out of range, or range that is empty; nil: none is.
func outOfRange(r *bids.Request) *bids.FieldError {
	for _, f := range [...]struct {
		name   string
		v, max int
	}{
		{"cores", r.Cores, bids.MaxCores}, {"nodes", r.MinNodes, nodeset.MaxNodes}, {"nodes", r.MaxNodes, nodeset.MaxNodes},
		{"tasks_per_node", r.TasksPerNode, bids.MaxCoresPerNode},
		{"gpus_per_node", r.MinGPUs, bids.MaxGPUsPerNode}, {"gpus_per_node", r.MaxGPUs, bids.MaxGPUsPerNode},
		{"switches", r.Switches, nodeset.MaxNodes}, {"within", r.Within, nodeset.MaxNodes}, {"segment", r.Segment, nodeset.MaxNodes},
	} {
		if f.v < 0 {
			return fault(f.name, f.v, "must not be negative")
		}
		if f.v > f.max {
			return fault(f.name, f.v, fmt.Sprintf("must be at most %d", f.max))
		}
	}
	if r.MaxNodes != 0 && r.MinNodes > r.MaxNodes {
		return fault("nodes", fmt.Sprintf("%d-%d", r.MinNodes, r.MaxNodes), "the range is empty")
	}
	if r.MaxGPUs != 0 && r.MinGPUs > r.MaxGPUs {
		return fault("gpus_per_node", fmt.Sprintf("%d-%d", r.MinGPUs, r.MaxGPUs), "the range is empty")
	}
	return nil
}

// settleCores settles how Cores, TasksPerNode and the range of nodes go together.
func settleCores(r *bids.Request, s *Spec) *bids.FieldError {
	t := r.TasksPerNode
	switch {
	case t == 0 && r.Cores == 0 && !takesMore(r):
		return fault("cores", 0,
			"the job asks for nothing: give cores, or nodes and tasks_per_node, or for no core GPUs or other resources of a node")
	case t == 0 && r.Cores > 0:
		if r.Cores < s.Nodes.Min {
			return fault("cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.Nodes.Min))
		}
		s.Nodes.Max = min(s.Nodes.Max, r.Cores)
	case r.Cores == 0:
		s.NodesGiven, s.Cores.PerNode = true, Range{Min: t, Max: t}
		if r.MaxNodes == 0 {
			s.Nodes.Max = s.Nodes.Min
		}
	case r.Cores%t == 0 && r.Cores/t >= s.Nodes.Min && r.Cores/t <= s.Nodes.Max:
		s.NodesGiven, s.Cores.PerNode = true, Range{Min: t, Max: t}
		s.Nodes = Range{Min: r.Cores / t, Max: r.Cores / t}
	default:
		need := (r.Cores + t - 1) / t
		if need > s.Nodes.Max {
			return fault("tasks_per_node", t, fmt.Sprintf("%d cores do not fit on %d nodes", r.Cores, s.Nodes.Max))
		}
		if r.Cores < s.Nodes.Min {
			return fault("cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.Nodes.Min))
		}
		s.Cores.PerNode.Max = t
		s.Nodes = Range{Min: max(s.Nodes.Min, need), Max: min(s.Nodes.Max, r.Cores)}
	}
	return nil
}

// takesMore reports whether each node gives a GPU at least, or something of a further resource,
// beside cores.
func takesMore(r *bids.Request) bool {
	return r.MinGPUs > 0 || slices.ContainsFunc(r.Uses, func(u nodeset.Use) bool { return u.PerNode > 0 })
}

// settleUses settles what is taken of further resources.
func settleUses(r *bids.Request, s *Spec) *bids.FieldError {
	if len(r.Uses) == 0 {
		return nil
	}
	if err := CheckUses(r.Uses, nodeset.MaxResources); err != nil {
		return fault("uses", len(r.Uses), err.Error())
	}
	for _, u := range r.Uses {
		if u.PerCore > 0 && u.PerGPU > 0 && s.GPUs.PerNode.Min < s.GPUs.PerNode.Max && !s.Coreless() {
			return fault("uses", u.Row, "used by core and by GPU, and the number of GPUs is a range")
		}
	}
	s.Uses = &r.Uses
	return nil
}

// settleCharges settles what is counted against quotas.
func settleCharges(r *bids.Request, s *Spec) *bids.FieldError {
	if len(r.Charges) == 0 {
		return nil
	}
	if err := r.Charges.CheckRows("quota", math.MaxInt, MostCharged); err != nil {
		return fault("charges", len(r.Charges), err.Error())
	}
	s.Charges = &r.Charges
	return nil
}

func fault(field string, value any, why string) *bids.FieldError {
	return &bids.FieldError{Field: field, Value: value, Why: why}
}

// composed reports whether the request is of several parts, or has what only such have.
func composed(r *bids.Request) bool { return len(r.Components) > 0 || r.AllWithin != 0 }

// PartSpec is the Spec of one part alone. Its fault is as of the part alone: see [PartFault].
func PartSpec(r *bids.Request, k int) (Spec, error) {
	if k == 0 {
		return ownSpec(r)
	}
	return ownSpec(&r.Components[k-1])
}

// PartFault names a fault of a part as one of the request: components[1].cores, counted from 0.
func PartFault(part int, err error) error {
	var f *bids.FieldError
	if part == 0 || !errors.As(err, &f) {
		return err
	}
	return &bids.FieldError{Field: fmt.Sprintf("components[%d].%s", part-1, f.Field), Value: f.Value, Why: f.Why}
}

// CheckParts reports what is wrong with how the parts go together as a [*bids.FieldError].
func CheckParts(r *bids.Request) error {
	switch {
	case len(r.Components) >= MaxParts:
		return fault("components", len(r.Components), fmt.Sprintf("must be at most %d", MaxParts-1))
	case r.AllWithin < 0:
		return fault("all_within", r.AllWithin, "must not be negative")
	case r.AllWithin > nodeset.MaxNodes:
		return fault("all_within", r.AllWithin, fmt.Sprintf("must be at most %d", nodeset.MaxNodes))
	case r.AllWithin > 0 && len(r.Components) == 0:
		return fault("all_within", r.AllWithin, "the job has no components: give within")
	}
	for k := range r.Components {
		c := &r.Components[k]
		if len(c.Components) > 0 {
			return fault(fmt.Sprintf("components[%d].components", k), len(c.Components), "components have none themselves")
		}
		if c.AllWithin != 0 {
			return fault(fmt.Sprintf("components[%d].all_within", k), c.AllWithin, "is the job's, not a component's")
		}
	}
	return nil
}

// Apartness has a bit for each part that is Apart.
func Apartness(r *bids.Request) (bits uint32) {
	for k := range 1 + len(r.Components) {
		if PartOf(r, k).Apart {
			bits |= 1 << k
		}
	}
	return bits
}

// sum is the Spec of all parts together.
func sumSpec(r *bids.Request) (Spec, error) {
	if err := CheckParts(r); err != nil {
		return Spec{}, err
	}
	parts := &Parts{Apart: Apartness(r)}
	for k := range 1 + len(r.Components) {
		s, err := PartSpec(r, k)
		if err != nil {
			return Spec{}, PartFault(k, err)
		}
		parts.Specs = append(parts.Specs, s)
	}
	return parts.Sum(), nil
}

// PartOf is one of the parts of a request: 0 is the request itself, of which Components do not
// count then, and k is Components[k-1].
func PartOf(r *bids.Request, k int) *bids.Request {
	if k == 0 {
		return r
	}
	return &r.Components[k-1]
}

// CheckUses reports the first fault of uses of further resources: see [nodeset.Uses.CheckRows].
func CheckUses(u nodeset.Uses, resources int) error {
	const most = nodeset.MaxAmount
	return u.CheckRows("resource", resources, nodeset.Use{PerNode: most, PerCore: most, PerGPU: most})
}
