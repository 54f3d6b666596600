// SPDX-License-Identifier: BSD-3-Clause

package malleable

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/internal/rare"
	"github.com/aucsched/aucsched/invasive/link"
)

// Bounds of a connection.
const (
	lineRate  = 100 // lines a second
	lineBurst = 200
	writeTime = 5 * time.Second
)

// A ServerConfig is what a Server needs.
type ServerConfig struct {
	// Identify says which job a process belongs to, if any; it is asked when a process connects. It
	// may block: it is called from several goroutines, at most userTurns for each user. What it
	// says of a process that has ended meanwhile doesn't count.
	Identify func(link.Peer) (invasive.JobID, bool)
	// Handle gets what jobs say, each job's lines in their order, the last one Gone. It
	// must not block for long.
	Handle func(invasive.JobID, Request)
	// Tasks is how many processes of a user may begin at a time: one for each CPU, mostly. So many
	// can wait to be looked at, and twice that, and at least 128, whatever it is. Each costs two
	// file descriptors; users have four times as many together.
	Tasks int
	Log   *slog.Logger
}

// A Server is the iHypervisor's side. It is safe for concurrent use.
type Server struct {
	ServerConfig
	from *net.UnixListener
	gate *gate
	over chan struct{} // closed by Close
	all  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	jobs   map[invasive.JobID]*member
	stats  ServerStats

	strangers, crowds, faults, cuts rare.Line
}

// ServerStats counts connections.
type ServerStats struct {
	// Jobs were let in; Strangers belonged to no job, Doubles to one that is connected; Crowded
	// came while too many of their user, or in all, waited to be looked at; Bad were cut off for
	// what they said, Flooded for how often. Faults are connections that the kernel couldn't hand
	// over, as when there are too many open files.
	Jobs, Strangers, Doubles, Crowded, Bad, Flooded, Faults uint64
}

// member is a job that is connected.
type member struct {
	conn *net.UnixConn
	next chan string // the newest change, not sent yet
}

// NewServer serves a socket, see link.ListenUnix.
func NewServer(from *net.UnixListener, c ServerConfig) *Server {
	s := &Server{
		ServerConfig: c, from: from, jobs: map[invasive.JobID]*member{}, over: make(chan struct{}),
		gate: newGate(c.Tasks),
	}
	s.all.Add(1)
	go s.accept()
	return s
}

// Close ends all connections, and returns when Handle won't be called any more.
func (s *Server) Close() error {
	err := s.from.Close()
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	for _, m := range s.jobs {
		m.conn.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
	return err
}

// Reset ends the connections of all jobs, which connect again.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.jobs {
		m.conn.Close()
	}
}

// Stats returns what was counted so far.
func (s *Server) Stats() ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Send sends a change to a job; one that isn't sent yet is replaced. It doesn't wait. It returns
// false if the job isn't connected.
func (s *Server) Send(id invasive.JobID, c Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.jobs[id]
	if m == nil {
		return false
	}
	select {
	case <-m.next:
	default:
	}
	m.next <- c.String()
	return true
}

// acceptPause is the time between two attempts while the kernel can't hand over a connection.
const acceptPause = 100 * time.Millisecond

