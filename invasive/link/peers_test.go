// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package link

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire"
	"github.com/stretchr/testify/require"
)

// stranger is a connection without a machine.
func (b *bed) stranger() net.Conn {
	b.t.Helper()
	c, err := DialUnix(context.Background(), b.endpoint.Address)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	return c
}

func frame(t testing.TB, m *invasive.Message) []byte {
	b, err := wire.Append(nil, m, invasive.IScheduler, wire.DefaultLimit)
	require.NoError(t, err)
	return b
}

func hello(t testing.TB) []byte {
	terms := testTerms
	terms.MinVersion, terms.MaxVersion = 1, 1
	return frame(t, &invasive.Message{Kind: invasive.Initialise, Terms: &terms})
}

// cutOff reads until the connection ends.
func cutOff(t testing.TB, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	_, err := io.Copy(io.Discard, c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestBadPeers(t *testing.T) {
	start := func(pending uint32) []byte {
		return frame(t, &invasive.Message{Kind: invasive.NegotiationStart, Pending: pending})
	}
	known := job(1)
	known.Urgent = true
	again := frame(t, &invasive.Message{Kind: invasive.UrgentJob, Job: known})
	for _, c := range []struct {
		name  string
		count Count
		says  func(c net.Conn)
	}{
		{"a stranger's words", BadFrame + Count(wire.Foreign), func(c net.Conn) { c.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }},
		{"half a frame", BadFrame + Count(wire.Truncated), func(c net.Conn) {
			c.Write(hello(t)[:11])
			c.(*net.UnixConn).CloseWrite()
		}},
		{"a frame that is too long", BadFrame + Count(wire.Oversized), func(c net.Conn) { c.Write([]byte("iR\x01\x01\xff\xff\xff\xff")) }},
		{"no protobuf", BadFrame + Count(wire.Malformed), func(c net.Conn) { c.Write([]byte("iR\x01\x01\x00\x00\x00\x02\xff\xff")) }},
		{"a message of the other side", BadFrame + Count(wire.Direction),
			func(c net.Conn) { c.Write([]byte("iR\x01\x06\x00\x00\x00\x00")) }},
		{"out of turn", OutOfTurn, func(c net.Conn) { c.Write(start(0)) }},
		{"flooding", Flooded, func(c net.Conn) {
			c.Write(append(hello(t), start(0)...))
			go io.Copy(io.Discard, c)
			for {
				if _, err := c.Write(again); err != nil {
					return
				}
			}
		}},
		{"reading nothing", Stalled, func(c net.Conn) {
			c.Write(append(hello(t), start(0)...))
			for {
				if _, err := c.Write(again); err != nil {
					return
				}
				time.Sleep(10 * time.Microsecond)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			b := newBed(t, dir, func(cfg *Config) {
				// A rate that a flood is above on the slowest host as well: one message is handed
				// over after the other.
				cfg.Limits = Limits{Frame: 4096, Rate: 1, Burst: 200, Write: 50 * time.Millisecond}
				if c.count == Stalled {
					cfg.Limits.Rate, cfg.Limits.Burst = 1e9, 1e9
				}
			})
			conn := b.stranger()
			c.says(conn)
			if c.count != Stalled && c.count != Flooded { // those read nothing, or already do
				cutOff(t, conn)
			}
			require.Eventually(t, func() bool { return b.stats.Get(c.count) > 0 }, patience, time.Millisecond)
			for other := Forbidden; other < counts; other++ {
				if other != c.count && !(c.count == Stalled || c.count == Flooded) {
					require.Zero(t, b.stats.Get(other), "%v", other)
				}
			}
			b.useful(dir, 2)
		})
	}
}

// A peer that says nothing, at any point, costs the time for an answer, and half
// frames don't prolong it.
func TestSilentPeer(t *testing.T) {
	for name, say := range map[string][]byte{"nothing": nil, "half a frame": hello(t)[:9], "only hello": hello(t)} {
		t.Run(name, func(t *testing.T) {
			dir, clock := t.TempDir(), &fakeClock{}
			b := newBed(t, dir, func(c *Config) { c.Clock = clock })
			conn := b.stranger()
			conn.Write(say)
			b.eventually(Sessions, 1)
			want := 1
			if name == "only hello" {
				want = 2 // and the next report
				require.Eventually(t, func() bool { return b.stats.Get(Sent) == 1 }, patience, time.Millisecond)
			}
			ours := func() (n int) {
				for _, d := range clock.pending() {
					if d <= testTerms.Reply {
						n++
					}
				}
				return n
			}
			require.Eventually(t, func() bool { return ours() == want }, patience, time.Millisecond)
			clock.advance(testTerms.Reply)
			require.Eventually(t, func() bool { clock.advance(time.Second); return b.closed(conn) }, patience, time.Millisecond)
			conn.Close() // or Linger would be waited for
			b.cancel()
			require.NoError(t, await(t, b.done))
		})
	}
}

func (b *bed) closed(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := io.Copy(io.Discard, c)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestWrongUser(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, nil)
	path := filepath.Join(dir, "other", "socket")
	e := Endpoint{Network: "unix", Address: path, Users: []uint32{uint32(os.Geteuid()) + 1}}
	stats := &Stats{}
	l, err := e.Listen(RealClock{}, stats)
	require.NoError(t, err)
	defer l.Close()
	c, err := DialUnix(context.Background(), path)
	require.NoError(t, err)
	defer c.Close()
	cutOff(t, c)
	require.Eventually(t, func() bool { return stats.Get(Forbidden) == 1 }, patience, time.Millisecond)

	// The iScheduler looks who answers as well.
	other := b.endpoint
	other.Users = e.Users
	_, err = other.Dial(context.Background())
	require.ErrorIs(t, err, ErrForbidden)
	b.useful(dir, 1)
}

func TestSecondPeerIsTurnedAway(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, nil)
	a := newAgent(t, dir, b.endpoint, nil)
	b.eventually(Sessions, 1)
	cutOff(t, b.stranger())
	b.eventually(Surplus, 1)
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(1)})
	require.EqualValues(t, 1, await(t, a.ended))
}

