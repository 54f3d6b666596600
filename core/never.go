package core

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// neverCache remembers which requests the machine can never meet. The answers
// depend on the request and on what the nodes have in all; those of requests with a
// mask are forgotten with every cycle, since a mask is known by its address only.
type neverCache struct {
	machine []nodeset.Capacity
	why     map[requestKey]string
	masked  map[requestKey]string
}

// maxRemembered bounds the memory of a neverCache.
const maxRemembered = 1 << 14

// requestKey is a Request that can be compared. Masks are told apart by their
// memory; words is one more than a mask's length, 0 without a mask.
type requestKey struct {
	cores, minNodes, maxNodes, tasks, minGPUs, maxGPUs int
	contiguous                                         bool
	mask                                               *uint64
	words                                              int
}

func keyOf(r *bids.Request) requestKey {
	k := requestKey{cores: r.Cores, minNodes: r.MinNodes, maxNodes: r.MaxNodes, tasks: r.TasksPerNode,
		minGPUs: r.MinGPUs, maxGPUs: r.MaxGPUs, contiguous: r.Contiguous}
	if r.Eligible != nil {
		k.words = 1 + len(r.Eligible)
		if len(r.Eligible) > 0 {
			k.mask = &r.Eligible[0]
		}
	}
	return k
}

// reset begins a cycle on the machine of t.
func (c *neverCache) reset(t *nodeset.Table) {
	if c.why == nil {
		c.why, c.masked = make(map[requestKey]string), make(map[requestKey]string)
	}
	clear(c.masked)
	if !c.sameMachine(t) || len(c.why) > maxRemembered {
		clear(c.why)
		c.machine = c.machine[:0]
		for n := range t.Len() {
			c.machine = append(c.machine, t.Total(n))
		}
	}
}

func (c *neverCache) sameMachine(t *nodeset.Table) bool {
	if len(c.machine) != t.Len() {
		return false
	}
	for n := range c.machine {
		if c.machine[n] != t.Total(n) {
			return false
		}
	}
	return true
}

// check returns why the machine can never meet r, or "".
func (c *neverCache) check(t *nodeset.Table, r *bids.Request) string {
	k, known := keyOf(r), c.why
	if r.Eligible != nil {
		known = c.masked
	}
	why, ok := known[k]
	if !ok {
		if err := bids.CanEverRun(t, r); err != nil {
			why = err.Error()
		}
		known[k] = why
	}
	return why
}
