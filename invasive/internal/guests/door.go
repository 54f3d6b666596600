// SPDX-License-Identifier: BSD-3-Clause

package guests

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// FirstTime is within what a guest has to say something, and Time within what it has to have shown
// who it is.
const (
	FirstTime = 2 * time.Second
	Time      = 10 * time.Second
)

// A Door lets in those who show who they are, some at a time and within some time, so that none of
// them holds up anybody.
type Door struct {
	From net.Listener
	// After calls f once after d unless stop is called before, in a goroutine of its own; nil:
	// time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
	// Check hears who a guest is, and is called from many goroutines. Unless it fails,
	// serve is called, which closes the connection: it may be closed already, for being
	// in the way of others.
	Check func(*Guest) (serve func(), err error)
	// Refused is called with Check's error; the connection is closed.
	Refused func(*Guest, error)

	guests guests
}

// mostSaid is how many bytes a guest may say until it has shown who it is: certificates are the
// most of it.
const mostSaid = 1 << 16

// A Guest is a connection whose peer has to show who it is. It may be used after that.
type Guest struct {
	net.Conn
	speaks func()
	said   int // bytes
	in     atomic.Bool
}

// Read notes that the peer has said something, and bounds what it says before it is in.
func (g *Guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 {
		g.speaks()
	}
	if g.in.Load() {
		return n, err
	}
	if g.said += n; g.said > mostSaid {
		return 0, fmt.Errorf("more than %d bytes before it has shown who it is", mostSaid)
	}
	return n, err
}

// Serve lets guests in until From is closed. Then it closes those who are not in yet, and returns
// when all are served.
func (d *Door) Serve() { each(d.From, d.receive, d.guests.close) }

func (d *Door) receive(c net.Conn) (serve func()) {
	after := d.After
	if after == nil {
		after = func(t time.Duration, f func()) func() bool { return time.AfterFunc(t, f).Stop }
	}
	over := func() { c.Close() }
	silent, late := after(FirstTime, over), after(Time, over)
	g := &Guest{Conn: c, speaks: sync.OnceFunc(func() { silent(); d.guests.speaks(c) })}
	d.guests.add(c)
	return func() {
		serve, err := d.Check(g)
		silent()
		late()
		d.guests.remove(c)
		if err != nil {
			c.Close()
			d.Refused(g, err)
			return
		}
		g.in.Store(true)
		serve()
	}
}

// Each serves all who connect, each in a goroutine of its own, until from is closed, and returns
// when all are gone. A connection is closed when serve returns.
func Each(from net.Listener, serve func(net.Conn)) {
	each(from, func(c net.Conn) func() {
		return func() {
			defer c.Close()
			serve(c)
		}
	}, func() {})
}

// each calls receive one by one, and what that returns at the same time.
func each(from net.Listener, receive func(net.Conn) (serve func()), closed func()) {
	var all sync.WaitGroup
	for {
		conn, err := from.Accept()
		switch {
		case err == nil:
			all.Go(receive(conn))
		case errors.Is(err, net.ErrClosed):
			closed()
			all.Wait()
			return
		default: // too many open files, say: it passes
			time.Sleep(100 * time.Millisecond)
		}
	}
}
