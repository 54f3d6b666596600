// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package link

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/require"
)

var testTerms = invasive.Terms{Attempts: 3, Reply: 20 * time.Second, Report: 50 * time.Millisecond}

// A bed is an iHypervisor that says yes to everything and places each job on the first free core.
type bed struct {
	t        testing.TB
	endpoint Endpoint
	stats    *Stats
	hyper    *Runner
	launched chan invasive.JobID
	done     chan error
	cancel   func()
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func newBed(t testing.TB, dir string, change func(*Config)) *bed {
	return newBedAt(t, dir, Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"),
		Users: []uint32{uint32(os.Geteuid())}}, change)
}

// newBedAt is a bed elsewhere: with TCP at a port that is free.
func newBedAt(t testing.TB, dir string, at Endpoint, change func(*Config)) *bed {
	b := &bed{t: t, endpoint: at, stats: &Stats{}, launched: make(chan invasive.JobID, 100), done: make(chan error, 1)}
	journal, err := OpenJournal(filepath.Join(dir, "hypervisor", "journal"))
	require.NoError(t, err)
	listener, err := b.endpoint.Listen(RealClock{}, b.stats)
	require.NoError(t, err)
	if at.Network == "tcp" {
		_, port, err := net.SplitHostPort(listener.Addr().String())
		require.NoError(t, err)
		b.endpoint.Address = "localhost:" + port
	}
	terms := testTerms
	terms.Partition = invasive.Partition{Name: "p", Nodes: 1, Sockets: 1, CoresPerSocket: 4}
	h, actions := invasive.NewHypervisor(terms, journal.Saved(), nil, nil)
	c := Config{Side: invasive.IHypervisor, Machine: h, Journal: journal, Listener: listener, Stats: b.stats, Log: quiet()}
	c.Load = func() *invasive.Load { return &invasive.Load{FreeCores: 4} }
	c.Do = func(a *invasive.Action, q Question) { b.answer(h, a, q) }
	if change != nil {
		change(&c)
	}
	b.hyper = NewRunner(c)
	require.NoError(t, b.hyper.Perform(actions))
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		err := b.hyper.Run(ctx)
		b.done <- errors.Join(err, listener.Close(), journal.Close())
	}()
	t.Cleanup(cancel)
	return b
}

func (b *bed) answer(h *invasive.Hypervisor, a *invasive.Action, q Question) {
	switch a.Kind {
	case invasive.AskOffer:
		b.hyper.Answer(q, invasive.Event{Kind: invasive.OfferMade, Offer: &invasive.Offer{Parts: []invasive.Part{{Cores: 4}}, Jobs: 10}})
	case invasive.AskVerdict:
		b.hyper.Answer(q, invasive.Event{Kind: invasive.Verdict, Accept: true})
	case invasive.AskUrgent:
		b.hyper.Answer(q, invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: true})
	case invasive.AskPlace:
		free := []uint32{}
		for c, owner := range h.Owners() {
			if owner == 0 {
				free = append(free, uint32(c))
			}
		}
		for _, j := range h.Jobs(nil) {
			if j.State == invasive.Accepted && len(free) > 0 {
				b.hyper.Post(invasive.Event{Kind: invasive.Place, ID: j.Job.ID, Cores: free[:1]})
				free = free[1:]
			}
		}
	case invasive.Launch:
		b.launched <- a.ID
		b.hyper.Post(invasive.Event{Kind: invasive.Exited, ID: a.ID, Exit: 7})
	}
}

// agent is an iScheduler that maps every job of its queue.
type agent struct {
	runner *Runner
	ended  chan invasive.JobID
	done   chan error
	cancel func()
}

