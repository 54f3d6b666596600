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
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/testca"
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
	silent("127.0.0.1", 2*maxHostGuests)
	comesIn()
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"} {
		silent(from, maxHostGuests)
	}
	comesIn()

	clock.advance(firstTime / 2) // so that the next one's timer can be told from the others'
	before := stats.Get(Unverified)
	last := silent("127.0.0.7", 1)[0]
	due := func(in time.Duration) func() bool { return func() bool { return slices.Contains(clock.pending(), in) } }
	require.Eventually(t, due(firstTime), patience, time.Millisecond)
	clock.advance(firstTime - 1)
	require.True(t, due(1)(), "it isn't out yet")
	clock.advance(1)
	cutOff(t, last)
	require.Eventually(t, func() bool { return stats.Get(Unverified) > before }, patience, time.Millisecond)
}

// guestConn is a connection from an address.
type guestConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *guestConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from)} }
func (c *guestConn) Close() error         { c.closed = true; return nil }

// There is room for everyone, at the cost of the oldest of those who have most.
func TestGuests(t *testing.T) {
	hosts := map[string]string{ // by what they have in common
		"10.0.0.1": "a", "::ffff:10.0.0.1": "a", "10.0.0.2": "b", "2001:db8::1": "c", "2001:db8::ffff:1": "c", "2001:db8:0:1::1": "d",
		"10.0.0.3": "e", "10.0.0.4": "f",
	}
	rapid.Check(t, func(t *rapid.T) {
		var g guests
		var in []*guestConn
		count := func(host string) (n int) {
			for _, c := range in {
				if hosts[c.from] == host {
					n++
				}
			}
			return n
		}
		drop := func(host string) {
			for i, c := range in {
				if hosts[c.from] == host {
					require.True(t, c.closed)
					require.False(t, g.remove(c))
					in = append(in[:i:i], in[i+1:]...)
					return
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(in) > 0 && rapid.IntRange(0, 9).Draw(t, "leaves") == 0 {
				i := rapid.IntRange(0, len(in)-1).Draw(t, "which")
				require.True(t, g.remove(in[i]))
				in = append(in[:i:i], in[i+1:]...)
				continue
			}
			from := rapid.SampledFrom([]string{"10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2",
				"2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "10.0.0.3", "10.0.0.4"}).Draw(t, "from")
			for range rapid.SampledFrom([]int{1, 3, maxHostGuests}).Draw(t, "so many") {
				c := &guestConn{from: from}
				g.add(c)
				most := ""
				for _, old := range in {
					if n := count(hosts[old.from]); most == "" || n > count(most) {
						most = hosts[old.from]
					}
				}
				switch {
				case count(hosts[from]) >= maxHostGuests:
					drop(hosts[from])
				case len(in) >= maxGuests:
					drop(most)
				}
				in = append(in, c)
			}
			for _, c := range in {
				require.False(t, c.closed)
			}
			require.LessOrEqual(t, len(in), maxGuests)
		}
		require.Len(t, g.list, len(in))
	})
}
