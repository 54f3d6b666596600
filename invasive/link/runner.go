// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A Machine is an invasive.Agent or an invasive.Hypervisor.
type Machine interface {
	Step(ev *invasive.Event, out []invasive.Action) []invasive.Action
}

// A Config is what a Runner needs. All of it belongs to the Runner then.
type Config struct {
	// Side is whose Machine it is.
	Side    invasive.Side
	Machine Machine
	// Journal takes the records; it returns when they are on the disk. See [Journal].
	Journal interface {
		Save(...invasive.Record) error
	}
	// Dial connects an Agent, see [Endpoint.Dial]; Listener is where a Hypervisor hears of
	// connections: it has to let in nobody who hasn't shown who he is, see [Endpoint.Listen].
	// The caller closes it.
	Dial     func(context.Context) (net.Conn, error)
	Listener net.Listener
	// Do does the actions that aren't the Runner's own: the questions, Launch, Grow, Reclaim,
	// Forget, Ended and Cancelled. It is called in the goroutine of Run, in the machine's
	// order, and must not block: the actions after it wait. If it answers a question later,
	// it keeps q for Answer.
	Do func(a *invasive.Action, q Question)
	// Hear, if set, is shown each message before the machine gets it.
	Hear func(*invasive.Message)
	// Trace, if set, gets a line, without its end, of each message, when it is sent or has come, of
	// each record once it is on the disk, and of cores that are taken. A line has no times, so that
	// the same course gives the same lines.
	Trace func(line string)
	// Load is asked for a Hypervisor's status report, in the goroutine of Run.
	Load func() *invasive.Load

	// Clock is RealClock, unless it is set. Random is for the pauses between an
	// Agent's connections.
	Clock  Clock
	Random *rand.Rand
	Limits Limits
	// FirstPause and LastPause bound the pause before a new connection, which doubles from one to
	// the other and is shortened at random by up to a half. Defaults: 100 ms, 30 s.
	FirstPause, LastPause time.Duration
	// Stats and Log may be left out. What is logged says nothing of what a message says.
	Stats *Stats
	Log   *slog.Logger
	// Point, if set, is called before each action with its name; tests end the process there.
	Point func(action string)
}

// A Question is one that a machine has asked. The zero value is none.
type Question struct {
	kind invasive.ActionKind
	id   invasive.JobID
	n    uint64
}

// A RefusedError is the iHypervisor's refusal to talk: Run returns it.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return "the iHypervisor refuses: " + e.Text }

// A Runner runs a machine over real connections. Its goroutine is that of Run; Post, Answer and
// Finish may be called from any, also while Run isn't running: what they say waits for it.
type Runner struct {
	Config
	mu   sync.Mutex
	mail []letter
	wake chan struct{}

	// All below belongs to the goroutine of Run.
	session   *session
	leaving   *session // the last one that was closed
	listening bool
	failures  int // in a row
	timers    timers
	asked     map[Question]uint64 // the last of its kind
	questions uint64
	out       []invasive.Action
	group     invasive.Group
	calls     []call // in the middle of the group
	ended     bool
	result    error
}

