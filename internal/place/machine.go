// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Machine is what the nodes of a machine have in all, with nothing running and all
// of them up. It is for many questions about one machine, one after the other.
type Machine struct {
	idle    *nodeset.Table
	placer  Placer
	limited Limited
	rooms   []int
}

// NewMachine looks at the nodes of t. Time is linear in them.
func NewMachine(t *nodeset.Table) *Machine { return &Machine{idle: Idle(t)} }

// Idle is the machine of t with nothing running and all nodes up.
func Idle(t *nodeset.Table) *nodeset.Table {
	nodes := make([]nodeset.Capacity, t.Len())
	for n := range nodes {
		nodes[n] = t.Total(n)
	}
	all, err := nodeset.New(nodes)
	shares, shared := t.Shares()
	for r := 0; r < t.Resources() && err == nil; r++ {
		add := all.AddResource
		if shared && r == shares {
			add = all.AddShares
		}
		_, err = add(t.ResourceName(r), t.TotalOf(r))
	}
	if err != nil {
		panic("place: " + err.Error()) // t has such nodes
	}
	return all
}

// Is reports whether the machine's nodes are those of t.
func (m *Machine) Is(t *nodeset.Table) bool {
	if m.idle.Len() != t.Len() || m.idle.Resources() != t.Resources() {
		return false
	}
	for n := range t.Len() {
		if m.idle.Total(n) != t.Total(n) {
			return false
		}
	}
	for r := range t.Resources() {
		if m.idle.ResourceName(r) != t.ResourceName(r) || !slices.Equal(m.idle.TotalOf(r), t.TotalOf(r)) {
			return false
		}
	}
	return true
}

// CanEverRun reports in words why a request could not be met even if nothing ran on t and all of
// its nodes were up; nil if it could. A malformed request gives the error of Validate.
func CanEverRun(t *nodeset.Table, r *bids.Request) error { return NewMachine(t).CanEverRun(r) }

// FewestNodes is [Machine.FewestNodes] of the machine of t.
func FewestNodes(t *nodeset.Table, r *bids.Request) (int, error) { return NewMachine(t).FewestNodes(r) }

// CanEverRun is as the function of that name.
func (m *Machine) CanEverRun(r *bids.Request) error {
	_, err := m.FewestNodes(r)
	return err
}

// canEverRun is CanEverRun for a valid Spec, which may demand something of a topology.
func (m *Machine) canEverRun(s *Spec) error {
	if _, err := m.fewestNodes(s); err != nil {
		return err
	}
	return m.fitsBelow(s)
}

// fitsBelow reports in words that no switches have the nodes and cores below them that s demands
// there; nil: some may. It does not look at neighbours.
func (m *Machine) fitsBelow(s *Spec) error {
	if !s.Demands() {
		return nil
	}
	m.rooms = s.Rooms(m.rooms[:0], m.limited.Of(m.idle, s))
	nodes, cores := MostBelow(s, m.rooms)
	if nodes < s.Nodes.Min {
		return fmt.Errorf("can never run: needs %d nodes %s, there are %d at most", s.Nodes.Min, WordsBelow(s), nodes)
	}
	if cores < int64(s.Cores.Total) {
		return fmt.Errorf("can never run: needs %d cores on nodes %s, there are %d at most", s.Cores.Total, WordsBelow(s), cores)
	}
	return nil
}

// MostBelow is how many nodes, and how many cores, are below switches as s demands at most: rooms
// is what each node can give, 0 where it cannot serve s. The two may be below different switches.
func MostBelow(s *Spec, rooms []int) (nodes int, cores int64) {
	within := int(s.Below.Within)
	if within == 0 || within > s.Below.Tree.Levels() {
		within = s.Below.Tree.Levels()
	}
	type has struct {
		top, nodes int
		cores      int64
	}
	leaves := make([]has, s.Below.Tree.Switches(1))
	for n, room := range rooms {
		leaf := &leaves[s.Below.Tree.SwitchOf(1)[n]]
		if s.Below.Within > 0 {
			leaf.top = int(s.Below.Tree.SwitchOf(within)[n])
		}
		if room > 0 {
			leaf.nodes, leaf.cores = leaf.nodes+1, leaf.cores+int64(room)
		}
	}
	if k := int(s.Below.Segment); k > 0 {
		for i := range leaves {
			leaves[i].nodes -= leaves[i].nodes % k
		}
	}
	most := func(order func(a, b has) int, value func(has) int64) (best int64) {
		slices.SortFunc(leaves, func(a, b has) int { return cmp.Or(cmp.Compare(a.top, b.top), order(b, a)) })
		sum, count := int64(0), 0
		for i, leaf := range leaves {
			if i > 0 && leaf.top != leaves[i-1].top {
				sum, count = 0, 0
			}
			if count++; s.Below.Switches == 0 || count <= int(s.Below.Switches) {
				sum += value(leaf)
			}
			best = max(best, sum)
		}
		return best
	}
	nodes = int(most(func(a, b has) int { return cmp.Compare(a.nodes, b.nodes) }, func(h has) int64 { return int64(h.nodes) }))
	return nodes, most(func(a, b has) int { return cmp.Compare(a.cores, b.cores) }, func(h has) int64 { return h.cores })
}

