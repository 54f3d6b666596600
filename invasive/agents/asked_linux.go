// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
)

// An asked is a command that a job has asked for. It belongs to the Head's lock.
type asked struct {
	job   invasive.JobID
	node  *node         // where it runs
	place int           // its core, of the partition and
	core  int           // of the node
	run   *crew.Command // nil: it was found there
	from  *node         // where somebody waits for it; nil: not known
	when  uint64        // of from's times of joining
	off   waits
	done  bool
	// how it has ended
	status int
}

// waits says whether somebody waits for a command.
type waits uint8

const (
	waited  waits = iota
	doubted       // nobody has asked again in time: it is ended, but known
	unasked       // who waited has gone: it is ended and forgotten
)

// mostAsked bounds the commands of all jobs.
const mostAsked = 100_000

// order has a command begun, or ended.
func (c *asked) order(key uint64) order {
	r := ref{c.job, key}
	switch {
	case c.off != waited:
		return order{Stop: &stop{r, c.off == doubted}}
	case c.run == nil: // it has begun
		return order{}
	}
	return order{Start: &start{ref: r, Core: c.core, Run: *c.run}}
}

// on is a node that asks for a command, perhaps again.
func (h *Head) on(from *node, o *on) {
	c := h.commands[o.Key]
	if c != nil && c.job == o.Job {
		c.from, c.when, c.off = from, from.joined, waited
		if c.done {
			from.tell(order{Answer: &answer{Key: o.Key, Status: c.status}})
		}
		return
	}
	refuse := func(why string, args ...any) {
		from.tell(order{Answer: &answer{Key: o.Key, Status: crew.LostStatus, Error: fmt.Sprintf(why, args...)}})
	}
	j := h.jobs[o.Job]
	switch {
	case !isKey(o.Key):
		refuse("key %d", o.Key)
	case j == nil || j.dead:
		refuse("job %d is over", o.Job)
	case !j.has(o.Place):
		refuse("place %d is not the job's", o.Place)
	case c != nil:
		refuse("key %d is another job's", o.Key)
	case len(h.commands) >= mostAsked:
		refuse("%d commands run", len(h.commands))
	default:
		size := int(h.shape.size())
		c = &asked{job: o.Job, node: h.nodes[o.Place/size], place: o.Place, core: o.Place % size,
			run: &o.Run, from: from, when: from.joined}
		h.commands[o.Key] = c
		c.node.tell(c.order(o.Key))
	}
}

// ran notes how a command has ended, and tells who waits for it.
func (h *Head) ran(key uint64, c *asked, status int) {
	c.done, c.status = true, status
	switch {
	case c.off == unasked:
		h.thank(key, c)
	case c.from != nil:
		c.from.tell(order{Answer: &answer{Key: key, Status: status}})
	}
}

// off notes that nobody waits for a command any more: it is ended.
func (h *Head) off(key uint64, c *asked, off waits) {
	c.off = off
	switch {
	case !c.done:
		c.node.tell(c.order(key))
	case off == unasked:
		h.thank(key, c)
	}
}

// thank forgets a command, here and on its node.
func (h *Head) thank(key uint64, c *asked) {
	c.node.tell(order{Thank: &ref{c.job, key}})
	delete(h.commands, key)
}

// has is a command that runs on a node, or has ended there. An earlier head has asked for it.
func (h *Head) has(n *node, r *ref) {
	j := h.jobs[r.Job]
	switch {
	case r.Job == 0 || isCommand(r.Job) || !isKey(r.Key):
		return
	case j == nil: // it was over before the node said so
		n.tell(order{Drop: r.Job})
		return
	}
	if j.parts[n.number] == nil {
		j.parts[n.number] = &state{} // it is to forget it in the end
	}
	if h.commands[r.Key] != nil || len(h.commands) >= mostAsked {
		return
	}
	c := &asked{job: r.Job, node: n}
	h.commands[r.Key] = c
	time.AfterFunc(h.LostAfter, func() { // who waits for it asks as soon as it can
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.commands[r.Key] == c && c.from == nil {
			h.off(r.Key, c, doubted)
		}
	})
}

// askTime is how long those who wait on a node that has come back have to say so.
const askTime = 30 * time.Second

// expectAsks ends the commands that nobody on a node waits for any more.
func (h *Head) expectAsks(n *node) {
	joined := n.joined
	time.AfterFunc(askTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for key, c := range h.commands {
			if c.from == n && c.when != joined && n.joined == joined && n.link != nil {
				h.off(key, c, doubted)
			}
		}
	})
}
