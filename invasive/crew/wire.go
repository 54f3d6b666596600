// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
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
	in   *bufio.Reader
	mu   sync.Mutex
}

func newLine(c net.Conn) *line { return &line{conn: c, in: bufio.NewReaderSize(c, 4096)} }

// read reads one message into m, and waits no longer than silence.
func (l *line) read(m any) error {
	if err := l.conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	text, err := readLine(l.in)
	if err != nil {
		return err
	}
	return parse(text, m)
}

func parse(text []byte, m any) error {
	if err := json.Unmarshal(text, m); err != nil {
		return fmt.Errorf("message %.80q: %w", text, err)
	}
	return nil
}

// readLine reads one line, without its end.
func readLine(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > maxMessage {
			return nil, fmt.Errorf("a message of more than %d bytes", maxMessage)
		}
		text = append(text, part...)
		switch err {
		case nil:
			return text[:len(text)-1], nil
		case bufio.ErrBufferFull:
		case io.EOF:
			if len(text) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		default:
			return nil, err
		}
	}
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
