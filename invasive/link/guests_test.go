// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package link

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/internal/guests"
	"github.com/aucsched/aucsched/invasive/testca"
)

// Whoever connects and says nothing keeps the real iScheduler out no moment, be he one of its own
// host or of others, and is out in two seconds.
func TestSilentPeersOverTCP(t *testing.T) {
	ours := testca.New(t)
	ours.Issue("hypervisor", "localhost", testca.Server)
	ours.Issue("scheduler", "batch", testca.Client)
	e := Endpoint{Network: "tcp", Address: "localhost:0", TLS: files(ours, "hypervisor", ours)}
	stats, clock := &Stats{}, &fakeClock{}
	l, err := e.Listen(clock, stats)
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	good := Endpoint{Network: "tcp", Address: "localhost:" + port, TLS: files(ours, "scheduler", ours)}

	silent := func(from string, n int) (conns []net.Conn) {
		d := net.Dialer{}
		if host, _, _ := net.SplitHostPort(l.Addr().String()); host == "127.0.0.1" {
			// IPv6 has one address of its own only
			d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
		}
		for range n {
			c, err := d.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			conns = append(conns, c)
		}
		return conns
	}
	comesIn := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		dialled := make(chan error, 1)
		go func() {
			c, err := good.Dial(ctx)
			if err == nil {
				c.Close()
			}
			dialled <- err
		}()
		require.NoError(t, await(t, dialled))
		c, err := l.Accept()
		require.NoError(t, err)
		c.Close() // the clock stands still: it has waited for none of them
	}
	silent("127.0.0.1", 8)
	comesIn()
	silent("127.0.0.1", 300)
	comesIn()
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"} {
		silent(from, 60)
	}
	comesIn()

	clock.advance(guests.FirstTime / 2) // so that the next one's timer can be told from the others'
	before := stats.Get(Unverified)
	last := silent("127.0.0.7", 1)[0]
	due := func(in time.Duration) func() bool { return func() bool { return slices.Contains(clock.pending(), in) } }
	require.Eventually(t, due(guests.FirstTime), patience, time.Millisecond)
	clock.advance(guests.FirstTime - 1)
	require.True(t, due(1)(), "it isn't out yet")
	clock.advance(1)
	cutOff(t, last)
	require.Eventually(t, func() bool { return stats.Get(Unverified) > before }, patience, time.Millisecond)
}
