// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/residence"
	"github.com/aucsched/aucsched/nodeset"
)

// ABI is AUCSCHED_ABI: raised whenever the meaning of anything in the header changes.
const ABI = 16

// Limits of the input.
const (
	MaxNodes        = 1 << 20
	MaxJobs         = 1 << 20
	MaxAlternatives = core.MaxAlternatives // of a job
	MaxPriority     = 1 << 40
	MaxFile         = residence.MaxBytes // bytes
	MaxGPUsPerNode  = 15
	MaxResources    = nodeset.MaxResources
	MaxQuotas       = 1 << 20
	NoLimit         = 1<<32 - 1 // Job.TimeLimit of a job without one
	NoSwitch        = 1<<32 - 1 // stands for no index of a switch
	MaxClass        = core.MaxClass
	Root            = 1<<16 - 1 // a level of switches above all others
)

// Contiguous is the flag of a job whose nodes must be neighbours.
const Contiguous = 1

// Node is struct aucsched_node.
type Node struct {
	Cores, FreeCores uint16
	GPUs, FreeGPUs   uint8
	Up               uint8 // 0: takes no new job
	Tier             uint8 // nodes of lower tiers are used first
}

// Segment is struct aucsched_segment: so much on each of the nodes First..Last.
type Segment struct {
	First, Last uint32
	Cores       uint16
	GPUs        uint8
	Bin         uint8 // the GPU that has the job's share; 0: none
}

// Running is struct aucsched_running.
type Running struct {
	End                    int64
	FirstSegment, Segments uint32
	Price                  uint64 // for which it may be preempted; 0: it is not
	Share                  uint32 // of a GPU, on each of its nodes
	PreemptClass           uint8
	WholeLeaves            uint8 // 1: what is free below the leaves of its nodes is nobody's
	Reserved               [2]uint8
}

// Job is struct aucsched_job.
type Job struct {
	Priority     uint64
	Cores        uint32
	MinNodes     uint32
	MaxNodes     uint32
	CoresPerNode uint32
	TimeLimit    uint32
	MinGPUs      uint8
	MaxGPUs      uint8
	Flags        uint8
	Reserved     uint8
	Mask         int32
	Waited       uint32
	Switches     uint32 // leaf switches at most; 0: any number
	Within       uint16 // level of one switch above all nodes; 0: none
	Segment      uint16 // nodes that come together below a leaf; 0: any
	Preempts     uint64 // classes of running jobs that it may preempt
	Share        uint32 // of one GPU; 0: none
	Tier         uint32 // above all lower ones, whatever their priorities; 0: none
}

// Switch is struct aucsched_switch.
type Switch struct{ Parent, Reserved uint32 }

// Alternative is struct aucsched_alternative.
type Alternative struct {
	Job          uint32
	Cores        uint32
	MinNodes     uint32
	MaxNodes     uint32
	CoresPerNode uint32
	MinGPUs      uint8
	MaxGPUs      uint8
	Flags        uint8
	Reserved     uint8
	Mask         int32
	Share        uint32
}

// SharedGPU is struct aucsched_shared_gpu: a GPU in shared use, and how many shares are free of it.
type SharedGPU struct {
	Node, Free uint32
	Bin        uint8
	Reserved   [3]uint8
}

// Store is struct aucsched_store: what a node keeps of files.
type Store struct {
	ID    uint64 // of the node; 0: none, and what it holds is not saved
	Bytes uint64
}

// Read is struct aucsched_read: a job reads a file.
type Read struct {
	Job      uint32
	Reserved uint32
	File     uint64
	Bytes    uint64
}

// Amount is struct aucsched_amount: what a node has of a further resource.
type Amount struct{ Total, Free uint32 }

// Use is struct aucsched_use: what one element takes of a further resource.
type Use struct {
	Of                       uint32 // index of the element
	Resource                 uint16
	Reserved                 uint16
	PerNode, PerCore, PerGPU uint32
}

// Charge is struct aucsched_charge: what one element counts against a quota.
type Charge struct {
	Of                               uint32 // index of the element
	Quota                            uint32
	PerJob, PerNode, PerCore, PerGPU uint64
}

// Input is one cycle's. The slices stay the caller's.
type Input struct {
	Now  int64 // seconds, any origin
	Seed uint64
	// Deadline is when the answer is due, from the call of Cycle; 0 means the setting's.
	Deadline time.Duration
	Nodes    []Node
	Running  []Running
	Segments []Segment // of Running
	Jobs     []Job     // by falling priority; one above that of the job before it is taken as that
	// Masks are MaskCount masks of MaskWords words.
	Masks                []uint64
	MaskCount, MaskWords int
	// Alternatives are further requests of jobs, ascending by job.
	Alternatives []Alternative
	// Stores say what each node keeps of the files that jobs read; none: files are not looked at.
	Stores []Store
	// JobReads and RunningReads are the files that Jobs and Running read,
	// ascending by job, one a job.
	JobReads, RunningReads []Read
	// Resources is how many further resources there are, and Amounts what nodes have of them: that
	// of node n of resource r is Amounts[r*len(Nodes)+n].
	Resources int
	Amounts   []Amount
	// JobUses, AlternativeUses and RunningUses are what Jobs, Alternatives and Running take of
	// these, ascending by element and resource.
	JobUses, AlternativeUses, RunningUses []Use
	// Quotas are how much of each is left to jobs that start now.
	Quotas []uint64
	// JobCharges, AlternativeCharges and RunningCharges are what Jobs, Alternatives and Running
	// count against these, ascending by element and quota.
	JobCharges, AlternativeCharges, RunningCharges []Charge
	// Switches are where nodes stand, and Leaves, of each node, the index of its leaf. Both may be
	// empty.
	Switches []Switch
	Leaves   []uint32
	// ShareSizes say of each node how many shares each of its GPUs has, and SharedGPUs which of
	// these are in shared use, ascending by node and bin. Both may be empty.
	ShareSizes []uint32
	SharedGPUs []SharedGPU
}

// Why a job does not start.
const (
	Starts uint8 = iota
	WaitsFit
	WaitsLost
	WaitsReserved
	WaitsNever
	NotLookedAt
	TimedOut
	Faulty
	WaitsQuota
)

// Decision is struct aucsched_decision.
type Decision struct {
	Expected               int64
	FirstSegment, Segments uint32
	Why                    uint8
	BidClass               uint8
	GPUs                   uint8
	Alternative            uint8
	Holders                uint32 // nodes of a start that hold the job's file
	Quota                  uint32 // that has too little left, with WaitsQuota; else 0
	FirstVictim, Victims   uint32 // running jobs that have to end first, in Output.Victims
	Reserved               uint32
}

// Output is the outcome of a cycle. A cycle reuses its memory.
type Output struct {
	Decisions        []Decision // an element a job
	Segments         []Segment
	Victims          []uint32 // indices in Input.Running
	Objective, Bound float64
	Starts           int
	Preempted        int // running jobs, each counted once
	Window, Bids     int
	Elapsed          time.Duration
	Optimal, Late    bool
	// Files are how many files are known, on Copies nodes in all. FileChanges is another number
	// whenever these have changed.
	Files, Copies int
	FileChanges   uint64
	// Faults are how many elements of the input have a fault of their own: running jobs,
	// alternatives, reads, and jobs, of which LeftOut are Faulty. Fault is the first of
	// them, an [*InputError], or nil, and FirstFault the job of the queue that it is about, or -1.
	Faults, LeftOut, FirstFault int
	Fault                       error
	// TimedOut is how many decisions say that: with any, the next cycle is due though
	// nothing has changed.
	TimedOut int
}
