// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// sharedGPU is a GPU of a node in shared use, by its number.
type sharedGPU struct {
	node   int
	number uint8
}

// gpuNumber checks the number of a GPU in shared use and what of it is free.
func (p *parser) gpuNumber(what string, m member) error {
	if n, err := strconv.ParseUint(m.key, 10, 8); err != nil || n == 0 || m.key[0] == '0' {
		return p.fail("%s: %.40q is not the number of a GPU", what, m.key)
	}
	return p.amount(nodeset.MaxAmount)(what, m)
}

// sharedGPUs checks what nodes say of their shares of GPUs, and returns what is free of the GPUs in
// shared use. It has free_gpus be what these leave if the file does not say.
func (p *parser) sharedGPUs(what string, n *format.Node, freeGPUs *int) (free map[uint8]int64, err error) {
	if n.GPUShares < 0 || n.GPUShares > nodeset.MaxAmount {
		return nil, p.fail("%s: gpu_shares: %d is not in 0-%d", what, n.GPUShares, int64(nodeset.MaxAmount))
	}
	if n.GPUShares > 0 {
		p.resources[format.GPUShare] = true
	}
	if len(n.FreeGPUShares) == 0 {
		return nil, nil
	}
	free = make(map[uint8]int64, len(n.FreeGPUShares))
	most := nodeset.BinsOf(n.GPUs)
	for _, key := range slices.Sorted(maps.Keys(n.FreeGPUShares)) {
		left := n.FreeGPUShares[key]
		number, _ := strconv.Atoi(key)
		switch {
		case n.GPUShares == 0:
			return nil, p.fail("%s: free_gpu_shares: %s: its GPUs have no shares: give gpu_shares", what, key)
		case number > most:
			return nil, p.fail("%s: free_gpu_shares: %s: GPUs in shared use have numbers in 1-%d there", what, key, most)
		case left >= n.GPUShares:
			return nil, p.fail("%s: free_gpu_shares: %s: %d is not in 0-%d: one that is all free is not in shared use",
				what, key, left, n.GPUShares-1)
		}
		free[uint8(number)] = left
	}
	if n.FreeGPUs == nil {
		*freeGPUs -= len(free)
	}
	if *freeGPUs < 0 || *freeGPUs+len(free) > n.GPUs {
		return nil, p.fail("%s: free_gpu_shares: %d GPUs are in shared use and %d free, it has %d",
			what, len(free), max(*freeGPUs, 0), n.GPUs)
	}
	return free, nil
}

// holdShare counts the share of a GPU that a running job has of its node, n. The first one on a GPU
// of which the file does not say what is free takes that from the GPUs that are free.
func (p *parser) holdShare(what string, j *format.Running, nodes []int) error {
	if j.GPUShare == 0 && j.SharedGPU == 0 {
		return nil
	}
	if j.GPUShare < 1 || j.GPUShare > nodeset.MaxAmount {
		return p.fail("%s: gpu_share: %d is not in 1-%d", what, j.GPUShare, int64(nodeset.MaxAmount))
	}
	if len(nodes) != 1 {
		return p.fail("%s: gpu_share: a share of a GPU is on one node, not on %d", what, len(nodes))
	}
	n := nodes[0]
	lot := p.lotOf(n)
	most := nodeset.BinsOf(int(p.total[n].GPUs))
	switch {
	case lot.shares == 0 || most == 0:
		return p.fail("%s: gpu_share: node %s has no GPU that jobs may share", what, p.names[n])
	case j.SharedGPU < 1 || j.SharedGPU > most:
		return p.fail("%s: shared_gpu: %d is not in 1-%d, the numbers of GPUs in shared use of node %s",
			what, j.SharedGPU, most, p.names[n])
	}
	at := sharedGPU{n, uint8(j.SharedGPU)}
	free, said := lot.freeShares[at.number]
	held, known := p.heldShares[at]
	switch {
	case said && free+held+j.GPUShare > lot.shares:
		return p.fail("%s: gpu_share: node %s, GPU %d: what is free and what runs add up to %d, it has %d",
			what, p.names[n], at.number, free+held+j.GPUShare, lot.shares)
	case held+j.GPUShare > lot.shares:
		return p.fail("%s: gpu_share: node %s, GPU %d has %d left for it, it takes %d",
			what, p.names[n], at.number, lot.shares-held, j.GPUShare)
	}
	p.heldShares[at] = held + j.GPUShare
	if said || known {
		return nil
	}
	if !p.freeSet[n] {
		if p.free[n].GPUs == 0 {
			return p.fail("%s: shared_gpu: node %s has no GPU left to be shared as GPU %d", what, p.names[n], at.number)
		}
		p.free[n].GPUs--
	}
	return p.checkHeld(what, []nodeset.Segment{{First: int32(n), Last: int32(n), GPUs: 1}})
}

// addShares adds shares of GPUs to the machine, with what is free of each GPU in shared use.
func (p *parser) addShares(t *nodeset.Table, size []int64) error {
	if slices.Max(size) == 0 { // jobs ask for what no node has
		_, err := t.AddResource(format.GPUShare, size)
		return err
	}
	if _, err := t.AddShares(format.GPUShare, size); err != nil {
		return err
	}
	for n := range size {
		lot := p.lotOf(n)
		for i := range t.Bins(n) {
			at := sharedGPU{n, uint8(i + 1)}
			free, said := lot.freeShares[at.number]
			held, known := p.heldShares[at]
			if !said && !known {
				continue
			}
			if !said {
				free = size[n] - held
			}
			c := t.Free(n)
			c.GPUs++ // SetBin takes it
			if err := t.SetFree(n, c); err != nil {
				return err
			}
			if err := t.SetBin(n, at.number, free); err != nil {
				return err
			}
		}
	}
	return nil
}
