// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// dialTime bounds an attempt to connect.
const dialTime = 10 * time.Second

// connect makes a connection after a pause.
func (r *Runner) connect() {
	pause := time.Duration(0)
	if r.failures > 0 {
		pause = r.LastPause
		if shift := r.failures - 1; shift < 30 && r.FirstPause<<shift < r.LastPause {
			pause = r.FirstPause << shift
		}
		pause -= time.Duration(r.Random.Int64N(int64(pause)/2 + 1))
	}
	r.failures++
	r.timers.set(r, &r.timers.pause, pause, r.dial)
}

// dial connects in a goroutine of its own. If the machine closes meanwhile, the
// result is thrown away.
func (r *Runner) dial() {
	ctx, cancel := context.WithCancel(context.Background())
	stop := r.Clock.AfterFunc(dialTime, cancel)
	valid := true
	r.timers.cancelDial = func() { valid = false; cancel() }
	go func() {
		conn, err := r.Dial(ctx)
		stop()
		cancel()
		r.later(func() {
			switch {
			case !valid && err == nil:
				conn.Close()
			case !valid:
			case err != nil:
				r.Log.Info("no connection", "why", err)
				r.step(&invasive.Event{Kind: invasive.Lost})
			default:
				r.begin(conn)
			}
		})
	}()
}

// accept hands over connections one by one.
func (r *Runner) accept(over context.Context) {
	for {
		conn, err := r.Listener.Accept()
		if err != nil {
			if over.Err() == nil {
				r.later(func() { r.fail(err) })
			}
			return
		}
		taken := make(chan struct{})
		r.later(func() { defer close(taken); r.receive(conn) })
		select {
		case <-taken:
		case <-over.Done():
			return
		}
	}
}

// receive: a second peer is turned away as long as the first is there.
func (r *Runner) receive(conn net.Conn) {
	if !r.listening || r.session != nil {
		r.Stats.add(Surplus)
		r.Log.Warn("turned away: another peer is connected")
		conn.Close()
		return
	}
	r.begin(conn)
}

func (r *Runner) begin(conn net.Conn) {
	r.Stats.add(Sessions)
	s := newSession(conn, r.Limits, r.Clock, r.Stats)
	r.session = s
	go s.write(func() { r.later(func() { r.take(incoming{from: s, err: errStalled}) }) })
	go s.read(r.other(), func(in incoming) bool {
		if s.isClosing() {
			return false
		}
		taken := make(chan struct{})
		r.later(func() { defer close(taken); r.take(in) })
		select {
		case <-taken:
		case <-s.gone:
		}
		return in.err == nil && !s.isClosing()
	})
	r.step(&invasive.Event{Kind: invasive.Connected})
}

// other is the peer's side.
func (r *Runner) other() invasive.Side {
	if r.Side == invasive.IScheduler {
		return invasive.IHypervisor
	}
	return invasive.IScheduler
}

func (s *session) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// take gives the machine a message of the present connection, or its end.
func (r *Runner) take(in incoming) {
	if in.from != r.session {
		return
	}
	if in.err != nil {
		if in.err != io.EOF {
			r.Log.Warn("cut off", "why", in.err)
		}
		r.lost()
		return
	}
	r.failures = 1
	if r.Trace != nil {
		r.Trace(in.msg.Words(r.other()))
	}
	if r.Hear != nil {
		r.Hear(in.msg)
	}
	r.step(&invasive.Event{Kind: invasive.EventKind(in.msg.Kind), Msg: in.msg})
}

// lost ends the session without the machine's wish.
func (r *Runner) lost() {
	r.trace("connection lost")
	r.drop()
	r.step(&invasive.Event{Kind: invasive.Lost})
}

func (r *Runner) drop() {
	if r.session != nil {
		r.session.cut()
	}
	r.forgetSession()
}

func (r *Runner) closeSession() {
	if r.session != nil {
		r.session.finish()
		r.leaving = r.session
	}
	r.forgetSession()
}

// forgetSession: questions are about a session, but for AskPlace, which has no answer of its own.
func (r *Runner) forgetSession() {
	r.session = nil
	clear(r.asked)
	r.timers.stop(&r.timers.report)
	r.timers.stop(&r.timers.pause)
	if r.timers.cancelDial != nil {
		r.timers.cancelDial()
		r.timers.cancelDial = nil
	}
}

func (r *Runner) send(m *invasive.Message) {
	if r.session == nil {
		return
	}
	if err := r.session.send(m, r.Side); err != nil {
		r.Log.Error("cut off", "why", err)
		s := r.session
		s.cut()
		// The machine hears of it after this step.
		r.later(func() { r.take(incoming{from: s, err: io.EOF}) })
		return
	}
	if r.Trace != nil {
		r.Trace(m.Words(r.Side))
	}
	if m.Kind == invasive.ResponseInitialise && m.Accept {
		r.reportEvery(m.Terms.Report)
	}
}

func (r *Runner) reportEvery(d time.Duration) {
	r.timers.set(r, &r.timers.report, d, func() {
		r.step(&invasive.Event{Kind: invasive.ReportDue, Load: r.Load()})
		if r.session != nil {
			r.reportEvery(d)
		}
	})
}

// timers are those of a Runner. A number tells a timer that has fired from the
// one that was set since.
type timers struct {
	reply, report, pause timer
	cancelDial           func()
}

type timer struct {
	n    uint64
	halt func() bool
}

func (ts *timers) set(r *Runner, t *timer, d time.Duration, f func()) {
	ts.stop(t)
	n := t.n
	t.halt = r.Clock.AfterFunc(d, func() {
		r.later(func() {
			if t.n == n {
				f()
			}
		})
	})
}

func (ts *timers) stop(t *timer) {
	if t.halt != nil {
		t.halt()
	}
	t.n++
	t.halt = nil
}

func (ts *timers) stopAll() {
	for _, t := range [...]*timer{&ts.reply, &ts.report, &ts.pause} {
		ts.stop(t)
	}
	if ts.cancelDial != nil {
		ts.cancelDial()
	}
}
