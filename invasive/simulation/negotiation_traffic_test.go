// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package simulation

import (
	"context"
	"encoding/binary"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/wire"
	"github.com/stretchr/testify/require"
)

// A carriage is how many messages there were of a kind, and their bytes with the frames' headers.
type carriage struct{ messages, bytes uint64 }

// frames counts the frames of a stream by kind. It takes the stream in any pieces.
type frames struct {
	mu   sync.Mutex
	of   map[invasive.Kind]carriage
	head []byte
	left int         // of the packet behind the header
	ends []time.Time // of RESPONSE_NEGOTIATION_END
}

func (f *frames) see(p []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, len(p))
			f.left, p = f.left-n, p[n:]
			continue
		}
		n := min(wire.HeaderSize-len(f.head), len(p))
		f.head, p = append(f.head, p[:n]...), p[n:]
		if len(f.head) == wire.HeaderSize {
			f.count(invasive.Kind(f.head[3]), int(binary.BigEndian.Uint32(f.head[4:])))
		}
	}
}

func (f *frames) count(k invasive.Kind, size int) {
	if f.of == nil {
		f.of = map[invasive.Kind]carriage{}
	}
	c := f.of[k]
	f.of[k] = carriage{c.messages + 1, c.bytes + uint64(wire.HeaderSize+size)}
	f.left, f.head = size, f.head[:0]
	if k == invasive.ResponseNegotiationEnd {
		f.ends = append(f.ends, time.Now())
	}
}

// total is what was counted so far.
func (f *frames) total() map[invasive.Kind]carriage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.of)
}

// A tap is the iScheduler's connection, and counts what goes over it.
type tap struct {
	*net.UnixConn
	sent, heard *frames
}

func dialTap(ctx context.Context, to link.Endpoint, sent, heard *frames) (net.Conn, error) {
	c, err := to.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return tap{c.(*net.UnixConn), sent, heard}, nil
}

// Write counts before the other side can answer.
func (t tap) Write(p []byte) (int, error) {
	t.sent.see(p)
	return t.UnixConn.Write(p)
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.UnixConn.Read(p)
	t.heard.see(p[:n])
	return n, err
}

// both adds what was counted at two places.
func both(a, b map[invasive.Kind]carriage) map[invasive.Kind]carriage {
	sum := maps.Clone(a)
	for k, c := range b {
		sum[k] = carriage{sum[k].messages + c.messages, sum[k].bytes + c.bytes}
	}
	return sum
}

// verify holds what both sides did against the workload and the protocol. It is for the end of a
// run of one session, which the iScheduler has ended; stats are the iScheduler's.
func (b *bench) verify(t testing.TB, stats *link.Stats) {
	f := &b.figures
	require.NoError(t, b.fault, "no core has two owners, and no job too few or too many")
	require.Equal(t, f.jobs+len(f.spans["urgent"]), b.judge.launches, "each job is launched once")
	require.Empty(t, b.running)
	require.Zero(t, slices.Max(b.judge.owner), "the referee's ledger is empty")
	require.Zero(t, slices.Max(b.hyper.Owners()), "the ledger is empty")
	sent, heard := verifySide(t, f.sent, invasive.IScheduler), verifySide(t, f.heard, invasive.IHypervisor)
	there := b.runner.Stats
	require.Equal(t, [...]uint64{sent, sent}, [...]uint64{stats.Get(link.Sent), there.Get(link.Received)})
	require.Equal(t, [...]uint64{heard, heard}, [...]uint64{stats.Get(link.Received), there.Get(link.Sent)})
	f.verifyPairs(t)
}

// verifySide returns how many messages a side has sent, each of which it may send.
func verifySide(t testing.TB, of map[invasive.Kind]carriage, side invasive.Side) (n uint64) {
	for k, c := range of {
		require.True(t, k.SentBy(side), "%v from the %v", k, side)
		n += c.messages
	}
	return n
}

// verifyPairs holds the numbers of messages against each other. In this workload the iScheduler
// ends no transaction itself: jobs leave its queue by a mapping alone.
func (f *figures) verifyPairs(t testing.TB) {
	of := func(k invasive.Kind) int { return int(f.sent[k].messages + f.heard[k].messages) }
	offers := f.transactions + f.unwanted + f.refused
	for _, pair := range []struct {
		request, response invasive.Kind
		n                 int
	}{
		{invasive.Initialise, invasive.ResponseInitialise, 1},
		{invasive.NegotiationStart, invasive.ResponseNegotiationStart, 1},
		// each is agreed on, or rejected by one side
		{invasive.ResourceOffer, invasive.ResponseResourceOffer, offers},
		{invasive.NegotiationEnd, invasive.ResponseNegotiationEnd, f.transactions},
		{invasive.UrgentJob, invasive.ResponseUrgentJob, len(f.spans["urgent"])},
		{invasive.Finalise, invasive.ResponseFinalise, 1},
	} {
		require.Equal(t, pair.n, of(pair.request), pair.request)
		require.Equal(t, pair.n, of(pair.response), pair.response)
	}
	require.Zero(t, f.sent[invasive.NegotiationEnd])
	require.Less(t, of(invasive.RequestResourceOffer), f.transactions)
	require.Positive(t, of(invasive.StatusReport))
	require.Len(t, f.spans["transaction"], f.transactions)
	require.Len(t, f.spans["question"], f.transactions)
	require.Len(t, f.spans["answer"], offers)
}

// A stream is counted alike in whatever pieces it comes.
func TestFramesCounted(t *testing.T) {
	want := map[invasive.Kind]carriage{}
	var stream []byte
	for _, m := range []*invasive.Message{
		{Kind: invasive.RequestResourceOffer, Pending: 70_000},
		{Kind: invasive.Finalise}, // its packet is nearly empty
		{Kind: invasive.RequestResourceOffer, Pending: 1},
		{Kind: invasive.NegotiationEnd, Transaction: 1, Attempt: 1, Outcome: invasive.QueueEmpty, Acks: []invasive.JobID{1, 300}},
	} {
		before := len(stream)
		var err error
		stream, err = wire.Append(stream, m, invasive.IScheduler, wire.DefaultLimit)
		require.NoError(t, err)
		c := want[m.Kind]
		want[m.Kind] = carriage{c.messages + 1, c.bytes + uint64(len(stream)-before)}
	}
	for size := 1; size <= len(stream); size++ {
		var f frames
		for rest := range slices.Chunk(stream, size) {
			f.see(rest)
		}
		require.Equal(t, want, f.total(), "pieces of %d bytes", size)
	}
}
