// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/aucsched/aucsched/invasive/wire"
)

// A Config is what a Scheduler needs.
type Config struct {
	// Dir is the directory; see the package's comment.
	Dir string
	// Dial connects to the iHypervisor: link.Endpoint.Dial.
	Dial func(context.Context) (net.Conn, error)
	// Terms are what it proposes to the iHypervisor.
	Terms invasive.Terms
	// Limit is the most jobs that it keeps, from 1 to invasive.MaxJobs.
	Limit int
	// Elsewhere, if not "", is where jobs are submitted and cancelled instead (Follow): users are
	// told, in these words.
	Elsewhere string
	// Queue are the mapper's settings.
	Queue  queue.Options
	Limits link.Limits
	Random *rand.Rand
	Clock  link.Clock // nil: the computer's
	Log    *slog.Logger
	Stats  *link.Stats
	// Trace, if set, gets a line of each message and of each record; see link.Config.
	Trace func(line string)
	// Point, if set, is called between steps; tests end the process there.
	Point func(step string)
}

// DefaultTerms are three attempts, ten seconds for an answer, and a report every five.
func DefaultTerms() invasive.Terms {
	return invasive.Terms{Attempts: 3, Reply: 10 * time.Second, Report: 5 * time.Second}
}

// A Scheduler is an iScheduler. Its functions may be called from any goroutine
// while Run is running.
type Scheduler struct {
	Config
	agent   *invasive.Agent
	journal *link.Journal
	runner  *link.Runner
	mapper  *queue.Mapper
	decide  chan decision
	over    chan struct{} // closed when Run has returned

	// What follows belongs to the goroutine of the Runner.
	ids       *ids
	queue     *queue.Queue
	known     map[invasive.JobID]invasive.JobStatus // the last report
	load      *invasive.Load
	partition invasive.Partition
	shrink    time.Duration // invasive.Terms
	ended     []Info        // the last ones
	waiting   []*invasive.Job
}

// A decision is an AskDecision on its way.
type decision struct {
	question link.Question
	offer    *invasive.Offer
	final    bool
	waiting  []queue.Entry
	shrink   time.Duration // the iHypervisor's
}

// keptEnds is how many jobs that ended are listed.
const keptEnds = 1000

