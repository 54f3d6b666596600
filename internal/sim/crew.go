// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// CrewOptions say how malleable jobs take nodes and give them back. As docs/crew.md has it, a
// malleable job is a lead, a job of its fewest nodes, and companions, which it asks for while it
// runs: jobs of one node each, of a lower tier than all jobs of the workload.
type CrewOptions struct {
	// Reconfigure is for how many seconds a job does nothing after a change of its nodes, 0 to
	// 3600. A node that it gives back is free after as many.
	Reconfigure int64
	// Limit is the time limit of a companion, in seconds: more than Reconfigure.
	Limit int64
}

// DefaultCrews has changes take a second, what the slowest of examples/heat's took, rounded, and
// companions of an hour.
func DefaultCrews() CrewOptions { return CrewOptions{Reconfigure: 1, Limit: 3600} }

// Validate reports the first setting that is out of its range.
func (o *CrewOptions) Validate() error {
	switch {
	case o.Reconfigure < 0 || o.Reconfigure > 3600:
		return fmt.Errorf("reconfiguration: %d: must be between 0 and 3600 seconds", o.Reconfigure)
	case o.Limit <= o.Reconfigure || o.Limit > maxTime:
		return fmt.Errorf("companions' limit: %d: must be between %d and %d seconds", o.Limit, o.Reconfigure+1, int64(maxTime))
	}
	return nil
}

// Pauses in seconds before a place is asked for again, as in package crew.
const (
	firstPause = 10
	lastPause  = 600
)

// maxCompanions bounds those of all jobs together.
const maxCompanions = 1 << 24

// speed is how much of its work a job does in a second on so many nodes, one node doing 1: Amdahl's
// law with so many thousandths that are not parallel.
func speed(nodes, serial int) float64 {
	return 1000 * float64(nodes) / float64(serial*nodes+MaxSerial-serial)
}

// crew is a malleable job. It is said of the moment when it is looked at.
type crew struct {
	job   *workload.Job // as it came
	alone int64         // for how many seconds it would run as it came
	asks  int           // nodes that it asks for there
	lead  int32         // number of the job that is its lead
	first int32         // and of the first of its companions

	nodes     int     // that work
	left      float64 // of its work
	from      int64   // it has done nothing since the last change until then
	changed   int64   // when that was
	worked    int64   // node seconds in which it did something
	held      int64   // and in which companions that are over held nodes
	changes   int
	preempted int
	starts    int // of companions
	over      bool
	members   []companion
}

// companion is one place beyond a crew's fewest nodes.
type companion struct {
	running, leaving bool
	since            int64
	pause            int64 // before it is asked for again
}

// advance has the work done that is done by then.
func (c *crew) advance(at int64, serial int) {
	if at > c.from {
		c.left -= float64(float64(at-c.from) * speed(c.nodes, serial))
		c.worked += (at - c.from) * int64(c.nodes)
		c.from = at
	}
}

// end is when the work is done, if nothing changes.
func (c *crew) end(serial int) int64 {
	seconds := math.Ceil(c.left/speed(c.nodes, serial) - 1e-9)
	return c.from + int64(max(seconds, 1))
}

// crews are the malleable jobs of a simulation; nil: there are none.
type crews struct {
	opt              CrewOptions
	serial           int
	byJob            []*crew // by number of job
	lift             int     // by how many bits priorities are raised, for there must be some below
	asks             endHeap // when companions are submitted
	books            *crewReferee
	use              CrewUse
	malleable, rigid times
}

func (cs *crews) of(number int32) *crew {
	if cs == nil {
		return nil
	}
	return cs.byJob[number]
}

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
	slower := speed(n, s.cfg.Serial) / speed(j.Span.Least, s.cfg.Serial)
	lead.TimeLimit = int64(min(math.Ceil(float64(j.TimeLimit)*slower), maxTime))
	j.crew = &crew{job: j.Job, alone: j.nominal, asks: n, lead: i, left: float64(j.nominal) * speed(n, s.cfg.Serial)}
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
	cs := &crews{opt: s.cfg.Crews, serial: s.cfg.Serial, byJob: make([]*crew, s.total+companions), books: newCrewReferee(&s.cfg)}
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
	if err := cs.books.start(c.lead, i, c.job, s.now); err != nil {
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
	return s.crews.books.leave(c.lead, i, at)
}

