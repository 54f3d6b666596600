// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// SetNode adds a node after all others, or changes the node of that name. Contiguous jobs see nodes
// in the order in which they were added. It returns an [*Error] if the name, the Leaf, the name of
// a resource or an amount (0 to nodeset.MaxAmount) is invalid, or if jobs hold more there. So it
// does for more than nodeset.MaxNodes nodes or nodeset.MaxResources resources.
func (c *Cluster) SetNode(n Node) error {
	return c.change(Event{Kind: "node", Node: n.Name}, func() error {
		if _, err := hostlist.Compress([]string{n.Name}); err != nil {
			return nodeFault(n.Name, "name", n.Name, err.Error(), nil)
		}
		return c.setNode(&n)
	})
}

// setNode is SetNode for a node with the name of a host.
func (c *Cluster) setNode(n *Node) error {
	m := &c.machine
	if f := m.nodeFault(n); f != nil {
		return &Error{Of: "node", Name: n.Name, Job: -1, Fault: f}
	}
	i, known := m.index[n.Name]
	switch {
	case known:
		if err := c.holdsLess(i, n); err != nil {
			return err
		}
	case len(m.names) == nodeset.MaxNodes:
		return nodeFault(n.Name, "name", n.Name, "there are nodeset.MaxNodes already", nil)
	}
	amounts := n.Resources
	if n.GPUShares > 0 {
		amounts = maps.Clone(amounts)
		if amounts == nil {
			amounts = make(map[string]int64)
		}
		amounts[format.GPUShare] = n.GPUShares
	}
	if err := c.addResources(amounts); err != nil {
		return nodeFault(n.Name, "resources", len(amounts), err.Error(), nil)
	}
	if !known {
		i = m.add(n.Name)
	}
	if n.Capacity != m.total[i] || !known {
		m.total[i], m.stale = n.Capacity, true
	}
	for r := range m.more {
		if x, amount := &m.more[r], n.amount(m.more[r].name); x.total[i] != amount {
			x.total[i], m.stale = amount, true
		}
	}
	if n.Leaf != m.leaf[i] {
		m.leaf[i], m.tree = n.Leaf, nil
	}
	m.tier[i] = n.Tier
	if m.up[i] = !n.Down; !m.stale {
		m.table.SetUp(i, !n.Down)
	}
	return nil
}

// nodeFault is what is wrong with a node by itself, or nil.
func (m *machine) nodeFault(n *Node) *bids.FieldError {
	if f := outOf("gpu_shares", n.GPUShares, nodeset.MaxAmount); f != nil {
		return f
	}
	if n.Leaf != "" && !slices.ContainsFunc(m.switches, func(s nodeset.Switch) bool { return s.Name == n.Leaf }) {
		return &bids.FieldError{Field: "leaf", Value: n.Leaf, Why: "there is no such switch"}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Resources)) {
		if err := format.CheckResource(name); err != nil {
			return &bids.FieldError{Field: "resources", Value: name, Why: err.Error()}
		}
		if f := outOf("resources."+name, n.Resources[name], nodeset.MaxAmount); f != nil {
			return f
		}
	}
	return nil
}

// holdsLess reports that jobs hold more of node i than it would have.
func (c *Cluster) holdsLess(i int, n *Node) error {
	m := &c.machine
	less := n.Cores < m.total[i].Cores || n.GPUs < m.total[i].GPUs
	for r := range m.more {
		less = less || n.amount(m.more[r].name) < m.more[r].total[i]
	}
	if !less {
		return nil
	}
	if err := m.refresh(c.running); err != nil {
		return err
	}
	t := m.table
	free, most := t.Free(i), nodeset.BinsOf(int(n.GPUs))
	fault := func(field string, value int64, why string) error { return nodeFault(n.Name, field, value, why, nil) }
	switch {
	case n.Cores < m.total[i].Cores-free.Cores:
		return fault("cores", int64(n.Cores), holdMore)
	case n.GPUs < m.total[i].GPUs-free.GPUs:
		return fault("gpus", int64(n.GPUs), holdMore)
	}
	for r, x := range m.more {
		if x.name != format.GPUShare && n.amount(x.name) < x.total[i]-t.FreeOf(r)[i] {
			return fault("resources."+x.name, n.amount(x.name), holdMore)
		}
	}
	shares, _ := m.resource(format.GPUShare)
	for b, left := range t.BinsLeft(i) {
		switch {
		case left < 0: // not in use
		case b >= most:
			return fault("gpus", int64(n.GPUs), fmt.Sprintf("jobs share a GPU of a number above %d", most))
		case n.GPUShares < m.more[shares].total[i]-int64(left):
			return fault("gpu_shares", n.GPUShares, "jobs hold more of a GPU there")
		}
	}
	return nil
}

