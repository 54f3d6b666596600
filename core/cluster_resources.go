// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/nodeset"
)

// ErrUnknownResource is of a job that names a further resource which no node was ever given.
var ErrUnknownResource = errors.New("there is no such resource")

// SetResources says what a node has in all of further resources, by name: memory, GPUs of one type,
// whatever a site counts, in units of its own. It has none of those left out, as a new node has
// none at all; 0 makes a name known, so that jobs may wait for nodes with more. The error is a
// [*NodeError]: one that is ErrUnknownNode, or of a name that is none, an amount below 0, above
// nodeset.MaxAmount, or less than jobs hold there, or of more than nodeset.MaxResources names.
func (c *Cluster) SetResources(name string, amounts map[string]int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.machine
	n, ok := m.index[name]
	if !ok {
		return unknownNode(name)
	}
	for _, resource := range slices.Sorted(maps.Keys(amounts)) {
		if f := amountFault(resource, amounts[resource]); f != nil {
			return &NodeError{Node: name, Fault: f}
		}
	}
	for r, x := range m.more {
		if amount := amounts[x.name]; x.name != format.GPUShare && amount < m.heldOf(c.running, r, n) {
			return nodeFault(name, "resources."+x.name, amount, "jobs hold more there", nil)
		}
	}
	if err := c.addResources(name, amounts); err != nil {
		return err
	}
	for r, x := range m.more {
		if x.name != format.GPUShare {
			m.more[r].total[n] = amounts[x.name]
		}
	}
	m.stale = true
	return nil
}

// SetTier says how early a node is to be used: jobs get nodes of lower tiers where they can. A new
// node's is 0. See [Snapshot]. The error is a [*NodeError] that is ErrUnknownNode.
func (c *Cluster) SetTier(name string, tier uint8) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.machine.index[name]
	if !ok {
		return unknownNode(name)
	}
	c.machine.tier[n] = tier
	return nil
}

// amountFault is what is wrong with what a node has of a resource, or nil.
func amountFault(resource string, amount int64) *bids.FieldError {
	if err := format.CheckResource(resource); err != nil {
		return &bids.FieldError{Field: "resources", Value: resource, Why: err.Error()}
	}
	if amount < 0 || amount > nodeset.MaxAmount {
		return &bids.FieldError{Field: "resources." + resource, Value: amount,
			Why: fmt.Sprintf("must be 0 to %d", int64(nodeset.MaxAmount))}
	}
	return nil
}

// further is a further resource: what each node has in all.
type further struct {
	name  string
	total []int64
}

// addResources makes the names of amounts known. Once there is no number left, those of resources
// that no node has and no job names are given anew: no cycle can start a job by an old one.
func (c *Cluster) addResources(node string, amounts map[string]int64) error {
	m := &c.machine
	var names []string
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if _, known := m.resource(name); !known {
			names = append(names, name)
		}
	}
	var unused []int
	if len(m.more)+len(names) > nodeset.MaxResources {
		unused = c.unusedResources(amounts)
	}
	if len(m.more)+len(names)-len(unused) > nodeset.MaxResources {
		return nodeFault(node, "resources", len(amounts), fmt.Sprintf("there would be more than %d in all", nodeset.MaxResources), nil)
	}
	for _, name := range names {
		m.stale = true
		x := further{name, make([]int64, len(m.names))}
		if len(unused) > 0 {
			m.more[unused[0]], unused = x, unused[1:]
		} else {
			m.more = append(m.more, x)
		}
	}
	return nil
}

