// SPDX-License-Identifier: BSD-3-Clause

package lines

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/lines/linestest"
)

func made(t testing.TB) Invitation {
	key, err := Invite()
	require.NoError(t, err)
	return key.invitation("[::1]:4711")
}

func TestInvitation(t *testing.T) {
	i := made(t)
	back, err := Parse(i.String())
	require.NoError(t, err)
	require.Equal(t, i, back)
	require.True(t, i.Is(i.Shown()))
	require.False(t, i.Is(made(t).Shown()))
	require.False(t, i.Is(""))
	text := i.String()
	for _, bad := range []string{"", "a", "host/00/00", "host:1/zz/00", text + "/", text + "00", text[:100]} {
		_, err := Parse(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), i.Shown()[:20])
	}
}

func FuzzInvitation(f *testing.F) {
	f.Add(made(f).String())
	f.Fuzz(func(t *testing.T, text string) {
		if i, err := Parse(text); err == nil {
			require.Equal(t, strings.ToLower(text), strings.ToLower(i.String()))
		}
	})
}

// A kept key is the same again, and nobody else's to read; a broken file is told by its name.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	first, err := Keep(path)
	require.NoError(t, err)
	again, err := Keep(path)
	require.NoError(t, err)
	require.Equal(t, first.invitation("h:1"), again.invitation("h:1"))
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var kept keptKey
	require.NoError(t, json.Unmarshal(text, &kept))
	_, err = x509.ParseCertificate(kept.Certificate)
	require.NoError(t, err)
	kept.Secret = kept.Secret[1:]
	short, err := json.Marshal(kept)
	require.NoError(t, err)
	for _, bad := range [][]byte{nil, text[:len(text)/2], []byte("{}"), short} {
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := Keep(path)
		require.ErrorContains(t, err, path)
	}
}

// open returns a Door that lets in who shows the secret, and hands on what it says then.
func open(t *testing.T) (*Door, <-chan string) {
	key, err := Invite()
	require.NoError(t, err)
	d, err := Open("127.0.0.1:0", key, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	said, over := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(over)
		d.Serve(func(c *Conn) (func(), error) {
			var secret string
			if err := c.Get(&secret); err != nil || !d.Invitation.Is(secret) {
				return nil, io.ErrUnexpectedEOF
			}
			return func() {
				for text := ""; c.Get(&text) == nil; {
					said <- text
				}
			}, nil
		})
	}()
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		<-over
	})
	return d, said
}

func TestDoor(t *testing.T) {
	d, said := open(t)
	c, err := d.Invitation.Dial(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.Put(d.Invitation.Shown()))
	require.NoError(t, c.Put("hear"))
	require.Equal(t, "hear", <-said)
	require.ErrorContains(t, c.Put(strings.Repeat("x", MaxMessage)), "at most")
	require.NoError(t, c.Put("again"), "a message that is too long does not end the connection")
	require.Equal(t, "again", <-said)
	require.NoError(t, c.Close())

	wrong := d.Invitation
	wrong.Certificate[0]++
	_, err = wrong.Dial(t.Context())
	require.ErrorIs(t, err, ErrStranger)
	stranger, err := d.Invitation.Dial(t.Context())
	require.NoError(t, err)
	defer stranger.Close()
	require.NoError(t, stranger.Put("let me in"))
	require.Error(t, stranger.Get(new(string)))
	plain, err := net.Dial("tcp", d.Invitation.Address)
	require.NoError(t, err)
	defer plain.Close()
	_, _ = plain.Write([]byte("GET / HTTP/1.0\n\n"))
	require.NoError(t, plain.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = io.ReadAll(plain)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is closed")
	require.Empty(t, said)
}

// Those who say nothing, or half of what is to be said, keep nobody of another address out; silent
// ones nobody of their own either.
func TestIdleGuests(t *testing.T) {
	for _, said := range []string{"", "\x16\x03\x01"} {
		t.Run(strconv.Quote(said), func(t *testing.T) {
			door, heard := open(t)
			linestest.Flood(t, door.Invitation.Address, 300, said)
			for range 5 {
				require.NoError(t, comesIn(t, door, "127.0.0.2", heard))
			}
			if said == "" {
				require.NoError(t, comesIn(t, door, "127.0.0.1", heard))
			}
			require.Eventually(t, func() bool { return comesIn(t, door, "127.0.0.1", heard) == nil }, 30*time.Second, time.Millisecond)
		})
	}
}

// comesIn has somebody of an address try once.
func comesIn(t *testing.T, door *Door, from string, heard <-chan string) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := tls.DialWithDialer(&d, "tcp", door.Invitation.Address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	c := New(conn)
	if err := errors.Join(c.Put(door.Invitation.Shown()), c.Put(from)); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.Gone()
	}()
	select {
	case text := <-heard:
		require.Equal(t, from, text)
		return nil
	case <-gone:
		return io.EOF
	case <-time.After(30 * time.Second):
		return os.ErrDeadlineExceeded
	}
}
