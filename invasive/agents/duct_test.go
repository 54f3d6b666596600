// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A duct is one end of a connection of paper. A write never blocks, and takes up to most to arrive.
type duct struct {
	in, out *flow
}

// A flow is one direction of it.
type flow struct {
	mu     sync.Mutex
	random *rand.Rand
	most   time.Duration
	chunks []chunk
	closed bool
	until  time.Time // read deadline
	news   chan struct{}
}

type chunk struct {
	text []byte
	at   time.Time
}

func newDuct(seed uint64, most time.Duration) (a, b *duct) {
	flows := [2]*flow{}
	for k := range flows {
		flows[k] = &flow{random: rand.New(rand.NewPCG(seed, uint64(k))), most: most, news: make(chan struct{}, 1)}
	}
	return &duct{flows[0], flows[1]}, &duct{flows[1], flows[0]}
}

// trace tells what happens, with -v.
func trace(format string, args ...any) {
	if testing.Verbose() {
		fmt.Print(time.Now().Format("04:05.000 "), strings.TrimSpace(fmt.Sprintf(format, args...)), "\n")
	}
}

func (f *flow) wake() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *flow) close(drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed = true; drop {
		f.chunks = nil
	}
	f.wake()
}

// Close lets the other side read what was written.
func (d *duct) Close() error {
	d.in.close(true)
	d.out.close(false)
	return nil
}

// cut loses what is under way.
func (d *duct) cut() {
	d.in.close(true)
	d.out.close(true)
}

func (d *duct) Write(p []byte) (int, error) {
	f := d.out
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, net.ErrClosed
	}
	at := time.Now()
	if f.most > 0 {
		at = at.Add(time.Duration(f.random.Int64N(int64(f.most))))
	}
	if n := len(f.chunks); n > 0 && f.chunks[n-1].at.After(at) {
		at = f.chunks[n-1].at
	}
	trace("%p %s", f, p)
	f.chunks = append(f.chunks, chunk{append([]byte{}, p...), at})
	f.wake()
	return len(p), nil
}

func (d *duct) Read(p []byte) (int, error) {
	for {
		n, wait, err := d.in.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-d.in.news:
		case <-time.After(wait):
		}
	}
}

// take returns what has arrived, or how long to wait.
func (f *flow) take(p []byte) (n int, wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	wait = time.Hour
	if !f.until.IsZero() {
		wait = f.until.Sub(now)
	}
	switch {
	case len(f.chunks) > 0 && !f.chunks[0].at.After(now):
		c := &f.chunks[0]
		n = copy(p, c.text)
		if c.text = c.text[n:]; len(c.text) == 0 {
			f.chunks = f.chunks[1:]
		}
	case len(f.chunks) == 0 && f.closed:
		return 0, 0, io.EOF
	case wait <= 0:
		return 0, 0, os.ErrDeadlineExceeded
	case len(f.chunks) > 0:
		wait = min(wait, f.chunks[0].at.Sub(now))
	}
	return n, wait, nil
}

func (d *duct) SetReadDeadline(t time.Time) error {
	d.in.mu.Lock()
	defer d.in.mu.Unlock()
	d.in.until = t
	d.in.wake()
	return nil
}

func (d *duct) SetWriteDeadline(time.Time) error { return nil }
func (d *duct) SetDeadline(time.Time) error      { return nil }
func (d *duct) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (d *duct) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
