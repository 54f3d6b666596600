// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// The two streams start with these; the digit at the end is the version. What
// follows is little-endian.
const (
	requestMagic = "AUCHREQ1"
	answerMagic  = "AUCHANS1"
)

// Limits of what is read.
const (
	maxColumns = 1 << 24
	maxEntries = 1 << 28
	maxMessage = 1 << 10
)

// request is what the worker gets.
type request struct {
	seed  uint64
	work  int64         // 0: no limit
	limit time.Duration // 0: no limit
	model *ipmodel.Model
	start []int32
}

type requestHeader struct {
	Magic                                          [8]byte
	Seed                                           uint64
	Work, Limit                                    int64
	Columns, Groups, Rows, Entries, Start, Require uint32
}

func writeRequest(w io.Writer, q request) error {
	m := q.model
	if len(m.Value) > maxColumns || m.Groups() > maxColumns || len(m.Cap) > maxColumns || len(m.Row) > maxEntries {
		return fmt.Errorf("a model of %d columns, %d rows and %d entries is too large for HiGHS",
			len(m.Value), m.Groups()+len(m.Cap), len(m.Row))
	}
	h := requestHeader{
		Seed: q.seed, Work: q.work, Limit: int64(q.limit),
		Columns: uint32(len(m.Value)), Groups: uint32(m.Groups()), Rows: uint32(len(m.Cap)),
		Entries: uint32(len(m.Row)), Start: uint32(len(q.start)), Require: uint32(len(m.Required)),
	}
	copy(h.Magic[:], requestMagic)
	out := bufio.NewWriterSize(w, 1<<16)
	for _, data := range []any{h, m.Value, m.GroupStart, m.Required, m.ColStart, m.Row, m.Coef, m.Cap, q.start} {
		if err := binary.Write(out, binary.LittleEndian, data); err != nil {
			return err
		}
	}
	return out.Flush()
}

var errNotRequest = errors.New("standard input is not a model for this version's worker")

// readRequest takes memory in proportion to what arrives, whatever the header says.
func readRequest(r io.Reader) (request, error) {
	var h requestHeader
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil || string(h.Magic[:]) != requestMagic {
		return request{}, errNotRequest
	}
	if h.Columns > maxColumns || h.Groups > maxColumns || h.Rows > maxColumns || h.Entries > maxEntries ||
		h.Start > h.Columns || h.Require > h.Groups || h.Work < 0 || h.Limit < 0 {
		return request{}, fmt.Errorf("%w: sizes out of range", errNotRequest)
	}
	m := &ipmodel.Model{}
	q := request{seed: h.Seed, work: h.Work, limit: time.Duration(h.Limit), model: m}
	in := &arrayReader{r: r}
	m.Value = readArray[int64](in, h.Columns)
	m.GroupStart = readArray[int32](in, h.Groups+1)
	m.Required = readArray[bool](in, h.Require)
	m.ColStart = readArray[int32](in, h.Columns+1)
	m.Row = readArray[int32](in, h.Entries)
	m.Coef = readArray[int32](in, h.Entries)
	m.Cap = readArray[int64](in, h.Rows)
	q.start = readArray[int32](in, h.Start)
	if in.err != nil {
		return request{}, fmt.Errorf("%w: %w", errNotRequest, in.err)
	}
	if !slices.IsSorted(m.GroupStart) || !slices.IsSorted(m.ColStart) {
		// Validate indexes by these.
		return request{}, fmt.Errorf("%w: starts do not ascend", errNotRequest)
	}
	if err := m.Validate(); err != nil {
		return request{}, fmt.Errorf("%w: %w", errNotRequest, err)
	}
	return q, nil
}

type arrayReader struct {
	r   io.Reader
	err error
}

func readArray[T int32 | int64 | bool](in *arrayReader, n uint32) []T {
	const chunk = 1 << 16
	var all []T
	for n > 0 && in.err == nil {
		part := make([]T, min(n, chunk))
		if in.err = binary.Read(in.r, binary.LittleEndian, part); in.err == nil {
			all = append(all, part...)
		}
		n -= uint32(len(part))
	}
	return all
}

// frame is one message of the worker: a type, and what belongs to it.
type frame struct {
	kind    byte
	chosen  []int32  // solution
	bound   int64    // bound
	end     endFrame // end
	message string   // end: why it failed
}

const (
	kindSolution = 'S'
	kindBound    = 'B'
	kindEnd      = 'E'
)

type endFrame struct {
	Verdict     byte
	Work, Nodes int64
}

const (
	verdictStopped = iota // a limit struck
	verdictDone           // HiGHS holds the best solution for optimal
	verdictInfeasible
	verdictFailed
)

type frameHeader struct {
	Kind byte
	Size uint32
}

func writeFrame(w io.Writer, f frame) error {
	h := frameHeader{Kind: f.kind}
	var body []any
	switch f.kind {
	case kindSolution:
		h.Size = uint32(4 * len(f.chosen))
		body = []any{f.chosen}
	case kindBound:
		h.Size = 8
		body = []any{f.bound}
	case kindEnd:
		message := []byte(f.message)
		message = message[:min(len(message), maxMessage)]
		h.Size = uint32(binary.Size(f.end) + len(message))
		body = []any{f.end, message}
	}
	out := bufio.NewWriter(w)
	for _, data := range append([]any{h}, body...) {
		if err := binary.Write(out, binary.LittleEndian, data); err != nil {
			return err
		}
	}
	return out.Flush()
}

var errNonsense = errors.New("the solver's process answered nonsense")

// readFrame reads the next message of a worker that solves a model of so many columns.
func readFrame(r io.Reader, columns int) (frame, error) {
	var h frameHeader
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return frame{}, err
	}
	f := frame{kind: h.Kind}
	var err error
	switch size := int(h.Size); {
	case h.Kind == kindSolution && size%4 == 0 && size/4 <= columns:
		f.chosen = make([]int32, size/4)
		err = binary.Read(r, binary.LittleEndian, f.chosen)
	case h.Kind == kindBound && size == 8:
		err = binary.Read(r, binary.LittleEndian, &f.bound)
	case h.Kind == kindEnd && size >= binary.Size(f.end) && size <= binary.Size(f.end)+maxMessage:
		message := make([]byte, size-binary.Size(f.end))
		if err = binary.Read(r, binary.LittleEndian, &f.end); err == nil {
			_, err = io.ReadFull(r, message)
		}
		f.message = string(message)
	default:
		return frame{}, errNonsense
	}
	return f, err
}
