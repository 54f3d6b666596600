// SPDX-License-Identifier: BSD-3-Clause

package guests

import (
	"cmp"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// guestConn is a connection from an address.
type guestConn struct {
	net.Conn
	from   string
	spoke  bool
	closed bool
}

func (c *guestConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from)} }
func (c *guestConn) Close() error         { c.closed = true; return nil }

// hosts are those of addresses, by what they have in common.
var hosts = map[string]string{
	"10.0.0.1": "a", "::ffff:10.0.0.1": "a", "10.0.0.2": "b", "2001:db8::1": "c", "2001:db8::ffff:1": "c", "2001:db8:0:1::1": "d",
	"10.0.0.3": "e", "10.0.0.4": "f", "10.0.0.5": "g",
}

// twin is what guests should be: all that are in, of each kind in the order of becoming one.
type twin []*guestConn

func (w twin) count(host string, spoke bool) (n int) {
	for _, c := range w {
		if c.spoke == spoke && (host == "" || hosts[c.from] == host) {
			n++
		}
	}
	return n
}

func (w twin) without(c *guestConn) (list twin) {
	for _, o := range w {
		if o != c {
			list = append(list, o)
		}
	}
	return list
}

// drop is without the oldest of a host, which must have been closed.
func (w twin) drop(t *rapid.T, host string, spoke bool) twin {
	for _, c := range w {
		if hosts[c.from] == host && c.spoke == spoke {
			require.True(t, c.closed)
			return w.without(c)
		}
	}
	return w
}

func (w twin) largest(spoke bool) (host string) {
	for _, c := range w {
		if c.spoke == spoke && (host == "" || w.count(hosts[c.from], spoke) > w.count(host, spoke)) {
			host = hosts[c.from]
		}
	}
	return host
}

func (w twin) place(t *rapid.T, c *guestConn) twin {
	switch {
	case w.count(hosts[c.from], c.spoke) >= mostOfHost:
		w = w.drop(t, hosts[c.from], c.spoke)
	case w.count("", c.spoke) >= most:
		w = w.drop(t, w.largest(c.spoke), c.spoke)
	}
	return append(w, c)
}

// There is room for everyone, at the cost of the oldest of those who have most of the same kind.
func TestGuests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g guests
		var in twin
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if len(in) > 0 && rapid.IntRange(0, 9).Draw(t, "leaves") == 0 {
				c := rapid.SampledFrom(in).Draw(t, "who")
				g.remove(c)
				in = in.without(c)
				continue
			}
			from := rapid.SampledFrom([]string{"10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2",
				"2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "10.0.0.3", "10.0.0.4", "10.0.0.5"}).Draw(t, "from")
			speaks := rapid.Bool().Draw(t, "they speak")
			for range rapid.SampledFrom([]int{1, 3, mostOfHost}).Draw(t, "so many") {
				c := &guestConn{from: from}
				g.add(c)
				in = in.place(t, c)
				if speaks {
					g.speaks(c)
					in = in.without(c)
					c.spoke = true
					in = in.place(t, c)
					g.speaks(c) // again
				}
			}
			for _, c := range in {
				require.False(t, c.closed)
			}
			require.LessOrEqual(t, max(in.count("", false), in.count("", true)), most)
		}
		require.Len(t, g.list, len(in))
		g.close()
		for _, c := range in {
			require.True(t, c.closed)
		}
	})
}

// A guest is heard so much and no more, and as much as it likes once it is in.
func TestGuestsSayLittle(t *testing.T) {
	from, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	refused, heard, over := make(chan error, 2), make(chan int64, 2), make(chan struct{})
	d := Door{From: from, Check: func(g *Guest) (func(), error) {
		var first [1]byte
		if _, err := io.ReadFull(g, first[:]); err != nil || first[0] == 'x' {
			_, err = io.Copy(io.Discard, g)
			return nil, cmp.Or(err, io.EOF)
		}
		return func() {
			defer g.Close()
			n, _ := io.Copy(io.Discard, g)
			heard <- n
		}, nil
	}, Refused: func(_ *Guest, err error) { refused <- err }}
	go func() {
		defer close(over)
		d.Serve()
	}()
	say := func(first string) {
		c, err := net.Dial("tcp", from.Addr().String())
		require.NoError(t, err)
		defer c.Close()
		_, _ = c.Write([]byte(first))
		_, _ = c.Write(make([]byte, 10*mostSaid))
	}
	say("x")
	require.ErrorContains(t, <-refused, "more than 65536 bytes")
	say("i")
	require.EqualValues(t, 10*mostSaid, <-heard)
	require.NoError(t, from.Close())
	<-over
}
