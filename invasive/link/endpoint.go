// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"github.com/aucsched/aucsched/invasive/internal/guests"
)

// ErrInUse is a socket or a journal that another process uses.
var ErrInUse = errors.New("another process uses it")

// ErrForbidden is a peer of a user that isn't allowed.
var ErrForbidden = errors.New("its user is not allowed")

// An Endpoint is where an iHypervisor listens.
type Endpoint struct {
	// Network is "unix" or "tcp".
	Network string
	// Address is a path, or host:port.
	Address string
	// Users are the user IDs that a peer on a Unix socket may have, on both sides; nobody
	// else, not even root.
	Users []uint32
	// TLS is for tcp, and must be there.
	TLS *TLS
}

// ParseEndpoint reads unix:PATH or tcp:HOST:PORT.
func ParseEndpoint(s string) (Endpoint, error) {
	network, address, ok := strings.Cut(s, ":")
	e := Endpoint{Network: network, Address: address}
	switch {
	case !ok || address == "" || network != "unix" && network != "tcp":
		return e, fmt.Errorf("%q: must be unix:PATH or tcp:HOST:PORT", s)
	case network == "unix":
		abs, err := filepath.Abs(address)
		e.Address = abs
		return e, err
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return e, fmt.Errorf("%q: %w", s, err)
	}
	return e, nil
}

// String is what ParseEndpoint reads.
func (e Endpoint) String() string { return e.Network + ":" + e.Address }

// Listen listens. What the Listener accepts has shown who it is; others are cut off and counted.
//
// The directory of a Unix socket is made for nobody else to enter, unless Users has others than
// this user and root; then they may pass through it. One that is there has to belong to this user
// or root, and nobody else may write to it. A socket that a dead process has left is replaced; a
// lock beside it, PATH.lock, tells which.
func (e Endpoint) Listen(clock Clock, stats *Stats) (*Listener, error) {
	switch {
	case e.Network == "unix":
		return e.listenUnix(clock, stats)
	case e.TLS == nil:
		return nil, fmt.Errorf("%v: needs certificates: there is no TCP without TLS", e)
	}
	config, err := e.TLS.server()
	if err != nil {
		return nil, err
	}
	from, err := net.Listen("tcp", e.Address)
	if err != nil {
		return nil, err
	}
	l := newListener(from, clock, stats, nil)
	l.check = func(g *guests.Guest) (net.Conn, error) {
		keepAlive(g.Conn)
		return e.TLS.handshakeServer(g, config)
	}
	l.start()
	return l, nil
}

// Dial connects, and makes sure of who answers.
func (e Endpoint) Dial(ctx context.Context) (net.Conn, error) {
	if e.Network == "unix" {
		return e.dialUnix(ctx)
	}
	if e.TLS == nil {
		return nil, fmt.Errorf("%v: needs certificates: there is no TCP without TLS", e)
	}
	return e.TLS.dial(ctx, e.Address)
}

// A Listener accepts connections of peers that have shown who they are. It is a net.Listener.
type Listener struct {
	net.Listener
	clock   Clock
	stats   *Stats
	check   func(*guests.Guest) (net.Conn, error)
	cleanup func() error

	good    chan net.Conn
	closing sync.Once
	closed  chan struct{} // nobody can connect any more, and a Unix socket is gone
	dead    chan struct{} // nobody is accepted any more
}

func newListener(from net.Listener, clock Clock, stats *Stats, cleanup func() error) *Listener {
	return &Listener{
		Listener: from, clock: clock, stats: stats, cleanup: cleanup,
		good: make(chan net.Conn), closed: make(chan struct{}), dead: make(chan struct{}),
	}
}

func (l *Listener) start() { go l.accept() }

func (l *Listener) accept() {
	door := guests.Door{From: l.Listener, After: l.clock.AfterFunc, Check: l.hear, Refused: l.turnAway}
	door.Serve()
	<-l.closed // the kernel may tell of it before it is so
	close(l.dead)
}

// hear has a peer that has shown who it is wait until it is accepted.
func (l *Listener) hear(g *guests.Guest) (serve func(), err error) {
	checked, err := l.check(g)
	return func() {
		select {
		case l.good <- checked:
		case <-l.closed:
			g.Close()
		}
	}, err
}

func (l *Listener) turnAway(_ *guests.Guest, err error) {
	if errors.Is(err, ErrForbidden) {
		l.stats.add(Forbidden)
		return
	}
	l.stats.add(Unverified)
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.good:
		return c, nil
	case <-l.dead:
		return nil, net.ErrClosed
	}
}

// Close stops listening, and removes a Unix socket. Once Accept has failed for
// it, nobody can connect.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.closing.Do(func() {
		err = l.Listener.Close()
		if l.cleanup != nil {
			err = errors.Join(err, l.cleanup())
		}
		close(l.closed)
	})
	return err
}

// allowed tells whether a user is one of them.
func allowed(users []uint32, uid uint32) error {
	for _, u := range users {
		if u == uid {
			return nil
		}
	}
	return fmt.Errorf("user %d: %w", uid, ErrForbidden)
}