const holdMore = "jobs hold more there"

// amount is what a node has of a further resource.
func (n *Node) amount(name string) int64 {
	switch name {
	case format.GPUShare:
		return n.GPUShares
	case format.Exclusive:
		return nodeset.MaxAmount
	}
	return n.Resources[name]
}

// SetTopology sets the switches: trees of any depth, with distinct names. A node is below its Leaf,
// a switch with no other below it. Jobs get nodes below as few switches as possible, or as they
// demand. On an error, which names the first fault, the switches are not changed.
func (c *Cluster) SetTopology(switches []nodeset.Switch) error {
	return c.change(Event{Kind: "topology"}, func() error { return c.machine.setSwitches(slices.Clone(switches)) })
}

func (m *machine) setSwitches(switches []nodeset.Switch) error {
	index := make(map[string]bool, len(switches))
	for _, s := range switches {
		if s.Name == "" || index[s.Name] {
			return faultOf("switch", s.Name, "name", s.Name, "must be there, and unlike all others", nil)
		}
		index[s.Name] = true
	}
	for n, leaf := range m.leaf {
		if leaf != "" && !index[leaf] {
			return nodeFault(m.names[n], "leaf", leaf, "there would be no such switch", nil)
		}
	}
	was := m.switches
	m.switches, m.tree = switches, nil
	tree, err := m.topology()
	if err != nil {
		m.switches, m.tree = was, nil
		return err
	}
	m.tree = tree
	return nil
}

// topology is where the nodes are now, nil without switches.
func (m *machine) topology() (*nodeset.Topology, error) {
	if len(m.switches) == 0 || m.tree != nil {
		return m.tree, nil
	}
	index := make(map[string]int32, len(m.switches))
	for i, s := range m.switches {
		index[s.Name] = int32(i)
	}
	leaf := make([]int32, len(m.names))
	for n := range leaf {
		leaf[n] = -1
		if i, ok := index[m.leaf[n]]; ok {
			leaf[n] = i
		}
	}
	tree, err := nodeset.NewTopology(leaf, m.switches)
	m.tree = tree
	return tree, err
}

// RemoveNode takes a node away and returns the ids of the jobs that hold something there, in the
// order of their starts. These go on running, and keep what they hold elsewhere until Ended. The
// nodes on both sides become neighbours; to keep its place, set the node Down instead. It returns
// an [*Error] if the node is unknown.
func (c *Cluster) RemoveNode(name string) (there []string, err error) {
	return there, c.change(Event{Kind: "remove", Node: name}, func() error {
		n, ok := c.machine.index[name]
		if !ok {
			return nodeFault(name, "name", name, "there is no such node", ErrUnknown)
		}
		c.machine.remove(n)
		for _, job := range c.running {
			held, had := without(job.held, int32(n))
			if id := job.ofJob().id; had && id != "" && !slices.Contains(there, id) {
				there = append(there, id)
			}
			job.held = held
		}
		return nil
	})
}

// Nodes are the nodes, in their order.
func (c *Cluster) Nodes() []Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make([]Node, len(c.machine.names))
	for n := range nodes {
		nodes[n] = c.machine.node(n)
	}
	return nodes
}

