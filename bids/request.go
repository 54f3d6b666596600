// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Limits of the numbers in a Request; they keep all sums in range.
const (
	MaxNodes        = nodeset.MaxNodes // nodes of a machine
	MaxCores        = 1<<31 - 1        // cores of a job
	MaxCoresPerNode = 1<<16 - 1        // cores of a node
	MaxGPUsPerNode  = 1<<8 - 1         // GPUs of a node
	unbounded       = MaxNodes         // stands for "no upper limit on nodes"
)

// Request is what a job asks for. The three job types of aucsched1, section 4,
// are told apart by what is given:
//
//	type 1  Cores only
//	type 2  Cores and MinNodes..MaxNodes, GPUs on each node
//	type 3  MinNodes..MaxNodes and TasksPerNode, GPUs on each node
//
// A zero field is one that the job does not restrict.
type Request struct {
	// Cores is the total number of cores (R^cpu, sbatch -n), met exactly.
	// 0 means nodes x TasksPerNode; if that is 0 as well the job takes no core, and has to ask
	// each of its nodes for a GPU (MinGPUs) or something of a further resource (Uses).
	Cores int
	// MinNodes and MaxNodes are the range of nodes (R^node, sbatch -N min-max).
	// MinNodes 0 means 1; MaxNodes 0 means no limit.
	MinNodes, MaxNodes int
	// TasksPerNode is the number of cores on each node (R^cpn,
	// --ntasks-per-node). If Cores is given as well and is not a multiple, it is
	// the most that a node may give, as in Slurm.
	TasksPerNode int
	// MinGPUs and MaxGPUs are the range of GPUs on each node (R^gpu and its
	// range, aucsched2 section 3; --gres=gpu:min-max). All nodes of an
	// allocation give the same number unless MixedGPUs is set. MaxGPUs 0 means
	// MinGPUs.
	MinGPUs, MaxGPUs int
	// MixedGPUs lets nodes of an allocation give different numbers of GPUs, each one
	// in the range.
	MixedGPUs bool
	// Contiguous asks for consecutive nodes (--contiguous).
	Contiguous bool
	// Eligible are the nodes that the job may use; nil means all. It is not
	// modified, and must not be while the request is in use.
	Eligible nodeset.Mask
	// Uses is what the job takes of the machine's further resources on each of its nodes: memory,
	// GPUs of one type, ... It is not modified, and must not be while the request is in use. Only
	// where the number of GPUs is fixed may one resource be used both by core and by GPU.
	Uses nodeset.Uses
	// Charges are what the job counts against quotas that it shares with others: a user's, an
	// account's, those of a licence. They ascend by quota. They are not modified, and must not be
	// while the request is in use.
	Charges []Charge
	// Switches is how many leaf switches the nodes may be below at most (--switches); Within the
	// level of a switch that they all are below, 1 being that of the leaves; Segment the number of
	// nodes in which they come, each time below one leaf (--segment, of topology/block): the job
	// then names its number of nodes, a multiple of it. They demand nothing of a machine without a
	// topology.
	Switches, Within, Segment int
	// Components are further parts of a heterogeneous job, as Slurm's, at most MaxComponents: a
	// leader and its workers. The request without them is one part, each of them another, complete
	// by itself: its own cores, nodes, Eligible (nil: all nodes), Uses, Charges. All start
	// together, or none does. They have no Components themselves.
	Components []Request
	// Apart has a part share none of its nodes with other parts of the same job.
	Apart bool
	// AllWithin is the level of a switch that the nodes of all parts are below, 1 being that of the
	// leaves; 0: they may be anywhere. Only a request with Components has it.
	AllWithin int
}

// MaxComponents is how many Components a request may have.
const MaxComponents = place.MaxParts - 1

// Charge is what an allocation counts against one quota, in a unit that is the quota's own: PerJob,
// and PerNode on each node, PerCore for each core and PerGPU for each GPU, each 0 to MaxRate.
type Charge = place.Charge

