// SPDX-License-Identifier: BSD-3-Clause

// Package answers remembers, from cycle to cycle, what is known of requests on a machine.
package answers

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Cache remembers which requests the machine can never meet. The answers
// depend on the request and on what the nodes have in all; those of requests with a
// mask are forgotten with every cycle, since a mask is known by its address only.
type Cache struct {
	machine *bids.Machine
	why     answers[string]
	blocks  answers[int]
	idle    *nodeset.Table // nil until blocks are asked for
	placer  bids.Placer
	segs    []nodeset.Segment
}

// answers are what is known of requests: of those without a mask, and of the others.
type answers[T any] struct{ plain, masked map[Key]T }

// reset forgets what is known of masks, and with all or where it is too much, everything.
func (a *answers[T]) reset(all bool) {
	if a.plain == nil {
		a.plain, a.masked = make(map[Key]T), make(map[Key]T)
	}
	clear(a.masked)
	if all || len(a.plain) > maxRemembered {
		clear(a.plain)
	}
}

// of are the answers among which that to r belongs.
func (a *answers[T]) of(r *bids.Request) map[Key]T {
	if r.Eligible != nil {
		return a.masked
	}
	return a.plain
}

// maxRemembered bounds the memory of a Cache.
const maxRemembered = 1 << 14

// Key is a Request that can be compared. Masks are told apart by their
// memory; words is one more than a mask's length, 0 without a mask.
type Key struct {
	cores, minNodes, maxNodes, tasks, minGPUs, maxGPUs int
	contiguous, mixed                                  bool
	mask                                               *uint64
	words                                              int
}

// KeyOf is the key of r.
func KeyOf(r *bids.Request) Key {
	k := Key{cores: r.Cores, minNodes: r.MinNodes, maxNodes: r.MaxNodes, tasks: r.TasksPerNode,
		minGPUs: r.MinGPUs, maxGPUs: r.MaxGPUs, contiguous: r.Contiguous, mixed: r.MixedGPUs}
	if r.Eligible != nil {
		k.words = 1 + len(r.Eligible)
		if len(r.Eligible) > 0 {
			k.mask = &r.Eligible[0]
		}
	}
	return k
}

// Reset begins a cycle on the machine of t, and says whether it has changed.
func (c *Cache) Reset(t *nodeset.Table) (changed bool) {
	if changed = c.machine == nil || !c.machine.Is(t); changed {
		c.machine, c.idle = bids.NewMachine(t), nil
	}
	c.why.reset(changed)
	c.blocks.reset(changed)
	return changed
}

// Never returns why the machine can never meet r, or "".
func (c *Cache) Never(r *bids.Request) string {
	k, known := KeyOf(r), c.why.of(r)
	why, ok := known[k]
	if !ok {
		if err := c.machine.CanEverRun(r); err != nil {
			why = err.Error()
		}
		known[k] = why
	}
	return why
}

// FewestBlocks is on how many blocks of consecutive nodes the machine of t can meet r if it is idle:
// the fewest, or nearly so; 0 if it can't.
func (c *Cache) FewestBlocks(t *nodeset.Table, r *bids.Request) int {
	k, known := KeyOf(r), c.blocks.of(r)
	n, ok := known[k]
	if !ok {
		if c.idle == nil {
			c.idle = Idle(t)
		}
		if c.segs, ok = c.placer.Place(c.segs[:0], c.idle, r, r.MinGPUs); ok {
			n = nodeset.Blocks(c.segs)
		}
		known[k] = n
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
	if err != nil {
		panic("answers: " + err.Error()) // t has such nodes
	}
	return all
}
