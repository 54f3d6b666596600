// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// SetGPUShares says that jobs may share the GPUs of a node, and how many shares each GPU has, in
// units of the caller's: per cent, GB of its memory. 0 is for one whose GPUs are given whole only,
// as a new node's are. All of a job's share ([JobSpec.GPUShare]) is on one GPU. A GPU is either
// given whole or shared, and is whole again when the last job with a share of it has ended. All
// GPUs of a node are alike: one with several types has to have 0, if jobs ask for types. Shares
// count as one further resource. While a node shares GPUs nobody is preempted. The error is a
// [*NodeError]: one that is ErrUnknownNode, or of a size out of 0 to nodeset.MaxAmount or below
// what jobs hold of one GPU, or of one resource too many.
func (c *Cluster) SetGPUShares(name string, size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.machine
	n, ok := m.index[name]
	if !ok {
		return unknownNode(name)
	}
	if size < 0 || size > nodeset.MaxAmount {
		return nodeFault(name, "gpu_shares", size, fmt.Sprintf("must be 0 to %d", int64(nodeset.MaxAmount)), nil)
	}
	for _, held := range m.sharedOn(c.running, n) {
		if size < held {
			return nodeFault(name, "gpu_shares", size, "jobs hold more of a GPU there", nil)
		}
	}
	if err := c.addResources(name, map[string]int64{format.GPUShare: size}); err != nil {
		return err
	}
	r, _ := m.resource(format.GPUShare)
	m.more[r].total[n], m.stale = size, true
	return nil
}

// askGPUShares has the ways of a job ask for their shares, or reports what is wrong with these.
func (s *JobSpec) askGPUShares() *bids.FieldError {
	if f := format.AskGPUShare(&s.Request, s.GPUShare); f != nil {
		return f
	}
	if s.GPUShare != 0 && len(s.Components) > 0 {
		return shareOfPart(format.GPUShare, s.GPUShare)
	}
	s.Alternatives = slices.Clone(s.Alternatives)
	for k := range s.Alternatives {
		w := &s.Alternatives[k]
		if f := format.AskGPUShare(&w.Request, w.GPUShare); f != nil {
			f.Field = fmt.Sprintf("alternatives[%d].%s", k, f.Field)
			return f
		}
	}
	for k := range s.Components {
		if share := s.Components[k].GPUShare; share != 0 {
			return shareOfPart(fmt.Sprintf("components[%d].%s", k, format.GPUShare), share)
		}
	}
	return nil
}

func shareOfPart(field string, share int64) *bids.FieldError {
	return &bids.FieldError{Field: field, Value: share, Why: "jobs of several components have whole GPUs only"}
}

// knowGPUShares makes shares a resource, if they are not, for a job that asks for one.
func (c *Cluster) knowGPUShares(id string, share int64) error {
	if share == 0 {
		return nil
	}
	if err := c.addResources("", map[string]int64{format.GPUShare: 0}); err != nil {
		return jobFault(id, format.GPUShare, share, fmt.Sprintf("there are %d other resources already", nodeset.MaxResources), nil)
	}
	return nil
}

// mostGPUShare is the largest share that any way to meet the job asks for.
func (s *JobSpec) mostGPUShare() int64 {
	most := s.GPUShare
	for _, w := range s.Alternatives {
		most = max(most, w.GPUShare)
	}
	return most
}

// checkAdoptedShare reports what is wrong with the share of a job that runs already.
func (c *Cluster) checkAdoptedShare(s *Start) error {
	switch {
	case s.GPUShare < 0 || s.GPUShare > nodeset.MaxAmount:
		return jobFault(s.Job, format.GPUShare, s.GPUShare, fmt.Sprintf("must be 0 to %d", int64(nodeset.MaxAmount)), nil)
	case s.GPUShare == 0 && s.SharedGPU != 0:
		return jobFault(s.Job, "shared_gpu", s.SharedGPU, "the job has no share of a GPU", nil)
	case len(s.Nodes) == 0:
		return c.knowGPUShares(s.Job, s.GPUShare)
	case s.GPUShare == 0:
		return nil
	case len(s.Nodes) > 1:
		return jobFault(s.Job, format.GPUShare, s.GPUShare, "a share of a GPU is on one node", nil)
	}
	n, ok := c.machine.index[s.Nodes[0].Node]
	if !ok {
		return unknownNode(s.Nodes[0].Node)
	}
	return c.machine.noSuchGPU(n, s.SharedGPU)
}

// noSuchGPU reports that no GPU of node n in shared use can have that number.
func (m *machine) noSuchGPU(n, gpu int) error {
	size := int64(0)
	if r, ok := m.resource(format.GPUShare); ok {
		size = m.more[r].total[n]
	}
	most := nodeset.BinsOf(int(m.total[n].GPUs))
	switch {
	case size == 0 || most == 0:
		return nodeFault(m.names[n], "gpu_shares", size, "it has no GPU that jobs may share", nil)
	case gpu < 1 || gpu > most:
		return nodeFault(m.names[n], "shared_gpu", gpu, fmt.Sprintf("must be 1 to %d", most), nil)
	}
	return nil
}

// lackGPUShare reports the first node on which the GPU that an allocation names has less than its
// share free.
func (m *machine) lackGPUShare(segs []nodeset.Segment, share int64) error {
	for _, s := range segs {
		n := int(s.First)
		if err := m.noSuchGPU(n, int(s.Bin)); err != nil {
			return err
		}
		free, inUse := m.table.BinFree(n, s.Bin)
		if r, _ := m.resource(format.GPUShare); !inUse && m.table.Free(n).GPUs > s.GPUs {
			free = m.more[r].total[n]
		}
		if free < share {
			return m.tooLittle(n, format.GPUShare, free, share)
		}
	}
	return nil
}

// sharedOn is what jobs hold of each GPU of node n that they share, by its number.
func (m *machine) sharedOn(running []*clusterJob, n int) map[int]int64 {
	r, _ := m.resource(format.GPUShare)
	held := make(map[int]int64)
	for _, job := range running {
		for _, u := range job.uses {
			for _, s := range job.held {
				if u.Row == r && int(s.First) == n {
					held[int(s.Bin)] += u.PerNode
				}
			}
		}
	}
	return held
}