// MaxRate is the greatest number in a Charge.
const MaxRate = place.MaxRate

// Quotas are what is left of quotas to jobs that start now, see [Space].
type Quotas = place.Quotas

// Spec is the normal form of a Request, from which bids are made: see [Request.Spec].
type Spec = place.Spec

// FieldError is a request that no machine could meet or that contradicts itself.
// Field is named as in a window file.
type FieldError struct {
	Field string
	Value any
	Why   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.Field, e.Value, e.Why)
}

// Validate reports the first fault of the request as a [*FieldError]: a negative
// or too large number, an inverted range, or fields that contradict each other.
func (r *Request) Validate() error {
	_, err := r.Spec()
	return err
}

// LeastCores is how many cores an allocation has in all at least.
func (r *Request) LeastCores() int64 {
	sum := r.leastCores()
	for k := range r.Components {
		sum += r.Components[k].leastCores()
	}
	return sum
}

// leastCores is that of the request without Components.
func (r *Request) leastCores() int64 {
	if r.Cores > 0 {
		return int64(r.Cores)
	}
	return int64(max(r.MinNodes, 1)) * int64(r.TasksPerNode)
}

// Spec is the normal form of the request: what it asks for, with every default filled in, on a
// machine without a topology. It points to r.Eligible. The error is that of Validate, and the
// Spec then the zero one.
func (r *Request) Spec() (Spec, error) {
	if r.composed() {
		return r.sum()
	}
	return r.own()
}

// own is the Spec of the request without Components.
func (r *Request) own() (Spec, error) {
	if f := r.outOfRange(); f != nil {
		return Spec{}, f
	}
	s := Spec{
		Nodes: place.Range{Min: max(r.MinNodes, 1), Max: r.MaxNodes},
		Cores: place.Amount{PerNode: place.Range{Min: 1, Max: MaxCoresPerNode}, Total: r.Cores},
		GPUs:  place.Amount{PerNode: place.Range{Min: r.MinGPUs, Max: max(r.MinGPUs, r.MaxGPUs)}},

		Contiguous: r.Contiguous,
		NodesGiven: r.MinNodes > 0 || r.MaxNodes > 0,
	}
	s.MixedGPUs = r.MixedGPUs && s.GPUs.PerNode.Max > s.GPUs.PerNode.Min
	if r.Eligible != nil {
		s.Eligible = &r.Eligible
	}
	if s.Nodes.Max == 0 {
		s.Nodes.Max = unbounded
	}
	if f := r.settleCores(&s); f != nil {
		return Spec{}, f
	}
	if f := r.settleUses(&s); f != nil {
		return Spec{}, f
	}
	if f := r.settleCharges(&s); f != nil {
		return Spec{}, f
	}
	if k := r.Segment; k > 1 && (s.Nodes.Min != s.Nodes.Max || s.Nodes.Min%k != 0) {
		return Spec{}, &FieldError{"segment", k, "the job has to name its number of nodes, a multiple of it"}
	}
	if s.Exact() && s.Nodes.Min == s.Nodes.Max {
		s.Cores.Total = s.Nodes.Min * s.Cores.PerNode.Min
	}
	return s, nil
}

