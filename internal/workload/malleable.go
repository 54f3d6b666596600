// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// SingleCores reports whether each node has one core, so that cores asked for are nodes.
func SingleCores(nodes []nodeset.Capacity) bool {
	for _, c := range nodes {
		if c.Cores != 1 {
			return false
		}
	}
	return true
}

// Places is on how many like nodes a job runs: those that it asks for with the same number of cores
// on each, or its cores where each node of the machine has a single one. It is 0 for a job whose
// nodes are not alike, or that asks for more than nodes and cores, so that it stays rigid.
func Places(j *Job, single bool) int {
	r := &j.Request
	if len(j.Alternatives) > 0 || j.Prefer != nil || j.Input.File != 0 || j.Leaves > 0 || j.Work > 0 ||
		r.MinGPUs > 0 || r.MaxGPUs > 0 || r.Contiguous || len(r.Uses) > 0 || len(r.Charges) > 0 || len(r.Components) > 0 ||
		r.Switches > 0 || r.Within > 0 || r.Segment > 0 {
		return 0
	}
	n := max(r.MinNodes, 1)
	switch {
	case r.TasksPerNode > 0 && r.MaxNodes <= n && (r.MaxNodes > 0 || r.Cores == 0) && (r.Cores == 0 || r.Cores == n*r.TasksPerNode):
		return n
	case single && r.TasksPerNode == 0 && r.MinNodes <= 1 && r.MaxNodes == 0:
		return r.Cores
	}
	return 0
}

// OnNodes is the request for another number of the nodes that a malleable job asks for.
func (j *Job) OnNodes(n int) bids.Request {
	r := j.Request
	if r.TasksPerNode == 0 {
		r.Cores = n
		return r
	}
	if r.MinNodes = n; r.MaxNodes > 0 {
		r.MaxNodes = n
	}
	if r.Cores > 0 {
		r.Cores = n * r.TasksPerNode
	}
	return r
}

// Lasts is how long a job works on segs that would with the fewest GPUs of r for d, where serial
// thousandths of it are not shortened by more: Amdahl's law; with 0 of them aucsched2, equation 5.
// One whose nodes give different numbers of GPUs is taken to balance its work: its GPUs count in
// all.
func Lasts(d int64, r *bids.Request, segs []nodeset.Segment, serial int) int64 {
	k, low := int64(segs[0].GPUs), int64(r.MinGPUs)
	if r.MixedGPUs {
		k, low = int64(nodeset.GPUs(segs)), low*int64(nodeset.Nodes(segs))
	}
	if low == 0 || k <= low {
		return d
	}
	// d x (serial + (1000 - serial) x low / k) / 1000, rounded up
	hi, lo := bits.Mul64(uint64(d), uint64(int64(serial)*k+int64(1000-serial)*low))
	by := uint64(1000 * k)
	lo, carry := bits.Add64(lo, by-1, 0)
	q, _ := bits.Div64(hi+carry, lo, by)
	return int64(q)
}
