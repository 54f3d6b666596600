// SPDX-License-Identifier: BSD-3-Clause

package crews

import (
	"container/heap"
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// maxCompanions bounds those of all jobs together.
const maxCompanions = 1 << 24

// maxTime bounds all times of a workload, as in sim.
const maxTime = 1 << 50

// Pauses in seconds before a place is asked for again, as in package crew.
const (
	firstPause = 10
	lastPause  = 600
)

// Admit implements [sim.Crews].
func (cs *crews) Admit(number int32, j *workload.Job, alone int64) (*workload.Job, int, error) {
	n, serial := generate.Places(j, generate.SingleCores(cs.cfg.Nodes)), cs.cfg.Serial
	if span := j.Span; n == 0 || span.Least < 1 || span.Least > n || span.Most < n {
		return nil, 0, fmt.Errorf("span: %d-%d nodes: must be around the %d like nodes that it asks for", span.Least, span.Most, n)
	}
	lead := *j
	lead.Request = generate.OnNodes(j, j.Span.Least)
	slower := Speed(n, serial) / Speed(j.Span.Least, serial)
	lead.TimeLimit = int64(min(math.Ceil(float64(j.TimeLimit)*slower), maxTime))
	cs.leads = append(cs.leads, &crew{job: j, lead: number, left: float64(alone) * Speed(n, serial)})
	return &lead, n, nil
}

// Begin implements [sim.Crews].
func (cs *crews) Begin(h sim.Hand, order []int32) (companions int, err error) {
	total, most := h.Jobs(), int64(1)
	cs.hand, cs.byJob = h, make([]*crew, total)
	for _, c := range cs.leads {
		cs.byJob[c.lead] = c
	}
	for _, i := range order {
		most = max(most, h.Priority(i))
		if c := cs.byJob[i]; c != nil {
			c.first = int32(total + companions)
			companions += c.job.Span.Most - c.job.Span.Least
		}
		if companions > maxCompanions {
			return 0, fmt.Errorf("malleable jobs: more than %d companions", maxCompanions)
		}
	}
	switch {
	case companions == 0:
		return 0, nil
	case cs.cfg.Priorities != nil:
		return 0, errors.New("malleable jobs: their companions have no place among priorities that change")
	case cs.cfg.Release > 0:
		return 0, errors.New("malleable jobs: not with nodes that are free later than their jobs end")
	}
	if err := cs.opt.Validate(); err != nil {
		return 0, err
	}
	cs.books = cs.opt.Books(cs.opt.Reconfigure, cs.cfg.Serial, generate.SingleCores(cs.cfg.Nodes), cs.cfg.KillAtLimit)
	for most<<(cs.lift+1) <= core.MaxPriority {
		cs.lift++
	}
	cs.byJob = append(cs.byJob, make([]*crew, companions)...)
	for _, i := range order {
		if c := cs.byJob[i]; c != nil {
			for k := range c.job.Span.Most - c.job.Span.Least {
				cs.byJob[c.first+int32(k)] = c
			}
		}
	}
	return companions, nil
}

// Lift implements [sim.Crews]: jobs of the workload are above all companions.
func (cs *crews) Lift(j *core.Job) {
	j.Priority <<= cs.lift
	j.Preempts = 1
}

// Start implements [sim.Crews].
func (cs *crews) Start(number int32) (until int64, err error) {
	c, now := cs.byJob[number], cs.hand.Now()
	if err := cs.books.Start(c.lead, number, c.job, now); err != nil {
		return 0, err
	}
	if number == c.lead {
		cs.form(c)
		return c.end(cs.cfg.Serial), nil
	}
	m := &c.members[number-c.first]
	m.running, m.leaving, m.since = true, false, now
	c.starts++
	cs.change(c, now, 1)
	return now + cs.opt.Limit - cs.opt.Reconfigure, nil
}

// form begins a crew: it asks for companions at once.
func (cs *crews) form(c *crew) {
	now := cs.hand.Now()
	c.nodes, c.from, c.changed = c.job.Span.Least, now, now
	c.members = make([]companion, c.job.Span.Most-c.job.Span.Least)
	for k := range c.members {
		number := c.first + int32(k)
		cs.hand.Hire(number, &workload.Job{Job: core.Job{ID: fmt.Sprintf("%s/%d", c.job.ID, k+1), Request: generate.OnNodes(c.job, 1),
			Priority: 1, TimeLimit: cs.opt.Limit}, Duration: cs.opt.Limit, User: c.job.User})
		c.members[k].pause = firstPause
		heap.Push(&cs.asks, ask{now + 1, number})
	}
}

// change has a crew work on more nodes, or fewer, from then on.
func (cs *crews) change(c *crew, at int64, by int) {
	c.advance(at, cs.cfg.Serial)
	if c.nodes += by; c.changed < at {
		c.changes++
	}
	c.changed, c.from = at, at+cs.opt.Reconfigure
	cs.hand.EndAt(c.lead, c.end(cs.cfg.Serial))
}

// withdraw has a companion give its node back.
func (cs *crews) withdraw(c *crew, i int32, at int64) error {
	c.members[i-c.first].leaving = true
	cs.hand.Leave(i, at+cs.opt.Reconfigure)
	if at >= cs.hand.Due(c.lead) { // its work is done
		return nil
	}
	cs.change(c, at, -1)
	return cs.books.Leave(c.lead, i, at)
}

// Stop implements [sim.Crews].
func (cs *crews) Stop(number int32) error {
	c := cs.byJob[number]
	if c.members[number-c.first].leaving {
		return nil
	}
	c.preempted++
	return cs.withdraw(c, number, cs.hand.Now())
}

// Price implements [sim.Crews]. Companions bid for their places at the plug-in's prices: in proportion
// to cores and the time that they have run, and all together less than what the least start is worth
// where that is its priority.
func (cs *crews) Price(pending []*core.Job, running []core.Running) {
	least, all := int64(0), 0.0
	for _, j := range pending {
		if j.Preempts != 0 && (least == 0 || j.Priority < least) {
			least = j.Priority
		}
	}
	member := func(i int) *companion {
		number := cs.hand.Number(i)
		c := cs.byJob[number]
		if c == nil || number == c.lead {
			return nil
		}
		return &c.members[number-c.first]
	}
	loss := func(i int) float64 {
		m := member(i)
		if m == nil {
			return 0
		}
		return float64(running[i].Segs[0].Cores) * float64(beginSeconds+cs.hand.Now()-m.since)
	}
	for i := range running {
		all += loss(i)
	}
	for i := range running {
		l, h := loss(i), &running[i]
		if h.Price = 0; l == 0 {
			continue
		}
		h.Price = 1
		if !member(i).leaving {
			h.Price = max(2, int64(float64(least)/worthPart*l/all))
		}
	}
}

// End implements [sim.Crews]: a companion at its limit leaves first.
func (cs *crews) End(number int32, at int64) (over bool, err error) {
	c := cs.byJob[number]
	if number == c.lead {
		return true, cs.disband(c, at)
	}
	m := &c.members[number-c.first]
	if !m.leaving {
		return false, cs.withdraw(c, number, at)
	}
	m.running = false
	c.held += at - m.since
	if !c.over {
		if at-m.since > lastPause {
			m.pause = firstPause
		}
		heap.Push(&cs.asks, ask{at + m.pause, number})
		m.pause = min(2*m.pause, lastPause)
	}
	return true, cs.books.Free(c.lead, number, at)
}

// disband ends the companions of a crew whose lead ends, those that wait too.
func (cs *crews) disband(c *crew, at int64) error {
	c.advance(at, cs.cfg.Serial)
	c.over = true
	for k := range c.members {
		if m := &c.members[k]; m.running {
			m.leaving = true
			if err := cs.hand.End(c.first+int32(k), at); err != nil {
				return err
			}
		}
	}
	cs.hand.Withdraw(func(number int32) bool { return number != c.lead && cs.byJob[number] == c })
	return cs.books.End(c.lead, at)
}

// Ask implements [sim.Crews].
func (cs *crews) Ask() error {
	for at, ok := cs.Next(); ok && at <= cs.hand.Now(); at, ok = cs.Next() {
		if err := cs.hand.Submit(heap.Pop(&cs.asks).(ask).number, at); err != nil {
			return err
		}
	}
	return nil
}