// node is node n, in memory of its own.
func (m *machine) node(n int) Node {
	x := Node{Name: m.names[n], Capacity: m.total[n], Down: !m.up[n], Tier: m.tier[n], Leaf: m.leaf[n]}
	for _, r := range m.more {
		switch total := r.total[n]; {
		case total == 0 || r.name == format.Exclusive:
		case r.name == format.GPUShare:
			x.GPUShares = total
		default:
			if x.Resources == nil {
				x.Resources = make(map[string]int64)
			}
			x.Resources[r.name] = total
		}
	}
	return x
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

// add adds a node that has nothing, and returns its number.
func (m *machine) add(name string) int {
	n := len(m.names)
	m.index[name] = n
	m.names, m.total, m.up = append(m.names, name), append(m.total, nodeset.Capacity{}), append(m.up, true)
	m.tier, m.leaf = append(m.tier, 0), append(m.leaf, "")
	for r := range m.more {
		m.more[r].total = append(m.more[r].total, 0)
	}
	m.stale, m.unnamed, m.tree = true, true, nil
	return n
}

func (m *machine) remove(n int) {
	delete(m.index, m.names[n])
	m.names = slices.Delete(slices.Clone(m.names), n, n+1)
	m.total, m.up = slices.Delete(m.total, n, n+1), slices.Delete(m.up, n, n+1)
	m.tier, m.leaf = slices.Delete(m.tier, n, n+1), slices.Delete(m.leaf, n, n+1)
	for r := range m.more {
		m.more[r].total = slices.Delete(m.more[r].total, n, n+1)
	}
	for i, name := range m.names[n:] {
		m.index[name] = n + i
	}
	m.numbering++
	m.stale, m.unnamed, m.tree = true, true, nil
}

// addResources makes the names of amounts known. Once there is no number left, those of resources
// that no node has and no job names are given again: no cycle can start a job by an old one.
func (c *Cluster) addResources(amounts map[string]int64) error {
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
		return fmt.Errorf("there would be more than %d in all", nodeset.MaxResources)
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

// knowGPUShares makes shares a resource, if they are not, for a job that asks for one.
func (c *Cluster) knowGPUShares() error {
	return c.addResources(map[string]int64{format.GPUShare: 0})
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
		_ = job.spec.eachWay(job.job, func(_ string, _ int, _ *Way, r *bids.Request) error {
			note(r.Uses)
			return nil
		})
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
		if err := t.Allocate(job.held, job.uses...); err != nil {
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
		must(m.table.Release(job.held, job.uses...))
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

// shares puts an allocation into names.
func shares(names []string, segs []nodeset.Segment) []Share {
	out := make([]Share, 0, nodeset.Nodes(segs))
	for _, s := range segs {
		for _, name := range names[s.First : s.Last+1] {
			out = append(out, Share{name, int(s.Cores), int(s.GPUs)})
		}
	}
	return out
}

// renumbered is an allocation of a cycle on the nodes of now, in new memory. It fails if a node has
// gone.
func (m *machine) renumbered(names []string, segs []nodeset.Segment) ([]nodeset.Segment, error) {
	var single []nodeset.Segment
	for _, s := range segs {
		for _, name := range names[s.First : s.Last+1] {
			n, ok := m.index[name]
			if !ok {
				return nil, nodeFault(name, "name", name, "there is no such node", ErrUnknown)
			}
			s.First, s.Last = int32(n), int32(n)
			single = append(single, s)
		}
	}
	return joined(single), nil
}

// joined is an allocation of single nodes in order, alike neighbours as one segment.
func joined(single []nodeset.Segment) (segs []nodeset.Segment) {
	slices.SortFunc(single, func(a, b nodeset.Segment) int { return cmp.Compare(a.First, b.First) })
	for _, s := range single {
		segs = nodeset.Append(segs, s)
	}
	return segs
}

// lack reports the first node that has not free what an allocation takes of it.
func (m *machine) lack(segs []nodeset.Segment, uses nodeset.Uses) error {
	for _, s := range segs {
		for n := int(s.First); n <= int(s.Last); n++ {
			switch free := m.table.Free(n); {
			case free.Cores < s.Cores:
				return m.tooLittle(n, "cores", int64(free.Cores), int64(s.Cores))
			case free.GPUs < s.GPUs:
				return m.tooLittle(n, "gpus", int64(free.GPUs), int64(s.GPUs))
			}
			for _, u := range uses {
				if m.more[u.Row].name == format.GPUShare {
					if err := m.lackGPUShare(n, s, u.PerNode); err != nil {
						return err
					}
				} else if free, need := m.table.FreeOf(u.Row)[n], u.Of(s.Cores, s.GPUs); free < need {
					return m.tooLittle(n, "resources."+m.more[u.Row].name, free, need)
				}
			}
		}
	}
	return nil
}

// lackGPUShare reports that the GPU of node n that s names has less than a share free.
func (m *machine) lackGPUShare(n int, s nodeset.Segment, share int64) error {
	size := int64(0)
	if r, ok := m.resource(format.GPUShare); ok {
		size = m.more[r].total[n]
	}
	most := nodeset.BinsOf(int(m.total[n].GPUs))
	switch {
	case size == 0 || most == 0:
		return nodeFault(m.names[n], "gpu_shares", size, "it has no GPU that jobs may share", nil)
	case s.Bin < 1 || int(s.Bin) > most:
		return nodeFault(m.names[n], "shared_gpu", s.Bin, fmt.Sprintf("must be 1 to %d", most), nil)
	}
	free, inUse := m.table.BinFree(n, s.Bin)
	if !inUse && m.table.Free(n).GPUs > s.GPUs {
		free = size
	}
	if free < share {
		return m.tooLittle(n, format.GPUShare, free, share)
	}
	return nil
}

func (m *machine) tooLittle(n int, field string, free, need int64) error {
	return nodeFault(m.names[n], field, free, fmt.Sprintf("%d would have to be free", need), nil)
}

// notUp reports the first node of an allocation that is not up.
func (m *machine) notUp(segs []nodeset.Segment) error {
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if !m.up[n] {
				return nodeFault(m.names[n], "state", "down", "no job starts there", nil)
			}
		}
	}
	return nil
}

// hold takes what a running job holds off the nodes, up or not, and returns it. bin is the GPU on
// which it has a share, if it has one.
func (c *Cluster) hold(shares []Share, uses nodeset.Uses, bin int) ([]nodeset.Segment, error) {
	m := &c.machine
	if len(shares) == 0 {
		return nil, nil
	}
	if len(m.names) > 0 {
		if err := m.refresh(c.running); err != nil {
			return nil, err
		}
	}
	single, err := m.single(shares, bin, 0)
	for _, s := range single {
		if s.Cores == 0 && s.GPUs == 0 && len(uses) == 0 && err == nil {
			err = nodeFault(m.names[s.First], "cores", s.Cores, "the job would hold nothing there", nil)
		}
	}
	if err != nil {
		return nil, err
	}
	held := joined(single)
	if err := m.lack(held, uses); err != nil {
		return nil, err
	}
	m.take(held, uses)
	return held, nil
}

// single are shares by the numbers of their nodes, for a part of a job, on a shared GPU if bin says one.
func (m *machine) single(shares []Share, bin, part int) (single []nodeset.Segment, err error) {
	seen := make(map[int]bool, len(shares))
	for _, s := range shares {
		n, ok := m.index[s.Node]
		switch {
		case !ok:
			return nil, nodeFault(s.Node, "name", s.Node, "there is no such node", ErrUnknown)
		case seen[n]:
			return nil, nodeFault(s.Node, "name", s.Node, "is there twice", nil)
		}
		f := cmp.Or(outOf("cores", int64(s.Cores), bids.MaxCoresPerNode), outOf("gpus", int64(s.GPUs), bids.MaxGPUsPerNode),
			outOf("shared_gpu", int64(bin), math.MaxUint8))
		if f != nil {
			return nil, &Error{Of: "node", Name: s.Node, Job: -1, Fault: f}
		}
		seen[n] = true
		single = append(single, nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(s.Cores), GPUs: uint8(s.GPUs),
			Bin: uint8(bin), Part: uint8(part)})
	}
	return single, nil
}

// take takes an allocation that is free off the table, also where nodes are down.
func (m *machine) take(segs []nodeset.Segment, uses nodeset.Uses) {
	set := func(up bool) {
		for _, s := range segs {
			for n := int(s.First); n <= int(s.Last); n++ {
				if !m.up[n] {
					m.table.SetUp(n, up)
				}
			}
		}
	}
	set(true)
	must(m.table.Allocate(segs, uses...))
	set(false)
}
