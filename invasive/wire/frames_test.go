// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFrames feeds bad frames (random, truncated, oversized, from the wrong side, with flipped
// bits), and good ones out of order and replayed, to readers and the machines behind them.
// AUCSCHED_INVASIVE_FRAMES is their number.
func TestFrames(t *testing.T) {
	frames := 20_000
	if s := os.Getenv("AUCSCHED_INVASIVE_FRAMES"); s != "" {
		var err error
		frames, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	b := newBarrage(t)
	for b.sent < frames/10 {
		b.connection()
	}
	before := heap()
	began := time.Now()
	for b.sent < frames {
		b.connection()
	}
	grown := int64(heap()) - int64(before)
	t.Logf("%d frames in %.1f s: %d good, %d out of turn; bad ones: %s; the heap grew by %d bytes",
		b.sent, time.Since(began).Seconds(), b.counts.Good, b.violated, list(b.counts), grown)
	require.Less(t, grown, int64(1<<20))
	all := b.counts.Good
	for f, n := range b.counts.Bad {
		require.GreaterOrEqual(t, n, b.expect[f], Fault(f))
		all += n
	}
	require.EqualValues(t, b.sent, all, "every frame is counted once")
	for _, f := range []Fault{Truncated, Foreign, Version, Oversized, Direction, Malformed, Invalid} {
		require.NotZero(t, b.counts.Bad[f], f)
	}
	require.NotZero(t, b.violated)
	require.NotEmpty(t, b.launched, "some mappings must get through")
}

func list(c Counts) (s string) {
	for f, n := range c.Bad {
		s += Fault(f).String() + " " + strconv.FormatUint(n, 10) + ", "
	}
	return s
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type barrage struct {
	t        *testing.T
	rng      *rand.Rand
	pool     map[invasive.Side][][]byte // good frames
	a        *invasive.Agent
	h        *invasive.Hypervisor
	counts   Counts
	expect   [Faults]uint64
	sent     int
	violated int
	launched map[invasive.JobID]bool
	replay   []byte
}

const frameLimit = 1 << 14

func newBarrage(t *testing.T) *barrage {
	b := &barrage{
		t: t, rng: rand.New(rand.NewPCG(1, 2)), launched: map[invasive.JobID]bool{},
		pool: map[invasive.Side][][]byte{},
	}
	for kind := invasive.Initialise; kind <= lastKind; kind++ {
		for seed := range 20 {
			m := rapid.Custom(func(t *rapid.T) *invasive.Message { return genMessage(t, kind) }).Example(seed)
			b.likely(m)
			for _, side := range []invasive.Side{invasive.IScheduler, invasive.IHypervisor} {
				if kind.SentBy(side) {
					frame, err := Append(nil, m, side, frameLimit)
					require.NoError(t, err)
					b.pool[side] = append(b.pool[side], frame)
				}
			}
		}
	}
	terms := invasive.Terms{Attempts: 3, Reply: time.Second, Report: time.Second}
	b.a = invasive.NewAgent(terms, nil)
	for id := range 20 {
		b.agent(invasive.Event{Kind: invasive.Submit, Job: &invasive.Job{ID: invasive.JobID(id + 1), MinCores: 1, MaxCores: 1}})
	}
	terms.Partition = invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: 64}
	b.h, _ = invasive.NewHypervisor(terms, nil, nil, nil)
	b.agent(invasive.Event{Kind: invasive.Start})
	b.hypervisor(invasive.Event{Kind: invasive.Start})
	return b
}

// likely brings a message nearer to one that a machine would take.
func (b *barrage) likely(m *invasive.Message) {
	if m.Transaction > 0 {
		m.Transaction, m.Attempt = 1, 1+b.rng.Uint32N(2)
	}
	if m.Acks != nil {
		m.Acks = nil // a job that is forgotten may be launched again: IDs are for good
	}
	for i := range m.Map {
		m.Map[i].Parts = []invasive.Part{{Cores: 1}}
		m.Map[i].Job = &invasive.Job{ID: invasive.JobID(1 + b.rng.Uint64N(50)), MinCores: 1, MaxCores: 1}
	}
}

// connection sends some frames to both sides, until one of them spoils the
// stream or is out of turn.
func (b *barrage) connection() {
	for _, peer := range []invasive.Side{invasive.IScheduler, invasive.IHypervisor} {
		if peer == invasive.IScheduler {
			b.hypervisor(invasive.Event{Kind: invasive.Connected})
		} else {
			b.agent(invasive.Event{Kind: invasive.Connected})
		}
		stream := bytes.NewReader(nil)
		r := NewReader(stream, peer, frameLimit)
		for i := range 12 {
			frame, fault := b.frame(peer, i)
			stream.Reset(frame)
			m, err := r.Next()
			b.sent++
			require.LessOrEqual(b.t, cap(r.buf), frameLimit)
			var bad *Error
			if errors.As(err, &bad) && fault < Faults {
				require.Equal(b.t, fault, bad.Fault)
				b.expect[fault]++
			}
			if fault < Faults {
				require.Error(b.t, err)
			}
			if err != nil && bad.Fault < Direction {
				break
			}
			if err == nil && b.hear(peer, m) {
				break
			}
		}
		for f, n := range r.Counts().Bad {
			b.counts.Bad[f] += n
		}
		b.counts.Good += r.Counts().Good
		if peer == invasive.IScheduler {
			b.hypervisor(invasive.Event{Kind: invasive.Lost})
		} else {
			b.agent(invasive.Event{Kind: invasive.Lost})
		}
	}
}

// frame returns the next frame, and what is wrong with it; Faults if nothing is, or nobody knows.
func (b *barrage) frame(peer invasive.Side, i int) ([]byte, Fault) {
	pick := func(side invasive.Side) []byte {
		return bytes.Clone(b.pool[side][b.rng.IntN(len(b.pool[side]))])
	}
	other := invasive.IScheduler + invasive.IHypervisor - peer
	f := pick(peer)
	switch b.rng.IntN(24) {
	case 0:
		f = make([]byte, HeaderSize+b.rng.IntN(200))
		for i := range f {
			f[i] = byte(b.rng.Uint32())
		}
		f[0] |= 1 << 7 // ours never begin like that
		return f, Foreign
	case 1:
		return f[:1+b.rng.IntN(len(f)-1)], Truncated
	case 2:
		binary.BigEndian.PutUint32(f[4:], frameLimit+1+b.rng.Uint32N(1<<31))
		return f, Oversized
	case 3:
		f[2] += 1 + byte(b.rng.Uint32N(255))
		return f, Version
	case 4:
		for f = pick(other); invasive.Kind(f[3]).SentBy(peer); {
			f = pick(other)
		}
		return f, Direction
	case 5, 6, 7, 8:
		if len(f) > HeaderSize {
			for range 1 + b.rng.IntN(4) {
				f[HeaderSize+b.rng.IntN(len(f)-HeaderSize)] ^= 1 << b.rng.IntN(8)
			}
		}
		return f, Faults
	case 9, 10, 11:
		if b.replay != nil && invasive.Kind(b.replay[3]).SentBy(peer) {
			return b.replay, Faults
		}
	}
	if i < 2 && b.rng.IntN(4) > 0 { // often it begins as it should
		begin := [2][2]invasive.Kind{{invasive.Initialise, invasive.NegotiationStart},
			{invasive.ResponseInitialise, invasive.ResponseNegotiationStart}}
		for want := begin[peer-1][i]; invasive.Kind(f[3]) != want; {
			f = pick(peer)
		}
	}
	b.replay = f
	return f, Faults
}

// hear gives a message to the machine, and returns whether that closed the connection.
func (b *barrage) hear(peer invasive.Side, m *invasive.Message) bool {
	ev := invasive.Event{Kind: invasive.EventKind(m.Kind), Msg: m}
	if peer == invasive.IScheduler {
		return b.hypervisor(ev)
	}
	return b.agent(ev)
}

func (b *barrage) agent(ev invasive.Event) (closed bool) {
	for _, a := range b.a.Step(&ev, nil) {
		switch a.Kind {
		case invasive.Violated:
			b.violated++
		case invasive.Close:
			closed = true
		case invasive.AskDecision:
			b.agent(invasive.Event{Kind: invasive.Decided, Accept: b.rng.IntN(2) == 0})
		case invasive.Stopped, invasive.Failed:
			b.agent(invasive.Event{Kind: invasive.Start})
		}
	}
	return closed
}

func (b *barrage) hypervisor(ev invasive.Event) (closed bool) {
	for _, a := range b.h.Step(&ev, nil) {
		switch a.Kind {
		case invasive.Violated:
			b.violated++
		case invasive.Close:
			closed = true
		case invasive.AskOffer:
			b.hypervisor(invasive.Event{Kind: invasive.OfferMade, Offer: &invasive.Offer{Parts: []invasive.Part{{Cores: 64}}, Jobs: 64}})
		case invasive.AskVerdict:
			b.hypervisor(invasive.Event{Kind: invasive.Verdict, Accept: b.rng.IntN(2) == 0})
		case invasive.AskUrgent:
			b.hypervisor(invasive.Event{Kind: invasive.UrgentVerdict, ID: a.ID, Accept: b.rng.IntN(2) == 0})
		case invasive.AskPlace:
			b.place()
		case invasive.Launch:
			require.False(b.t, b.launched[a.ID], "job %d is launched twice", a.ID)
			b.launched[a.ID] = true
		}
	}
	return closed
}

// place starts the jobs that need one core, until there is none.
func (b *barrage) place() {
	for _, j := range b.h.Jobs(nil) {
		for c, o := range b.h.Owners() {
			if j.State == invasive.Accepted && o == 0 && j.Job.MinCores == 1 {
				b.hypervisor(invasive.Event{Kind: invasive.Place, ID: j.Job.ID, Cores: []uint32{uint32(c)}})
				break
			}
		}
	}
}
