// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Cache remembers which requests the machine can never meet. The answers
// depend on the request and on what the nodes have in all; those of requests with a
// mask are forgotten with every cycle, since a mask is known by its address only.
type Cache struct {
	machine *Machine
	why     answers[string]
	blocks  answers[int]
	now     *nodeset.Table // the machine's, in this cycle
	idle    *nodeset.Table // nil until blocks or several parts are asked for
	placer  Placer
	limited Limited
	asked   Spec
	part    Spec
	segs    []nodeset.Segment
	uses    Masks // further resources of requests without a mask
}

// answers are what is known of requests: of those without a mask, and of the others.
type answers[T any] struct{ plain, masked map[Spec]T }

// reset forgets what is known of masks, and with all everything.
func (a *answers[T]) reset(all bool) {
	if a.plain == nil {
		a.plain, a.masked = make(map[Spec]T), make(map[Spec]T)
	}
	clear(a.masked)
	if all {
		clear(a.plain)
	}
}

// of are the answers among which that to s belongs.
func (a *answers[T]) of(s *Spec) map[Spec]T {
	if s.Eligible != nil || s.Parts != nil {
		return a.masked
	}
	return a.plain
}

// maxRemembered bounds the memory of a Cache.
const maxRemembered = 1 << 14

// Reset begins a cycle on the machine of t, and says whether it has changed.
func (c *Cache) Reset(t *nodeset.Table) (changed bool) {
	c.now = t
	if changed = c.machine == nil || !c.machine.Is(t); changed {
		c.machine, c.idle = NewMachine(t), nil
	}
	all := changed || max(len(c.why.plain), len(c.blocks.plain)) > maxRemembered
	c.why.reset(all)
	c.blocks.reset(all)
	if all {
		c.uses.Reset()
	}
	return changed
}

// Never returns why the machine can never meet s, which is valid, or "".
func (c *Cache) Never(s *Spec) string {
	known, key := c.why.of(s), c.key(s)
	why, ok := known[key]
	if !ok {
		if s.Parts != nil {
			why = c.neverParts(s)
		} else if err := c.machine.canEverRun(s); err != nil {
			why = err.Error()
		}
		known[key] = why
	}
	return why
}

// key is s as answers know it: that of a request without a mask outlasts the cycle.
func (c *Cache) key(s *Spec) Spec {
	key := *s
	if !s.Demands() {
		key.Below = nil // it makes no difference
	}
	key.Tiers = nil
	if s.Eligible == nil && s.Uses != nil {
		key.Uses = c.uses.CopyOf(s.Uses)
	}
	return key
}

// FewestBlocks is on how many blocks of consecutive nodes the machine of t can meet s if it is
// idle: the fewest, or nearly so; 0 if it can't.
func (c *Cache) FewestBlocks(t *nodeset.Table, s *Spec) int {
	known, key := c.blocks.of(s), c.key(s)
	n, ok := known[key]
	if !ok {
		if c.idle == nil {
			c.idle = Idle(t)
		}
		c.asked = key // not on the stack
		s = &c.asked
		if c.segs, ok = c.placer.Place(c.segs[:0], c.limited.Of(c.idle, s), s, s.GPUs.PerNode.Min); ok {
			n = nodeset.Blocks(c.segs)
		}
		known[key] = n
	}
	return n
}

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

// fitsBelow reports in words that no switches have the nodes and cores below them that s demands
// there; nil: some may. It does not look at neighbours.
func (m *Machine) fitsBelow(s *Spec) error {
	if !s.Demands() {
		return nil
	}
	rooms := make([]int, len(m.nodes))
	for n := range rooms {
		rooms[n] = m.room(s, s.More(), n)
	}
	nodes, cores := MostBelow(s, rooms)
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

// apart is why a job of several parts can never run if each of them could.
const apart = "can never run: no place is found for all of its components at once, though nothing runs"

// neverParts is Never for a job of several parts: each has a place on an idle machine, and a place
// for all of them is found.
func (c *Cache) neverParts(s *Spec) string {
	for k := range s.Parts.Specs {
		c.part = s.Parts.Specs[k]
		c.part.Contiguous = c.part.Contiguous || s.Contiguous
		if why := c.Never(&c.part); why != "" {
			return fmt.Sprintf("%s: %s", PartName(k), why)
		}
	}
	if c.idle == nil {
		c.idle = Idle(c.now)
	}
	ok := false
	if c.segs, ok = c.placer.PlaceParts(c.segs[:0], c.idle, s, PartsOptions{}, nil, 0); !ok {
		return apart
	}
	return ""
}