func TestSocketPlace(t *testing.T) {
	dir := t.TempDir()
	me := []uint32{uint32(os.Geteuid())}
	listen := func(name string, users []uint32) error {
		l, cleanup, err := ListenUnix(filepath.Join(dir, name), users)
		if err == nil {
			l.Close()
			if name != "own/stale" {
				require.NoError(t, cleanup())
			}
		}
		return err
	}
	mode := func(name string) os.FileMode {
		st, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return st.Mode().Perm()
	}
	require.NoError(t, listen("own/stale", me)) // its socket stays, its lock goes on
	require.Equal(t, os.FileMode(0o700), mode("own"))
	require.Equal(t, os.FileMode(0o600), mode("own/stale"))
	require.ErrorIs(t, listen("own/stale", me), ErrInUse)

	old, err := net.Listen("unix", filepath.Join(dir, "own", "dead"))
	require.NoError(t, err)
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	require.NoError(t, listen("own/dead", me)) // nobody holds its lock

	require.NoError(t, os.WriteFile(filepath.Join(dir, "own", "file"), []byte("precious"), 0o600))
	require.ErrorContains(t, listen("own/file", me), "something else in its place")
	require.Equal(t, os.FileMode(0o600), mode("own/file"))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "open"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(dir, "open"), 0o777))
	require.ErrorContains(t, listen("open/socket", me), "has mode 0777, more than 0700")
	require.NoError(t, os.Symlink("own", filepath.Join(dir, "link")))
	require.Error(t, listen("link/socket", me))
	require.NoError(t, listen("shared/socket", append(me, 12345)))
	require.Equal(t, os.FileMode(0o711), mode("shared"))
}

func TestParseEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"unix:/run/a": "", "tcp:host:1": "", "tcp:[::1]:1": "",
		"udp:x:1": "must be unix:PATH", "unix:": "must be unix:PATH", "x": "must be unix:PATH", "tcp:host": "missing port",
	} {
		e, err := ParseEndpoint(in)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, in, e.String())
	}
	_, err := Endpoint{Network: "tcp", Address: "127.0.0.1:0"}.Listen(RealClock{}, &Stats{})
	require.ErrorContains(t, err, "no TCP without TLS")
}

// pipes is a Listener of connections without buffers.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// One that reads nothing, and says nothing more, is out at once, and the next is served: long
// before anybody's answer is overdue.
func TestStalledPeerIsOut(t *testing.T) {
	l := pipes{make(chan net.Conn)}
	b := newBed(t, t.TempDir(), func(c *Config) { c.Listener, c.Limits = l, Limits{Write: 50 * time.Millisecond} })
	defer close(l.conns)
	says := func() net.Conn {
		ours, its := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		l.conns <- its
		_, _ = ours.Write(hello(t)) // one that is turned away doesn't hear it
		return ours
	}
	says()
	require.Eventually(t, func() bool { return b.stats.Get(Stalled) == 1 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { says(); return b.stats.Get(Sessions) > 1 }, testTerms.Reply/2, 10*time.Millisecond)
}