// unusedResources are those that no node has, no job takes and amounts does not name.
func (c *Cluster) unusedResources(amounts map[string]int64) (unused []int) {
	taken := make(map[int]bool)
	note := func(uses nodeset.Uses) {
		for _, u := range uses {
			taken[u.Row] = true
		}
	}
	for _, job := range c.running {
		note(job.uses)
	}
	for _, job := range c.queue {
		for k := range 1 + len(job.job.Alternatives) {
			way, _ := job.job.Way(k)
			for part := range way.Parts() {
				note(way.Part(part).Uses)
			}
		}
	}
	for r, x := range c.machine.more {
		if _, named := amounts[x.name]; !named && !taken[r] && slices.Max(x.total) == 0 {
			unused = append(unused, r)
		}
	}
	return unused
}

// resource is the number of the resource of that name.
func (m *machine) resource(name string) (number int, ok bool) {
	number = slices.IndexFunc(m.more, func(x further) bool { return x.name == name })
	return number, number >= 0
}

// heldOf is what jobs hold of resource r on node n.
func (m *machine) heldOf(running []*clusterJob, r, n int) (sum int64) {
	for _, job := range running {
		for _, u := range job.uses {
			for _, s := range job.held {
				if u.Row == r && int(s.First) <= n && n <= int(s.Last) {
					sum += u.Of(s.Cores, s.GPUs)
				}
			}
		}
	}
	return sum
}

// lackMore reports the first node that has less of a further resource free than is asked of it.
func (m *machine) lackMore(segs []nodeset.Segment, uses nodeset.Uses) error {
	for _, u := range uses {
		if m.more[u.Row].name == format.GPUShare {
			if err := m.lackGPUShare(segs, u.PerNode); err != nil {
				return err
			}
			continue
		}
		free := m.table.FreeOf(u.Row)
		for _, s := range segs {
			for n := int(s.First); n <= int(s.Last); n++ {
				if need := u.Of(s.Cores, s.GPUs); free[n] < need {
					return m.tooLittle(n, "resources."+m.more[u.Row].name, free[n], need)
				}
			}
		}
	}
	return nil
}

// numbered is what a job takes, and its share of a GPU, by number. field is that of an error.
func (m *machine) numbered(id, field string, takes map[string]nodeset.Use, share int64) (nodeset.Uses, error) {
	numbers, unknown := format.Uses(takes).WithGPUShare(share).Numbered(m.resource)
	if unknown == "" {
		return numbers, nil
	}
	var names []string
	for _, x := range m.more {
		names = append(names, x.name)
	}
	return nil, jobFault(id, field, unknown, "there is no such resource"+input.Hint(unknown, names), ErrUnknownResource)
}

// takes are uses by name but for the share of a GPU, which is beside; nil if there are none.
func (m *machine) takes(uses nodeset.Uses) (takes map[string]nodeset.Use, share int64) {
	takes = format.Named(uses, func(r int) string { return m.more[r].name })
	share = takes[format.GPUShare].PerNode
	if delete(takes, format.GPUShare); len(takes) == 0 {
		return nil, share
	}
	return takes, share
}

// mostTaken is the most of a resource that a job takes.
var mostTaken = nodeset.Use{PerNode: nodeset.MaxAmount, PerCore: nodeset.MaxAmount, PerGPU: nodeset.MaxAmount}

// takesFault is what is wrong with what a request takes, or nil.
func takesFault(field string, r *bids.Request, takes map[string]nodeset.Use) *bids.FieldError {
	if r.Uses != nil {
		return &bids.FieldError{Field: field, Value: "numbers", Why: "resources of a Cluster have no numbers: name them"}
	}
	for _, name := range slices.Sorted(maps.Keys(takes)) {
		t := takes[name]
		if name == format.GPUShare {
			return &bids.FieldError{Field: field, Value: name, Why: "is no further resource: ask for a GPUShare"}
		}
		if f := useFault(field+"."+name, t, mostTaken); f != nil {
			return f
		}
		if t.PerCore > 0 && t.PerGPU > 0 && r.MaxGPUs > r.MinGPUs {
			return &bids.FieldError{Field: field + "." + name, Value: t.PerGPU,
				Why: "used by core and by GPU, and the number of GPUs is a range"}
		}
	}
	return nil
}
