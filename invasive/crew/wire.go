// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of a connection.
const (
	maxMessage = 1 << 20 // bytes of a line
	beat       = 5 * time.Second
	silence    = 4 * beat // after which the other side is gone
	writeTime  = 5 * time.Second
)

// MaxPlaces is one above the greatest number of a place.
const MaxPlaces = 100_000

// A Command is started on a place.
type Command struct {
	Argv []string `json:"argv"`
	// Env is its environment, beyond that of the member.
	Env []string `json:"env,omitempty"`
	// Dir is where it begins; "": where the member did.
	Dir string `json:"dir,omitempty"`
}

// check refuses what a message would change: JSON knows UTF-8 only.
func (c *Command) check() error {
	for _, text := range append(slices.Concat(c.Argv, c.Env), c.Dir) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%.80q is not UTF-8", text)
		}
	}
	return nil
}

// order is what a lead says to a member; one without a field is a sign of life.
type order struct {
	Run   *Command `json:"run,omitempty"`
	ID    uint64   `json:"id,omitempty"` // of the command to run
	Kill  uint64   `json:"kill,omitempty"`
	Leave bool     `json:"leave,omitempty"`
}

// news is what a member says; likewise.
type news struct {
	Hello   *hello `json:"hello,omitempty"`
	Ended   uint64 `json:"ended,omitempty"`
	Status  int    `json:"status,omitempty"` // of the command that has ended
	Leaving bool   `json:"leaving,omitempty"`
}

// hello comes first.
type hello struct {
	Secret string `json:"secret"`
	Place  int    `json:"place"`
	Node   string `json:"node"`
	Job    string `json:"job"` // Slurm's number
}

// line is a connection over which messages go, a line each. Several goroutines may write.
type line struct {
	conn net.Conn
	in   *bufio.Scanner
	mu   sync.Mutex
}

func newLine(c net.Conn) *line { return &line{conn: c, in: scanner(c)} }

// scanner reads messages.
func scanner(from io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(from)
	s.Buffer(nil, maxMessage)
	return s
}

// read reads one message into m, and waits no longer than silence.
func (l *line) read(m any) error {
	if err := l.conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	return l.next(m)
}

// next is read without a bound of time of its own.
func (l *line) next(m any) error {
	if !l.in.Scan() {
		return cmp.Or(l.in.Err(), io.EOF)
	}
	if err := json.Unmarshal(l.in.Bytes(), m); err != nil {
		return fmt.Errorf("message %.80q: %w", l.in.Bytes(), err)
	}
	return nil
}

// write writes one message; a connection that does not take it in time is closed.
func (l *line) write(m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) >= maxMessage {
		return fmt.Errorf("a message of %d bytes, at most %d are allowed", len(text), maxMessage-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.conn.SetWriteDeadline(time.Now().Add(writeTime)); err == nil {
		_, err = l.conn.Write(append(text, '\n'))
	}
	if err != nil {
		l.conn.Close()
	}
	return err
}

// beats writes signs of life until done.
func (l *line) beats(done <-chan struct{}, m any) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if l.write(m) != nil {
				return
			}
		}
	}
}
