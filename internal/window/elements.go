// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

func (p *parser) node(i int, raw json.RawMessage) error {
	var n format.Node
	what := fmt.Sprintf("nodes[%d]", i)
	if err := p.element(what, raw, &n); err != nil {
		return err
	}
	if n.Name == "" {
		return p.fail("%s: name: is missing", what)
	}
	what += fmt.Sprintf(" (%.60s)", n.Name)
	names, err := p.expand(n.Name)
	if err != nil {
		return p.fail("%s: name: %v", what, err)
	}
	if len(p.names)+len(names) > nodeset.MaxNodes {
		return p.fail("%s: name: more than %d nodes in all", what, nodeset.MaxNodes)
	}
	up := true
	switch n.State {
	case "", format.Up:
	case format.Drained, format.Down:
		up = false
	default:
		return p.fail("%s: state: %q is not up, drained or down", what, n.State)
	}
	freeCores, freeGPUs := n.Cores, n.GPUs
	if n.FreeCores != nil {
		freeCores = *n.FreeCores
	}
	if n.FreeGPUs != nil {
		freeGPUs = *n.FreeGPUs
	}
	for _, f := range []struct {
		field  string
		v, max int
	}{
		{"cores", n.Cores, bids.MaxCoresPerNode}, {"gpus", n.GPUs, bids.MaxGPUsPerNode},
		{"free_cores", freeCores, n.Cores}, {"free_gpus", freeGPUs, n.GPUs},
	} {
		if f.v < 0 || f.v > f.max {
			return p.fail("%s: %s: %d is not in 0-%d", what, f.field, f.v, f.max)
		}
	}
	shares, err := p.sharedGPUs(what, &n, &freeGPUs)
	if err != nil {
		return err
	}
	if n.Weight < 0 || n.Weight > math.MaxUint32 {
		return p.fail("%s: weight: %d is not in 0-%d", what, n.Weight, uint32(math.MaxUint32))
	}
	for _, name := range names {
		if _, twice := p.index[name]; twice {
			return p.fail("%s: name: node %s is there twice", what, name)
		}
		p.index[name] = len(p.names)
		p.names = append(p.names, name)
		p.total = append(p.total, nodeset.Capacity{Cores: uint16(n.Cores), GPUs: uint8(n.GPUs)})
		p.free = append(p.free, nodeset.Capacity{Cores: uint16(freeCores), GPUs: uint8(freeGPUs)})
		p.freeSet = append(p.freeSet, n.FreeCores != nil || n.FreeGPUs != nil)
		p.up = append(p.up, up)
		p.weight = append(p.weight, n.Weight)
	}
	return p.addLot(what, &n, shares)
}

// expand is hostlist.Expand for at most as many names as a machine may have nodes.
func (p *parser) expand(expr string) ([]string, error) {
	n, err := hostlist.Count(expr)
	if err != nil {
		return nil, err
	}
	if n > nodeset.MaxNodes {
		return nil, fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	}
	return hostlist.Expand(expr)
}

func (p *parser) job(i int, raw json.RawMessage) error {
	p.reading = format.Job{}
	j := &p.reading
	at := p.at
	what := fmt.Sprintf("jobs[%d]", i)
	if err := p.element(what, raw, j); err != nil {
		return err
	}
	if j.ID == "" {
		return p.fail("%s: id: is missing", what)
	}
	what += fmt.Sprintf(" (%.60s)", j.ID)
	if p.jobs[j.ID] {
		return p.fail("%s: id: there are two jobs of this id", what)
	}
	p.jobs[j.ID] = true
	r, err := p.request(what, what+": ", &j.Request, raw, at)
	if err != nil {
		return err
	}
	if j.Priority < 1 || j.Priority > core.MaxPriority {
		return p.fail("%s: priority: %d is not in 1-%d", what, j.Priority, int64(core.MaxPriority))
	}
	limit := int64(core.NoTimeLimit)
	if j.TimeLimit != nil {
		limit = *j.TimeLimit
	}
	if limit < 1 || limit > core.NoTimeLimit {
		return p.fail("%s: time_limit_s: %d is not in 1-%d", what, limit, int64(core.NoTimeLimit))
	}
	if j.Waited < 0 || j.Waited > core.NoTimeLimit {
		return p.fail("%s: waited_s: %d is not in 0-%d", what, j.Waited, int64(core.NoTimeLimit))
	}
	// the window's time is 0
	job := &core.Job{ID: j.ID, Request: r, Priority: j.Priority, TimeLimit: limit, Since: -j.Waited}
	for _, class := range j.Preempts {
		if class < 0 || class > core.MaxClass {
			return p.fail("%s: preempts: %d is not in 0-%d", what, class, core.MaxClass)
		}
		job.Preempts |= 1 << class
	}
	p.namedNodes(what, j, job)
	p.deferUses(what, &j.Request, func() *bids.Request { return &job.Request })
	p.deferCharges(what, j.Charges, func() *bids.Request { return &job.Request })
	if len(j.Alternatives) > 0 {
		// the text is a copy of that part of raw
		p.at = at + int64(bytes.Index(raw, j.Alternatives))
		if job.Alternatives, err = p.requests(what, "alternatives", j.Alternatives, core.MaxAlternatives); err != nil {
			return err
		}
	}
	p.queue = append(p.queue, job)
	return nil
}