// outOfRange is the first number that is out of range, or range that is empty; nil: none is.
func (r *Request) outOfRange() *FieldError {
	for _, f := range [...]struct {
		name   string
		v, max int
	}{
		{"cores", r.Cores, MaxCores}, {"nodes", r.MinNodes, MaxNodes}, {"nodes", r.MaxNodes, MaxNodes},
		{"tasks_per_node", r.TasksPerNode, MaxCoresPerNode},
		{"gpus_per_node", r.MinGPUs, MaxGPUsPerNode}, {"gpus_per_node", r.MaxGPUs, MaxGPUsPerNode},
		{"switches", r.Switches, MaxNodes}, {"within", r.Within, MaxNodes}, {"segment", r.Segment, MaxNodes},
	} {
		if f.v < 0 {
			return &FieldError{f.name, f.v, "must not be negative"}
		}
		if f.v > f.max {
			return &FieldError{f.name, f.v, fmt.Sprintf("must be at most %d", f.max)}
		}
	}
	if r.MaxNodes != 0 && r.MinNodes > r.MaxNodes {
		return &FieldError{"nodes", fmt.Sprintf("%d-%d", r.MinNodes, r.MaxNodes), "the range is empty"}
	}
	if r.MaxGPUs != 0 && r.MinGPUs > r.MaxGPUs {
		return &FieldError{"gpus_per_node", fmt.Sprintf("%d-%d", r.MinGPUs, r.MaxGPUs), "the range is empty"}
	}
	return nil
}

// settleCores settles how Cores, TasksPerNode and the range of nodes go together.
func (r *Request) settleCores(s *Spec) *FieldError {
	t := r.TasksPerNode
	switch {
	case t == 0 && r.Cores == 0 && !r.takesMore():
		return &FieldError{"cores", 0,
			"the job asks for nothing: give cores, or nodes and tasks_per_node, or for no core GPUs or other resources of a node"}
	case t == 0 && r.Cores > 0:
		if r.Cores < s.Nodes.Min {
			return &FieldError{"cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.Nodes.Min)}
		}
		s.Nodes.Max = min(s.Nodes.Max, r.Cores)
	case r.Cores == 0:
		s.NodesGiven, s.Cores.PerNode = true, place.Range{Min: t, Max: t}
		if r.MaxNodes == 0 {
			s.Nodes.Max = s.Nodes.Min
		}
	case r.Cores%t == 0 && r.Cores/t >= s.Nodes.Min && r.Cores/t <= s.Nodes.Max:
		s.NodesGiven, s.Cores.PerNode = true, place.Range{Min: t, Max: t}
		s.Nodes = place.Range{Min: r.Cores / t, Max: r.Cores / t}
	default:
		need := (r.Cores + t - 1) / t
		if need > s.Nodes.Max {
			return &FieldError{"tasks_per_node", t, fmt.Sprintf("%d cores do not fit on %d nodes", r.Cores, s.Nodes.Max)}
		}
		if r.Cores < s.Nodes.Min {
			return &FieldError{"cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.Nodes.Min)}
		}
		s.Cores.PerNode.Max = t
		s.Nodes = place.Range{Min: max(s.Nodes.Min, need), Max: min(s.Nodes.Max, r.Cores)}
	}
	return nil
}

// takesMore reports whether each node gives a GPU at least, or something of a further resource,
// beside cores.
func (r *Request) takesMore() bool {
	return r.MinGPUs > 0 || slices.ContainsFunc(r.Uses, func(u nodeset.Use) bool { return u.PerNode > 0 })
}

// settleUses settles what is taken of further resources.
func (r *Request) settleUses(s *Spec) *FieldError {
	if len(r.Uses) == 0 {
		return nil
	}
	if err := r.Uses.Check(nodeset.MaxResources); err != nil {
		return &FieldError{"uses", len(r.Uses), err.Error()}
	}
	for _, u := range r.Uses {
		if u.PerCore > 0 && u.PerGPU > 0 && s.GPUs.PerNode.Min < s.GPUs.PerNode.Max && !s.Coreless() {
			return &FieldError{"uses", u.Resource, "used by core and by GPU, and the number of GPUs is a range"}
		}
	}
	s.Uses = &r.Uses
	return nil
}

// settleCharges settles what is counted against quotas.
func (r *Request) settleCharges(s *Spec) *FieldError {
	if len(r.Charges) == 0 {
		return nil
	}
	charges := (*place.Charges)(&r.Charges)
	if err := charges.Check(math.MaxInt); err != nil {
		return &FieldError{"charges", len(r.Charges), err.Error()}
	}
	s.Charges = charges
	return nil
}
