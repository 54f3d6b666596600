// SPDX-License-Identifier: BSD-3-Clause

// Package bids has what a job asks for, a [Request], and the classes of the bids that are made of it.
package bids

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// Limits of the numbers in a Request; they keep all sums in range.
const (
	MaxCores        = 1<<31 - 1 // cores of a job
	MaxCoresPerNode = 1<<16 - 1 // cores of a node
	MaxGPUsPerNode  = 1<<8 - 1  // GPUs of a node
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
	Charges nodeset.Uses
	// Switches is how many leaf switches the nodes may be below at most (--switches); Within the
	// level of a switch that they all are below, 1 being that of the leaves; Segment the number of
	// nodes in which they come, each time below one leaf (--segment, of topology/block): the job
	// then names its number of nodes, a multiple of it. They demand nothing of a machine without a
	// topology.
	Switches, Within, Segment int
	// Components are further parts of a heterogeneous job, as Slurm's, at most 15: a
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

// MaxRate is the greatest amount of a charge, and of what is left of a quota.
const MaxRate = 1 << 40

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