func (p *parser) runningJob(i int, raw json.RawMessage) error {
	j := format.Running{End: core.NoTimeLimit}
	what := fmt.Sprintf("running[%d]", i)
	if err := p.element(what, raw, &j); err != nil {
		return err
	}
	what += fmt.Sprintf(" (%.60s)", j.ID)
	if p.jobs[j.ID] || j.ID == "" {
		return p.fail("%s: id: is missing, or that of another job", what)
	}
	p.jobs[j.ID] = true
	if j.End < 0 || j.End > core.NoTimeLimit {
		return p.fail("%s: end_s: %d is not in 0-%d", what, j.End, int64(core.NoTimeLimit))
	}
	if j.Price < 0 || j.Price > core.MaxPriority {
		return p.fail("%s: price: %d is not in 0-%d", what, j.Price, int64(core.MaxPriority))
	}
	if j.Class < 0 || j.Class > core.MaxClass {
		return p.fail("%s: class: %d is not in 0-%d", what, j.Class, core.MaxClass)
	}
	nodes, err := p.find(j.Nodes)
	if err != nil {
		return p.fail("%s: nodes: %v", what, err)
	}
	if len(nodes) == 0 {
		return p.fail("%s: nodes: are missing", what)
	}
	if j.Cores == nil {
		return p.fail("%s: cores_per_node: is missing; 0 if it holds none", what)
	}
	if !j.Cores.Covers(len(nodes)) || !j.GPUs.Covers(len(nodes)) {
		return p.fail("%s: cores_per_node and gpus_per_node are a number, or one for each of %d nodes", what, len(nodes))
	}
	segs := make([]nodeset.Segment, 0, len(nodes))
	for i, n := range nodes {
		if j.Cores.At(i) == 0 && j.GPUs.At(i) == 0 && len(j.Uses) == 0 && j.GPUShare == 0 {
			return p.fail("%s: it holds nothing of node %s", what, p.names[n])
		}
		s, err := p.hold(what, n, j.Cores.At(i), j.GPUs.At(i))
		if err != nil {
			return err
		}
		segs = append(segs, s)
	}
	if err := p.holdShare(what, &j, nodes); err != nil {
		return err
	}
	segs[0].Bin = uint8(j.SharedGPU)
	uses, err := p.numbered(what, j.Uses.WithGPUShare(j.GPUShare))
	if err != nil {
		return err
	}
	charges, err := p.charges(what, j.Charges)
	if err != nil {
		return err
	}
	p.running = append(p.running, core.Running{ID: j.ID, End: j.End, Segs: inOrder(segs), Uses: uses, Charges: charges,
		Price: j.Price, Class: j.Class})
	if err := p.checkHeld(what, segs); err != nil {
		return err
	}
	return p.holdMore(what, uses, segs)
}

// hold takes what a running job has of node n off it, unless the file says what is free there.
func (p *parser) hold(what string, n, cores, gpus int) (nodeset.Segment, error) {
	if cores < 0 || cores > bids.MaxCoresPerNode || gpus < 0 || gpus > bids.MaxGPUsPerNode {
		return nodeset.Segment{}, p.fail("%s: %d cores_per_node and %d gpus_per_node are out of range", what, cores, gpus)
	}
	if free := &p.free[n]; !p.freeSet[n] {
		if int(free.Cores) < cores || int(free.GPUs) < gpus {
			return nodeset.Segment{}, p.fail("%s: node %s has %d cores and %d GPUs left for it",
				what, p.names[n], free.Cores, free.GPUs)
		}
		free.Cores -= uint16(cores)
		free.GPUs -= uint8(gpus)
	}
	return nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(cores), GPUs: uint8(gpus)}, nil
}

// inOrder is an allocation of single nodes in the machine's order, alike neighbours as one segment.
func inOrder(single []nodeset.Segment) (segs []nodeset.Segment) {
	slices.SortFunc(single, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	for _, s := range single {
		segs = nodeset.Append(segs, s)
	}
	return segs
}

// checkHeld makes sure that what running jobs hold is indeed not free, counting all
// of them, so that it can be given back when they end.
func (p *parser) checkHeld(what string, segs []nodeset.Segment) error {
	if p.held == nil {
		p.held = make([]struct{ cores, gpus int }, len(p.names))
	}
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			h := &p.held[n]
			h.cores += int(s.Cores)
			h.gpus += int(s.GPUs)
			cores, gpus := int(p.free[n].Cores)+h.cores, int(p.free[n].GPUs)+h.gpus+len(p.lotOf(int(n)).freeShares)
			if cores > int(p.total[n].Cores) || gpus > int(p.total[n].GPUs) {
				return p.fail("%s: node %s: what is free and what runs add up to %d cores and %d GPUs, it has %d and %d",
					what, p.names[n], cores, gpus, p.total[n].Cores, p.total[n].GPUs)
			}
		}
	}
	return nil
}
