// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
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
