// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/testca"
	"github.com/stretchr/testify/require"
)

// files are those of a side whose certificate is of one authority, and which trusts another.
func files(of *testca.Authority, name string, trusts *testca.Authority) *TLS {
	return &TLS{CA: trusts.File("ca.pem"), Cert: of.File(name + ".pem"), Key: of.File(name + ".key")}
}

func TestTLS(t *testing.T) {
	ours, theirs := testca.New(t), testca.New(t)
	for _, a := range []*testca.Authority{ours, theirs} {
		a.Issue("hypervisor", "localhost", testca.Server)
		a.Issue("scheduler", "batch", testca.Client)
		a.Issue("stranger", "stranger", testca.Client)
	}
	e := Endpoint{Network: "tcp", Address: "localhost:0", TLS: files(ours, "hypervisor", ours)}
	e.TLS.Names = []string{"batch"}
	stats := &Stats{}
	l, err := e.Listen(RealClock{}, stats)
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	good := Endpoint{Network: "tcp", Address: "localhost:" + port, TLS: files(ours, "scheduler", ours)}

	refused := uint64(0)
	fails := func(name string, dial func() (net.Conn, error)) {
		c, err := dial()
		if err == nil { // with TLS 1.3 a client hears of it when it reads
			c.SetReadDeadline(time.Now().Add(patience))
			_, err = c.Read(make([]byte, 1))
			c.Close()
		}
		require.Error(t, err, name)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, name)
		refused++
		require.Eventually(t, func() bool { return stats.Get(Unverified) == refused }, patience, time.Millisecond, name)
	}
	with := func(files *TLS) func() (net.Conn, error) {
		return func() (net.Conn, error) {
			return Endpoint{Network: "tcp", Address: good.Address, TLS: files}.Dial(context.Background())
		}
	}
	fails("no certificate", func() (net.Conn, error) {
		return tls.Dial("tcp", good.Address, &tls.Config{InsecureSkipVerify: true})
	})
	fails("TLS 1.2", func() (net.Conn, error) {
		cert, _, err := good.TLS.load()
		require.NoError(t, err)
		return tls.Dial("tcp", good.Address, &tls.Config{InsecureSkipVerify: true,
			MaxVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}})
	})
	fails("no TLS", func() (net.Conn, error) {
		c, err := net.Dial("tcp", good.Address)
		if err == nil {
			_, err = c.Write(hello(t))
		}
		if err == nil {
			_, err = io.Copy(io.Discard, c) // an alert, and the end
		}
		return nil, errors.Join(err, io.EOF)
	})
	fails("another CA's", with(files(theirs, "scheduler", ours)))
	fails("a server's certificate", with(files(ours, "hypervisor", ours)))
	fails("a name that isn't let in", with(files(ours, "stranger", ours)))
	fails("the client's CA is another", with(files(ours, "scheduler", theirs)))
	_, err = Endpoint{Network: "tcp", Address: "127.0.0.1:" + port, TLS: good.TLS}.Dial(context.Background())
	require.ErrorContains(t, err, "127.0.0.1", "a host that the certificate doesn't name")

	// Somebody who connects and says nothing holds up nobody.
	idle, err := net.Dial("tcp", good.Address)
	require.NoError(t, err)
	defer idle.Close()
	go good.Dial(context.Background())
	c, err := l.Accept()
	require.NoError(t, err)
	c.Close()

	require.NoError(t, os.Chmod(good.TLS.Key, 0o640))
	_, err = good.Dial(context.Background())
	require.ErrorContains(t, err, "lets others read it")
}

