// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// maxCompanions bounds those of all jobs together.
const maxCompanions = 1 << 24

// Pauses in seconds before a place is asked for again, as in package crew.
const (
	firstPause = 10
	lastPause  = 600
)

// admitCrew makes the lead of a job that is malleable.
func (s *simulator) admitCrew(i int32) error {
	j := &s.jobs[i]
	if j.Span == (workload.Span{}) {
		return nil
	}
	n := workload.Places(j.Job, workload.SingleCores(s.cfg.Nodes))
	if span := j.Span; n == 0 || span.Least < 1 || span.Least > n || span.Most < n {
		return fmt.Errorf("span: %d-%d nodes: must be around the %d like nodes that it asks for", span.Least, span.Most, n)
	}
	lead := *j.Job
	lead.Request = j.OnNodes(j.Span.Least)
	slower := Speed(n, s.cfg.Serial) / Speed(j.Span.Least, s.cfg.Serial)
	lead.TimeLimit = int64(min(math.Ceil(float64(j.TimeLimit)*slower), maxTime))
	j.crew = &crew{job: j.Job, alone: j.nominal, asks: n, lead: i, left: float64(j.nominal) * Speed(n, s.cfg.Serial)}
	j.Job = &lead
	return nil
}

// makeCrews makes room for the companions of all jobs that are malleable.
func (s *simulator) makeCrews() error {
	companions, most := 0, int64(1)
	for _, i := range s.order {
		most = max(most, s.jobs[i].Priority)
		if c := s.jobs[i].crew; c != nil {
			c.first = int32(s.total + companions)
			companions += c.job.Span.Most - c.job.Span.Least
		}
		if companions > maxCompanions || s.total+companions > math.MaxInt32 {
			return fmt.Errorf("malleable jobs: more than %d companions", maxCompanions)
		}
	}
	if companions == 0 {
		return nil
	}
	if s.cfg.Priorities != nil {
		return errors.New("malleable jobs: their companions have no place among priorities that change")
	}
	if s.cfg.Release > 0 {
		return errors.New("malleable jobs: not with nodes that are free later than their jobs end")
	}
	if err := s.cfg.Crews.Validate(); err != nil {
		return err
	}
	cs := &crews{opt: s.cfg.Crews, serial: s.cfg.Serial, byJob: make([]*crew, s.total+companions)}
	cs.books = cs.opt.Books(cs.opt.Reconfigure, cs.serial, workload.SingleCores(s.cfg.Nodes), s.cfg.KillAtLimit)
	for most<<(cs.lift+1) <= core.MaxPriority {
		cs.lift++
	}
	s.jobs = append(s.jobs, make([]job, companions)...)
	s.slot, s.due = append(s.slot, make([]int32, companions)...), append(s.due, make([]int64, companions)...)
	for _, i := range s.order {
		if c := s.jobs[i].crew; c != nil {
			cs.byJob[i] = c
			for k := range c.job.Span.Most - c.job.Span.Least {
				cs.byJob[c.first+int32(k)] = c
			}
		}
	}
	s.crews = cs
	return nil
}

// tier puts the job of that number above all companions, or below all jobs.
func (s *simulator) tier(i int32, j *core.Job) {
	if s.crews != nil && int(i) < s.total {
		j.Priority <<= s.crews.lift
		j.Preempts = 1
	}
}

// join has the job of that number work as a part of its crew, and returns until when, as far as is
// known.
func (s *simulator) join(c *crew, i int32) (until int64, err error) {
	cs := s.crews
	if err := cs.books.Start(c.lead, i, c.job, s.now); err != nil {
		return 0, err
	}
	if i == c.lead {
		s.form(c)
		return c.end(cs.serial), nil
	}
	m := &c.members[i-c.first]
	m.running, m.leaving, m.since = true, false, s.now
	c.starts++
	s.change(c, s.now, 1)
	return s.now + cs.opt.Limit - cs.opt.Reconfigure, nil
}

// form begins a crew: it asks for companions at once.
func (s *simulator) form(c *crew) {
	c.nodes, c.from, c.changed = c.job.Span.Least, s.now, s.now
	c.members = make([]companion, c.job.Span.Most-c.job.Span.Least)
	for k := range c.members {
		j := workload.Job{Job: core.Job{ID: fmt.Sprintf("%s/%d", c.job.ID, k+1), Request: c.job.OnNodes(1), Priority: 1,
			TimeLimit: s.cfg.Crews.Limit}, Duration: s.cfg.Crews.Limit, User: c.job.User}
		number := c.first + int32(k)
		s.jobs[number] = job{&j, j.Duration, c}
		c.members[k].pause = firstPause
		s.crews.asks.push(ending{s.now + 1, number})
	}
}

// change has a crew work on more nodes, or fewer, from then on.
func (s *simulator) change(c *crew, at int64, by int) {
	c.advance(at, s.crews.serial)
	if c.nodes += by; c.changed < at {
		c.changes++
	}
	c.changed, c.from = at, at+s.crews.opt.Reconfigure
	s.endAt(c.lead, c.end(s.crews.serial))
}

// withdraw has a companion give its node back.
func (s *simulator) withdraw(c *crew, i int32, at int64) error {
	c.members[i-c.first].leaving = true
	free := at + s.crews.opt.Reconfigure
	s.held[s.slot[i]].End = free
	s.endAt(i, free)
	if at >= s.due[c.lead] { // its work is done
		return nil
	}
	s.change(c, at, -1)
	return s.crews.books.Leave(c.lead, i, at)
}

// price says at which prices companions bid for their places: the plug-in's, in proportion to cores
// and the time that they have run, and all together less than what the least start is worth where
// that is its priority.
func (s *simulator) price() {
	if s.crews == nil {
		return
	}
	least, all := int64(0), 0.0
	for _, j := range s.pending.jobs {
		if j.Preempts != 0 && (least == 0 || j.Priority < least) {
			least = j.Priority
		}
	}
	loss := func(i int) float64 {
		c, number := s.crews.of(s.running[i].number), s.running[i].number
		if c == nil || number == c.lead {
			return 0
		}
		return float64(s.held[i].Segs[0].Cores) * float64(beginSeconds+s.now-c.members[number-c.first].since)
	}
	for i := range s.running {
		all += loss(i)
	}
	for i := range s.running {
		l, h := loss(i), &s.held[i]
		if h.Price = 0; l == 0 {
			continue
		}
		h.Price = 1
		if c, number := s.crews.of(s.running[i].number), s.running[i].number; !c.members[number-c.first].leaving {
			h.Price = max(2, int64(float64(least)/worthPart*l/all))
		}
	}
}

// stopped has the companions leave that the plan preempts, and returns which jobs of the queue wait
// for that. These are decided on again.
func (s *simulator) stopped() (waits map[int]bool, err error) {
	for _, x := range s.plan.Preempted {
		if x.Running < 0 || x.Running >= len(s.running) || s.held[x.Running].Price == 0 {
			return nil, fmt.Errorf("running job %d of %d is to be stopped, and has no price", x.Running, len(s.running))
		}
		if waits == nil {
			waits = make(map[int]bool)
		}
		for _, j := range x.For {
			waits[j] = true
		}
		number := s.running[x.Running].number
		if c := s.crews.of(number); !c.members[number-c.first].leaving {
			c.preempted++
			if err := s.withdraw(c, number, s.now); err != nil {
				return nil, err
			}
		}
	}
	return waits, nil
}
