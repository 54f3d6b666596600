// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/queue"
)

// A happening is what comes at a time; those of one time come in the order in
// which they were planned.
type happening struct {
	at   time.Duration
	seq  uint64
	what func() error
}

type agenda []happening

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), cmp.Compare(a[i].seq, a[j].seq)) < 0
}
func (a *agenda) Push(x any) { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = happening{}
	*a = (*a)[:len(*a)-1]
	return last
}

// A system is both sides and the jobs.
type system struct {
	ctx     context.Context
	cfg     Config
	now     time.Duration
	moment  int // happenings since time passed
	seq     uint64
	agenda  agenda
	agent   *invasive.Agent
	hyper   *invasive.Hypervisor
	manager *manager
	queue   *queue.Queue
	mapper  *queue.Mapper
	timers  [2]uint64 // the number of each side's timer; a timer of another number is void
	decides uint64    // the number of the decision that is asked for
	jobs    []run
	left    int // jobs that haven't ended
	told    int // jobs of which the iScheduler knows the end
	active  int // jobs that run
	idle    int // repeats since any did, or came
	judge   *referee
	count   counts
	waiting []*invasive.Job
	entries []queue.Entry
	failed  error
}

// A run is a job's life.
type run struct {
	Job
	job        *invasive.Job
	done       float64 // work
	from       time.Duration
	cores      int
	number     uint64 // of the planned end, or wish
	wished     int    // how many of its Wishes it has said
	asked      []uint32
	how        invasive.How
	start, end time.Duration
	launched   bool
	over       bool
	killed     bool
	told       bool
}

// maxIdle is how many offers in vain, while nothing runs and no job is to come, are enough.
const maxIdle = 100

// maxMoment is how much may happen while no time passes.
const maxMoment = 100_000

// counts are of events.
type counts struct {
	transactions, offers, rejected, messages, saves int
	shrinks, grows, suspensions, kills, wishes      int
}

// Run simulates jobs until all have ended. They may be in any order. It fails for a job
// that the partition can't run, for settings that are out of range, if the referee finds a
// fault, and when ctx ends.
func Run(ctx context.Context, cfg Config, jobs []Job) (*Result, error) {
	s, err := newSystem(ctx, cfg, jobs)
	if err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("at %v: %w", s.now, err)
	}
	return s.result(), nil
}

func newSystem(ctx context.Context, cfg Config, jobs []Job) (*system, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, errors.New("the workload has no jobs")
	}
	mapper, err := queue.NewMapper(cfg.Queue)
	if err != nil {
		return nil, err
	}
	terms := invasive.Terms{Attempts: cfg.Attempts, Reply: 2*cfg.Latency + cfg.Think + time.Minute, Report: cfg.Report}
	s := &system{ctx: ctx, cfg: cfg, mapper: mapper, queue: queue.New(len(jobs)), left: len(jobs),
		agent: invasive.NewAgent(terms, nil), jobs: make([]run, len(jobs)), judge: newReferee(&cfg.Partition, cfg.ResizeCost)}
	for i := range jobs {
		if err := s.plan(i, &jobs[i]); err != nil {
			return nil, fmt.Errorf("job %d: %w", i+1, err)
		}
	}
	terms.Partition = cfg.Partition
	var first []invasive.Action
	s.hyper, first = invasive.NewHypervisor(terms, nil, nil, nil)
	s.manager = newManager(&cfg, s.hyper)
	s.actHyper(first)
	s.stepHyper(invasive.Event{Kind: invasive.Start})
	s.stepAgent(invasive.Event{Kind: invasive.Start})
	s.tickLater()
	s.reportLater()
	return s, s.failed
}