// Whole sessions over TCP, from INITIALISE to the launch of jobs and their ends, and in order
// to the end. Whoever can't show who he is says nothing to either machine, however often he
// comes, and harms nobody.
func TestTLSSession(t *testing.T) {
	ours, theirs := testca.New(t), testca.New(t)
	ours.Issue("hypervisor", "localhost", testca.Server)
	ours.Issue("scheduler", "batch", testca.Client)
	ours.IssueExpired("late", "batch", testca.Client)
	ours.IssueExpired("late-hypervisor", "localhost", testca.Server)
	theirs.Issue("scheduler", "batch", testca.Client)
	theirs.Issue("hypervisor", "localhost", testca.Server)
	dir := t.TempDir()
	b := newBedAt(t, dir, Endpoint{Network: "tcp", Address: "localhost:0", TLS: files(ours, "hypervisor", ours)}, nil)
	at := b.endpoint.Address
	good := Endpoint{Network: "tcp", Address: at, TLS: files(ours, "scheduler", ours)}
	// by the one who can; more than once if the machine has other things to do for long
	var dialled atomic.Int64
	a := newAgent(t, dir, good, func(c *Config) {
		c.Dial = func(ctx context.Context) (net.Conn, error) {
			dialled.Add(1)
			return good.Dial(ctx)
		}
	})
	serves := func(id invasive.JobID) {
		t.Helper()
		a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(id)})
		require.Equal(t, id, await(t, b.launched))
		require.Equal(t, id, await(t, a.ended))
	}
	serves(1)
	id := invasive.JobID(1)
	for name, tls := range map[string]*TLS{
		"another CA": files(theirs, "scheduler", ours), "expired": files(ours, "late", ours), "a server's": files(ours, "hypervisor", ours),
		"trusts another CA": files(ours, "scheduler", theirs), "none": nil,
	} {
		t.Run(name, func(t *testing.T) {
			before := b.stats.Get(Unverified)
			comesAgain(t, func(ctx context.Context) (net.Conn, error) {
				if tls == nil {
					return dialBare(ctx, at)
				}
				return Endpoint{Network: "tcp", Address: at, TLS: tls}.Dial(ctx)
			}, func() bool { return b.stats.Get(Unverified) > before+2 })
			id++
			serves(id)
			require.LessOrEqual(t, b.stats.Get(Sessions), uint64(dialled.Load()))
		})
	}
	for name, tls := range map[string]*TLS{"expired": files(ours, "late-hypervisor", ours),
		"another CA": files(theirs, "hypervisor", ours)} {
		t.Run("iHypervisor/"+name, func(t *testing.T) {
			bad := newBedAt(t, t.TempDir(), Endpoint{Network: "tcp", Address: "localhost:0", TLS: tls}, nil)
			comesAgain(t, Endpoint{Network: "tcp", Address: bad.endpoint.Address, TLS: good.TLS}.Dial,
				func() bool { return bad.stats.Get(Unverified) > 2 })
			require.Zero(t, bad.stats.Get(Sessions))
			bad.cancel()
			require.NoError(t, await(t, bad.done))
		})
	}
	a.cancel()
	require.NoError(t, await(t, a.done))
	b.cancel()
	require.NoError(t, await(t, b.done))
	for c := Forbidden; c < counts; c++ {
		require.True(t, c == Unverified || b.stats.Get(c) == 0, "%v", c)
	}
}

// comesAgain has an iScheduler with a job connect, until there is enough, and sees to it that
// its job goes nowhere.
func comesAgain(t *testing.T, dial func(context.Context) (net.Conn, error), enough func() bool) {
	t.Helper()
	a := newAgent(t, t.TempDir(), Endpoint{}, func(c *Config) { c.Dial, c.Stats = dial, &Stats{} })
	a.runner.Post(invasive.Event{Kind: invasive.Submit, Job: job(99)})
	require.Eventually(t, enough, patience, time.Millisecond)
	a.cancel()
	require.NoError(t, await(t, a.done))
	require.Zero(t, a.runner.Stats.Get(Received))
	require.Empty(t, a.ended)
}

// dialBare speaks TLS, and shows no certificate.
func dialBare(ctx context.Context, address string) (net.Conn, error) {
	return (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address)
}
