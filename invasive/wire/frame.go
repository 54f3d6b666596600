// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// HeaderSize is that of a frame's header.
	HeaderSize = 8
	// DefaultLimit is a good limit for a Packet, in bytes: a mapping of some 10,000 small jobs.
	DefaultLimit = 1 << 20
	// MaxLimit is the greatest.
	MaxLimit = 16 << 20

	framing = 1
	// maxItems is how many elements, in all its lists and messages, a Packet may have: a byte
	// or two of the wire become some hundred of memory.
	maxItems = invasive.MaxParts + 2*invasive.MaxJobs
)

// Append appends a frame to a slice, and returns it. The error, of type *Error, says why a peer
// would not take the message; then the slice is as it was.
func Append(to []byte, m *invasive.Message, from invasive.Side, limit int) ([]byte, error) {
	if !m.Kind.SentBy(from) {
		return to, &Error{Direction, fmt.Errorf("%v from the %v", m.Kind, from)}
	}
	if err := m.Check(); err != nil {
		return to, &Error{Invalid, err}
	}
	start := len(to)
	out := append(to, 'i', 'R', framing, byte(m.Kind), 0, 0, 0, 0)
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(out, encode(m))
	if err != nil {
		return to, &Error{Malformed, err}
	}
	size := len(out) - start - HeaderSize
	if size > limit {
		return to, &Error{Oversized, fmt.Errorf("%v of %d bytes, the limit is %d", m.Kind, size, limit)}
	}
	binary.BigEndian.PutUint32(out[start+4:], uint32(size))
	return out, nil
}

// MappingSize is how many bytes of a Packet a mapping's entry takes. Those of a message have to
// stay below the frame's limit, together with its acknowledgements of up to 10 bytes each, and
// some 300 for the rest.
func MappingSize(m *invasive.Mapping) int {
	n := proto.Size(&pb.Mapping{Job: encodeJob(m.Job), Parts: each(m.Parts, encodePart)})
	return n + 1 + protowire.SizeVarint(uint64(n))
}

// A Reader reads frames from a stream. It is not safe for concurrent use.
type Reader struct {
	from   io.Reader
	peer   invasive.Side
	limit  int
	head   [HeaderSize]byte
	buf    []byte
	counts Counts
	broken error
}

// NewReader returns a Reader of what peer sends. Limit is that of a Packet, in
// bytes, from 1 to MaxLimit.
func NewReader(from io.Reader, peer invasive.Side, limit int) *Reader {
	return &Reader{from: from, peer: peer, limit: max(1, min(limit, MaxLimit))}
}

// Counts returns what was read so far.
func (r *Reader) Counts() Counts { return r.counts }

// Next returns the next message, which shares nothing with the Reader. At the end of the
// stream, between two frames, the error is io.EOF; a bad frame gives an *Error; other errors
// are those of the stream.
func (r *Reader) Next() (*invasive.Message, error) {
	if r.broken != nil {
		return nil, r.broken
	}
	m, err := r.next()
	var bad *Error
	switch {
	case err == nil:
		r.counts.Good++
	case errors.As(err, &bad):
		r.counts.Bad[bad.Fault]++
		if bad.Fault < Direction {
			r.broken = err
		}
	default:
		r.broken = err
	}
	return m, err
}

func (r *Reader) next() (*invasive.Message, error) {
	if n, err := io.ReadFull(r.from, r.head[:]); err != nil {
		return nil, cut(err, n == 0)
	}
	size := binary.BigEndian.Uint32(r.head[4:])
	switch {
	case r.head[0] != 'i' || r.head[1] != 'R':
		return nil, &Error{Fault: Foreign}
	case r.head[2] != framing:
		return nil, &Error{Version, fmt.Errorf("framing %d, this is %d", r.head[2], framing)}
	case uint64(size) > uint64(r.limit):
		return nil, &Error{Oversized, fmt.Errorf("%d bytes, the limit is %d", size, r.limit)}
	}
	if int(size) > cap(r.buf) {
		r.buf = make([]byte, min(r.limit, 2*int(size)))
	}
	r.buf = r.buf[:size]
	if _, err := io.ReadFull(r.from, r.buf); err != nil {
		return nil, cut(err, false)
	}
	kind := invasive.Kind(r.head[3])
	if !kind.SentBy(r.peer) {
		return nil, &Error{Direction, fmt.Errorf("%v from the %v", kind, r.peer)}
	}
	return decodePacket(kind, r.buf)
}

// cut tells the end of a stream between frames from one within.
func cut(err error, between bool) error {
	if between && err == io.EOF {
		return io.EOF
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{Fault: Truncated}
	}
	return err
}

func decodePacket(kind invasive.Kind, b []byte) (*invasive.Message, error) {
	var p pb.Packet
	if left := maxItems; !scan(p.ProtoReflect().Descriptor(), b, &left) {
		if left < 0 {
			return nil, &Error{Fault: Crowded}
		}
		return nil, &Error{Fault: Malformed}
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, &p); err != nil {
		return nil, &Error{Malformed, err}
	}
	m := decode(&p)
	if m.Kind != kind {
		return nil, &Error{Malformed, fmt.Errorf("the header says %v, the packet %v", kind, m.Kind)}
	}
	if err := m.Check(); err != nil {
		return nil, &Error{Invalid, err}
	}
	return m, nil
}