// accept goes on after all errors but that of Close: the others pass.
func (s *Server) accept() {
	defer s.all.Done()
	for {
		conn, err := s.from.AcceptUnix()
		switch {
		case err == nil:
			s.receive(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			s.fault(err)
			select {
			case <-s.over:
				return
			case <-time.After(acceptPause):
			}
		}
	}
}

// receive has somebody looked at in a goroutine of its own, and returns at once.
func (s *Server) receive(conn *net.UnixConn) {
	peer, err := link.PeerOf(conn)
	if err != nil {
		s.fault(err)
		conn.Close()
		return
	}
	turn := s.gate.enter(peer.UID)
	if turn == nil {
		s.count(&s.stats.Crowded)
		s.crowds.Warn(s.Log, time.Now(), "too many connections wait to be looked at; one was turned away", "uid", peer.UID)
		conn.Close()
		return
	}
	s.all.Add(1)
	go func() {
		defer s.all.Done()
		id, m := s.inTurn(conn, peer, turn)
		s.gate.leave(peer.UID)
		if m == nil {
			conn.Close()
			return
		}
		stop := make(chan struct{})
		go m.write(stop)
		s.read(id, m)
		close(stop)
	}()
}

// inTurn is letIn, once it is the user's turn.
func (s *Server) inTurn(conn *net.UnixConn, peer link.Peer, turn chan struct{}) (invasive.JobID, *member) {
	process, err := link.OpenPeer(conn, peer)
	switch {
	case errors.Is(err, unix.ESRCH):
		s.turnAway(peer)
		return 0, nil
	case err != nil:
		s.fault(err)
		return 0, nil
	}
	defer process.Close()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-s.over:
		return 0, nil
	}
	id, ok := s.Identify(peer)
	if !ok || process.Ended() { // the number may have been another's when it was looked at
		s.turnAway(peer)
		return 0, nil
	}
	return id, s.letIn(conn, id)
}

func (s *Server) fault(err error) {
	s.count(&s.stats.Faults)
	s.faults.Warn(s.Log, time.Now(), "a job can't connect now", "why", err)
}

func (s *Server) turnAway(peer link.Peer) {
	s.count(&s.stats.Strangers)
	s.strangers.Warn(s.Log, time.Now(), "a process of no job was turned away", "pid", peer.PID, "uid", peer.UID)
}

// letIn returns nil if the job is connected already, or the Server is closed.
func (s *Server) letIn(conn *net.UnixConn, id invasive.JobID) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil
	case s.jobs[id] != nil:
		s.stats.Doubles++
		return nil
	}
	s.stats.Jobs++
	m := &member{conn, make(chan string, 1)}
	s.jobs[id] = m
	return m
}

// read ends when the connection does.
func (s *Server) read(id invasive.JobID, m *member) {
	lines := bufio.NewScanner(m.conn)
	lines.Buffer(make([]byte, 0, MaxLine+2), MaxLine+1)
	lines.Split(wholeLines)
	said := false
	tokens, at := float64(lineBurst), time.Now()
	var err error
	for err == nil && lines.Scan() {
		now := time.Now()
		tokens, at = min(lineBurst, tokens+lineRate*now.Sub(at).Seconds())-1, now
		if tokens < 0 {
			s.count(&s.stats.Flooded)
			break
		}
		var r Request
		if r, err = ParseRequest(lines.Text()); err == nil && said == (r.Verb == Hello) {
			err = fmt.Errorf("line %q is out of turn", lines.Text())
		}
		if err == nil {
			said = true
			s.Handle(id, r)
		}
	}
	if err == nil && lines.Err() == bufio.ErrTooLong {
		err = lines.Err()
	}
	if err != nil {
		s.count(&s.stats.Bad)
		s.cuts.Warn(s.Log, time.Now(), "a job was cut off", "job", id, "why", err)
		m.conn.SetWriteDeadline(time.Now().Add(writeTime))
		fmt.Fprintf(m.conn, "bye %.200s\n", clean(err.Error()))
	}
	m.conn.Close()
	s.Handle(id, Request{Verb: Gone}) // before the next connection of the job
	s.mu.Lock()
	delete(s.jobs, id)
	s.mu.Unlock()
}

func (s *Server) count(n *uint64) {
	s.mu.Lock()
	*n++
	s.mu.Unlock()
}

// write sends changes. A job that doesn't read has its connection closed.
func (m *member) write(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case line := <-m.next:
			m.conn.SetWriteDeadline(time.Now().Add(writeTime))
			if _, err := m.conn.Write([]byte(line + "\n")); err != nil {
				m.conn.Close()
				return
			}
		}
	}
}