// plan has a job come at its time.
func (s *system) plan(i int, j *Job) error {
	p := &s.cfg.Partition
	r := &s.jobs[i]
	r.Job, r.job = *j, j.job(invasive.JobID(i+1))
	switch {
	case j.Submit < 0 || j.Duration <= 0 || j.Limit < j.Duration:
		return fmt.Errorf("submitted at %v for %v with a limit of %v: must be positive, and ascend", j.Submit, j.Duration, j.Limit)
	case uint64(j.MinCores) > p.Cores() || uint64(j.Cores) > p.Cores() || j.MinNodes > p.Nodes:
		return fmt.Errorf("needs %d cores on %d nodes: the partition has %d on %d", j.MinCores, j.MinNodes, p.Cores(), p.Nodes)
	case j.MaxNodes > 0 && uint64(j.MaxNodes)*uint64(p.Sockets*p.CoresPerSocket) < uint64(j.MinCores):
		return fmt.Errorf("needs %d cores on %d nodes: a node has %d", j.MinCores, j.MaxNodes, p.Sockets*p.CoresPerSocket)
	}
	if err := r.job.Check(); err != nil {
		return err
	}
	for k, w := range j.Wishes {
		if j.Kind != invasive.Evolving || w.Cores < j.MinCores || w.Cores > j.MaxCores ||
			!(w.Done >= 0 && w.Done <= 1) || k > 0 && w.Done < j.Wishes[k-1].Done {
			return fmt.Errorf(
				"wish %d, of %d cores when %g of the work is done: must be of an evolving job, "+
					"%d to %d cores, and from 0 to 1 ascending", k+1, w.Cores, w.Done, j.MinCores, j.MaxCores)
		}
	}
	s.at(j.Submit, func() error {
		if err := s.queue.Add(queue.Entry{Job: r.job, Submitted: j.Submit}); err != nil {
			return err
		}
		s.idle = 0
		s.stepAgent(invasive.Event{Kind: invasive.Submit, Job: r.job})
		return nil
	})
	return nil
}

func (s *system) at(t time.Duration, what func() error) {
	s.seq++
	heap.Push(&s.agenda, happening{t, s.seq, what})
}

func (s *system) after(d time.Duration, what func() error) { s.at(s.now+d, what) }

func (s *system) fail(err error) { s.failed = cmp.Or(s.failed, err) }

// run has one thing happen after the other.
func (s *system) run() error {
	for n := 0; s.left > 0 || s.told < len(s.jobs); n++ {
		if len(s.agenda) == 0 {
			return fmt.Errorf("%d jobs are left, and nothing will happen", s.left)
		}
		if n%256 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		h := heap.Pop(&s.agenda).(happening)
		if h.at < s.now {
			return fmt.Errorf("time goes back to %v", h.at)
		}
		if s.judge.pass(h.at); h.at > s.now {
			s.moment = 0
		}
		if s.moment++; s.moment > maxMoment {
			return errors.New("cores go to and fro while no time passes")
		}
		s.now = h.at
		s.fail(h.what())
		if s.active > 0 {
			s.idle = 0
		}
		if len(s.agenda) == 0 || s.agenda[0].at > s.now {
			s.settle()
		}
		if s.failed != nil {
			return s.failed
		}
	}
	return s.judge.finish(s.jobs)
}

// settle lets the iHypervisor do what it wants to when all of a moment is through.
func (s *system) settle() {
	for range 1000 {
		evs := s.manager.tick(s.now)
		if len(evs) == 0 {
			return
		}
		s.answer(evs...)
	}
	s.fail(errors.New("the iHypervisor's decisions don't come to an end"))
}

func (s *system) tickLater() {
	s.after(s.cfg.Repeat, func() error {
		if s.idle++; s.idle > maxIdle && s.queue.Len() == s.left {
			return fmt.Errorf("%d jobs wait, and nothing has run for %v: they don't fit what is offered", s.left, maxIdle*s.cfg.Repeat)
		}
		s.manager.Changed() // settle follows
		s.tickLater()
		return nil
	})
}

func (s *system) reportLater() {
	s.after(s.cfg.Report, func() error {
		s.stepHyper(invasive.Event{Kind: invasive.ReportDue, Load: s.manager.load()})
		s.reportLater()
		return nil
	})
}

// find is the run of a job.
func (s *system) find(id invasive.JobID) *run { return &s.jobs[id-1] }

// setTimer sets the only timer of a side.
func (s *system) setTimer(side int, d time.Duration, step func(invasive.Event)) {
	s.timers[side]++
	n := s.timers[side]
	s.after(d, func() error {
		if s.timers[side] == n {
			step(invasive.Event{Kind: invasive.Timeout})
			return fmt.Errorf("%v waited for %v in vain", invasive.Side(side+1), d)
		}
		return nil
	})
}

// stopTimer makes the timer of a side void.
func (s *system) stopTimer(side int) { s.timers[side]++ }

// waits is the jobs that a mapping may name.
func (s *system) waits() []queue.Entry {
	s.waiting = s.agent.Queue(s.waiting[:0])
	s.entries = s.queue.Entries(s.entries[:0], s.waiting, s.now)
	return s.entries
}