// Open reads the directory, or begins one. The caller calls Run, and Close at last.
func Open(c Config) (*Scheduler, error) {
	if c.Limit < 1 || c.Limit > invasive.MaxJobs {
		return nil, fmt.Errorf("queue of %d jobs: must be 1 to %d", c.Limit, invasive.MaxJobs)
	}
	if c.Clock == nil {
		c.Clock = link.RealClock{}
	}
	if c.Stats == nil {
		c.Stats = &link.Stats{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if err := link.CheckDir(c.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &Scheduler{Config: c, decide: make(chan decision, 1), over: make(chan struct{}),
		known: make(map[invasive.JobID]invasive.JobStatus)}
	var err error
	if s.mapper, err = queue.NewMapper(c.Queue); err != nil {
		return nil, err
	}
	if s.journal, err = link.OpenJournal(filepath.Join(c.Dir, "journal")); err != nil {
		return nil, err
	}
	s.journal.Point = c.Point
	if err := s.recall(); err != nil {
		return nil, errors.Join(err, s.journal.Close())
	}
	s.agent = invasive.NewAgent(c.Terms, s.journal.Saved())
	s.runner = link.NewRunner(link.Config{
		Side: invasive.IScheduler, Machine: listener{s.agent, s}, Journal: s.journal, Dial: c.Dial, Do: s.do,
		Clock: c.Clock, Random: c.Random, Limits: c.Limits, Stats: c.Stats, Log: c.Log,
		Trace: c.Trace, Point: c.Point,
	})
	return s, nil
}

// recall takes the jobs of the journal into the queue. There may be more than now are allowed.
func (s *Scheduler) recall() error {
	saved := s.journal.Saved()
	var last invasive.JobID
	s.queue = queue.New(max(s.Limit, len(saved)))
	for _, j := range saved {
		if err := s.queue.Add(entry(j.Job)); err != nil {
			return err
		}
		last = max(last, j.Job.ID)
	}
	s.queue.SetLimit(s.Limit)
	var err error
	s.ids, err = openIDs(filepath.Join(s.Dir, "ids"), last)
	return err
}

func entry(j *invasive.Job) queue.Entry {
	return queue.Entry{Job: j, Submitted: timeOf(j, submittedVar), Deadline: timeOf(j, deadlineVar)}
}

// Run negotiates until ctx is done, and again if the iHypervisor has finalised; after ctx is done
// it ends in order. The error is that of the journal, after which nothing can be promised any more,
// or the iHypervisor's refusal, a *link.RefusedError.
func (s *Scheduler) Run(ctx context.Context) error {
	defer close(s.over)
	defer close(s.decide)
	go s.decider()
	for {
		err := s.runner.Run(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		s.Log.Info("the iHypervisor has ended in order; connecting again")
		pause := make(chan struct{})
		stop := s.Clock.AfterFunc(time.Second, func() { close(pause) })
		select {
		case <-pause:
		case <-ctx.Done():
			stop()
			return nil
		}
	}
}

// Close closes the journal, after Run has returned.
func (s *Scheduler) Close() error { return s.journal.Close() }

// A listener is the Agent, with an ear for what is said to it.
type listener struct {
	*invasive.Agent
	s *Scheduler
}

func (l listener) Step(ev *invasive.Event, out []invasive.Action) []invasive.Action {
	if m := ev.Msg; m != nil && (m.Kind == invasive.ResponseInitialise || m.Kind == invasive.StatusReport) {
		l.s.hear(m)
	}
	return l.Agent.Step(ev, out)
}

// hear takes over a report.
func (s *Scheduler) hear(m *invasive.Message) {
	clear(s.known)
	for _, k := range m.Known {
		s.known[k.ID] = k
	}
	if m.Kind == invasive.StatusReport {
		s.load = m.Load
	} else if m.Accept {
		s.partition, s.shrink = m.Terms.Partition, m.Terms.Shrink
		if s.shrink > s.Queue.Soon {
			s.Log.Warn("malleable jobs may take longer to let go of cores than cores count as free: goes by the iHypervisor",
				"shrink-time", s.shrink, "soon", s.Queue.Soon)
		}
	}
}

// connected tells whether there is a session.
func (s *Scheduler) connected() bool {
	switch s.agent.Phase() {
	case invasive.Starting, invasive.Idle, invasive.Waiting, invasive.Deciding, invasive.Answered, invasive.Ending:
		return true
	}
	return false
}

// do does the Agent's actions that aren't the Runner's.
func (s *Scheduler) do(a *invasive.Action, q link.Question) {
	switch a.Kind {
	case invasive.AskDecision:
		s.waiting = s.agent.Queue(s.waiting[:0])
		d := decision{q, a.Msg.Offer, a.Final, s.queue.Entries(nil, s.waiting, s.now()), s.shrink}
		select { // the last question counts
		case <-s.decide:
		default:
		}
		s.decide <- d
	case invasive.Ended:
		s.leave(a.ID, Info{State: invasive.Done.String(), Exit: a.Exit})
	case invasive.Cancelled:
		s.leave(a.ID, Info{State: "cancelled"})
	}
}

// leave notes the end of a job, which may be told more than once.
func (s *Scheduler) leave(id invasive.JobID, as Info) {
	e, ok := s.queue.Get(id)
	if !ok {
		return
	}
	s.queue.Remove(id)
	info := infoOf(e)
	info.State, info.Exit = as.State, as.Exit
	if len(s.ended) == keptEnds {
		s.ended = append(s.ended[:0], s.ended[1:]...)
	}
	s.ended = append(s.ended, info)
	s.Log.Info("job left", "id", id, "state", info.State, "exit", info.Exit)
}

// mapRoom is what a message needs besides its mapping, in bytes: acknowledgements, mostly.
const mapRoom = 11*invasive.MaxJobs + 1024

// decider is the goroutine that maps.
func (s *Scheduler) decider() {
	room := s.Limits.Frame
	if room <= 0 {
		room = wire.DefaultLimit
	}
	for d := range s.decide {
		ctx, stop := context.WithDeadline(context.Background(), s.Clock.Now().Add(s.Terms.Reply/2))
		s.mapper.SoonAtLeast(d.shrink)
		ev, err := s.mapper.Decide(ctx, d.waiting, d.offer, d.final, s.now())
		stop()
		if err != nil {
			s.Log.Error("no mapping", "why", err)
		}
		ev.Map = fit(ev.Map, room-mapRoom)
		s.runner.Answer(d.question, ev)
	}
}

// fit is the beginning of a mapping that fits into so many bytes.
func fit(m []invasive.Mapping, room int) []invasive.Mapping {
	for i := range m {
		if room -= wire.MappingSize(&m[i]); room < 0 {
			return m[:i]
		}
	}
	return m
}

// now is the time since 1970.
func (s *Scheduler) now() time.Duration { return time.Duration(s.Clock.Now().UnixNano()) }

// euid is whose iScheduler it is.
func euid() []uint32 { return []uint32{uint32(os.Geteuid())} }
