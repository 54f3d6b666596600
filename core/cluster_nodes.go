// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// SetNode adds a node behind all others, or changes one. capacity is what it has in all. A node
// that is not up, as one that is drained, starts no job; what jobs hold there stays held. Nodes lie
// in the order in which they were added, which contiguous jobs see. The error is a [*NodeError]: of
// a name that is no host's, of one node too many, or of a capacity that is less than what jobs hold
// there.
func (c *Cluster) SetNode(name string, capacity nodeset.Capacity, up bool) error {
	if _, err := hostlist.Compress([]string{name}); err != nil {
		return nodeFault(name, "name", name, err.Error(), nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.machine
	n, known := m.index[name]
	if !known {
		return m.add(name, capacity, up)
	}
	if capacity != m.total[n] {
		held, shared := m.heldOn(c.running, n), m.sharedOn(c.running, n)
		switch {
		case capacity.Cores < held.Cores:
			return nodeFault(name, "cores", capacity.Cores, "jobs hold more there", nil)
		case int(capacity.GPUs) < int(held.GPUs)+len(shared):
			return nodeFault(name, "gpus", capacity.GPUs, "jobs hold more there", nil)
		}
		for gpu := range shared {
			if most := nodeset.BinsOf(int(capacity.GPUs)); gpu > most {
				return nodeFault(name, "gpus", capacity.GPUs, fmt.Sprintf("jobs share a GPU of a number above %d", most), nil)
			}
		}
		m.total[n], m.stale = capacity, true
	}
	if m.up[n] = up; !m.stale {
		m.table.SetUp(n, up)
	}
	return nil
}

// RemoveNode takes a node away and returns the ids of the jobs that hold something there, in the
// order of their starts. These go on to run: they keep what they hold elsewhere until Ended. The
// nodes at both sides of it are neighbours from now on; drain a node with SetNode if it is to keep
// its place. The error is a [*NodeError] that is ErrUnknownNode.
func (c *Cluster) RemoveNode(name string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.machine.index[name]
	if !ok {
		return nil, unknownNode(name)
	}
	c.machine.remove(n)
	var there []string
	for _, job := range c.running {
		held, had := without(job.held, int32(n))
		if id := job.ofJob().id; had && !slices.Contains(there, id) {
			there = append(there, id)
		}
		job.held = held
	}
	return there, nil
}

// without is an allocation once node n is gone, in new memory, and whether it had a share of it.
func without(held []nodeset.Segment, n int32) (left []nodeset.Segment, had bool) {
	for _, s := range held {
		had = had || s.First <= n && n <= s.Last
		if s.First > n {
			s.First--
		}
		if s.Last >= n {
			s.Last--
		}
		if s.First <= s.Last {
			left = nodeset.Append(left, s)
		}
	}
	return left, had
}

// machine are the nodes of a cluster.
type machine struct {
	names     []string // only appended to, or replaced: cycles read it
	total     []nodeset.Capacity
	up        []bool
	index     map[string]int // name -> node
	numbering uint64         // how often nodes were numbered anew
	tier      []uint8        // see Snapshot.Tiers
	more      []further      // by number
	table     *nodeset.Table
	stale     bool                    // table is not what the rest says
	unnamed   bool                    // masks are not what jobs name
	masks     map[string]nodeset.Mask // by the names in it
}

func newMachine() machine {
	return machine{index: make(map[string]int), masks: make(map[string]nodeset.Mask)}
}

func (m *machine) add(name string, capacity nodeset.Capacity, up bool) error {
	if len(m.names) == nodeset.MaxNodes {
		return nodeFault(name, "name", name, "there are nodeset.MaxNodes already", nil)
	}
	m.index[name] = len(m.names)
	m.names, m.total, m.up = append(m.names, name), append(m.total, capacity), append(m.up, up)
	m.tier = append(m.tier, 0)
	for r := range m.more {
		m.more[r].total = append(m.more[r].total, 0)
	}
	m.stale, m.unnamed = true, true
	return nil
}

func (m *machine) remove(n int) {
	delete(m.index, m.names[n])
	m.names = slices.Delete(slices.Clone(m.names), n, n+1)
	m.total, m.up = slices.Delete(m.total, n, n+1), slices.Delete(m.up, n, n+1)
	m.tier = slices.Delete(m.tier, n, n+1)
	for r := range m.more {
		m.more[r].total = slices.Delete(m.more[r].total, n, n+1)
	}
	for i, name := range m.names[n:] {
		m.index[name] = n + i
	}
	m.numbering++
	m.stale, m.unnamed = true, true
}

// refresh brings the table up to date with nodes and running jobs. It needs a node.
func (m *machine) refresh(running []*clusterJob) error {
	if !m.stale {
		return nil
	}
	t, err := nodeset.New(m.total)
	if err != nil {
		return err
	}
	for _, x := range m.more {
		add := t.AddResource
		if x.name == format.GPUShare && slices.Max(x.total) > 0 {
			add = t.AddShares
		}
		if _, err := add(x.name, x.total); err != nil {
			return err
		}
	}
	for _, job := range running {
		if err := t.AllocateWith(job.held, job.uses); err != nil {
			return err
		}
	}
	for n, up := range m.up {
		if !up {
			t.SetUp(n, false)
		}
	}
	m.table, m.stale = t, false
	return nil
}

// release gives back what an ended job held.
func (m *machine) release(job *clusterJob) {
	if !m.stale {
		must(m.table.ReleaseWith(job.held, job.uses))
	}
}

// tiers are those of the nodes, in memory of w; nil if all are the same.
func (m *machine) tiers(w *scratch) []uint8 {
	if len(m.tier) == 0 || slices.Min(m.tier) == slices.Max(m.tier) {
		return nil
	}
	w.tiers = append(w.tiers[:0], m.tier...)
	return w.tiers
}

// heldOn is what jobs hold of node n.
func (m *machine) heldOn(running []*clusterJob, n int) (c nodeset.Capacity) {
	for _, job := range running {
		for _, s := range job.held {
			if int(s.First) <= n && n <= int(s.Last) {
				c.Cores += s.Cores
				c.GPUs += s.GPUs
			}
		}
	}
	return c
}

// knows reports the first node that a new job names and that is not there.
func (m *machine) knows(c *clusterJob) error {
	for _, names := range c.on {
		if err := m.allKnown(c.id, "eligible", names); err != nil {
			return err
		}
	}
	return m.allKnown(c.id, "prefer", c.prefer)
}

func (m *machine) allKnown(id, field string, names []string) error {
	for _, name := range names {
		if _, ok := m.index[name]; !ok {
			return jobFault(id, field, name, "there is no such node", ErrUnknownNode)
		}
	}
	return nil
}