// part is what the end of a job means for its crew, and whether it is over: a companion at
// its limit leaves first.
func (s *simulator) part(e ending) (over bool, err error) {
	c := s.crews.of(e.number)
	switch {
	case c == nil:
		return true, nil
	case e.number == c.lead:
		return true, s.disband(c, e.at)
	}
	m := &c.members[e.number-c.first]
	if !m.leaving {
		return false, s.withdraw(c, e.number, e.at)
	}
	m.running = false
	c.held += e.at - m.since
	if !c.over {
		if e.at-m.since > lastPause {
			m.pause = firstPause
		}
		s.crews.asks.push(ending{e.at + m.pause, e.number})
		m.pause = min(2*m.pause, lastPause)
	}
	return true, s.crews.books.free(c.lead, e.number, e.at)
}

// disband ends the companions of a crew whose lead ends, those that wait too.
func (s *simulator) disband(c *crew, at int64) error {
	c.advance(at, s.crews.serial)
	c.over = true
	for k := range c.members {
		if m := &c.members[k]; m.running {
			m.leaving = true
			if err := s.end(ending{at, c.first + int32(k)}); err != nil {
				return err
			}
		}
	}
	numbers := s.pending.numbers()
	for k := len(numbers) - 1; k >= 0; k-- {
		if numbers[k] != c.lead && s.crews.of(numbers[k]) == c {
			j := s.pending.jobs()[k]
			s.meter.stranded.start(&j.Request)
			s.spare = append(s.spare, j)
			s.pending.remove(k)
			numbers = s.pending.numbers()
		}
	}
	return s.crews.books.end(c.lead, at)
}

// nextAsk is when the next companion is submitted.
func (cs *crews) nextAsk() (at int64, ok bool) {
	if cs == nil {
		return 0, false
	}
	for len(cs.asks) > 0 && cs.byJob[cs.asks[0].number].over {
		cs.asks.pop()
	}
	if len(cs.asks) == 0 {
		return 0, false
	}
	return cs.asks[0].at, true
}

// ask submits the companions that are asked for by now.
func (s *simulator) ask() error {
	for at, ok := s.crews.nextAsk(); ok && at <= s.now; at, ok = s.crews.nextAsk() {
		number := s.crews.asks.pop().number
		s.jobs[number].Submit = at
		if err := s.submit(number); err != nil {
			return err
		}
	}
	return nil
}

// beginSeconds is what a run needs to begin, and worthPart which part of the least start's worth
// all prices are together: slurmplugin/shape.c.
const (
	beginSeconds = 60
	worthPart    = 8
)

// price says at which prices companions bid for their places: the plug-in's, in proportion to cores
// and the time that they have run, and all together less than what the least start is worth where
// that is its priority.
func (s *simulator) price() {
	if s.crews == nil {
		return
	}
	least, all := int64(0), 0.0
	for _, j := range s.pending.jobs() {
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

// Soonest are jobs of which the malleable ones are as short as they can be on any of their numbers
// of nodes, and as little work: what bounds the runtime of these bounds that of the malleable ones.
func Soonest(jobs []workload.Job, serial int) []workload.Job {
	out := slices.Clone(jobs)
	for i := range out {
		j := &out[i]
		if j.Span == (workload.Span{}) {
			continue
		}
		n := j.Cores
		if j.TasksPerNode > 0 {
			n = max(j.MinNodes, 1)
		}
		least := float64(j.Span.Least) / speed(j.Span.Least, serial) / float64(n)
		j.Duration = int64(float64(min(j.Duration, j.TimeLimit)) * speed(n, serial) * min(1/speed(j.Span.Most, serial), least))
	}
	return out
}
