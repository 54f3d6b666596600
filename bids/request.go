// SPDX-License-Identifier: BSD-3-Clause

// Package bids has the request of a job, and the classes of the bids that are made from it.
package bids

import (
	"cmp"
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// Limits of the numbers in a Request; they keep all sums in range.
const (
	MaxCores        = 1<<31 - 1 // cores of a job
	MaxCoresPerNode = 1<<16 - 1 // cores of a node
	MaxGPUsPerNode  = 1<<8 - 1  // GPUs of a node
)

// Request is what a job asks for. The fields that are set decide between the three job types of
// aucsched1, section 4:
//
//	type 1  Cores only
//	type 2  Cores and MinNodes..MaxNodes, GPUs on each node
//	type 3  MinNodes..MaxNodes and TasksPerNode, GPUs on each node
//
// A zero field means no restriction.
type Request struct {
	// Cores is the total number of cores (R^cpu, sbatch -n), met exactly. 0 means nodes x
	// TasksPerNode. If that is 0 as well, the job takes no core, and has to ask for GPUs (MinGPUs)
	// or a further resource (Uses) of each node.
	Cores int
	// MinNodes and MaxNodes are the range of nodes (R^node, sbatch -N min-max).
	// MinNodes 0 means 1; MaxNodes 0 means no limit.
	MinNodes, MaxNodes int
	// TasksPerNode is the number of cores on each node (R^cpn, --ntasks-per-node). If Cores is
	// given as well and is not a multiple, it is the most that a node may give, as in Slurm.
	TasksPerNode int
	// MinGPUs and MaxGPUs are the range of GPUs on each node (R^gpu and its range, aucsched2
	// section 3; --gres=gpu:min-max). All nodes of an allocation give the same number unless
	// MixedGPUs is set. MaxGPUs 0 means MinGPUs.
	MinGPUs, MaxGPUs int
	// MixedGPUs lets nodes of an allocation give different numbers of GPUs, each one
	// in the range.
	MixedGPUs bool
	// Contiguous asks for consecutive nodes (--contiguous).
	Contiguous bool
	// Eligible are the nodes that the job may use; nil means all. Do not modify it while the
	// request is in use.
	Eligible nodeset.Mask
	// Uses is what the job takes of the machine's further resources on each of its nodes: memory,
	// GPUs of one type, ... Do not modify it while the request is in use. A resource may be used
	// both by core and by GPU only if the number of GPUs is fixed.
	Uses nodeset.Uses
	// Charges are what the job counts against quotas, by ascending quota. Do not modify them while
	// the request is in use.
	Charges nodeset.Uses
	// Switches is the most leaf switches that the nodes may be below (--switches). Within is the
	// level of a switch that all nodes are below, 1 for a leaf. Segment is the number of nodes in
	// each segment, which is below one leaf (--segment of topology/block); the number of nodes must
	// be a multiple of it. Without a topology all three are ignored.
	Switches, Within, Segment int
	// Components are the further parts, at most 15, of a job such as a leader and its workers. The
	// request itself is the first part. Each part has its own cores, nodes, Eligible (nil: all
	// nodes), Uses and Charges, and no Components. All parts start together.
	Components []Request
	// Apart says that the part shares no node with other parts of the job.
	Apart bool
	// AllWithin is the level of a switch that the nodes of all parts are below, 1 for a leaf; 0:
	// anywhere. Only a request with Components has it.
	AllWithin int
}

// MaxRate is the greatest amount of a charge and of a quota.
const MaxRate = 1 << 40

// FieldError says which field of a request is out of range or contradicts another. Field is named
// as in a window file.
type FieldError struct {
	Field string
	Value any
	Why   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Field, cmp.Or(fmt.Sprint(e.Value), `""`), e.Why)
}
