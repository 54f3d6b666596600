// SPDX-License-Identifier: BSD-3-Clause

package lines

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive/internal/rare"
)

// Bounds of those who have connected and not said who they are.
const (
	mostGuests = 256
	helloTime  = 10 * time.Second
)

// A Door lets in who has the invitation.
type Door struct {
	// Invitation is what others join by.
	Invitation Invitation
	from       net.Listener
	log        *slog.Logger
	guests     chan struct{}
	strangers  rare.Line
}

// Open listens on a TCP address, HOST:PORT, PORT 0 for any; HOST is what the invitation says. A key
// is what [Invite] or [Keep] returns.
func Open(address string, key *Key, log *slog.Logger) (*Door, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	from, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(from.Addr().String())
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	d := &Door{Invitation: key.invitation(net.JoinHostPort(host, port)), log: log, guests: make(chan struct{}, mostGuests)}
	d.from = tls.NewListener(from, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{key.certificate}})
	return d, nil
}

// Close lets nobody in any more. Who is in stays.
func (d *Door) Close() error { return d.from.Close() }

// Serve lets others in until Close, and returns when all are gone. LetIn hears the first message of
// one, in bounded time, and checks its secret; serve goes on with it. The connection is closed when
// serve returns, or if letIn fails.
func (d *Door) Serve(letIn func(*Conn) (serve func(), err error)) {
	Each(d.from, func(conn net.Conn) {
		select {
		case d.guests <- struct{}{}:
		default:
			return
		}
		late := time.AfterFunc(helloTime, func() { conn.Close() })
		serve, err := letIn(New(conn))
		late.Stop()
		<-d.guests
		if err != nil {
			d.strangers.Warn(d.log, time.Now(), "somebody was turned away", "from", conn.RemoteAddr().String(), "why", err)
			return
		}
		serve()
	})
}

// Each serves all who connect, each in a goroutine of its own, until from is closed, and returns
// when all are gone. A connection is closed when serve returns.
func Each(from net.Listener, serve func(net.Conn)) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		conn, err := from.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files, say: it passes
			time.Sleep(100 * time.Millisecond)
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			defer conn.Close()
			serve(conn)
		}()
	}
}
