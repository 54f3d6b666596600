// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"slices"

	"github.com/aucsched/aucsched/core"
)

// fault is what is wrong with running job i by itself; its array is "" if nothing is.
func (r *Running) fault(i int) flaw {
	switch {
	case r.Price > core.MaxPriority:
		return flawed("running", i, "price", r.Price, "must be at most %d", core.MaxPriority)
	case r.PreemptClass > MaxClass:
		return flawed("running", i, "preempt_class", r.PreemptClass, "must be at most %d", MaxClass)
	case r.Reserved != [3]uint8{}:
		return flawed("running", i, "reserved", slices.Max(r.Reserved[:]), "must be 0")
	}
	return flaw{}
}

// addVictims says of each start of plan p which running jobs have to end first.
func (o *Output) addVictims(s *snapshot, p *core.Plan) {
	o.Preempted = len(p.Preempted)
	for i := range p.Preempted {
		for _, job := range p.Preempted[i].For {
			o.Decisions[s.index[job]].Victims++
		}
	}
	sum := uint32(0)
	for i := range o.Decisions {
		if d := &o.Decisions[i]; d.Victims > 0 {
			d.FirstVictim, sum, d.Victims = sum, sum+d.Victims, 0
		}
	}
	o.Victims = slices.Grow(o.Victims, int(sum))[:sum]
	for i := range p.Preempted {
		for _, job := range p.Preempted[i].For {
			d := &o.Decisions[s.index[job]]
			o.Victims[d.FirstVictim+d.Victims] = uint32(p.Preempted[i].Running)
			d.Victims++
		}
	}
}
