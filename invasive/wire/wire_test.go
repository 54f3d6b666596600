// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

const lastKind = invasive.ResponseUrgentJob

func TestRoundTrip(t *testing.T) {
	for kind := invasive.Initialise; kind <= lastKind; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m, side := genMessage(t, kind), sender(kind)
				frame, err := Append([]byte("before"), m, side, DefaultLimit)
				require.NoError(t, err)
				r := NewReader(bytes.NewReader(frame[len("before"):]), side, DefaultLimit)
				got, err := r.Next()
				require.NoError(t, err)
				require.Equal(t, m, got)
				_, err = r.Next()
				require.Equal(t, io.EOF, err)
			})
		})
	}
}

// Fields that a later version of a side adds are passed over; what an earlier one
// doesn't send is zero.
func TestFieldsOfOthers(t *testing.T) {
	m := rapid.Custom(func(t *rapid.T) *invasive.Message { return genMessage(t, invasive.ResponseInitialise) }).Example(1)
	frame, err := Append(nil, m, invasive.IHypervisor, DefaultLimit)
	require.NoError(t, err)
	var p pb.Packet
	require.NoError(t, proto.Unmarshal(frame[8:], &p))
	terms := p.GetResponseInitialise().Terms
	terms.ShrinkMs = 0 // an earlier version
	terms.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	body, err := proto.Marshal(&p)
	require.NoError(t, err)
	binary.BigEndian.PutUint32(frame[4:], uint32(len(body)))
	got, err := NewReader(bytes.NewReader(append(frame[:8:8], body...)), invasive.IHypervisor, DefaultLimit).Next()
	require.NoError(t, err)
	m.Terms.Shrink = 0
	require.Equal(t, m, got)
}

// Figure 3, written down once more.
func TestDirections(t *testing.T) {
	const s, h, both = "iScheduler", "iHypervisor", "both"
	from := map[string]string{
		"INITIALISE": s, "RESPONSE_INITIALISE": h, "FINALISE": both, "RESPONSE_FINALISE": both,
		"REQUEST_RESOURCE_OFFER": s, "RESOURCE_OFFER": h, "RESPONSE_RESOURCE_OFFER": s,
		"NEGOTIATION_START": s, "RESPONSE_NEGOTIATION_START": h, "NEGOTIATION_END": both, "RESPONSE_NEGOTIATION_END": both,
		"STATUS_REPORT": h, "URGENT_JOB": s, "RESPONSE_URGENT_JOB": h,
	}
	for kind := invasive.Initialise; kind <= lastKind; kind++ {
		for _, side := range []invasive.Side{invasive.IScheduler, invasive.IHypervisor} {
			m := rapid.Custom(func(t *rapid.T) *invasive.Message { return genMessage(t, kind) }).Example(1)
			may := from[kind.String()] == side.String() || from[kind.String()] == both
			_, err := Append(nil, m, side, DefaultLimit)
			require.Equal(t, may, err == nil, "%v from the %v", kind, side)
			frame, err := Append(nil, m, sender(kind), DefaultLimit)
			require.NoError(t, err)
			r := NewReader(bytes.NewReader(append(frame, frame...)), side, DefaultLimit)
			for range 2 { // a frame from the wrong side doesn't spoil the next
				if _, err = r.Next(); may {
					require.NoError(t, err)
				} else {
					require.Equal(t, Direction, faultOf(t, err))
				}
			}
		}
	}
}

func faultOf(t require.TestingT, err error) Fault {
	var e *Error
	require.True(t, errors.As(err, &e), "%v", err)
	return e.Fault
}

func frameOf(kind invasive.Kind, packet []byte) []byte {
	head := []byte{'i', 'R', framing, byte(kind), 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[4:], uint32(len(packet)))
	return append(head, packet...)
}