func newAgent(t testing.TB, dir string, e Endpoint, change func(*Config)) *agent {
	journal, err := OpenJournal(filepath.Join(dir, "scheduler", "journal"))
	require.NoError(t, err)
	m := invasive.NewAgent(testTerms, journal.Saved())
	a := &agent{ended: make(chan invasive.JobID, 100), done: make(chan error, 1)}
	c := Config{
		Side: invasive.IScheduler, Machine: m, Journal: journal, Dial: e.Dial, Log: quiet(),
		Random: rand.New(rand.NewPCG(1, 2)), FirstPause: time.Millisecond, LastPause: 50 * time.Millisecond,
	}
	c.Do = func(act *invasive.Action, q Question) {
		switch act.Kind {
		case invasive.AskDecision:
			ev := invasive.Event{Kind: invasive.Decided, Accept: true}
			for _, j := range m.Queue(nil) {
				ev.Map = append(ev.Map, invasive.Mapping{Job: j, Parts: []invasive.Part{{Cores: 1}}})
			}
			ev.Map = ev.Map[:min(len(ev.Map), 4)]
			go a.runner.Answer(q, ev)
		case invasive.Ended:
			a.ended <- act.ID
		}
	}
	if change != nil {
		change(&c)
	}
	a.runner = NewRunner(c)
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	go func() {
		err := a.runner.Run(ctx)
		a.done <- errors.Join(err, journal.Close())
	}()
	t.Cleanup(cancel)
	return a
}

const patience = 30 * time.Second

func await[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		require.Fail(t, "nothing comes")
	}
	return v
}

func (b *bed) eventually(c Count, n uint64) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.stats.Get(c) >= n }, patience, time.Millisecond, "%v", c)
	require.Equal(b.t, n, b.stats.Get(c), "%v", c)
}

// useful sees to it that a good iScheduler is served.
func (b *bed) useful(dir string, id invasive.JobID) {
	b.t.Helper()
	a := newAgent(b.t, dir, b.endpoint, nil)
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(id)})
	require.Equal(b.t, id, await(b.t, a.ended))
	a.cancel()
	require.NoError(b.t, await(b.t, a.done))
}

func TestJobsFromEndToEnd(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, nil)
	a := newAgent(t, dir, b.endpoint, nil)
	urgent := *job(11)
	urgent.Urgent = true
	for id := range invasive.JobID(10) {
		a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(id + 1)})
	}
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: &urgent})
	seen := map[invasive.JobID]bool{}
	for range 11 {
		id := await(t, b.launched)
		require.False(t, seen[id], "job %d is launched twice", id)
		seen[id] = true
	}
	for range 11 {
		delete(seen, await(t, a.ended))
	}
	require.Empty(t, seen)
	a.cancel() // the iScheduler finalises, the iHypervisor goes on
	require.NoError(t, await(t, a.done))
	b.useful(dir, 12)
	b.eventually(Sessions, 2)

	a = newAgent(t, dir, b.endpoint, nil)
	b.eventually(Sessions, 3)
	require.Eventually(t, func() bool { return a.runner.Stats.Get(Received) > 1 }, patience, time.Millisecond)
	b.cancel() // the iHypervisor finalises, and the iScheduler ends in order
	require.NoError(t, await(t, b.done))
	require.NoError(t, await(t, a.done))
	for c := Forbidden; c < counts; c++ {
		require.Zero(t, b.stats.Get(c), "%v", c)
	}
}

// An iHypervisor that isn't there yet, ends, and comes again.
func TestReconnects(t *testing.T) {
	dir := t.TempDir()
	e := Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	a := newAgent(t, dir, e, nil)
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(1)})
	time.Sleep(20 * time.Millisecond)
	b := newBed(t, dir, nil)
	require.EqualValues(t, 1, await(t, a.ended))
	b.hyper.Call(func() { b.hyper.fail(errors.New("crash")) })
	require.ErrorContains(t, await(t, b.done), "crash")
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(2)})
	newBed(t, dir, nil)
	require.EqualValues(t, 2, await(t, a.ended))
}

func TestPausesGrow(t *testing.T) {
	clock := &fakeClock{}
	dialled := make(chan struct{})
	c := Config{
		Side: invasive.IScheduler, Machine: invasive.NewAgent(testTerms, nil), Clock: clock, Log: quiet(),
		Random: rand.New(rand.NewPCG(1, 2)), FirstPause: 100 * time.Millisecond, LastPause: time.Second,
		Dial: func(context.Context) (net.Conn, error) { dialled <- struct{}{}; return nil, io.EOF },
	}
	r := NewRunner(c)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- r.Run(ctx) }()
	for i, most := range []time.Duration{0, 100, 200, 400, 800, 1000, 1000, 1000} {
		most *= time.Millisecond
		var pause time.Duration
		require.Eventually(t, func() bool {
			list := clock.pending()
			if len(list) == 1 {
				pause = list[0]
			}
			return len(list) == 1
		}, patience, time.Millisecond)
		require.LessOrEqual(t, pause, most, "failure %d", i)
		require.GreaterOrEqual(t, pause, most/2, "failure %d", i)
		clock.advance(pause)
		await(t, dialled)
	}
	cancel()
	require.NoError(t, await(t, done))
}

