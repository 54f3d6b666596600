// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// reclaim takes cores from a job: a shrinking one is asked, and answers; the others aren't asked.
func (h *Hypervisor) reclaim(a *invasive.Action) {
	r, id, cores := h.runs[a.ID], a.ID, a.Cores
	if r == nil {
		return // it has just ended, and the machine is about to hear of it
	}
	h.Log.Info("takes cores back", "job", uint64(id), "cores", len(cores), "how", int(a.How))
	switch a.How {
	case invasive.Shrink:
		r.asked = cores
		r.asks++
		ask := r.asks
		h.tell(r)
		r.wait = h.Clock.AfterFunc(h.ShrinkTime, func() {
			h.runner.Call(func() { h.silent(r, ask) })
		})
	case invasive.Suspend:
		r.work.Do(&h.workers, func() {
			if err := h.launcher.Halt(id); err != nil {
				h.complain(id, err)
				h.runner.Call(func() { h.unhalted(r) })
				return
			}
			h.freed(invasive.Event{Kind: invasive.Released, ID: id, Cores: cores})
		})
	default:
		h.end(r)
	}
}

// unhalted: a job that can't be halted goes on where it was.
func (h *Hypervisor) unhalted(r *run) {
	id := r.job.ID
	h.stubbornly(id, invasive.Suspend)
	cpus := h.Topology.cpusOf(h.held(id).Cores)
	r.work.Do(&h.workers, func() {
		h.complain(id, h.launcher.Confine(id, cpus, false))
		h.runner.Post(invasive.Event{Kind: invasive.Kept, ID: id})
	})
}

// said is a line of a job.
func (h *Hypervisor) said(id invasive.JobID, req malleable.Request) {
	r := h.runs[id]
	if r == nil {
		return
	}
	answers := r.asked != nil && req.Number == r.number
	switch req.Verb {
	case malleable.Hello:
		r.connected = true
		h.tell(r)
	case malleable.Gone:
		r.connected = false
	case malleable.Done:
		if answers {
			h.letGo(r)
		}
	case malleable.Keep:
		if answers {
			h.Log.Info("a job keeps its cores", "job", uint64(id), "why", req.Text)
			r.stopWaiting()
			h.stubbornly(id, invasive.Shrink)
			h.runner.Post(invasive.Event{Kind: invasive.Kept, ID: id})
		}
	case malleable.Want:
		if r.job.Flex == invasive.Evolving || r.job.Flex == invasive.Malleable {
			h.wishes[id] = req.Number
			h.changed()
		}
	}
}

// letGo keeps a job off the cores that it has let go of, and frees them then.
func (h *Hypervisor) letGo(r *run) {
	id, cores := r.job.ID, r.asked
	r.stopWaiting()
	r.leaving = cores
	cpus := h.Topology.cpusOf(without(h.held(id).Cores, cores))
	r.work.Do(&h.workers, func() {
		err := h.launcher.Confine(id, cpus, false)
		h.complain(id, err)
		if err == nil {
			h.freed(invasive.Event{Kind: invasive.Released, ID: id, Cores: cores})
		} else {
			h.runner.Call(func() { h.stubbornly(id, invasive.Shrink) })
			h.runner.Post(invasive.Event{Kind: invasive.Kept, ID: id})
		}
		h.runner.Call(func() { r.leaving = nil })
	})
}

// silent: a job hasn't answered in time.
func (h *Hypervisor) silent(r *run, ask int) {
	id := r.job.ID
	if h.runs[id] != r || r.asked == nil || r.asks != ask {
		return
	}
	h.Log.Warn("a job doesn't say whether it lets go of cores", "job", uint64(id))
	r.stopWaiting()
	h.stubbornly(id, invasive.Shrink)
	h.tell(r) // an answer that comes now is to the question before, and counts no more
	h.runner.Post(invasive.Event{Kind: invasive.Kept, ID: id})
	if h.Silent == invasive.Suspend || h.Silent == invasive.Kill {
		h.runner.Call(func() {
			h.runner.Post(invasive.Event{Kind: invasive.Take, ID: id, Cores: h.held(id).Cores, How: h.Silent})
		})
	}
}
