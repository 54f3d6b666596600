package core

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// neverCache remembers which requests the machine can never meet. The answers
// depend on the request and on what the nodes have in all; those of requests with a
// mask are forgotten with every cycle, since a mask is known by its address only.
type neverCache struct {
	machine *bids.Machine
	why     map[requestKey]string
	masked  map[requestKey]string
}

// maxRemembered bounds the memory of a neverCache.
const maxRemembered = 1 << 14

// requestKey is a Request that can be compared. Masks are told apart by their
// memory; words is one more than a mask's length, 0 without a mask.
type requestKey struct {
	cores, minNodes, maxNodes, tasks, minGPUs, maxGPUs int
	contiguous, mixed                                  bool
	mask                                               *uint64
	words                                              int
}

func keyOf(r *bids.Request) requestKey {
	k := requestKey{cores: r.Cores, minNodes: r.MinNodes, maxNodes: r.MaxNodes, tasks: r.TasksPerNode,
		minGPUs: r.MinGPUs, maxGPUs: r.MaxGPUs, contiguous: r.Contiguous, mixed: r.MixedGPUs}
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
	if c.machine == nil || !c.machine.Is(t) {
		c.machine = bids.NewMachine(t)
		clear(c.why)
	}
	if len(c.why) > maxRemembered {
		clear(c.why)
	}
}

// check returns why the machine can never meet r, or "".
func (c *neverCache) check(r *bids.Request) string {
	k, known := keyOf(r), c.why
	if r.Eligible != nil {
		known = c.masked
	}
	why, ok := known[k]
	if !ok {
		if err := c.machine.CanEverRun(r); err != nil {
			why = err.Error()
		}
		known[k] = why
	}
	return why
}

// checkWays returns why the machine can never meet any of the job's requests, or "".
func (c *neverCache) checkWays(job *Job) string {
	why := c.check(&job.Request)
	if len(job.Alternatives) == 0 {
		return why
	}
	if n := len(job.Alternatives); n > MaxAlternatives {
		return fmt.Sprintf("can never run: alternatives: %d: must be at most %d", n, MaxAlternatives)
	}
	if why == "" {
		return ""
	}
	for k := 1; k < job.Ways(); k++ {
		if r, _ := job.Way(k); c.check(&r) == "" {
			return ""
		}
	}
	return why + "; nor can any of its alternatives"
}
