// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/place"
)

// do does the machine's actions that aren't the Runner's. Nothing here waits.
func (h *Hypervisor) do(a *invasive.Action, q link.Question) {
	h.meter.count(h.Clock.Now(), h.machine.Owners())
	if ev, ok := h.negotiator.Answer(a, h.view, h.now()); ok {
		if ev.Kind == invasive.Verdict && !ev.Accept {
			h.Log.Info("a mapping was rejected", "why", ev.Text)
		}
		h.runner.Answer(q, ev)
		return
	}
	switch a.Kind {
	case invasive.AskOffer:
		h.open = q
		h.look()
	case invasive.AskPlace:
		h.look()
	case invasive.Launch:
		h.launch(a.Job, a.Cores)
	case invasive.Grow:
		h.grow(a.ID)
	case invasive.Reclaim:
		h.reclaim(a)
	case invasive.Forget:
		if err := h.launcher.Forget(a.ID); err != nil {
			h.Log.Warn("left behind", "job", uint64(a.ID), "why", err)
		}
	}
}

// freed gives the machine an event by which cores come free, and what may be
// offered is new after it.
func (h *Hypervisor) freed(ev invasive.Event) {
	h.runner.Post(ev)
	h.runner.Call(h.negotiator.Freed)
}

// view is what is decided from.
func (h *Hypervisor) view() *place.View {
	now := h.Clock.Now()
	v := &place.View{
		Partition: h.Topology.Partition, Owners: h.machine.Owners(), Jobs: h.machine.Jobs(nil), Wishes: h.wishes,
		Stubborn: map[invasive.JobID]invasive.How{}, Left: map[invasive.JobID]uint32{}, Grow: h.Grow,
	}
	if h.nodes != nil {
		v.Away, v.Lost = h.nodes.Away()
		v.Homes = map[invasive.JobID]uint32{}
		for id := range h.runs {
			if node, ok := h.nodes.Home(id); ok {
				v.Homes[id] = node
			}
		}
	}
	for id, s := range h.stubborn {
		if s.until.After(now) {
			v.Stubborn[id] = s.how
		}
	}
	for id, r := range h.runs {
		if at, ok := h.launcher.Started(id); ok && r.job.Limit > 0 {
			v.Left[id] = place.Left(r.job, now.Sub(at))
		}
	}
	return v
}

// now is the time since the start.
func (h *Hypervisor) now() time.Duration { return h.Clock.Now().Sub(h.begin) }

// nodesChanged: a node has come or gone, and its cores with it.
func (h *Hypervisor) nodesChanged() {
	h.negotiator.Freed()
	h.changed()
}

// changed: jobs wait for cores, or cores for jobs.
func (h *Hypervisor) changed() {
	h.negotiator.Changed()
	h.look()
}

// look sees to what is to be done when all that has come is through.
func (h *Hypervisor) look() {
	if !h.looking {
		h.looking = true
		h.runner.Call(h.next)
	}
}

// next gives and takes cores, or makes an offer. What the machine doesn't take because something
// has come between has called changed.
func (h *Hypervisor) next() {
	h.looking = false
	h.meter.waits(h.Clock.Now(), h.machine.Jobs(nil))
	for _, ev := range h.negotiator.Next(h.machine.Phase(), h.view, h.now()) {
		if h.look(); ev.Kind == invasive.OfferMade {
			h.runner.Answer(h.open, ev)
		} else {
			h.runner.Post(ev)
		}
	}
}

// tick looks for what time alone changes.
func (h *Hypervisor) tick() {
	now := h.Clock.Now()
	for id, s := range h.stubborn {
		if !s.until.After(now) {
			delete(h.stubborn, id)
			h.changed()
		}
	}
	ours := h.Launcher == nil || h.nodes != nil // to end at their limits
	for id, r := range h.runs {
		at, ok := h.launcher.Started(id)
		if limit := time.Duration(r.job.Limit) * time.Second; ours && ok && limit > 0 && !r.ending && now.Sub(at) >= limit {
			h.Log.Info("a job has reached its limit", "job", uint64(id))
			h.end(r)
		}
	}
	if h.Grow {
		h.negotiator.Changed()
	}
	h.look()
}
