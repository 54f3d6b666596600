// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"

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
	// 0 means nodes x TasksPerNode.
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
}

// shape is a Request with every default filled in: between minNodes and maxNodes
// nodes, lo..hi cores on each, cores in total (0: lo on each node), and between
// minGPUs and maxGPUs GPUs on each.
type shape struct {
	cores              int
	minNodes, maxNodes int
	lo, hi             int
	minGPUs, maxGPUs   int
	mixed              bool // nodes may give different numbers of GPUs
	contiguous         bool
	blocks             int  // of consecutive nodes, at most; 0: any number
	nodesGiven         bool // types 2 and 3
	perNode            bool // type 3: exactly lo == hi cores on each node
}

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
	_, err := r.shape()
	return err
}

// PerNode is how many cores each node of an allocation gives at least and at most: as
// many for jobs of type 3. The error is that of Validate.
func (r *Request) PerNode() (least, most int, err error) {
	s, err := r.shape()
	return s.lo, s.hi, err
}

// LeastCores is how many cores an allocation has in all at least.
func (r *Request) LeastCores() int64 {
	if r.Cores > 0 {
		return int64(r.Cores)
	}
	return int64(max(r.MinNodes, 1)) * int64(r.TasksPerNode)
}

func (r *Request) shape() (shape, error) {
	for _, f := range []struct {
		name   string
		v, max int
	}{
		{"cores", r.Cores, MaxCores}, {"nodes", r.MinNodes, MaxNodes}, {"nodes", r.MaxNodes, MaxNodes},
		{"tasks_per_node", r.TasksPerNode, MaxCoresPerNode},
		{"gpus_per_node", r.MinGPUs, MaxGPUsPerNode}, {"gpus_per_node", r.MaxGPUs, MaxGPUsPerNode},
	} {
		if f.v < 0 {
			return shape{}, &FieldError{f.name, f.v, "must not be negative"}
		}
		if f.v > f.max {
			return shape{}, &FieldError{f.name, f.v, fmt.Sprintf("must be at most %d", f.max)}
		}
	}
	if r.MaxNodes != 0 && r.MinNodes > r.MaxNodes {
		return shape{}, &FieldError{"nodes", fmt.Sprintf("%d-%d", r.MinNodes, r.MaxNodes), "the range is empty"}
	}
	if r.MaxGPUs != 0 && r.MinGPUs > r.MaxGPUs {
		return shape{}, &FieldError{"gpus_per_node", fmt.Sprintf("%d-%d", r.MinGPUs, r.MaxGPUs), "the range is empty"}
	}
	s := shape{
		cores: r.Cores, minNodes: max(r.MinNodes, 1), maxNodes: r.MaxNodes, lo: 1, hi: MaxCoresPerNode,
		minGPUs: r.MinGPUs, maxGPUs: max(r.MinGPUs, r.MaxGPUs), contiguous: r.Contiguous,
		nodesGiven: r.MinNodes > 0 || r.MaxNodes > 0,
	}
	s.mixed = r.MixedGPUs && s.maxGPUs > s.minGPUs
	if s.maxNodes == 0 {
		s.maxNodes = unbounded
	}
	return s, s.setCores(r)
}

// setCores settles how Cores, TasksPerNode and the range of nodes go together.
func (s *shape) setCores(r *Request) error {
	t := r.TasksPerNode
	switch {
	case t == 0 && r.Cores == 0:
		return &FieldError{"cores", 0, "the job asks for no core: give cores, or nodes and tasks_per_node"}
	case t == 0:
		if r.Cores < s.minNodes {
			return &FieldError{"cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.minNodes)}
		}
		s.maxNodes = min(s.maxNodes, r.Cores)
	case r.Cores == 0:
		s.nodesGiven, s.perNode, s.lo, s.hi = true, true, t, t
		if r.MaxNodes == 0 {
			s.maxNodes = s.minNodes
		}
	case r.Cores%t == 0 && r.Cores/t >= s.minNodes && r.Cores/t <= s.maxNodes:
		s.nodesGiven, s.perNode, s.lo, s.hi = true, true, t, t
		s.minNodes, s.maxNodes = r.Cores/t, r.Cores/t
	default:
		need := (r.Cores + t - 1) / t
		if need > s.maxNodes {
			return &FieldError{"tasks_per_node", t, fmt.Sprintf("%d cores do not fit on %d nodes", r.Cores, s.maxNodes)}
		}
		if r.Cores < s.minNodes {
			return &FieldError{"cores", r.Cores, fmt.Sprintf("fewer than its %d nodes", s.minNodes)}
		}
		s.hi = t
		s.minNodes = max(s.minNodes, need)
		s.maxNodes = min(s.maxNodes, r.Cores)
	}
	return nil
}