// WordsBelow says what s demands of switches.
func WordsBelow(s *Spec) string {
	words := ""
	if k := s.Below.Segment; k > 0 {
		words = fmt.Sprintf("in segments of %d", k)
	}
	add := func(more string) {
		if words != "" {
			words += ", "
		}
		words += more
	}
	if w := s.Below.Within; w > 0 {
		add(fmt.Sprintf("below one switch of level %d", w))
	}
	switch n := s.Below.Switches; {
	case n == 1:
		add("below one leaf switch")
	case n > 1:
		add(fmt.Sprintf("below %d leaf switches", n))
	}
	return words
}

// FewestNodes is the least number of nodes that r can be given if nothing
// runs and all nodes are up: what the packing factor (ipsched, section VI)
// compares with. It fails as CanEverRun does. Time is linear in the nodes.
func (m *Machine) FewestNodes(r *bids.Request) (int, error) {
	s, err := SpecOf(r)
	if err != nil {
		return 0, err
	}
	return m.fewestNodes(&s)
}

// fewestNodes is FewestNodes for a valid Spec.
func (m *Machine) fewestNodes(s *Spec) (int, error) {
	n, why := m.fewestOf(s, s.More())
	if why == nil {
		return n, nil
	}
	if s.Uses != nil {
		if _, err := m.fewestOf(s, nil); err == nil {
			why = m.lacking(s)
		} else if s.Coreless() { // the table that it sees says nothing to users
			why = err
		}
	}
	return 0, fmt.Errorf("can never run: %w", why)
}

// fewestOf is fewestNodes for a request that takes uses of further resources.
func (m *Machine) fewestOf(s *Spec, uses nodeset.Uses) (int, error) {
	if err := CheckUses(uses, m.idle.Resources()); err != nil {
		return 0, err
	}
	p := &m.placer
	p.rest = *s
	if s = &p.rest; len(uses) == 0 {
		s.Uses = nil
	}
	t, where, row := m.limited.Of(m.idle, s), "", ""
	p.sets = p.scan(p.sets[:0], t, s, s.GPUs.PerNode.Min, -1, s.Tiers.Count())
	if fewest := p.fewestNodes(s, t); fewest > 0 {
		return fewest, nil
	}
	if err := m.noNode(s, t); err != nil {
		return 0, err
	}
	if s.Contiguous {
		where, row = " consecutive", "contiguous"
	}
	m.rooms = s.Rooms(m.rooms[:0], t)
	nodes, most := Most(s, m.rooms, row)
	switch {
	case nodes < s.Nodes.Min:
		return 0, fmt.Errorf("needs %d%s nodes that can serve it, there are %d", s.Nodes.Min, where, nodes)
	case s.Nodes.Max == 1:
		return 0, fmt.Errorf("needs %d cores on a node, largest has %d", s.Cores.Total, most)
	case nodes > s.Nodes.Max:
		where = fmt.Sprintf(" %d%s", s.Nodes.Max, where)
	}
	return 0, fmt.Errorf("needs %d cores, its%s nodes have at most %d", s.Cores.Total, where, most)
}

// Most is how many nodes have room for s, and the most cores that as many of them as it may have
// can give. They are neighbours for "contiguous", below such switches as it demands for "switches",
// or else any. rooms is what each node can give, and may be sorted.
func Most(s *Spec, rooms []int, row string) (nodes int, cores int64) {
	switch row {
	case "switches":
		return MostBelow(s, rooms)
	case "contiguous":
	default:
		slices.SortFunc(rooms, func(a, b int) int { return b - a })
	}
	run, sum := 0, int64(0)
	for n, c := range rooms {
		if c == 0 {
			run, sum = 0, 0
			continue
		}
		if run, sum = run+1, sum+int64(c); run > s.Nodes.Max {
			sum -= int64(rooms[n-s.Nodes.Max])
		}
		if nodes = max(nodes, run); run >= s.Nodes.Min {
			cores = max(cores, sum)
		}
	}
	return nodes, cores
}

// lacking says which further resource a request is too large for, or that they are together.
func (m *Machine) lacking(s *Spec) error {
	if err := CheckUses(s.More(), m.idle.Resources()); err != nil {
		return fmt.Errorf("uses: %w", err)
	}
	for _, u := range s.More() {
		need := u.Of(uint16(s.Cores.PerNode.Min), uint8(s.GPUs.PerNode.Min))
		most := int64(0)
		for n, total := range m.idle.TotalOf(u.Row) {
			if s.Mask().Has(n) {
				most = max(most, total)
			}
		}
		if need > most {
			return fmt.Errorf("needs %d %s on a node, most has %d", need, m.idle.ResourceName(u.Row), most)
		}
	}
	return errors.New("its nodes have too little of further resources")
}

// noNode says why not a single node can serve s, which sees t; nil if one can.
func (m *Machine) noNode(s *Spec, t *nodeset.Table) error {
	cores, gpus, some := 0, 0, false
	for n := range t.Len() {
		if !s.Mask().Has(n) {
			continue
		}
		c := t.Free(n)
		if s.Room(c) > 0 {
			return nil
		}
		if some, gpus = true, max(gpus, int(c.GPUs)); int(c.GPUs) >= s.GPUs.PerNode.Min {
			cores = max(cores, int(c.Cores))
		}
	}
	switch {
	case !some:
		return errors.New("it may use no node at all")
	case gpus < s.GPUs.PerNode.Min:
		return fmt.Errorf("needs %d or more GPUs on a node, most has %d", s.GPUs.PerNode.Min, gpus)
	}
	return fmt.Errorf("needs %d cores on a node, largest has %d", s.Cores.PerNode.Min, cores)
}
