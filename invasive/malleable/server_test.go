// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package malleable

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

const patience = 30 * time.Second

// A bed is a Server of one job, 7, that any process of this user may be.
type bed struct {
	t      *testing.T
	path   string
	server *Server
	said   chan Request
	close  func()
}

func newBed(t *testing.T, dir string, uid uint32) *bed {
	b := &bed{t: t, path: filepath.Join(dir, "run", "jobs"), said: make(chan Request, 1000)}
	from, cleanup, err := link.ListenUnix(b.path, []uint32{uint32(os.Geteuid())})
	require.NoError(t, err)
	b.server = NewServer(from, ServerConfig{
		Identify: func(p link.Peer) (invasive.JobID, bool) { return 7, p.UID == uid },
		Handle:   func(_ invasive.JobID, r Request) { b.said <- r },
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	b.close = func() {
		b.server.Close()
		require.NoError(t, cleanup())
	}
	return b
}

func me() uint32 { return uint32(os.Geteuid()) }

func (b *bed) hears(want Request) {
	b.t.Helper()
	require.Equal(b.t, want, await(b.t, b.said))
}

func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		require.Fail(t, "nothing comes")
	}
	return v
}

func TestClient(t *testing.T) {
	// no socket's address has room for it
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	b := newBed(t, dir, me())
	_, err := Connect(func(string) string { return "" })
	require.ErrorIs(t, err, ErrNoHypervisor)
	c, err := Connect(func(name string) string { return map[string]string{Variable: b.path}[name] })
	require.NoError(t, err)
	defer c.Close()
	b.hears(Request{Verb: Hello})
	require.True(t, b.server.Send(7, Change{Number: 1, Cores: []int{4, 5}, CPUs: []int{0}}))
	change := await(t, c.Changes())
	require.Equal(t, []int{4, 5}, change.Cores)
	require.Equal(t, []int{0}, change.CPUs)
	require.NoError(t, c.Done(change))
	b.hears(Request{Verb: Done, Number: 1})
	require.NoError(t, c.Keep(change, "two\nlines \xff"+strings.Repeat("ü", 200)))
	kept := await(t, b.said)
	require.True(t, strings.HasPrefix(kept.Text, "twolines "), kept.Text)
	require.Less(t, len(kept.Text), 210)
	require.NoError(t, c.Want(3))
	b.hears(Request{Verb: Want, Number: 3})

	// The iHypervisor starts anew: an answer to the old one doesn't reach the new one, a wish does.
	b.close()
	b.hears(Request{Verb: Gone})
	b = newBed(t, dir, me())
	defer b.close()
	b.hears(Request{Verb: Hello})
	b.hears(Request{Verb: Want, Number: 3})
	require.NoError(t, c.Done(change))
	require.True(t, b.server.Send(7, Change{Number: 9, Cores: []int{1}, CPUs: []int{1}}))
	require.NoError(t, c.Done(await(t, c.Changes())))
	b.hears(Request{Verb: Done, Number: 9})
}

func TestBadJobs(t *testing.T) {
	b := newBed(t, t.TempDir(), me())
	defer b.close()
	for _, c := range []struct {
		name, says, bye string
		stats           ServerStats
	}{
		{"another language", "GET / HTTP/1.1\r\n", "nothing begins with", ServerStats{Bad: 1}},
		{"no hello", "done 1\n", "out of turn", ServerStats{Bad: 1}},
		{"two of them", "hello 1\nhello 1\n", "out of turn", ServerStats{Bad: 1}},
		{"a long line", "hello 1\nkeep 1 " + strings.Repeat("x", 1000), "too long", ServerStats{Bad: 1}},
		{"flooding", "hello 1\n" + strings.Repeat("want 1\n", 2*lineBurst), "", ServerStats{Flooded: 1}},
		{"half a line", "hello 1\ndone 1", "", ServerStats{}},
	} {
		before := b.server.Stats()
		conn, err := link.DialUnix(context.Background(), b.path)
		require.NoError(t, err)
		fmt.Fprint(conn, c.says)
		conn.CloseWrite()
		conn.SetReadDeadline(time.Now().Add(patience))
		text, err := io.ReadAll(conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		if c.bye != "" {
			require.Regexp(t, "^bye .*"+c.bye, string(text), c.name)
		}
		for r := range b.said {
			require.NotEqual(t, Done, r.Verb, c.name)
			if r.Verb == Gone {
				break
			}
		}
		after := b.server.Stats()
		require.Equal(t, c.stats, ServerStats{Bad: after.Bad - before.Bad, Flooded: after.Flooded - before.Flooded}, c.name)
		require.Equal(t, before.Jobs+1, after.Jobs)
		conn.Close()
		require.Eventually(t, func() bool { return !b.server.Send(7, Change{}) }, patience, time.Millisecond)
	}
}

func TestStrangers(t *testing.T) {
	b := newBed(t, t.TempDir(), me()+1)
	defer b.close()
	conn, err := link.DialUnix(context.Background(), b.path)
	require.NoError(t, err)
	defer conn.Close()
	cutOff(t, conn)
	require.Equal(t, ServerStats{Strangers: 1}, b.server.Stats())
	require.Empty(t, b.said)

	good := newBed(t, t.TempDir(), me())
	defer good.close()
	first, err := link.DialUnix(context.Background(), good.path)
	require.NoError(t, err)
	defer first.Close()
	fmt.Fprint(first, "hello 1\n")
	good.hears(Request{Verb: Hello})
	second, err := link.DialUnix(context.Background(), good.path)
	require.NoError(t, err)
	defer second.Close()
	cutOff(t, second)
	require.Equal(t, ServerStats{Jobs: 1, Doubles: 1}, good.server.Stats())
	require.True(t, good.server.Send(7, Change{Number: 1, Cores: []int{0}, CPUs: []int{0}}))
	line := make([]byte, 100)
	n, err := first.Read(line)
	require.NoError(t, err)
	require.Equal(t, "cores 1 0 0\n", string(line[:n]))
}

func cutOff(t *testing.T, c net.Conn) {
	c.SetReadDeadline(time.Now().Add(patience))
	_, err := io.Copy(io.Discard, c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// Look asks once, and leaves the place to the job.
func TestLook(t *testing.T) {
	b := newBed(t, t.TempDir(), me())
	defer b.close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() {
		for r := range b.said {
			if r.Verb == Hello {
				b.server.Send(7, Change{Number: 1, Cores: []int{4, 5}, CPUs: []int{0}})
			}
		}
	}()
	change, err := Look(ctx, b.path)
	require.NoError(t, err)
	require.Equal(t, []int{4, 5}, change.Cores)

	require.Eventually(t, func() bool {
		// the end of the first connection may not have been seen yet
		c, err := net.Dial("unix", b.path)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return b.server.Stats().Jobs == 2
	}, patience, time.Millisecond)
	_, err = Look(ctx, b.path)
	require.Error(t, err, "another process is connected")
	_, err = Look(ctx, b.path+"x")
	require.Error(t, err)
}
