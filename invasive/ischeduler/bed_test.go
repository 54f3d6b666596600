// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ischeduler

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/stretchr/testify/require"
)

const patience = 30 * time.Second

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func testTerms() invasive.Terms {
	return invasive.Terms{Attempts: 3, Reply: 5 * time.Second, Report: 20 * time.Millisecond}
}

// hypervisor plays an iHypervisor of four cores on a socket in dir until the test ends. Jobs end at
// once, with exit status 7.
func hypervisor(t *testing.T, dir string) link.Endpoint { return lateHypervisor(t, dir, 0) }

// lateHypervisor says that malleable jobs take so long to let go of cores, and offers all of its
// cores with that delay.
func lateHypervisor(t *testing.T, dir string, shrink time.Duration) link.Endpoint {
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	journal, err := link.OpenJournal(filepath.Join(dir, "hypervisor", "journal"))
	require.NoError(t, err)
	stats := &link.Stats{}
	listener, err := endpoint.Listen(link.RealClock{}, stats)
	require.NoError(t, err)
	terms := testTerms()
	terms.Partition = invasive.Partition{Name: "p", Nodes: 1, Sockets: 1, CoresPerSocket: 4}
	terms.Shrink = shrink
	h, actions := invasive.NewHypervisor(terms, journal.Saved(), nil, nil)
	var r *link.Runner
	do := func(a *invasive.Action, q link.Question) {
		switch a.Kind {
		case invasive.AskOffer:
			o := &invasive.Offer{Parts: []invasive.Part{{Cores: 4, Delay: uint32(shrink / time.Second)}}, Jobs: 10}
			pause := time.Millisecond
			time.AfterFunc(pause, func() { r.Answer(q, invasive.Event{Kind: invasive.OfferMade, Offer: o}) })
		case invasive.AskVerdict:
			r.Answer(q, invasive.Event{Kind: invasive.Verdict, Accept: true})
		case invasive.AskUrgent:
			r.Answer(q, invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: true})
		case invasive.AskPlace:
			free := []uint32{}
			for c, owner := range h.Owners() {
				if owner == 0 {
					free = append(free, uint32(c))
				}
			}
			for _, j := range h.Jobs(nil) {
				if n := int(j.Job.MinCores); j.State == invasive.Accepted && len(free) >= n {
					r.Post(invasive.Event{Kind: invasive.Place, ID: j.Job.ID, Cores: free[:n]})
					free = free[n:]
				}
			}
		case invasive.Launch:
			r.Post(invasive.Event{Kind: invasive.Exited, ID: a.ID, Exit: 7})
		}
	}
	r = link.NewRunner(link.Config{Side: invasive.IHypervisor, Machine: h, Journal: journal, Listener: listener, Stats: stats, Log: quiet(),
		Load: func() *invasive.Load { return &invasive.Load{FreeCores: 4} }, Do: do})
	require.NoError(t, r.Perform(actions))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(r.Run(ctx), listener.Close(), journal.Close()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return endpoint
}

// start runs an iScheduler on a directory until stop is called.
func start(t *testing.T, dir string, limit int, e link.Endpoint) (Client, func()) {
	t.Helper()
	_, c, stop := startScheduler(t, dir, limit, e, "")
	return c, stop
}

func startScheduler(t *testing.T, dir string, limit int, e link.Endpoint, elsewhere string) (*Scheduler, Client, func()) {
	t.Helper()
	s, err := Open(Config{Dir: dir, Dial: e.Dial, Terms: testTerms(), Limit: limit, Elsewhere: elsewhere, Queue: queue.DefaultOptions(),
		Random: rand.New(rand.NewPCG(1, 2)), Log: quiet()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.Run(ctx) }()
	go func() { done <- s.Serve(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, errors.Join(<-done, <-done, s.Close()))
	}
	t.Cleanup(stop)
	require.Eventually(t, func() bool { // the socket's name is there before it listens
		_, err := Client{dir}.Status(ctx)
		return err == nil
	}, patience, time.Millisecond)
	return s, Client{dir}, stop
}
