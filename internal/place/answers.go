// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// Cache remembers which requests the machine can never meet. The answers depend on the request and
// on what the nodes have in all. Those of requests with a mask are forgotten with every cycle, as a
// mask is known by its address only.
type Cache struct {
	machine *Machine
	why     answers[string]
	blocks  answers[int]
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
	if changed = c.machine == nil || !c.machine.Is(t); changed {
		c.machine = NewMachine(t)
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
	if s.Loose(c.machine.idle) && !c.placer.Lacks(c.machine.idle, s) {
		return "" // seen sooner than remembered
	}
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
		key.Uses = c.uses.OfUses(s.Uses)
	}
	return key
}

// FewestBlocks is on how many blocks of consecutive nodes the machine can meet s if it is idle: the
// fewest, or nearly so; 0 if it can't.
func (c *Cache) FewestBlocks(s *Spec) int {
	known, key := c.blocks.of(s), c.key(s)
	n, ok := known[key]
	if !ok {
		c.asked = key // not on the stack
		if c.segs, ok = c.placer.Place(c.segs[:0], c.limited.Of(c.machine.idle, &c.asked), &c.asked, key.GPUs.PerNode.Min); ok {
			n = nodeset.Blocks(c.segs)
		}
		known[key] = n
	}
	return n
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
	ok := false
	if c.segs, ok = c.placer.PlaceParts(c.segs[:0], c.machine.idle, s, PartsOptions{}, nil, 0); !ok {
		return apart
	}
	return ""
}
