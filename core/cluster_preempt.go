// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// clusterClaim is a claim, of the nodes of that time.
type clusterClaim struct {
	Claim
	names []string
}

// claimed are the claims of jobs that wait, on the nodes of now; with c.mu.
func (c *Cluster) claimed() (claims []Claim) {
	for _, x := range c.claims {
		if job, ok := c.jobs[x.For]; !ok || job.run {
			continue
		}
		segs, gone := []nodeset.Segment(nil), false
		for rest := x.Segs; len(rest) > 0; {
			var part []nodeset.Segment
			part, rest = place.CutPart(rest)
			now, err := c.machine.renumbered(x.names, part)
			segs, gone = append(segs, now...), gone || err != nil
		}
		if !gone {
			claims = append(claims, Claim{x.For, segs, x.Until})
		}
	}
	return claims
}

// claim keeps the claims of a plan, and those of jobs that were to start and do not; with c.mu.
func (c *Cluster) claim(w *scratch) {
	old := c.claims
	c.claims = nil
	for _, x := range w.plan.Claims {
		c.claims = append(c.claims, clusterClaim{x, w.names})
	}
	for _, x := range old {
		known := slices.ContainsFunc(c.claims, func(y clusterClaim) bool { return y.For == x.For })
		if job, ok := c.jobs[x.For]; ok && !job.run && x.Until > c.now && !known {
			c.claims = append(c.claims, x)
		}
	}
}

// stop says in the cycle which running jobs are to be stopped, and returns which jobs of the queue
// wait for that, or for one that has ended meanwhile.
func (c *Cluster) stop(w *scratch, cycle *Cycle) map[int]bool {
	if len(w.plan.Preempted) == 0 {
		return nil
	}
	waits := make(map[int]bool)
	for _, x := range w.plan.Preempted {
		job := w.running[x.Running]
		stop := Preempted{Job: job.id}
		for _, j := range x.For {
			waits[j] = true
			if waiting := w.queue[j]; c.jobs[waiting.id] == waiting {
				stop.For = append(stop.For, waiting.id)
			}
		}
		if c.jobs[job.id] == job && job.price > 0 && len(stop.For) > 0 {
			job.price = 1 // it is as good as lost
			cycle.Preempted = append(cycle.Preempted, stop)
		}
	}
	return waits
}
