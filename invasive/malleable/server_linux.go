package malleable

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
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
	// Identify says which job a process belongs to, if any; it is asked when a process connects.
	Identify func(link.Peer) (invasive.JobID, bool)
	// Handle gets what jobs say, each job's lines in their order, the last one Gone. It must not block for long.
	Handle func(invasive.JobID, Request)
	Log    *slog.Logger
}

// A Server is the iHypervisor's side. It is safe for concurrent use.
type Server struct {
	ServerConfig
	from  *net.UnixListener
	mu    sync.Mutex
	jobs  map[invasive.JobID]*member
	stats ServerStats
	all   sync.WaitGroup
}

// ServerStats counts connections.
type ServerStats struct {
	// Jobs were let in; Strangers belonged to no job, Doubles to one that is connected; Bad were cut off for what they said,
	// Flooded for how often.
	Jobs, Strangers, Doubles, Bad, Flooded uint64
}

// member is a job that is connected.
type member struct {
	conn *net.UnixConn
	next chan string // the newest change, not sent yet
}

// NewServer serves a socket, see link.ListenUnix.
func NewServer(from *net.UnixListener, c ServerConfig) *Server {
	s := &Server{ServerConfig: c, from: from, jobs: map[invasive.JobID]*member{}}
	s.all.Add(1)
	go s.accept()
	return s
}

// Close ends all connections, and returns when Handle won't be called any more.
func (s *Server) Close() error {
	err := s.from.Close()
	s.mu.Lock()
	for _, m := range s.jobs {
		m.conn.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
	return err
}

// Stats returns what was counted so far.
func (s *Server) Stats() ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Send sends a change to a job; one that isn't sent yet is replaced. It doesn't wait. It returns false if
// the job isn't connected.
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

func (s *Server) accept() {
	defer s.all.Done()
	for {
		conn, err := s.from.AcceptUnix()
		if err != nil {
			return // closed
		}
		id, m := s.letIn(conn)
		if m == nil {
			conn.Close()
			continue
		}
		s.all.Add(1)
		go func() {
			defer s.all.Done()
			stop := make(chan struct{})
			go m.write(stop)
			s.read(id, m)
			close(stop)
		}()
	}
}

func (s *Server) letIn(conn *net.UnixConn) (invasive.JobID, *member) {
	peer, err := link.PeerOf(conn)
	id, ok := invasive.JobID(0), false
	if err == nil {
		id, ok = s.Identify(peer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !ok:
		s.stats.Strangers++
		s.Log.Warn("a process of no job was turned away", "pid", peer.PID, "uid", peer.UID)
		return 0, nil
	case s.jobs[id] != nil:
		s.stats.Doubles++
		return 0, nil
	}
	s.stats.Jobs++
	m := &member{conn, make(chan string, 1)}
	s.jobs[id] = m
	return id, m
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
		s.Log.Warn("a job was cut off", "job", id, "why", err)
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
