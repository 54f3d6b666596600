// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive/lines"
)

// What an Event says of a place.
const (
	Joined  Kind = iota + 1 // its member is there: commands may be started
	Leaving                 // Slurm wants the node soon: what runs should come to an end
	Gone                    // the member has left or is lost, and all that it ran with it
	Ended                   // a command has ended
)

// Kind is what an Event says.
type Kind int

// String is its name.
func (k Kind) String() string {
	return [...]string{"", "joined", "leaving", "gone", "ended"}[k]
}

// An Event is what a lead hears of a place.
type Event struct {
	Kind  Kind
	Place int
	// Node and Job are the member's node and Slurm's number of its job.
	Node, Job string
	// ID is of the command that has Ended, and Status how, as a shell has it: 128 + n for
	// signal n, 127 if there is no such program.
	ID     uint64
	Status int
	// Lasted is for how long the member of a place that is Gone was there.
	Lasted time.Duration
}

// ErrNoMember means that nobody is on a place, or somebody who leaves.
var ErrNoMember = errors.New("there is no member on that place")

// A Lead is the job's side: it knows who is on which place. It is safe for concurrent use.
type Lead struct {
	// Handle gets what members say, of one place in its order, one event at a time.
	handle func(Event)
	log    *slog.Logger
	door   *lines.Door
	all    sync.WaitGroup

	handling sync.Mutex
	mu       sync.Mutex
	closed   bool
	last     uint64 // command's number
	members  map[int]*session
}

// session is a member that has joined.
type session struct {
	*lines.Conn
	hello
	since   time.Time
	leaving bool
	done    chan struct{}
}

// NewLead listens on a TCP address, HOST:PORT, PORT 0 for any; HOST is what members are
// told. Handle is called from several goroutines, one at a time, and must not block for
// long. Close ends it.
func NewLead(address string, log *slog.Logger, handle func(Event)) (*Lead, error) {
	key, err := lines.Invite()
	if err != nil {
		return nil, fmt.Errorf("a certificate: %w", err)
	}
	door, err := lines.Open(address, key, log)
	if err != nil {
		return nil, err
	}
	l := &Lead{handle: handle, log: log, door: door, members: map[int]*session{}}
	l.all.Add(1)
	go func() {
		defer l.all.Done()
		door.Serve(l.letIn)
	}()
	return l, nil
}

// Invitation is what members join by.
func (l *Lead) Invitation() lines.Invitation { return l.door.Invitation }

// Dismiss lets all members go, and returns when they are gone, or after so long. Nobody joins any
// more. Members that are let go end well, and those that Close cuts off do not.
func (l *Lead) Dismiss(most time.Duration) {
	l.mu.Lock()
	l.closed = true
	members := slices.Collect(maps.Values(l.members))
	l.mu.Unlock()
	for _, s := range members {
		_ = s.Put(order{Leave: true}) // one that can't be told is gone
	}
	end := time.After(most)
	for _, s := range members {
		select {
		case <-s.done:
		case <-end:
			return
		}
	}
}

// Close has all members leave, and returns when nothing is handled any more.
func (l *Lead) Close() error {
	err := l.door.Close()
	l.mu.Lock()
	l.closed = true
	for _, s := range l.members {
		s.Close()
	}
	l.mu.Unlock()
	l.all.Wait()
	return err
}

// Run starts a command on a place, and returns its number. Its end is an Event, unless the place is
// Gone before.
func (l *Lead) Run(place int, c Command) (uint64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	s := l.members[place]
	if s == nil || s.leaving {
		l.mu.Unlock()
		return 0, fmt.Errorf("place %d: %w", place, ErrNoMember)
	}
	l.last++
	id := l.last
	l.mu.Unlock()
	return id, s.Put(order{Run: &c, ID: id})
}

// Kill ends a command of a place: SIGTERM, and SIGKILL some seconds later.
func (l *Lead) Kill(place int, id uint64) error { return l.order(place, order{Kill: id}) }

// Release lets the member of a place go. What it still runs is killed.
func (l *Lead) Release(place int) error { return l.order(place, order{Leave: true}) }

func (l *Lead) order(place int, o order) error {
	l.mu.Lock()
	s := l.members[place]
	l.mu.Unlock()
	if s == nil {
		return fmt.Errorf("place %d: %w", place, ErrNoMember)
	}
	return s.Put(o)
}

// letIn is the first message, and what comes of it. Who is refused hears why,
// and does not try again.
func (l *Lead) letIn(conn *lines.Conn) (serve func(), err error) {
	var first news
	if err := conn.Get(&first); err != nil {
		return nil, err
	}
	s := &session{Conn: conn, since: time.Now(), done: make(chan struct{})}
	if err := l.admit(s, first.Hello); err != nil {
		_ = conn.Put(order{Refused: err.Error()})
		return nil, err
	}
	return func() { l.serve(s) }, nil
}

// admit has a member take its place.
func (l *Lead) admit(s *session, h *hello) error {
	switch {
	case h == nil || !l.door.Invitation.Is(h.Secret):
		return errors.New("the secret is missing or wrong")
	case h.Place < 0 || h.Place >= MaxPlaces:
		return fmt.Errorf("place %d: must be 0 to %d", h.Place, MaxPlaces-1)
	}
	s.hello = *h
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	if old := l.members[s.Place]; old != nil {
		return fmt.Errorf("place %d is taken by job %s", s.Place, old.Job)
	}
	l.members[s.Place] = s
	return nil
}

// serve hears a member until it is gone. Its place is taken until that has been handled.
func (l *Lead) serve(s *session) {
	_ = s.Put(order{}) // it is let in
	go s.Beats(s.done, order{})
	l.tell(s, Event{Kind: Joined})
	var err error
	for err == nil {
		var n news
		if err = s.Get(&n); err != nil {
			break
		}
		if n.Leaving && !s.leaving {
			l.mu.Lock()
			s.leaving = true
			l.mu.Unlock()
			l.tell(s, Event{Kind: Leaving})
		}
		if n.Ended > 0 {
			l.tell(s, Event{Kind: Ended, ID: n.Ended, Status: n.Status})
		}
	}
	close(s.done)
	s.Close()
	if !s.leaving { // else it is known
		l.log.Info("why a member is gone", "place", s.Place, "why", err)
	}
	l.tell(s, Event{Kind: Gone, Lasted: time.Since(s.since)})
	l.mu.Lock()
	delete(l.members, s.Place)
	l.mu.Unlock()
}

func (l *Lead) tell(s *session, e Event) {
	e.Place, e.Node, e.Job = s.Place, s.Node, s.Job
	if e.Kind != Ended {
		l.log.Info(fmt.Sprintf("place %d %v", e.Place, e.Kind), "node", e.Node, "job", e.Job)
	}
	l.handling.Lock()
	defer l.handling.Unlock()
	l.handle(e)
}
