// SPDX-License-Identifier: BSD-3-Clause

package lines

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Bounds of a connection.
const (
	// MaxMessage bounds a message, in bytes of its line.
	MaxMessage = 1 << 20
	// Silence is the time after which the other side is gone if it has said nothing, not even that
	// it lives.
	Silence = 4 * beat

	beat      = 5 * time.Second
	writeTime = 5 * time.Second
)

// A Conn is a connection over which messages go. Several goroutines may Put; one may Get.
type Conn struct {
	net.Conn
	in *bufio.Scanner
	mu sync.Mutex
}

// New makes a Conn of a connection, which is its own from then on.
func New(c net.Conn) *Conn {
	l := &Conn{Conn: c, in: bufio.NewScanner(c)}
	l.in.Buffer(nil, MaxMessage)
	return l
}

// Get reads one message into m, and waits no longer than [Silence].
func (l *Conn) Get(m any) error {
	if err := l.SetReadDeadline(time.Now().Add(Silence)); err != nil {
		return err
	}
	return l.Next(m)
}

// Next is Get without a bound of time of its own.
func (l *Conn) Next(m any) error {
	if !l.in.Scan() {
		return cmp.Or(l.in.Err(), io.EOF)
	}
	if err := json.Unmarshal(l.in.Bytes(), m); err != nil {
		return fmt.Errorf("message %.80q: %w", l.in.Bytes(), err)
	}
	return nil
}

// Gone returns when the other side has closed the connection, or has said more.
func (l *Conn) Gone() {
	_ = l.SetReadDeadline(time.Time{})
	l.in.Scan()
}

// Put writes one message. A connection that does not take it in time is closed.
func (l *Conn) Put(m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) >= MaxMessage {
		return fmt.Errorf("a message of %d bytes, at most %d are allowed", len(text), MaxMessage-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.SetWriteDeadline(time.Now().Add(writeTime)); err == nil {
		_, err = l.Write(append(text, '\n'))
	}
	if err != nil {
		l.Close()
	}
	return err
}

// Beats puts m, a sign of life, again and again until done is closed or the connection is.
func (l *Conn) Beats(done <-chan struct{}, m any) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if l.Put(m) != nil {
				return
			}
		}
	}
}
