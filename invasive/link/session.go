// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire"
)

// Limits bound what a peer can cost. The zero value of a field stands for the default.
type Limits struct {
	// Frame is the longest message, in bytes: wire.DefaultLimit, at most wire.MaxLimit. Both
	// sides need the same.
	Frame int
	// Rate and Burst are how many messages may come: so many a second, and so many at once. Each
	// 4 KiB of a message count as one more. Defaults: 1000, 5000.
	Rate, Burst float64
	// Write is how long the peer may take to read what is sent to it: 10 s.
	Write time.Duration
	// Linger is how long a closed connection may take to go: 1 s.
	Linger time.Duration
}

func (l Limits) orDefaults() Limits {
	set := func(to *time.Duration, d time.Duration) {
		if *to <= 0 {
			*to = d
		}
	}
	if l.Frame <= 0 {
		l.Frame = wire.DefaultLimit
	}
	l.Frame = min(l.Frame, wire.MaxLimit)
	if l.Rate <= 0 {
		l.Rate = 1000
	}
	if l.Burst <= 0 {
		l.Burst = 5000
	}
	set(&l.Write, 10*time.Second)
	set(&l.Linger, time.Second)
	return l
}

// A bucket is a token bucket.
type bucket struct {
	rate, burst, tokens float64
	at                  time.Time
}

// take returns whether n tokens were there.
func (b *bucket) take(now time.Time, n float64) bool {
	b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	b.tokens -= n
	return b.tokens >= 0
}

// A session is one connection: a goroutine that reads, and one that writes. The Runner's
// goroutine owns the rest.
type session struct {
	conn   net.Conn
	limits Limits
	clock  Clock
	stats  *Stats

	mu      sync.Mutex
	wake    sync.Cond
	queue   []byte // to be sent
	closing bool   // once it is empty
	gone    chan struct{}
	once    sync.Once
}

func newSession(conn net.Conn, limits Limits, clock Clock, stats *Stats) *session {
	s := &session{conn: conn, limits: limits, clock: clock, stats: stats, gone: make(chan struct{})}
	s.wake.L = &s.mu
	return s
}

// cut ends the connection at once.
func (s *session) cut() {
	s.once.Do(func() {
		close(s.gone)
		s.conn.Close()
		s.mu.Lock()
		s.closing, s.queue = true, nil
		s.mu.Unlock()
		s.wake.Broadcast()
	})
}

// finish ends the connection after what is in the queue; what comes in meanwhile counts no more.
func (s *session) finish() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wake.Broadcast()
	s.clock.AfterFunc(s.limits.Linger, s.cut)
}

var errStalled = errors.New("the peer doesn't read what is sent to it")

// send queues a message.
func (s *session) send(m *invasive.Message, from invasive.Side) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 2*s.limits.Frame {
		s.stats.add(Stalled)
		return errStalled
	}
	var err error
	if s.queue, err = wire.Append(s.queue, m, from, s.limits.Frame); err != nil {
		return err
	}
	s.stats.add(Sent)
	s.wake.Signal()
	return nil
}

// write is the goroutine that writes. Each write has one timer, so that a peer that doesn't
// read is noticed. It tells of that itself: the reader takes a connection that is cut for one
// that we wished to end.
func (s *session) write(stalled func()) {
	var out []byte
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closing {
			s.wake.Wait()
		}
		out, s.queue = s.queue, out[:0]
		s.mu.Unlock()
		if len(out) == 0 {
			break
		}
		stop := s.clock.AfterFunc(s.limits.Write, func() { s.stats.add(Stalled); s.cut(); stalled() })
		_, err := s.conn.Write(out)
		stop()
		if err != nil {
			return // the reader sees it too, after what the peer has said before
		}
	}
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return // the peer reads the rest, and closes; or Linger is over
	}
	s.cut()
}

// An incoming is a message, or the end of the connection.
type incoming struct {
	from *session
	msg  *invasive.Message
	err  error
}

// read is the goroutine that reads: it hands over one message at a time, and
// waits until it is taken.
func (s *session) read(peer invasive.Side, hand func(incoming) bool) {
	counting := &countingReader{from: s.conn}
	r := wire.NewReader(counting, peer, s.limits.Frame)
	b := bucket{rate: s.limits.Rate, burst: s.limits.Burst, tokens: s.limits.Burst, at: s.clock.Now()}
	for {
		counting.n = 0
		m, err := r.Next()
		if err == nil && !b.take(s.clock.Now(), 1+float64(counting.n/4096)) {
			s.stats.add(Flooded)
			err = errFlooded
		}
		var bad *wire.Error
		if errors.As(err, &bad) {
			s.stats.add(BadFrame + Count(bad.Fault))
		}
		if err == nil {
			s.stats.add(Received)
		}
		if !hand(incoming{s, m, err}) {
			break
		}
		if err != nil {
			s.cut()
			return
		}
	}
	io.Copy(io.Discard, s.conn) // until the peer has closed, or the session is cut
	s.cut()
}

var errFlooded = errors.New("more messages than the limit allows")

type countingReader struct {
	from io.Reader
	n    int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}
