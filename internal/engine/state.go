// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// snapshot turns inputs into core's terms. It keeps its memory, so that inputs of one
// size on one machine are turned without allocating.
type snapshot struct {
	core.Snapshot         // its queue has the jobs without a fault
	index         []int32 // of each of them in the input
	faulty        []bool  // by job of the input
	faults        faults
	totals        []nodeset.Capacity // of the machine that Nodes is of
	held          []nodeset.Capacity // by node: what running jobs hold
	segs          []nodeset.Segment
	words         []uint64
	masks         []nodeset.Mask
	jobs          []core.Job
	ids           []string
	others        []bids.Request // the jobs' alternatives
	otherAt       []int32        // by alternative of the input: where in others, or -1
	more          resources
	uses          nodeset.Uses // and charges, of which jobs keep parts
	switches      switches
	shares        shares
}

// resources is the part of a snapshot that counts further resources.
type resources struct {
	total []Amount // of the machine that Nodes is of, as in Input.Amounts
	held  []int64  // by resource and node: what running jobs hold
}

// shares is the part of a snapshot that counts shares of single GPUs. They are the last of the
// further resources.
type shares struct {
	number int         // of the resource; -1: there are none
	sizes  []uint32    // of the machine that Nodes is of
	bins   []uint8     // by node: how many GPUs are in shared use
	first  []int32     // by node, and one more: its first in Input.SharedGPUs
	held   []int64     // as Input.SharedGPUs: what running jobs hold
	set    []SharedGPU // what is in shared use in Nodes
	uses   []nodeset.Use
}

// switches are where nodes stood in the last cycle: as long as that stays the topology does.
type switches struct {
	list   []Switch
	leaves []uint32
}

// leaveOut has job j not take part.
func (s *snapshot) leaveOut(fault flaw, j int) {
	s.faults.add(fault, j)
	s.faulty[j] = true
}

// queue makes Pending of the jobs that take part.
func (s *snapshot) queue(jobs int) {
	s.Pending, s.index = s.Pending[:0], s.index[:0]
	for i := range jobs {
		if !s.faulty[i] {
			s.Pending, s.index = append(s.Pending, &s.jobs[i]), append(s.index, int32(i))
		}
	}
}

func whole(array string, value any, format string, args ...any) error {
	return &InputError{array, -1, "", value, fmt.Sprintf(format, args...)}
}