// NewRunner returns a Runner.
func NewRunner(c Config) *Runner {
	c.Limits = c.Limits.orDefaults()
	if c.FirstPause <= 0 {
		c.FirstPause = 100 * time.Millisecond
	}
	if c.LastPause <= 0 {
		c.LastPause = 30 * time.Second
	}
	if c.Clock == nil {
		c.Clock = RealClock{}
	}
	if c.Stats == nil {
		c.Stats = &Stats{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Runner{Config: c, wake: make(chan struct{}, 1), asked: map[Question]uint64{}}
}

// Post gives the machine an event: a Submit, Cancel, Place, Give, Take, Released, Kept, Exited.
// Events are taken in the order of the calls. It doesn't wait.
func (r *Runner) Post(ev invasive.Event) { r.put(letter{event: &ev}) }

// Answer gives the machine the answer to a question, unless a newer one has replaced it, or the
// connection that it was about is gone.
func (r *Runner) Answer(q Question, ev invasive.Event) {
	r.later(func() {
		if key := (Question{q.kind, q.id, 0}); q.n != 0 && r.asked[key] == q.n {
			delete(r.asked, key)
			r.step(&ev)
		}
	})
}

// Finish asks the machine to end in order; Run returns when it has.
func (r *Runner) Finish() { r.Post(invasive.Event{Kind: invasive.Finish}) }

// Call has f called in the goroutine of Run, after all that was posted before is
// on the disk, and done.
func (r *Runner) Call(f func()) { r.put(letter{call: f}) }

// Run starts the machine and returns when it has ended: nil in order, a *RefusedError, or the
// error of the journal, after which nothing can be promised any more. When ctx is done the
// machine is asked to finish; it then takes no longer than the agreed time for an answer. It
// may be called again.
func (r *Runner) Run(ctx context.Context) error {
	r.ended, r.result = false, nil
	over, stop := context.WithCancel(context.Background())
	defer stop()
	if r.Listener != nil {
		go r.accept(over)
	}
	stopFinish := context.AfterFunc(ctx, r.Finish)
	defer stopFinish()
	r.step(&invasive.Event{Kind: invasive.Start})
	for !r.ended {
		r.mu.Lock()
		mail := r.mail
		r.mail = nil
		r.mu.Unlock()
		if left := r.open(mail); len(left) > 0 { // for the next Run
			r.mu.Lock()
			r.mail = append(left, r.mail...)
			r.mu.Unlock()
		}
		if len(mail) == 0 {
			<-r.wake
		}
	}
	r.drop()
	r.timers.stopAll()
	r.listening = false
	if r.leaving != nil { // the process may end now, and with it what wasn't sent
		<-r.leaving.gone
		r.leaving = nil
	}
	return r.result
}

// Perform does actions that come from the machine's making rather than from a step: those of
// invasive.NewHypervisor. It is called before Run.
func (r *Runner) Perform(actions []invasive.Action) error {
	r.result = nil
	r.gather(actions)
	r.flush()
	return r.result
}

// step gives the machine an event, and does what it wants.
func (r *Runner) step(ev *invasive.Event) {
	if r.result != nil {
		return
	}
	r.out = r.Machine.Step(ev, r.out[:0])
	r.gather(r.out)
	r.flush()
}

// fail ends Run with an error.
func (r *Runner) fail(err error) {
	r.result, r.ended = errors.Join(r.result, err), true
}

// trace writes a line, unless there is nothing to say.
func (r *Runner) trace(line string) {
	if r.Trace != nil && line != "" {
		r.Trace(line)
	}
}

func (r *Runner) act(a *invasive.Action) {
	switch a.Kind {
	case invasive.Send:
		r.send(a.Msg)
	case invasive.Close:
		r.closeSession()
	case invasive.Connect:
		r.connect()
	case invasive.Listen:
		r.listening = true
	case invasive.SetTimer:
		r.timers.set(r, &r.timers.reply, a.After, func() { r.step(&invasive.Event{Kind: invasive.Timeout}) })
	case invasive.StopTimer:
		r.timers.stop(&r.timers.reply)
	case invasive.Stopped:
		r.ended = true
	case invasive.Failed:
		r.fail(&RefusedError{a.Text})
	case invasive.Violated:
		r.Stats.add(OutOfTurn)
		r.Log.Warn("cut off", "why", fmt.Sprintf("%v out of turn", a.Msg.Kind))
	default:
		r.Do(a, r.question(a))
	}
}

// question numbers a question, and makes the one before of its kind void.
func (r *Runner) question(a *invasive.Action) Question {
	q := Question{kind: a.Kind}
	switch a.Kind {
	case invasive.AskUrgent:
		q.id = a.ID
	case invasive.AskDecision, invasive.AskOffer, invasive.AskVerdict:
	default:
		return Question{}
	}
	r.questions++
	r.asked[q] = r.questions
	q.n = r.questions
	return q
}
