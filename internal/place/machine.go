// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Machine is what the nodes of a machine have in all, with nothing running and all
// of them up. It is for many questions about one machine: most are answered from the few kinds of
// nodes that there are. It does not change, and any number of goroutines may use it.
type Machine struct {
	nodes []nodeset.Capacity
	kinds []kind
	of    []int32        // by node: its kind
	table *nodeset.Table // a copy; nil without further resources
}

// kind is a number of nodes that are alike.
type kind struct {
	nodeset.Capacity
	count int
	node  int // one of them
}

// NewMachine looks at the nodes of t. Time is linear in them.
func NewMachine(t *nodeset.Table) *Machine {
	m := &Machine{nodes: make([]nodeset.Capacity, t.Len()), of: make([]int32, t.Len())}
	if t.Resources() > 0 {
		m.table = new(nodeset.Table)
		m.table.CopyFrom(t)
	}
	known := map[string]int32{}
	var key []byte
	for n := range m.nodes {
		m.nodes[n] = t.Total(n)
		key = appendKey(key[:0], t, n)
		k, ok := known[string(key)]
		if !ok {
			k = int32(len(m.kinds))
			known[string(key)] = k
			m.kinds = append(m.kinds, kind{m.nodes[n], 0, n})
		}
		m.of[n] = k
		m.kinds[k].count++
	}
	return m
}

// appendKey appends what tells node n from nodes of other kinds.
func appendKey(dst []byte, t *nodeset.Table, n int) []byte {
	c := t.Total(n)
	dst = binary.AppendUvarint(dst, uint64(c.Cores))
	dst = append(dst, c.GPUs)
	for r := range t.Resources() {
		dst = binary.AppendUvarint(dst, uint64(t.TotalOf(r)[n]))
	}
	return dst
}

// Is reports whether the machine's nodes are those of t.
func (m *Machine) Is(t *nodeset.Table) bool {
	if len(m.nodes) != t.Len() || m.resources() != t.Resources() {
		return false
	}
	for n := range m.nodes {
		if m.nodes[n] != t.Total(n) {
			return false
		}
	}
	for r := range t.Resources() {
		if m.table.ResourceName(r) != t.ResourceName(r) || !slices.Equal(m.table.TotalOf(r), t.TotalOf(r)) {
			return false
		}
	}
	return true
}

func (m *Machine) resources() int {
	if m.table == nil {
		return 0
	}
	return m.table.Resources()
}

// CanEverRun reports in words why a request could not be met even if nothing ran
// on t and all of its nodes were up; nil if it could. A malformed request gives
// the error of Validate.
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

// FewestNodes is the least number of nodes that r can be given if nothing
// runs and all nodes are up: what the packing factor (ipsched, section VI)
// compares with. It fails as CanEverRun does. Time is linear in the nodes for
// requests that are contiguous or may not use all nodes, and in the kinds of nodes for others.
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
		} else if s.Coreless() { // of seats there is nothing to say
			why = err
		}
	}
	return 0, fmt.Errorf("can never run: %w", why)
}

// fewestOf is fewestNodes for a request that takes uses of further resources.
func (m *Machine) fewestOf(s *Spec, uses nodeset.Uses) (int, error) {
	if err := uses.Check(m.resources()); err != nil {
		return 0, err
	}
	w := wanted{s}
	kinds, nodes, mask := m.kinds, m.nodes, s.Mask()
	if mask != nil {
		kinds = m.eligible(mask)
	}
	if len(uses) > 0 || s.Coreless() {
		kinds, nodes = m.limited(kinds, s, uses)
	}
	if err := w.noKind(kinds); err != nil {
		return 0, err
	}
	var n int
	if w.Contiguous {
		n = w.fewestInRun(nodes, mask)
	} else {
		n = w.fewestOf(w.rooms(kinds))
	}
	if n == 0 {
		return 0, w.shortage(nodes, mask, kinds)
	}
	return n, nil
}

// sees is what a request that takes uses of further resources sees of node n.
func (m *Machine) sees(s *Spec, uses nodeset.Uses, n int) nodeset.Capacity {
	c, gpus, coreless := m.nodes[n], s.GPUs.PerNode.Min, s.Coreless()
	if coreless {
		c.Cores, gpus = max(c.Cores, 1), 0
	}
	for _, u := range uses {
		if coreless {
			u.PerCore = 0
		}
		c = u.Limit(c, m.table.TotalOf(u.Row)[n], gpus)
	}
	return c
}

// limited are what nodes and their kinds have for a request that does not see them as they are;
// nodes are nil where they do not count.
func (m *Machine) limited(kinds []kind, s *Spec, uses nodeset.Uses) ([]kind, []nodeset.Capacity) {
	kinds = slices.Clone(kinds)
	for i := range kinds {
		kinds[i].Capacity = m.sees(s, uses, kinds[i].node)
	}
	if !s.Contiguous {
		return kinds, nil
	}
	nodes := make([]nodeset.Capacity, len(m.nodes))
	for n := range nodes {
		nodes[n] = m.sees(s, uses, n)
	}
	return kinds, nodes
}