// recorder notes Saves and Sends in the order in which they become visible to others.
type recorder struct {
	mu   sync.Mutex
	list []string
	fail error
}

func (r *recorder) note(s string) { r.mu.Lock(); r.list = append(r.list, s); r.mu.Unlock() }

func (r *recorder) Save(records ...invasive.Record) error {
	r.note("save")
	return r.fail
}

type script struct{ out [][]invasive.Action }

func (s *script) Step(_ *invasive.Event, out []invasive.Action) []invasive.Action {
	if len(s.out) == 0 {
		return append(out, invasive.Action{Kind: invasive.Stopped})
	}
	out = append(out, s.out[0]...)
	s.out = s.out[1:]
	return out
}

// Records of events that wait already are one write; nothing that depends on it is done before, and
// what is called comes in its place. An end is told before it is saved that it was.
func TestSavedBeforeDone(t *testing.T) {
	save, launch, ended := invasive.Action{Kind: invasive.Save}, invasive.Action{Kind: invasive.Launch},
		invasive.Action{Kind: invasive.Ended}
	for _, c := range []struct {
		name  string
		fail  error
		steps [][]invasive.Action
		want  []string
	}{
		{"one event", nil, [][]invasive.Action{{launch, save, save, launch}}, []string{"save", "launch", "launch", "called"}},
		{"the disk is full", errors.New("disk full"), [][]invasive.Action{{launch, save}, {save, launch}}, []string{"save"}},
		{"three events", nil, [][]invasive.Action{{save, launch}, {save}, {launch}},
			[]string{"save", "launch", "called", "called", "launch", "called"}},
		{"an end", nil, [][]invasive.Action{{save, launch}, {ended, save}},
			[]string{"save", "launch", "called", "ended", "save", "called"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := &recorder{fail: c.fail}
			m := &script{append([][]invasive.Action{{}}, c.steps...)} // the first for the start
			r := NewRunner(Config{Machine: m, Journal: rec, Log: quiet(),
				Do: func(a *invasive.Action, _ Question) {
					rec.note(map[bool]string{true: "launch", false: "ended"}[a.Kind == invasive.Launch])
				},
			})
			for range c.steps {
				r.Post(invasive.Event{Kind: invasive.Exited})
				r.Call(func() { rec.note("called") })
			}
			r.Finish()
			err := r.Run(context.Background())
			require.Equal(t, c.want, rec.list)
			require.ErrorIs(t, err, c.fail)
		})
	}
}

func TestOldAnswersAreDropped(t *testing.T) {
	ask := []invasive.Action{{Kind: invasive.AskOffer}}
	m := &script{[][]invasive.Action{ask, ask, {}, {{Kind: invasive.Forget}}}}
	var r *Runner
	var asked []Question
	forgotten := 0
	r = NewRunner(Config{Machine: m, Log: quiet(), Do: func(a *invasive.Action, q Question) {
		if a.Kind == invasive.Forget {
			forgotten++
			return
		}
		asked = append(asked, q)
	}})
	r.Post(invasive.Event{Kind: invasive.ReportDue})
	r.Call(func() {
		r.Answer(asked[0], invasive.Event{Kind: invasive.OfferMade}) // replaced
		r.Answer(asked[1], invasive.Event{Kind: invasive.OfferMade})
		r.Answer(asked[1], invasive.Event{Kind: invasive.OfferMade}) // answered
		r.Call(func() { require.Len(t, m.out, 1) })
		r.Finish() // takes the last of the script
		r.Finish()
	})
	require.NoError(t, r.Run(context.Background()))
	require.Equal(t, 1, forgotten)
}