func TestFaults(t *testing.T) {
	good, err := Append(nil, &invasive.Message{Kind: invasive.Finalise, Text: "bye"}, invasive.IScheduler, 100)
	require.NoError(t, err)
	with := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	packet := func(p *pb.Packet) []byte {
		b, err := proto.Marshal(p)
		require.NoError(t, err)
		return b
	}
	end := func(outcome uint32) []byte {
		return packet(
			&pb.Packet{Body: &pb.Packet_NegotiationEnd{NegotiationEnd: &pb.NegotiationEnd{Transaction: 1,
				Attempt: 1, Outcome: outcome}}})
	}
	many := func(n int) []byte {
		return packet(&pb.Packet{Body: &pb.Packet_NegotiationStart{NegotiationStart: &pb.NegotiationStart{Acks: make([]uint64, n)}}})
	}
	for _, c := range []struct {
		name  string
		frame []byte
		fault Fault
		says  string
		on    bool // the next frame is read
	}{
		{"half a header", good[:5], Truncated, "", false},
		{"half a packet", good[:len(good)-1], Truncated, "", false},
		{"other magic", with(0, 'x'), Foreign, "", false},
		{"other framing", with(2, 9), Version, "framing 9, this is 1", false},
		{"too long", with(4, 1), Oversized, "16777223 bytes, the limit is 200000", false},
		{"kind 0", with(3, 0), Direction, "0 from the iScheduler", true},
		{"kind 15", with(3, 15), Direction, "15 from the iScheduler", true},
		{"another kind", with(3, byte(invasive.ResponseFinalise)), Malformed,
			"the header says RESPONSE_FINALISE, the packet FINALISE", true},
		{"not protobuf", frameOf(invasive.Finalise, []byte{0xff, 0xff}), Malformed, "", true},
		{"nothing", frameOf(invasive.Finalise, nil), Malformed, "the header says FINALISE, the packet 0", true},
		{"not UTF-8", frameOf(invasive.Finalise, []byte{3<<3 | 2, 3, 1<<3 | 2, 1, 0xff}), Malformed, "UTF-8", true},
		{"no outcome", frameOf(invasive.NegotiationEnd, end(0)), Invalid, "field outcome is 0", true},
		{"an outcome that is 1 in 8 bits", frameOf(invasive.NegotiationEnd, end(257)), Invalid, "field outcome is 255", true},
		{"too many acks", frameOf(invasive.NegotiationStart, many(invasive.MaxJobs+1)), Invalid, "field acks is 16385", true},
		{"far too many acks", frameOf(invasive.NegotiationStart, many(maxItems+1)), Crowded, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(append(bytes.Clone(c.frame), good...)), invasive.IScheduler, 200_000)
			if c.fault == Truncated {
				r = NewReader(bytes.NewReader(c.frame), invasive.IScheduler, 200_000)
			}
			_, err := r.Next()
			require.Equal(t, c.fault, faultOf(t, err), "%v", err)
			require.Contains(t, err.Error(), c.says)
			want := Counts{}
			want.Bad[c.fault]++
			require.Equal(t, want, r.Counts())
			m, err := r.Next()
			if c.on {
				require.NoError(t, err)
				require.Equal(t, "bye", m.Text)
				want.Good++
			} else {
				require.Error(t, err)
			}
			require.Equal(t, want, r.Counts())
		})
	}
}

// What a peer would not take is not sent.
func TestAppendRejects(t *testing.T) {
	for _, c := range []struct {
		m     *invasive.Message
		limit int
		fault Fault
	}{
		{&invasive.Message{Kind: invasive.ResourceOffer}, 1000, Direction},
		{&invasive.Message{Kind: invasive.NegotiationEnd}, 1000, Invalid},
		{&invasive.Message{Kind: invasive.Finalise, Text: strings.Repeat("x", 200)}, 100, Oversized},
		{&invasive.Message{Kind: invasive.Finalise, Text: "\xff"}, 100, Invalid},
	} {
		out, err := Append([]byte("abc"), c.m, invasive.IScheduler, c.limit)
		require.Equal(t, c.fault, faultOf(t, err))
		require.Equal(t, "abc", string(out))
	}
}

func TestReaderKeepsItsBuffer(t *testing.T) {
	var stream []byte
	for n := range 200 {
		frame, err := Append(nil, &invasive.Message{Kind: invasive.Finalise, Text: strings.Repeat("x", n)}, invasive.IScheduler, 300)
		require.NoError(t, err)
		stream = append(stream, frame...)
	}
	r := NewReader(bytes.NewReader(stream), invasive.IScheduler, 250)
	grown, last := 0, 0
	for {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.LessOrEqual(t, cap(r.buf), 250)
		if cap(r.buf) != last {
			last = cap(r.buf)
			grown++
		}
	}
	require.LessOrEqual(t, grown, 8)
	require.EqualValues(t, 200, r.Counts().Good)
}

func FuzzReader(f *testing.F) {
	for kind := invasive.Initialise; kind <= lastKind; kind++ {
		m := rapid.Custom(func(t *rapid.T) *invasive.Message { return genMessage(t, kind) }).Example(int(kind))
		frame, err := Append(nil, m, sender(kind), DefaultLimit)
		require.NoError(f, err)
		f.Add(frame, kind.SentBy(invasive.IScheduler))
	}
	f.Fuzz(func(t *testing.T, stream []byte, scheduler bool) {
		side := map[bool]invasive.Side{true: invasive.IScheduler, false: invasive.IHypervisor}[scheduler]
		r := NewReader(bytes.NewReader(stream), side, 1<<16)
		for r.broken == nil {
			m, err := r.Next()
			require.LessOrEqual(t, cap(r.buf), 1<<16)
			if err != nil {
				continue
			}
			frame, err := Append(nil, m, side, MaxLimit)
			require.NoError(t, err, "what is read can be sent")
			again, err := NewReader(bytes.NewReader(frame), side, MaxLimit).Next()
			require.NoError(t, err)
			require.Equal(t, m, again)
		}
	})
}