// lacking says which further resource a request is too large for, or that they are together.
func (m *Machine) lacking(s *Spec) error {
	if err := s.More().Check(m.resources()); err != nil {
		return fmt.Errorf("uses: %w", err)
	}
	for _, u := range s.More() {
		need := u.Of(uint16(s.Cores.PerNode.Min), uint8(s.GPUs.PerNode.Min))
		most := int64(0)
		for n, total := range m.table.TotalOf(u.Row) {
			if s.Mask().Has(n) {
				most = max(most, total)
			}
		}
		if need > most {
			return fmt.Errorf("needs %d %s on a node, most has %d", need, m.table.ResourceName(u.Row), most)
		}
	}
	return errors.New("its nodes have too little of further resources")
}

// eligible are the kinds of the nodes that a job may use.
func (m *Machine) eligible(mask nodeset.Mask) []kind {
	kinds := slices.Clone(m.kinds)
	for i := range kinds {
		kinds[i].count = 0
	}
	for n, k := range m.of {
		if mask.Has(n) {
			kinds[k].count++
		}
	}
	return slices.DeleteFunc(kinds, func(k kind) bool { return k.count == 0 })
}

// wanted is what a request asks of a whole machine.
type wanted struct{ *Spec }

// noKind says why not a single node can serve the job.
func (w wanted) noKind(kinds []kind) error {
	if len(kinds) == 0 {
		return errors.New("it may use no node at all")
	}
	cores, gpus := 0, 0
	for _, k := range kinds {
		if w.Room(k.Capacity) > 0 {
			return nil
		}
		if gpus = max(gpus, int(k.GPUs)); int(k.GPUs) >= w.GPUs.PerNode.Min {
			cores = max(cores, int(k.Cores))
		}
	}
	if gpus < w.GPUs.PerNode.Min {
		return fmt.Errorf("needs %d GPUs on a node, most has %d", w.GPUs.PerNode.Min, gpus)
	}
	return fmt.Errorf("needs %d cores on a node, largest has %d", w.Cores.PerNode.Min, cores)
}

// rooms is how many nodes could give how many cores, the most first.
func (w wanted) rooms(kinds []kind) []kind {
	var out []kind
	for _, k := range kinds {
		if c := w.Room(k.Capacity); c > 0 {
			out = append(out, kind{nodeset.Capacity{Cores: uint16(c)}, k.count, k.node})
		}
	}
	slices.SortFunc(out, func(a, b kind) int { return cmp.Compare(b.Cores, a.Cores) })
	return out
}

// fewestOf is the least number of nodes that hold the job, 0 if none does.
func (w wanted) fewestOf(rooms []kind) int {
	nodes, sum := 0, 0
	for _, k := range rooms {
		c := int(k.Cores)
		need := max((w.Cores.Total-sum+c-1)/c, w.Nodes.Min-nodes)
		if take := max(need, 0); take <= k.count {
			if nodes += take; nodes > w.Nodes.Max {
				return 0
			}
			return nodes
		}
		if nodes, sum = nodes+k.count, sum+k.count*c; nodes > w.Nodes.Max {
			return 0
		}
	}
	return 0
}

func (w wanted) fewestInRun(nodes []nodeset.Capacity, mask nodeset.Mask) int {
	best, first, sum := 0, 0, 0
	for n := range nodes {
		c := w.roomAt(nodes, mask, n)
		if c == 0 {
			first, sum = n+1, 0
			continue
		}
		sum += c
		for n-first+1 > w.Nodes.Max || (n-first+1 > w.Nodes.Min && sum-w.Room(nodes[first]) >= w.Cores.Total) {
			sum -= w.Room(nodes[first])
			first++
		}
		if k := n - first + 1; k >= w.Nodes.Min && sum >= w.Cores.Total && (best == 0 || k < best) {
			best = k
		}
	}
	return best
}

func (w wanted) roomAt(nodes []nodeset.Capacity, mask nodeset.Mask, n int) int {
	if !mask.Has(n) {
		return 0
	}
	return w.Room(nodes[n])
}

// shortage says why the job fits nowhere: too few nodes, or too few cores.
func (w wanted) shortage(all []nodeset.Capacity, mask nodeset.Mask, kinds []kind) error {
	where, nodes, most := "", 0, 0
	if w.Contiguous {
		where = " consecutive"
		nodes, most = w.mostInRun(all, mask)
	} else {
		left := w.Nodes.Max
		for _, k := range w.rooms(kinds) {
			nodes += k.count
			take := min(k.count, left)
			most, left = most+take*int(k.Cores), left-take
		}
	}
	if nodes < w.Nodes.Min {
		return fmt.Errorf("needs %d%s nodes that can serve it, there are %d", w.Nodes.Min, where, nodes)
	}
	if w.Nodes.Max == 1 {
		return fmt.Errorf("needs %d cores on a node, largest has %d", w.Cores.Total, most)
	}
	if nodes > w.Nodes.Max {
		where = fmt.Sprintf(" %d%s", w.Nodes.Max, where)
	}
	return fmt.Errorf("needs %d cores, its%s nodes have at most %d", w.Cores.Total, where, most)
}

// mostInRun is the longest run of nodes that can serve the job, and the most cores that
// as many of them as it may have give.
func (w wanted) mostInRun(nodes []nodeset.Capacity, mask nodeset.Mask) (longest, most int) {
	first, sum, run := 0, 0, 0
	for n := range nodes {
		c := w.roomAt(nodes, mask, n)
		if c == 0 {
			first, sum, run = n+1, 0, 0
			continue
		}
		run++
		longest = max(longest, run)
		if sum += c; n-first+1 > w.Nodes.Max {
			sum -= w.Room(nodes[first])
			first++
		}
		most = max(most, sum)
	}
	return longest, most
}
