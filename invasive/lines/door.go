// SPDX-License-Identifier: BSD-3-Clause

package lines

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/aucsched/aucsched/invasive/internal/guests"
	"github.com/aucsched/aucsched/invasive/internal/rare"
)

// A Door lets in who has the invitation.
type Door struct {
	// Invitation is what others join by.
	Invitation Invitation
	from       net.Listener
	config     *tls.Config
	log        *slog.Logger
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
	return &Door{Invitation: key.invitation(net.JoinHostPort(host, port)), from: from, log: log,
		config: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{key.certificate}}}, nil
}

// Close lets nobody in any more, and closes those who have not shown the secret. Who is in stays.
func (d *Door) Close() error { return d.from.Close() }

// Serve lets others in until Close, and returns when all are gone. LetIn hears the first message of
// one, in bounded time, and checks its secret; serve goes on with it. The connection is closed when
// serve returns, or if letIn fails.
func (d *Door) Serve(letIn func(*Conn) (serve func(), err error)) {
	door := guests.Door{From: d.from, Check: func(g *guests.Guest) (func(), error) {
		conn := New(tls.Server(g, d.config))
		serve, err := letIn(conn)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		return func() {
			defer conn.Close()
			serve()
		}, nil
	}, Refused: func(g *guests.Guest, err error) {
		d.strangers.Warn(d.log, time.Now(), "somebody was turned away", "from", g.RemoteAddr().String(), "why", err)
	}}
	door.Serve()
}
