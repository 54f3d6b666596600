// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

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
			claims = append(claims, Claim{For: x.For, Segs: segs, Alternative: x.Alternative, Until: x.Until})
		}
	}
	for _, r := range c.booked {
		claim := Claim{Reservation: r.Name, From: -seconds(c.epoch.Sub(r.Start)), Until: c.secondOf(r.End)}
		if names := r.Nodes; names == nil {
			claim.Segs = []nodeset.Segment{{Last: int32(len(c.machine.names) - 1)}}
		} else {
			claim.Segs = c.machine.segments(names)
		}
		claims = append(claims, claim)
	}
	return claims
}

// segments are the nodes of these names that are there.
func (m *machine) segments(names []string) (segs []nodeset.Segment) {
	mask := m.mask(names)
	for n := range m.names {
		if mask.Has(n) {
			segs = nodeset.Append(segs, nodeset.Segment{First: int32(n), Last: int32(n)})
		}
	}
	return segs
}

// SetReservation adds or changes a reservation, like Slurm's "scontrol create reservation". From
// Start to End its nodes are for jobs whose JobSpec.Reservation names it. These start nowhere else,
// and not before. No other job starts there that might run into it; running jobs go on. A
// reservation that no job names is an outage. One without End, or whose End has passed, is deleted,
// and its jobs wait. It returns an [*Error] if the name is empty, a node is unknown, or there are
// more than 63 reservations.
func (c *Cluster) SetReservation(r Reservation) error {
	return c.change(Event{Kind: "reservation", Reservation: r.Name}, func() error {
		if err := format.CheckQuota(r.Name); err != nil {
			return faultOf("reservation", r.Name, "name", r.Name, err.Error(), nil)
		}
		for _, name := range r.Nodes {
			if _, ok := c.machine.index[name]; !ok {
				return faultOf("reservation", r.Name, "nodes", name, "there is no such node", ErrUnknown)
			}
		}
		now := c.timeOf(c.second())
		c.booked = slices.DeleteFunc(c.booked, func(x Reservation) bool { return x.Name == r.Name || !x.End.After(now) })
		switch {
		case !r.End.After(now):
			return nil
		case len(c.booked) == maxBooked:
			return faultOf("reservation", r.Name, "name", r.Name, fmt.Sprintf("there are %d already", maxBooked), nil)
		case r.Start.IsZero():
			r.Start = now
		}
		r.Nodes = slices.Clone(r.Nodes)
		c.booked = append(c.booked, r)
		return nil
	})
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
